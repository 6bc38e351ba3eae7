/** Known attacks on OAuth 2.0 (RFC 6819, RFC 9700), tried against the identity area. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makePerson, type Person } from '../harness/cast.ts'
import {
  anotherProcess,
  type Browser,
  browser,
  type Page,
  startTestApp,
  type TestApp,
} from '../harness/harness.ts'
import { forgeries } from './hints.ts'
import {
  type Answer,
  answerOf,
  authorizationUrl,
  authorize,
  basic,
  exchange,
  getJson,
  makeParty,
  makeVerifier,
  obtainTokens,
  type Party,
  postForm,
  query,
  redeem,
  refresh,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const BYE = 'https://app.example/bye'
/** Longer than an answer of Postgres takes on a busy machine. */
const CLOCK_MS = 1_000

let test: TestApp
let party: Party
let evil: Party

beforeAll(async () => {
  test = await startTestApp()
  // The attacker sends requests all day.
  await test.db.insertInto('site_settings').values({ name: 'limit_token_failures', value: '0' }).execute()
  party = await makeParty(test, { post_logout_redirect_uris: [BYE] })
  evil = await makeParty(test, { name: 'Evil', redirect_uris: ['https://evil.example/callback'] })
})
afterAll(() => test.close())

const member = async (): Promise<Browser> => (await makePerson(test)).signIn()
const challenge = (verifier: string) => ({
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
})

async function isWorthless(act: () => Promise<Answer>): Promise<void> {
  const answer = await withoutWriting(test, act)
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect(answer.body).not.toHaveProperty('access_token')
}

/** Counts the statements of a request, and returns its answer too. */
async function costOf<T>(act: () => Promise<T>): Promise<{ answer: T; statements: number }> {
  const spy = vi.spyOn(pg.Client.prototype, 'query')
  try {
    const answer = await act()
    // The service reads settings again every two seconds, independently of the request.
    const texts = spy.mock.calls.map(([call]) => JSON.stringify(call) ?? '')
    return { answer, statements: texts.filter((text) => !text.includes('site_settings')).length }
  } finally {
    spy.mockRestore()
  }
}

describe('a stolen code', () => {
  it('is worth nothing to another application, and still works for its own', async () => {
    const { code } = await authorize(await member(), party)
    await isWorthless(() => exchange(test, evil, code))
    await isWorthless(() => redeem(test, evil, { grant_type: 'authorization_code', code }))
    expect((await exchange(test, party, code)).status).toBe(200)
  })

  it('cannot be injected under PKCE: each sign-in has its own verifier', async () => {
    const [mine, theirs] = [makeVerifier(), makeVerifier()]
    const { code } = await authorize(await member(), party, challenge(theirs))
    await isWorthless(() => exchange(test, party, code, { code_verifier: mine }))
  })

  it('cannot be redeemed for another address of the same application', async () => {
    const redirect_uris = [party.redirect_uri, 'https://app.example/other']
    const app = await makeParty(test, { redirect_uris })
    const { code } = await authorize(await member(), app)
    await isWorthless(() => exchange(test, app, code, { redirect_uri: redirect_uris[1] }))
    await isWorthless(() => exchange(test, app, code, { redirect_uri: undefined }))
  })
})

describe('a PKCE downgrade', () => {
  it('by leaving the verifier out fails', async () => {
    const { code } = await authorize(await member(), party, challenge(makeVerifier()))
    for (const code_verifier of [undefined, ''])
      await isWorthless(() => exchange(test, party, code, { code_verifier }))
  })

  it('by leaving the challenge out fails as soon as a verifier comes', async () => {
    const { code } = await authorize(await member(), party)
    await isWorthless(() => exchange(test, party, code, { code_verifier: makeVerifier() }))
  })

  it('to plain fails', async () => {
    const client = await member()
    const code_challenge = makeVerifier()
    for (const code_challenge_method of ['plain', undefined, 'S256 ', 's256', 'none']) {
      const page = await client.get(authorizationUrl(party, { code_challenge, code_challenge_method }))
      expect(answerOf(page).error).toBe('invalid_request')
    }
  })

  it('by giving the challenge as verifier fails', async () => {
    const sent = challenge(makeVerifier())
    const { code } = await authorize(await member(), party, sent)
    await isWorthless(() => exchange(test, party, code, { code_verifier: sent.code_challenge }))
  })
})

