/**
 * POST /oauth2/token with a code: the authentication of the client, the binding of a code, and its single use.
 * spec/sign-in 2.1, 2.2, 2.3 and 2.4.
 */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { issueCode } from '../../src/identity/grants/codes.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { changePerson, makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { rowsOf } from '../harness/rows.ts'
import {
  authorize,
  basic,
  claimsOf,
  exchange,
  makeParty,
  makeVerifier,
  obtainTokens,
  pkce,
  postForm,
  REDIRECT_URI,
  redeem,
  refresh,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const OTHER_URI = 'https://app.example/other'

const test = await useTestApp()
const party = await makeParty(test, { redirect_uris: [REDIRECT_URI, OTHER_URI] })

/** A fresh code and its member. */
async function freshCode(parameters: Record<string, string | undefined> = {}, app = party) {
  const person = await makePerson(test)
  const { code } = await authorize(await person.signIn(), app, parameters)
  return { code: code!, person }
}

/** A refused exchange changes nothing, not even the code: the right request still succeeds. */
async function refusedExchange(code: string, wrong: Record<string, string | undefined>, right = {}) {
  const answer = await withoutWriting(test, () => exchange(test, party, code, wrong))
  expect((await exchange(test, party, code, right)).status).toBe(200)
  return answer
}

describe('the answer', () => {
  it('has exactly the six members, and is never stored', async () => {
    const { code } = await freshCode()
    const answer = await exchange(test, party, code)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
      id_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      scope: 'openid profile',
    })
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers.pragma).toBe('no-cache')
  })

  it('is the same under the other address', async () => {
    const { code } = await freshCode()
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }
    const authorization = basic(party.client_id, party.client_secret)
    const answer = await postForm(test, '/oauth-provider/token', fields, { authorization })
    expect(answer.status).toBe(200)
  })
})

