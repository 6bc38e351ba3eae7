/**
 * GET and POST /oauth2/auth: the target of each answer and error, and the cases that require a sign-in.
 * spec/sign-in 1.1, 1.4, 1.6 and 1.8.
 */
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { stepAt, totpCode } from '../../src/accounts/security/totp.ts'
import { browserAt } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import { type Browser, browser, type Page, useTestApp } from '../harness/harness.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  exchange,
  getJson,
  makeParty,
  type Party,
  REDIRECT_URI,
  withoutWriting,
} from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)

const JSON_CALLER = { accept: 'application/json' }

/** Creates a member who has allowed the application. */
async function member(app: Party = party): Promise<{ client: Browser; username: string; password: string }> {
  const { username, password, signIn } = await makePerson(test)
  const client = await signIn()
  await authorize(client, app)
  return { client, username, password }
}

function refusedRequest(parameters: Record<string, string | undefined>): Promise<Page> {
  return withoutWriting(test, () => browser(test).get(authorizationUrl(party, parameters)))
}

describe('faults that are never redirected', () => {
  const EVIL = 'https://evil.example/callback'
  const TWICE = REDIRECT_URI.replace('callback', 'c%61llback')
  const wrong = {
    'a missing client_id': [{ client_id: undefined }, 400, 'invalid_request'],
    'an unknown client_id': [{ client_id: 'nobody' }, 401, 'invalid_client'],
    'an unregistered redirect_uri': [{ redirect_uri: EVIL }, 400, 'invalid_redirect_uri'],
    'a redirect_uri that only decoding twice would match': [
      { redirect_uri: TWICE },
      400,
      'invalid_redirect_uri',
    ],
  } as const

  it.each(Object.entries(wrong))(
    '%s is told to a script as JSON, and to a browser on a page, whatever else is asked',
    async (_, [parameters, status, error]) => {
      for (const more of [{}, { prompt: 'none' }, { response_type: 'token' }]) {
        const url = authorizationUrl(party, { ...more, ...parameters })
        const answer = await withoutWriting(test, () => getJson(test, url, JSON_CALLER))
        expect(answer.status).toBe(status)
        expect(answer.body).toEqual({ error, error_description: expect.any(String) })
        expect(answer.headers['cache-control']).toBe('no-store')
        expect(answer.headers.location).toBeUndefined()
        const page = await refusedRequest({ ...more, ...parameters })
        expect([page.status, page.location]).toEqual([status, undefined])
        expect(page.headers['content-type']).toMatch(/^text\/html/)
        expect(page.body).toContain(error)
      }
    },
  )

  it.each(['client_id', 'redirect_uri'])('%s given twice is a page, not a redirect', async (name) => {
    const url = `${authorizationUrl(party)}&${name}=${encodeURIComponent(REDIRECT_URI)}`
    const page = await withoutWriting(test, () => browser(test).get(url))
    expect(page.status).toBe(400)
    expect(page.body).toContain('invalid_request')
  })

  it('a request too long to return to is refused at once', async () => {
    const others = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, 'x'.repeat(8_000)]))
    const page = await refusedRequest(others)
    expect(page.status).toBe(400)
    expect(page.body).toContain('invalid_request')
  })

  it('a query that is not UTF-8 is an invalid_request', async () => {
    const answer = await getJson(test, `${authorizationUrl(party)}&a=%ff`, JSON_CALLER)
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  it('a missing redirect_uri is refused when several are registered', async () => {
    const two = await makeParty(test, { redirect_uris: [REDIRECT_URI, 'https://app.example/other'] })
    const answer = await getJson(test, authorizationUrl(two, { redirect_uri: undefined }), JSON_CALLER)
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  it.each(['*/*', 'application/json, text/html;q=0.5', ''])('are JSON to who accepts %j', async (accept) => {
    const answer = await getJson(test, authorizationUrl(party, { client_id: undefined }), { accept })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  it('an empty redirect_uri counts as absent', async () => {
    const page = await refusedRequest({ redirect_uri: '', prompt: 'none' })
    expect(answerOf(page).error).toBe('login_required')
  })
})

describe('faults that the application learns by redirect', () => {
  const PKCE = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
  const wrong = {
    'no response_type': [{ response_type: undefined }, 'invalid_request'],
    'response_type token': [{ response_type: 'token' }, 'unsupported_response_type'],
    'response_type code id_token': [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    'response_mode fragment': [{ response_mode: 'fragment' }, 'invalid_request'],
    'a request object': [{ request: 'e30.e30.' }, 'request_not_supported'],
    'a request_uri': [{ request_uri: 'https://app.example/request' }, 'request_uri_not_supported'],
    'a registration': [{ registration: '{}' }, 'registration_not_supported'],
    'a scope over 1 KB': [{ scope: `openid ${'x'.repeat(1_024)}` }, 'invalid_scope'],
    'a nonce over 1 KB': [{ nonce: 'x'.repeat(1_025) }, 'invalid_request'],
    'a challenge without a method': [{ code_challenge: 'x'.repeat(43) }, 'invalid_request'],
    'a challenge of method plain': [{ ...PKCE, code_challenge_method: 'plain' }, 'invalid_request'],
    'a challenge of method s256': [{ ...PKCE, code_challenge_method: 's256' }, 'invalid_request'],
    'a method without a challenge': [{ code_challenge_method: 'S256' }, 'invalid_request'],
    'a short challenge': [{ ...PKCE, code_challenge: 'x'.repeat(42) }, 'invalid_request'],
    'an unknown prompt': [{ prompt: 'signup' }, 'invalid_request'],
    'prompt none beside another': [{ prompt: 'none login' }, 'invalid_request'],
    'a negative max_age': [{ max_age: '-1' }, 'invalid_request'],
    'a max_age that is no number': [{ max_age: '1e3' }, 'invalid_request'],
    'prompt none without a session': [{ prompt: 'none' }, 'login_required'],
  } as const

  it.each(Object.entries(wrong))('%s', async (_, [parameters, error]) => {
    const page = await refusedRequest({ ...parameters, state: 'st@te &=+ä' })
    const answer = answerOf(page)
    expect(answer).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'st@te &=+ä',
      iss: test.url,
    })
    expect(page.headers['cache-control']).toBe('no-store')
  })

  it('any other parameter given twice', async () => {
    const page = await browser(test).get(`${authorizationUrl(party)}&scope=email`)
    expect(answerOf(page)).toMatchObject({ error: 'invalid_request', state: 'a state' })
  })

  it('a state given twice, which cannot be echoed', async () => {
    const page = await browser(test).get(`${authorizationUrl(party)}&state=another`)
    expect(answerOf(page)).toEqual({
      error: 'invalid_request',
      error_description: expect.any(String),
      iss: test.url,
    })
  })
})

describe('a state of 8 KiB', () => {
  const STATES = [
    ['letters', 's'.repeat(8_192)],
    ['ampersands', '&'.repeat(8_192)],
    ['Chinese', `${'态'.repeat(2_730)}ss`],
  ] as const

  async function overHttp(): Promise<Browser> {
    await test.app.listen({ port: 0, host: '127.0.0.1' }).catch(() => {})
    const { port } = test.app.server.address() as AddressInfo
    return browserAt(`http://127.0.0.1:${port}`)
  }

  /** Mistypes the password on the sign-in page at this address, and switches the language before and after it. */
  async function detours(client: Browser, url: string, username: string): Promise<Page> {
    const switched = async (page: Page, language: string) => {
      const { location } = await client.submit(page, '/language', { language })
      expect(location!.startsWith(url)).toBe(true)
      return client.get(location!)
    }
    const page = await switched(await client.get(url), 'zh-CN')
    const failed = await client.submit(page, '/sign-in', { username, password: 'x' })
    expect(failed.status).toBe(401)
    return switched(failed, 'en')
  }

  it.each(STATES)('comes back over HTTP after a sign-in, allowed and denied: %s', async (_, state) => {
    const { username, password } = await makePerson(test)
    const client = await overHttp()
    const [path, sent] = authorizationUrl(party, { state }).split('?')
    const repeated = await client.post(path!, sent!)
    const { location } = await client.get(repeated.location!)
    const form = await detours(client, location!, username)
    const back = await client.submit(form, '/sign-in', { username, password })
    const consent = await client.get(back.location!)
    for (const decision of ['deny', 'allow']) {
      const answer = answerOf(await client.submit(consent, '/oauth2/consent', { decision }))
      expect(answer.state).toBe(state)
      expect(Boolean(answer.code)).toBe(decision === 'allow')
    }
    const posted = await client.get(authorizationUrl(party, { state, response_mode: 'form_post' }))
    expect(posted.form(REDIRECT_URI).state).toBe(state)
  })

  it.each(STATES)('comes back over HTTP after a second factor: %s', async (_, state) => {
    const { username, password, signIn } = await makePerson(test)
    const owner = await signIn()
    const offer = await owner.get('/account/second-factor')
    const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(offer.body)![1]!.replaceAll(' ', '')
    const codeNow = () => totpCode(secret, stepAt(test.clock.now()))
    await owner.submit(offer, '/account/second-factor', { code: codeNow() })
    test.clock.advance(30_000)
    const client = await overHttp()
    const asked = await client.get(authorizationUrl(party, { state }))
    const first = await client.submit(await client.get(asked.location!), '/sign-in', { username, password })
    const second = await client.get(first.location!)
    const back = await client.submit(second, '/sign-in/second-factor', { code: codeNow() })
    const consent = await client.get(back.location!)
    const answer = answerOf(await client.submit(consent, '/oauth2/consent', { decision: 'allow' }))
    expect(answer.state).toBe(state)
  })

  it('is the longest: one byte more is refused', async () => {
    const answer = await getJson(test, authorizationUrl(party, { state: 's'.repeat(8_193) }), JSON_CALLER)
    const error_description = expect.stringContaining('state')
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request', error_description } })
  })
})

describe('signing in on the way', () => {
  it('a visitor signs in and returns to the same request exactly', async () => {
    const { username, password } = await makePerson(test)
    const state = `{"a":'\\"} %41 +ü`
    const client = browser(test)
    const away = await client.get(authorizationUrl(party, { state, login_hint: username }))
    expect(away.status).toBe(303)
    expect(away.location).toMatch(/^\/sign-in\?return_to=%2Foauth2%2Fauth%3F/)

    const page = await client.get(away.location!)
    expect(page.body).toContain(`value="${username}"`)
    const back = await client.submit(page, '/sign-in', { username, password })
    expect(back.status).toBe(303)
    const consent = await client.get(back.location!)
    const answer = answerOf(await client.submit(consent, '/oauth2/consent', { decision: 'allow' }))
    expect(answer.state).toBe(state)
  })

  it('an account on a one-time password changes it first', async () => {
    const person = await makePerson(test, { must_change_password: true })
    const client = await person.signIn()
    const page = await withoutWriting(test, () => client.get(authorizationUrl(party)))
    expect(page.status).toBe(303)
    expect(page.location).toMatch(/^\/account\/password\?return_to=%2Foauth2%2Fauth%3F/)
    const silent = await client.get(authorizationUrl(party, { prompt: 'none' }))
    expect(answerOf(silent).error).toBe('login_required')
  })

  it.each(['/oauth2/auth', '/oauth2/authorize', '/oauth-provider/authorize'])('%s answers', async (path) => {
    const { client } = await member()
    expect(answerOf(await client.get(authorizationUrl(party, {}, path))).code).toBeTruthy()
  })

  it('a post that doubles a parameter is still refused as doubled', async () => {
    const [, sent] = authorizationUrl(party).split('?')
    const response = await test.app.inject({
      method: 'POST',
      url: '/oauth2/auth',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `${sent}&scope=email`,
    })
    const page = await browser(test).get(response.headers.location!)
    expect(answerOf(page).error).toBe('invalid_request')
  })
})

describe('prompt and max_age', () => {
  /** Follows the demand to the sign-in page, and returns the answer after the sign-in. */
  async function signInAgain(client: Browser, page: Page, who: { username: string; password: string }) {
    expect(page.status).toBe(303)
    const form = await client.get(page.location!)
    expect(form.body).toContain('action="/sign-in"')
    const { username, password } = who
    return client.submit(form, '/sign-in', { username, password })
  }

  async function authTimeOf(code: string | undefined): Promise<number> {
    const { body } = await exchange(test, party, code)
    const payload = Buffer.from(String(body.id_token).split('.')[1]!, 'base64url')
    return JSON.parse(payload.toString()).auth_time
  }

  it.each([{ prompt: 'select_account' }, { prompt: 'login consent' }, { max_age: '0' }])(
    '%o: the member signs in again, once, and auth_time is later',
    async (demand) => {
      const who = await member()
      const before = await authTimeOf((await authorize(who.client, party)).code)
      test.clock.advance(1_000)
      const back = await signInAgain(who.client, await who.client.get(authorizationUrl(party, demand)), who)
      const page = await who.client.get(back.location!)
      const { code } = page.status === 303 ? answerOf(page) : await authorize(who.client, party)
      expect(page.location ?? '').not.toMatch(/^\/sign-in/)
      expect(await authTimeOf(code)).toBeGreaterThan(before)
    },
  )

  it('the demand is met also when all happens in one moment', async () => {
    const who = await member()
    const back = await signInAgain(
      who.client,
      await who.client.get(authorizationUrl(party, { prompt: 'login' })),
      who,
    )
    expect(answerOf(await who.client.get(back.location!)).code).toBeTruthy()
  })

  it('max_age 0 demands a sign-in in the moment of the last one too', async () => {
    const { client } = await member()
    const silent = await client.get(authorizationUrl(party, { max_age: '0', prompt: 'none' }))
    expect(answerOf(silent).error).toBe('login_required')
  })

  it('a visitor with prompt login signs in once', async () => {
    const { username, password } = await member()
    const client = browser(test)
    const away = await client.get(authorizationUrl(party, { prompt: 'login' }))
    const back = await signInAgain(client, away, { username, password })
    expect(answerOf(await client.get(back.location!)).code).toBeTruthy()
  })

  it('a mark is useless with another request, changed, or old', async () => {
    const who = await member()
    test.clock.advance(1_000)
    const away = await who.client.get(authorizationUrl(party, { prompt: 'login' }))
    const back = new URL(away.location!, test.url).searchParams.get('return_to')!
    // Without a sign-in it is not yet good for anything.
    expect((await who.client.get(back)).location).toMatch(/^\/sign-in/)
    await signInAgain(who.client, away, who)

    const mark = new URL(back, test.url).searchParams.get('signed_in_since')!
    const later = mark.replace(/^\d+/, (since) => String(Number(since) - 1_000))
    for (const attempt of [
      back.replace('state=a+state', 'state=another'),
      back.replace(encodeURIComponent(mark), encodeURIComponent(later)),
      back.replace(encodeURIComponent(mark), 'x'),
      back.replace(encodeURIComponent(mark), ''),
    ]) {
      expect(attempt).not.toBe(back)
      expect((await who.client.get(attempt)).location).toMatch(/^\/sign-in/)
    }
    test.clock.advance(11 * 60_000)
    expect((await who.client.get(back)).location).toMatch(/^\/sign-in/)
  })

  it('max_age is counted from the sign-in', async () => {
    const { client } = await member()
    test.clock.advance(10_000)
    expect(answerOf(await client.get(authorizationUrl(party, { max_age: '10' }))).code).toBeTruthy()
    test.clock.advance(1_000)
    const page = await withoutWriting(test, () => client.get(authorizationUrl(party, { max_age: '10' })))
    expect(page.location).toMatch(/^\/sign-in/)
    const silent = await client.get(authorizationUrl(party, { max_age: '10', prompt: 'none' }))
    expect(answerOf(silent).error).toBe('login_required')
  })

  it('a fresh sign-in meets max_age, however long consent is read', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    test.clock.advance(5_000)
    const away = await client.get(authorizationUrl(party, { max_age: '1' }))
    const back = await signInAgain(client, away, person)
    const consent = await client.get(back.location!)
    test.clock.advance(60_000)
    const page = await client.submit(consent, '/oauth2/consent', { decision: 'allow' })
    expect(answerOf(page).code).toBeTruthy()
  })

  it('another account may sign in on select_account', async () => {
    const who = await member()
    const other = await makePerson(test)
    const away = await who.client.get(authorizationUrl(party, { prompt: 'select_account' }))
    const back = await signInAgain(who.client, away, other)
    const consent = await who.client.get(back.location!)
    expect(consent.body).toContain(`@${other.username}`)
  })
})

describe('success', () => {
  it('carries code, state and iss, and is not remembered by the browser', async () => {
    const { client } = await member()
    const page = await client.get(authorizationUrl(party))
    expect(answerOf(page)).toEqual({ code: expect.any(String), state: 'a state', iss: test.url })
    expect(page.headers['cache-control']).toBe('no-store')
    expect(page.headers['referrer-policy']).toBe('no-referrer')
  })

  it('codes are 256 random bits and only their hash is stored', async () => {
    const { client } = await member()
    const { code } = await authorize(client, party)
    expect(Buffer.from(code!, 'base64url')).toHaveLength(32)
    const rows = await test.db.selectFrom('authorization_codes').select('code_hash').execute()
    expect(rows.some((row) => row.code_hash.toString('base64url') === code)).toBe(false)
  })

  it('unknown scopes are ignored, and none at all means openid profile', async () => {
    const { client } = await member()
    const scopesFor = async (scope: string | undefined) =>
      (await exchange(test, party, (await authorize(client, party, { scope })).code)).body.scope
    expect(await scopesFor('profile nonsense openid')).toBe('profile openid')
    expect(await scopesFor(undefined)).toBe('openid profile')
    expect(await scopesFor('nonsense')).toBe('openid profile')
  })
})