describe('a mix-up of providers', () => {
  it('is seen by the application: every answer says whose it is', async () => {
    const client = await member()
    const refusing = await makeParty(test, { deny_groups: ['trust_level_0'] })
    const consent = await client.get(authorizationUrl(party))
    const pages = [
      await client.submit(consent, '/oauth2/consent', { decision: 'deny' }),
      await client.get(authorizationUrl(party, { prompt: 'none' })),
      await client.get(authorizationUrl(refusing, { prompt: 'none' })),
      await browser(test).get(authorizationUrl(party, { prompt: 'none' })),
      await client.get(authorizationUrl(party, { response_type: 'token' })),
      await client.get(authorizationUrl(party, { request: 'x' })),
      await client.get(authorizationUrl(party, { state: undefined, scope: 'x'.repeat(2_000) })),
      await client.submit(consent, '/oauth2/consent', { decision: 'allow' }),
      await client.get(authorizationUrl(party)),
    ]
    for (const page of pages) expect(answerOf(page).iss).toBe(test.url)
    const refusal = await client.get(authorizationUrl(refusing))
    expect(refusal.body).toContain(`iss=${encodeURIComponent(test.url)}`)
  })
})

describe('a stolen refresh token', () => {
  it('used with its owner at once gives both one successor, whose second use ends all', async () => {
    const second = await anotherProcess(test)
    try {
      const { refresh_token } = await obtainTokens(test, await member(), party)
      const [own, stolen] = await Promise.all([
        refresh(test, party, refresh_token),
        refresh(second, party, refresh_token),
      ])
      expect([own.status, stolen.status]).toEqual([200, 200])
      expect(stolen.body.refresh_token).toBe(own.body.refresh_token)
      const next = await refresh(test, party, own.body.refresh_token)
      // The second process has few answers of Postgres, and knows its clock only as well as the fastest of them.
      await sleep(CLOCK_MS)
      expect((await refresh(second, party, stolen.body.refresh_token)).body.error).toBe('invalid_grant')
      for (const { body } of [own, stolen, next]) {
        expect((await userinfo(test, body.access_token)).status).toBe(401)
      }
      expect((await refresh(test, party, next.body.refresh_token)).body.error).toBe('invalid_grant')
    } finally {
      await second.close()
    }
  })

  it('used late, ends what its owner has made of it since', async () => {
    const first = await obtainTokens(test, await member(), party)
    let latest: Record<string, unknown> = first
    for (let round = 0; round < 3; round += 1) {
      test.clock.advance(3 * 86_400_000)
      latest = (await refresh(test, party, latest.refresh_token)).body
    }
    expect((await userinfo(test, latest.access_token)).status).toBe(200)
    expect((await refresh(test, party, first.refresh_token)).body.error).toBe('invalid_grant')
    expect((await userinfo(test, latest.access_token)).status).toBe(401)
    expect((await refresh(test, party, latest.refresh_token)).body.error).toBe('invalid_grant')
  })

  it('is worth nothing to another application', async () => {
    const { refresh_token, access_token } = await obtainTokens(test, await member(), party)
    await isWorthless(() => refresh(test, evil, refresh_token))
    expect((await userinfo(test, access_token)).status).toBe(200)
  })
})