describe('the client', () => {
  it('may form-encode the two halves of the header, as RFC 6749 says', async () => {
    const { code } = await freshCode()
    const encoded = party.client_secret.replace(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`)
    const authorization = basic(party.client_id, encoded)
    const answer = await redeem(
      test,
      party,
      { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI },
      { authorization },
    )
    expect(answer.status).toBe(200)
  })

  it('may leave out the padding of its header', async () => {
    const { client_id, client_secret } = party
    // The same client with another length, so that one of the two has padding.
    const longer = `%${client_id.charCodeAt(0).toString(16)}${client_id.slice(1)}`
    const padded = [client_id, longer]
      .map((id) => basic(id, client_secret))
      .find((header) => header.endsWith('='))
    const { code } = await freshCode()
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }
    const answer = await redeem(test, party, fields, { authorization: padded!.replace(/=+$/, '') })
    expect(answer.status).toBe(200)
  })

  const wrongHeaders: Record<string, () => string> = {
    'a wrong secret': () => basic(party.client_id, 'wrong'),
    'an unknown client': () => basic('nobody', party.client_secret),
    'an empty secret': () => basic(party.client_id, ''),
    'no colon': () => `Basic ${Buffer.from('nothing').toString('base64')}`,
    'no base64': () => 'Basic ???',
    'base64 with rubbish in it': () => `${basic(party.client_id, party.client_secret)}!`,
    'a broken percent': () => basic(party.client_id, '%zz'),
    'a NUL': () => basic('%00', 'x'),
    'another scheme': () => 'Bearer something',
    nothing: () => 'Basic',
  }

  it('is not believed with another header, and spends no code by it', async () => {
    const { code } = await freshCode()
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }
    for (const [what, authorization] of Object.entries(wrongHeaders)) {
      const { status, body, headers } = await withoutWriting(test, () =>
        redeem(test, party, fields, { authorization: authorization() }),
      )
      expect([what, status, body.error]).toEqual([what, 401, 'invalid_client'])
      expect(headers['www-authenticate']).toMatch(/^Basic realm="/)
    }
    expect((await redeem(test, party, fields)).status).toBe(200)
  })

  it.each([{}, { client_id: 'x' }, { client_secret: 'x' }])('must name itself: %o', async (fields) => {
    const answer = await postForm(test, '/oauth2/token', { grant_type: 'authorization_code', ...fields })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })

  it('is believed with any live secret, and no expired one', async () => {
    const app = await makeParty(test)
    const hash = (secret: string) => createHash('sha256').update(secret).digest()
    const in_a_minute = new Date(test.clock.now().getTime() + 60_000)
    await test.db
      .insertInto('app_secrets')
      .values({ app_id: app.id, secret_hash: hash('second'), expires_at: in_a_minute })
      .execute()
    const attempt = (client_secret: string) =>
      redeem(test, { ...app, client_secret }, { grant_type: 'authorization_code', code: 'x' })
    expect((await attempt(app.client_secret)).body.error).toBe('invalid_grant')
    expect((await attempt('second')).body.error).toBe('invalid_grant')
    test.clock.advance(60_001)
    expect((await attempt('second')).body.error).toBe('invalid_client')
  })
})

describe('the request', () => {
  it('without a body is an invalid_request', async () => {
    const response = await test.app.inject({ method: 'POST', url: '/oauth2/token' })
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toBe('invalid_request')
  })

  it.each([
    [{}, 'invalid_request'],
    [{ grant_type: '' }, 'invalid_request'],
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
    [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    [{ grant_type: 'authorization_code' }, 'invalid_request'],
    [{ grant_type: 'refresh_token' }, 'invalid_request'],
  ])('%o is %s', async (fields, error) => {
    const answer = await withoutWriting(test, () => redeem(test, party, fields))
    expect(answer).toMatchObject({ status: 400, body: { error } })
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it('with a parameter twice is an invalid_request', async () => {
    const { code } = await freshCode()
    const fields = `grant_type=authorization_code&code=${code}&code=${code}&redirect_uri=${REDIRECT_URI}`
    const authorization = basic(party.client_id, party.client_secret)
    const answer = await withoutWriting(test, () =>
      postForm(test, '/oauth2/token', fields, { authorization }),
    )
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  it('may carry parameters that mean nothing here', async () => {
    const { code } = await freshCode()
    expect((await exchange(test, party, code, { scope: 'openid', foo: 'bar' })).status).toBe(200)
  })
})

describe('a code', () => {
  it('is good for 60 seconds', async () => {
    const { code } = await freshCode()
    const { code: late } = await freshCode()
    test.clock.advance(59_999)
    expect((await exchange(test, party, code)).status).toBe(200)
    test.clock.advance(1)
    const answer = await withoutWriting(test, () => exchange(test, party, late))
    expect(answer.body.error).toBe('invalid_grant')
  })

  it('works for the client it was issued to', async () => {
    const { code } = await freshCode()
    const mallory = await makeParty(test)
    const answer = await withoutWriting(test, () => exchange(test, mallory, code))
    expect(answer.body.error).toBe('invalid_grant')
    expect((await exchange(test, party, code)).status).toBe(200)
  })

  it('needs the redirect_uri that was used', async () => {
    const other = await refusedExchange((await freshCode()).code, { redirect_uri: OTHER_URI })
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const missing = await refusedExchange((await freshCode()).code, { redirect_uri: undefined })
    expect(missing.body.error).toBe('invalid_grant')
  })

  it('needs no redirect_uri when the authorization request carried none', async () => {
    const single = await makeParty(test)
    const first = await freshCode({ redirect_uri: undefined }, single)
    expect((await exchange(test, single, first.code, { redirect_uri: undefined })).status).toBe(200)
    const second = await freshCode({ redirect_uri: undefined }, single)
    expect((await exchange(test, single, second.code)).status).toBe(200)
  })

  it('with a challenge needs its verifier', async () => {
    const code_verifier = makeVerifier()
    const { code_challenge } = pkce(code_verifier)
    const issued = () => freshCode(pkce(code_verifier))
    for (const wrong of [undefined, '', makeVerifier(), code_challenge, 'short', `${code_verifier}\u00e9`]) {
      const { code } = await issued()
      const answer = await refusedExchange(code, { code_verifier: wrong }, { code_verifier })
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    }
  })

  it('without a challenge takes no verifier', async () => {
    const { code } = await freshCode()
    const answer = await refusedExchange(code, { code_verifier: makeVerifier() })
    expect(answer.body.error).toBe('invalid_grant')
  })

  it('of a member banned meanwhile is worthless, and not spent', async () => {
    const { code, person } = await freshCode()
    const ban = (is_banned: boolean) => changePerson(test, person, { is_banned })
    await ban(true)
    const answer = await withoutWriting(test, () => exchange(test, party, code))
    expect(answer.body.error).toBe('invalid_grant')
    await ban(false)
    expect((await exchange(test, party, code)).status).toBe(200)
  })

  it('replayed by another client harms nobody', async () => {
    const { code } = await freshCode()
    const { body } = await exchange(test, party, code)
    const mallory = await makeParty(test)
    await withoutWriting(test, () => exchange(test, mallory, code))
    expect((await userinfo(test, body.access_token)).status).toBe(200)
  })

  it('redeemed twenty times at once succeeds once, and replays revoke it', async () => {
    const { code } = await freshCode()
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(test, party, code)))
    const [won, ...others] = answers.sort((a, b) => a.status - b.status)
    expect(won?.status).toBe(200)
    for (const lost of others) expect(lost).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await userinfo(test, won?.body.access_token)).status).toBe(401)
    expect((await refresh(test, party, won?.body.refresh_token)).body.error).toBe('invalid_grant')
    const subject = party.client_id
    const trail = await rowsOf(test, 'audit_log', { action: 'oauth_grant.revoked', subject })
    expect(trail.at(-1)?.detail).toMatchObject({ reason: 'code replayed' })
  })

  describe('whose session ends', () => {
    /**
     * Ends the session, and then begins the other act, while another transaction holds the session. The act must wait for it
     * before it locks a code, because the end of the session locks its codes next.
     */
    async function whileEnding<T>(session_id: bigint, codes: number, act: () => Promise<T>): Promise<T> {
      const { ended, done } = await test.db.transaction().execute(async (tx) => {
        await tx.selectFrom('sessions').where('id', '=', session_id).select('id').forUpdate().execute()
        const ended = test.db.deleteFrom('sessions').where('id', '=', session_id).execute()
        await untilBlocked(tx)
        const done = act()
        await untilBlocked(tx, 2)
        const free = tx.selectFrom('authorization_codes').where('session_id', '=', session_id).select('id')
        expect(await free.forUpdate().skipLocked().execute()).toHaveLength(codes)
        return { ended, done }
      })
      await ended
      return done
    }

    it('at once is issued and exchanged, and names no session', async () => {
      const { id: user_id, signIn } = await makePerson(test)
      const sessionId = async () => {
        await signIn()
        const sessions = test.db.selectFrom('sessions').where('user_id', '=', user_id).select('id')
        return (await sessions.orderBy('id', 'desc').executeTakeFirstOrThrow()).id
      }
      const now = test.clock.now()
      const issue = (session_id: bigint) =>
        issueCode(test.db, {
          ...{ app_id: party.id, user_id, session_id, scopes: ['openid'], now },
          ...{ redirect_uri: REDIRECT_URI, redirect_uri_sent: true, resource_app_id: null, mandate_id: null },
          ...{ nonce: undefined, code_challenge: undefined, auth_time: now, amr: ['pwd'] },
        })
      const [one, two] = [await sessionId(), await sessionId()]
      const issued = await whileEnding(one, 0, () => issue(one))
      const code = await issue(two)
      const exchanged = await whileEnding(two, 1, () => exchange(test, party, code))
      for (const { status, body } of [exchanged, await exchange(test, party, issued)]) {
        expect(status).toBe(200)
        expect(claimsOf(body.id_token)).not.toHaveProperty('sid')
      }
    })
  })
})

describe('the ID token', () => {
  it('with bare openid says who signed in, how and when only', async () => {
    const person = await makePerson(test, { name: 'Alice', email: 'a@example.org' })
    const client = await person.signIn()
    const signedIn = Math.floor(test.clock.now().getTime() / 1000)
    test.clock.advance(7_000)
    const tokens = await obtainTokens(test, client, party, { scope: 'openid', nonce: 'a nonce' })
    const iat = signedIn + 7
    const half = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16)
    expect(claimsOf(tokens.id_token)).toEqual({
      iss: test.url,
      sub: String(person.id),
      aud: party.client_id,
      iat,
      exp: iat + 3_600,
      auth_time: signedIn,
      nonce: 'a nonce',
      at_hash: half.toString('base64url'),
      sid: expect.any(String),
      amr: ['pwd'],
      acr: 'urn:tessera:acr:1fa',
    })
  })

  it('with profile carries the profile', async () => {
    const known = await makePerson(test, { name: 'Alice', email: 'a@example.org', groups: ['Crew'] })
    await changePerson(test, known, { avatar_url: 'https://forum.example/a.png', email_verified: true })
    const full = claimsOf((await obtainTokens(test, await known.signIn(), party)).id_token)
    expect(full).toMatchObject({
      username: known.username,
      preferred_username: known.username,
      name: 'Alice',
      picture: 'https://forum.example/a.png',
      groups: ['trust_level_0', 'trust_level_1', 'trust_level_2', 'Crew'],
      trust_level: 2,
      email: 'a@example.org',
      email_verified: true,
    })
  })

  it.each([
    ['openid', []],
    ['openid email', ['email', 'email_verified']],
    ['openid groups', ['groups']],
    ['groups email', ['email', 'email_verified', 'groups']],
    ['openid profile', ['email', 'email_verified', 'groups', 'username']],
  ])('has the claims of %s', async (scope, expected) => {
    const person = await makePerson(test, { email: 'a@example.org' })
    await changePerson(test, person, { email_verified: true })
    const { id_token } = await obtainTokens(test, await person.signIn(), party, { scope })
    const known = ['email', 'email_verified', 'groups', 'username']
    expect(known.filter((name) => name in claimsOf(id_token))).toEqual(expected)
  })

  it('names the session alike for all applications, without giving its cookie away', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const other = await makeParty(test)
    const first = claimsOf((await obtainTokens(test, client, party)).id_token).sid
    const second = claimsOf((await obtainTokens(test, client, other)).id_token).sid
    expect(first).toBe(second)
    expect([...client.cookies.values()]).not.toContain(first)
    const elsewhere = await person.signIn()
    expect(claimsOf((await obtainTokens(test, elsewhere, party)).id_token).sid).not.toBe(first)
  })
})