describe('an open redirect', () => {
  const OWN = 'https://app.example/callback'
  it.each([
    'https://evil.example/callback',
    `${OWN}/`,
    `${OWN}/../evil`,
    `${OWN}?a=b`,
    `${OWN}#fragment`,
    `${OWN}%0d%0aset-cookie:a=b`,
    `${OWN}\r\nset-cookie: a=b`,
    ` ${OWN}`,
    `${OWN} `,
    'https://APP.example/callback',
    'HTTPS://app.example/callback',
    'https://app.example:443/callback',
    'https://app.example./callback',
    'https://app.example@evil.example/callback',
    'https://app.example%40evil.example/callback',
    'https://app.example\\@evil.example/callback',
    'https://app.example.evil.example/callback',
    'https://app.example/%63allback',
    'http://app.example/callback',
    '//app.example/callback',
    '/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    `${OWN},https://evil.example/`,
    `${OWN} https://evil.example/`,
  ])('by redirect_uri %j is not followed, also not for an error', async (redirect_uri) => {
    const client = await member()
    for (const more of [{}, { response_type: 'token' }, { prompt: 'none' }]) {
      const page = await withoutWriting(test, () =>
        client.get(authorizationUrl(party, { redirect_uri, ...more })),
      )
      expect(page.status).toBe(400)
      expect(page.location).toBeUndefined()
    }
  })

  it('by a second redirect_uri is not followed', async () => {
    const doubled = `${authorizationUrl(party)}&${query({ redirect_uri: 'https://evil.example/' })}`
    const page = await (await member()).get(doubled)
    expect(page.status).toBe(400)
    expect(page.location).toBeUndefined()
  })

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
    '/.//evil.example',
    '/\t/evil.example',
  ])('by return_to %j of the sign-in page is not followed', async (return_to) => {
    const { username, password } = await makePerson(test)
    const client = browser(test)
    const page = await client.get(`/sign-in?${query({ return_to })}`)
    const answer = await client.submit(page, '/sign-in', { username, password, return_to })
    expect(answer.status).toBe(303)
    expect(answer.location).not.toContain('evil')
  })

  it('by changing the request inside the consent form is not followed', async () => {
    const client = await member()
    const page = await client.get(authorizationUrl(party))
    const swapped = authorizationUrl({ ...party, redirect_uri: 'https://evil.example/callback' }).split(
      '?',
    )[1]!
    const answer = await client.submit(page, '/oauth2/consent', { decision: 'allow', query: swapped })
    expect(answer.status).toBe(400)
    expect(answer.location).toBeUndefined()
  })

  it('by an application with a look-alike query keeps to its address', async () => {
    const app = await makeParty(test, { redirect_uris: ['https://app.example/cb?code=fake&state=fake'] })
    const { location } = await (async () => {
      const client = await member()
      const page = await client.get(authorizationUrl(app, { state: '&code=1#' }))
      return client.submit(page, '/oauth2/consent', { decision: 'allow' })
    })()
    expect(location).toMatch(
      /^https:\/\/app\.example\/cb\?code=fake&state=fake&code=[\w-]+&state=%26code%3D1%23&iss=/,
    )
  })
})

describe('a forged form', () => {
  const forms = (person: Person): [string, Record<string, string>][] => [
    ['/sign-in', { username: person.username, password: person.password }],
    ['/sign-out', {}],
    ['/oauth2/consent', { decision: 'allow', query: authorizationUrl(party).split('?')[1]! }],
    ['/oauth2/logout/confirm', { query: '' }],
    ['/apps', { name: 'x', redirect_uris: 'https://evil.example/' }],
  ]

  it('of another site signs no attacker in, and allows nothing', async () => {
    const attacker = await makePerson(test)
    const token = /name="form_token" value="([^"]+)"/.exec((await browser(test).get('/sign-in')).body)![1]!
    for (const victim of [browser(test), await member()]) {
      await victim.get('/sign-in')
      for (const [path, fields] of forms(attacker)) {
        const before = new Map(victim.cookies)
        const tries = [
          await victim.post(path, fields),
          await victim.post(path, { ...fields, form_token: token }),
          await victim.post(path, { ...fields, form_token: '' }, { 'sec-fetch-site': 'cross-site' }),
          await victim.post(path, fields, { 'sec-fetch-site': 'same-site' }),
          await victim.post(path, fields, { 'sec-fetch-site': 'none', origin: 'https://evil.example' }),
        ]
        for (const answer of tries) expect([path, answer.status]).toEqual([path, 403])
        expect(victim.cookies).toEqual(before)
      }
    }
  })

  it('with the right token is refused from another site all the same', async () => {
    const client = await member()
    const page = await client.get(authorizationUrl(party))
    const fields = { ...page.form('/oauth2/consent'), decision: 'allow' }
    const answer = await client.post('/oauth2/consent', fields, { 'sec-fetch-site': 'cross-site' })
    expect(answer.status).toBe(403)
    expect((await client.get(authorizationUrl(party))).status).toBe(200)
  })
})

describe('clickjacking', () => {
  it('meets pages that stand in no frame', async () => {
    const client = await member()
    const pages: Record<string, Page> = {
      'sign-in': await browser(test).get('/sign-in'),
      consent: await client.get(authorizationUrl(party)),
      'sign-out': await client.get('/oauth2/logout'),
      'signed out': await browser(test).get('/oauth2/logout/done'),
      applications: await client.get('/apps'),
      'a failure': await client.get(authorizationUrl(party, { redirect_uri: 'https://evil.example/' })),
      'an unknown client': await client.get(authorizationUrl({ ...party, client_id: 'nobody' })),
      'a wrong sign-out': await client.get('/oauth2/logout?post_logout_redirect_uri=https://evil.example/'),
    }
    for (const [name, { headers }] of Object.entries(pages)) {
      const policy = String(headers['content-security-policy'])
      expect([name, headers['x-frame-options']]).toEqual([name, 'DENY'])
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toContain('unsafe')
      expect(headers['cache-control']).toBe('no-store')
      expect(headers['referrer-policy']).toBe('no-referrer')
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })
})

describe('a credential in an address', () => {
  it('is never looked at', async () => {
    const client = await member()
    const { access_token, refresh_token } = await obtainTokens(test, client, party)
    for (const path of ['/oauth2/userinfo', '/api/apps']) {
      const answer = await getJson(test, `${path}?${query({ access_token })}`)
      expect(answer.status).toBe(401)
    }
    const { client_id, client_secret } = party
    const secrets = query({ client_id, client_secret, grant_type: 'refresh_token', refresh_token })
    const answer = await withoutWriting(test, () => postForm(test, `/oauth2/token?${secrets}`, { a: 'b' }))
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    const revoked = await postForm(test, `/oauth2/revoke?${secrets}&${query({ token: access_token })}`, {
      a: 'b',
    })
    expect(revoked.status).toBe(401)
    expect((await userinfo(test, access_token)).status).toBe(200)
  })

  it('given in two places is refused', async () => {
    const { access_token } = await obtainTokens(test, await member(), party)
    const authorization = `Bearer ${access_token}`
    const answer = await postForm(test, '/oauth2/userinfo', { access_token }, { authorization })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})

describe('a forged ID token', () => {
  it('signs nobody out, and is no hint', async () => {
    const client = await member()
    const { id_token } = await obtainTokens(test, client, party)
    for (const [how, forged] of Object.entries(await forgeries(test, id_token))) {
      const leave = query({ id_token_hint: forged, post_logout_redirect_uri: BYE })
      expect([how, (await client.get(`/oauth2/logout?${leave}`)).status]).toEqual([how, 400])
      const asked = authorizationUrl(party, { id_token_hint: forged, prompt: 'none' })
      const answer = await withoutWriting(test, () => client.get(asked))
      expect([how, answerOf(answer).error]).toEqual([how, 'invalid_request'])
    }
    const real = query({ id_token_hint: id_token, post_logout_redirect_uri: BYE })
    expect((await client.get(`/oauth2/logout?${real}`)).location).toBe(BYE)
  })
})

describe('a fixed session', () => {
  const cookieOf = (client: Browser) => client.cookies.get('tessera_session')

  it('is never taken over: a sign-in replaces it', async () => {
    const attacker = await member()
    const planted = cookieOf(attacker)!
    const victim = browser(test)
    victim.cookies.set('tessera_session', planted)
    const { username, password } = await makePerson(test)
    const page = await victim.get('/sign-in')
    const answer = await victim.submit(page, '/sign-in', { username, password })
    expect(answer.status).toBe(303)
    expect(cookieOf(victim)).not.toBe(planted)
    expect((await attacker.get('/account')).location).toMatch(/^\/sign-in/)
  })

  it('cannot be chosen by whoever plants a cookie', async () => {
    const client = browser(test)
    client.cookies.set('tessera_session', 'chosen-by-the-attacker')
    const { username, password } = await makePerson(test)
    const page = await client.get('/sign-in')
    await client.submit(page, '/sign-in', { username, password })
    expect(cookieOf(client)).not.toBe('chosen-by-the-attacker')
    const other = browser(test)
    other.cookies.set('tessera_session', 'chosen-by-the-attacker')
    expect((await other.get('/account')).status).toBe(303)
  })
})

describe('what a failure tells', () => {
  async function expectAlike(acts: Record<string, () => Promise<Answer>>): Promise<void> {
    // The first run is not counted, because it fills caches such as keys.
    await Object.values(acts)[0]!()
    const costs = []
    for (const act of Object.values(acts)) costs.push(await costOf(act))
    const [first, ...others] = costs
    for (const { answer, statements } of others) {
      expect(answer.status).toBe(first!.answer.status)
      expect(answer.body).toEqual(first!.answer.body)
      expect(answer.headers['www-authenticate']).toBe(first!.answer.headers['www-authenticate'])
      expect(statements).toBe(first!.statements)
    }
  }

  it('of a client is the same whether it exists or not', async () => {
    const code = 'x'
    await expectAlike({
      'a wrong secret': () => exchange(test, { ...party, client_secret: makeVerifier() }, code),
      'an empty secret': () => exchange(test, { ...party, client_secret: '' }, code),
      'an unknown client': () => exchange(test, { ...party, client_id: 'nobody' }, code),
      'the secret of another': () => exchange(test, { ...party, client_secret: evil.client_secret }, code),
    })
    const { client_id } = party
    await expectAlike({
      'a client without its secret': () => postForm(test, '/oauth2/token', { client_id, code }),
      'an unknown client without secret': () =>
        postForm(test, '/oauth2/token', { client_id: 'nobody', code }),
    })
  })

  it('of a code is the same whether it exists or not', async () => {
    const client = await member()
    const fresh = async () => (await authorize(client, party)).code!
    const [other, bound, expired] = [
      (await authorize(client, evil)).code!,
      (await authorize(client, party, challenge(makeVerifier()))).code!,
      await fresh(),
    ]
    test.clock.advance(61_000)
    const [wrongVerifier] = [await fresh()]
    await expectAlike({
      unknown: () => exchange(test, party, makeVerifier()),
      'of another application': () => exchange(test, party, other),
      'without its verifier': () => exchange(test, party, bound),
      expired: () => exchange(test, party, expired),
      'with a verifier too many': () =>
        exchange(test, party, wrongVerifier, { code_verifier: makeVerifier() }),
    })
  })

  it('of a refresh token is the same whether it exists or not', async () => {
    const { refresh_token } = await obtainTokens(test, await member(), evil)
    await expectAlike({
      unknown: () => refresh(test, party, makeVerifier()),
      'of another application': () => refresh(test, party, refresh_token),
    })
  })

  it('of an access token is the same whether it exists or not', async () => {
    const { access_token } = await obtainTokens(test, await member(), party)
    test.clock.advance(3_600_000)
    await expectAlike({
      unknown: () => userinfo(test, makeVerifier()),
      expired: () => userinfo(test, access_token),
    })
  })

  it('of a revocation or an introspection is nothing', async () => {
    const { access_token } = await obtainTokens(test, await member(), evil)
    const authorization = basic(party.client_id, party.client_secret)
    for (const path of ['/oauth2/revoke', '/oauth2/introspect']) {
      await expectAlike({
        unknown: () => postForm(test, path, { token: makeVerifier() }, { authorization }),
        'of another application': () => postForm(test, path, { token: access_token }, { authorization }),
      })
    }
  })
})
