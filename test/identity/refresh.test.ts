/** POST /oauth2/token with a refresh token: rotation, the end of a family, and replays. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../src/platform/secrets.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, startTestApp, type TestApp } from '../harness/harness.ts'
import {
  authorize,
  makeParty,
  makeVerifier,
  obtainTokens,
  type Party,
  postForm,
  refresh,
  type Tokens,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const DAY_MS = 86_400_000

let test: TestApp
let party: Party

beforeAll(async () => {
  test = await startTestApp()
  party = await makeParty(test)
})
afterAll(() => test.close())

async function freshTokens(parameters = {}, app = party) {
  const person = await makePerson(test)
  return { person, tokens: await obtainTokens(test, await person.signIn(), app, parameters) }
}

function payloadOf(id_token: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(id_token).split('.')[1]!, 'base64url').toString())
}

async function refused(refresh_token: unknown, error = 'invalid_grant', more = {}, app = party) {
  const answer = await withoutWriting(test, () => refresh(test, app, refresh_token, more))
  expect(answer).toMatchObject({ status: 400, body: { error } })
  expect(answer.headers['cache-control']).toBe('no-store')
}

describe('a refresh', () => {
  it('gives a whole new set of tokens, about the same sign-in', async () => {
    const { tokens } = await freshTokens({ nonce: 'n' })
    test.clock.advance(5_000)
    const { status, body } = await refresh(test, party, tokens.refresh_token)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(Object.keys(tokens).sort())
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, scope: 'openid profile' })
    expect(body.access_token).not.toBe(tokens.access_token)
    expect(body.refresh_token).not.toBe(tokens.refresh_token)

    const [before, after] = [payloadOf(tokens.id_token), payloadOf(body.id_token)]
    for (const name of ['iss', 'sub', 'aud', 'auth_time', 'sid']) expect(after[name]).toBe(before[name])
    expect(after.iat).toBe(Number(before.iat) + 5)
    expect(after).not.toHaveProperty('nonce')
  })

  it('leaves the earlier access token alone, and the new one works', async () => {
    const { tokens } = await freshTokens()
    const { body } = await refresh(test, party, tokens.refresh_token)
    expect((await userinfo(test, tokens.access_token)).status).toBe(200)
    expect((await userinfo(test, body.access_token)).status).toBe(200)
  })

  it('tells what the member is now', async () => {
    const { tokens, person } = await freshTokens()
    await test.db.updateTable('users').set({ trust_level: 3 }).where('id', '=', person.id).execute()
    const { body } = await refresh(test, party, tokens.refresh_token)
    expect(payloadOf(body.id_token).groups).toContain('trust_level_3')
  })

  it('may ask for less, for that access token only', async () => {
    const { tokens } = await freshTokens({ scope: 'openid profile email' })
    const narrow = await refresh(test, party, tokens.refresh_token, { scope: 'openid' })
    expect(narrow.body.scope).toBe('openid')
    expect(payloadOf(narrow.body.id_token)).not.toHaveProperty('username')
    const blank = await refresh(test, party, narrow.body.refresh_token, { scope: ' ' })
    expect(blank.body.scope).toBe('openid profile email')
    const wide = await refresh(test, party, blank.body.refresh_token)
    expect(wide.body.scope).toBe('openid profile email')
  })

  it('may not ask for more', async () => {
    const { tokens } = await freshTokens()
    await refused(tokens.refresh_token, 'invalid_scope', { scope: 'openid email' })
    await refused(tokens.refresh_token, 'invalid_scope', { scope: 'openid nonsense' })
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
  })

  it('goes on after the member has signed out', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const tokens = await obtainTokens(test, client, party)
    await client.submit(await client.get('/'), '/sign-out')
    const { body } = await refresh(test, party, tokens.refresh_token)
    expect(payloadOf(body.id_token).sub).toBe(String(person.id))
  })
})

describe('a refresh token', () => {
  it('unknown is refused', () => refused('nothing'))

  it('of another client is refused, and stays good for its own', async () => {
    const { tokens } = await freshTokens()
    const mallory = await makeParty(test)
    await refused(tokens.refresh_token, 'invalid_grant', {}, mallory)
    const { body } = await refresh(test, party, tokens.refresh_token)
    // A replay by another client does not end the family.
    await refused(tokens.refresh_token, 'invalid_grant', {}, mallory)
    expect((await userinfo(test, body.access_token)).status).toBe(200)
  })

  it('is not an access token, and the other way round', async () => {
    const { tokens } = await freshTokens()
    expect((await userinfo(test, tokens.refresh_token)).status).toBe(401)
    await refused(tokens.access_token)
  })

  it('lies idle for at most 14 days', async () => {
    const { tokens } = await freshTokens()
    const { tokens: kept } = await freshTokens()
    test.clock.advance(14 * DAY_MS - 1)
    expect((await refresh(test, party, kept.refresh_token)).status).toBe(200)
    test.clock.advance(1)
    await refused(tokens.refresh_token)
  })

  it('lives on by rotation for at most 30 days', async () => {
    const { tokens } = await freshTokens()
    let { refresh_token } = tokens
    for (const days of [13, 13, 3]) {
      test.clock.advance(days * DAY_MS)
      refresh_token = (await refresh(test, party, refresh_token)).body.refresh_token as string
    }
    test.clock.advance(DAY_MS - 1)
    refresh_token = (await refresh(test, party, refresh_token)).body.refresh_token as string
    expect(refresh_token).toBeTruthy()
    test.clock.advance(1)
    await refused(refresh_token)
  })

  it('used again ends the whole family', async () => {
    const { tokens } = await freshTokens()
    const second = (await refresh(test, party, tokens.refresh_token)).body as Tokens
    const third = (await refresh(test, party, second.refresh_token)).body as Tokens

    const replay = await refresh(test, party, tokens.refresh_token)
    expect(replay).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    await refused(third.refresh_token)
    for (const { access_token } of [tokens, second, third]) {
      expect((await userinfo(test, access_token)).status).toBe(401)
    }
    const trace = await test.db
      .selectFrom('audit_log')
      .where('subject', '=', party.client_id)
      .where('action', '=', 'oauth_grant.revoked')
      .select('detail')
      .execute()
    expect(trace.at(-1)?.detail).toMatchObject({ reason: 'refresh token replayed' })
  })

  it('used again leaves the member’s other families alone', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const one = await obtainTokens(test, client, party)
    const two = await obtainTokens(test, client, party)
    await refresh(test, party, one.refresh_token)
    await refresh(test, party, one.refresh_token)
    expect((await userinfo(test, two.access_token)).status).toBe(200)
    expect((await refresh(test, party, two.refresh_token)).status).toBe(200)
  })

  it('used ten times at once succeeds exactly once', async () => {
    const { tokens } = await freshTokens()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => refresh(test, party, tokens.refresh_token)),
    )
    const statuses = answers.map((answer) => answer.status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 400)])
    const won = answers.find((answer) => answer.status === 200)
    // The others were replays, so the family of the first ended with them.
    expect((await userinfo(test, won?.body.access_token)).status).toBe(401)
  })
})

describe('refreshing without end', () => {
  /** Refreshes one token after another, and returns the newest. */
  async function refreshTimes(count: number, refresh_token: string): Promise<string> {
    let token = refresh_token
    for (let n = 0; n < count; n += 1) {
      const { status, body } = await refresh(test, party, token)
      expect(status).toBe(200)
      token = body.refresh_token as string
    }
    return token
  }
  const familyOf = (refresh_token: string) =>
    test.db
      .selectFrom('refresh_tokens')
      .where('token_hash', '=', sha256(refresh_token))
      .select('grant_id')
      .executeTakeFirstOrThrow()
  const readFamily = (id: bigint) =>
    test.db.selectFrom('grants').where('id', '=', id).select('revoked_at').executeTakeFirstOrThrow()

  it('stops at the grant’s limit, spends nothing, and continues a minute later', async () => {
    const { tokens, person } = await freshTokens()
    const last = await refreshTimes(100, tokens.refresh_token)
    const tooMany = await withoutWriting(test, () => refresh(test, party, last))
    expect(tooMany).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
    expect(tooMany.headers['retry-after']).toBe('60')
    // The member's other grants have their own limits, and a replay is still recognised.
    const other = await obtainTokens(test, await person.signIn(), party)
    expect((await refresh(test, party, other.refresh_token)).status).toBe(200)

    test.clock.advance(60_000)
    const next = await refreshTimes(1, last)
    expect((await refresh(test, party, next)).status).toBe(429)
    expect((await refresh(test, party, last)).body.error).toBe('invalid_grant')
    expect((await refresh(test, party, next)).body.error).toBe('invalid_grant')
  })

  it('leaves the limit to the setting, and 0 is none', async () => {
    const { tokens } = await freshTokens()
    await setSetting(test, 'limit_refreshes', '2')
    const last = await refreshTimes(2, tokens.refresh_token)
    expect((await refresh(test, party, last)).status).toBe(429)
    await setSetting(test, 'limit_refreshes', '0')
    await refreshTimes(3, last)
    await setSetting(test, 'limit_refreshes', '100')
  })

  it('keeps a family’s newest 200 spent tokens, and ends it by any', async () => {
    await setSetting(test, 'limit_refreshes', '0')
    const { tokens } = await freshTokens()
    const { grant_id } = await familyOf(tokens.refresh_token)
    const early = await refreshTimes(59, tokens.refresh_token)
    const kept = await refreshTimes(1, early)
    const newest = await refreshTimes(200, kept)
    await setSetting(test, 'limit_refreshes', '100')

    const rows = await test.db
      .selectFrom('refresh_tokens')
      .where('grant_id', '=', grant_id)
      .select('id')
      .execute()
    expect(rows).toHaveLength(201)
    await refused(early)
    expect((await readFamily(grant_id)).revoked_at).toBeNull()
    expect((await refresh(test, party, kept)).body.error).toBe('invalid_grant')
    expect((await readFamily(grant_id)).revoked_at).not.toBeNull()
    await refused(newest)
  })
})

describe('a member who may not come in any more', () => {
  it('when suspended gets nothing until the suspension ends', async () => {
    const { tokens, person } = await freshTokens()
    const suspended_till = new Date(test.clock.now().getTime() + DAY_MS)
    await test.db.updateTable('users').set({ suspended_till }).where('id', '=', person.id).execute()
    await refused(tokens.refresh_token)
    test.clock.advance(DAY_MS)
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
  })

  it('when out of the allowed groups loses the family', async () => {
    const app = await makeParty(test, { allow_groups: ['trust_level_2'] })
    const { tokens, person } = await freshTokens({}, app)
    const level = (trust_level: number) =>
      test.db.updateTable('users').set({ trust_level }).where('id', '=', person.id).execute()
    await level(1)
    const answer = await refresh(test, app, tokens.refresh_token)
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await userinfo(test, tokens.access_token)).status).toBe(401)
    await level(2)
    await refused(tokens.refresh_token, 'invalid_grant', {}, app)
  })

  it('when in a denied group loses the family', async () => {
    const app = await makeParty(test, { deny_groups: ['Newcomers'] })
    const { tokens, person } = await freshTokens({}, app)
    await test.db.insertInto('user_groups').values({ user_id: person.id, name: 'newcomers' }).execute()
    expect((await refresh(test, app, tokens.refresh_token)).body.error).toBe('invalid_grant')
  })
})

describe('a refresh token whose answer was lost', () => {
  const setGrace = (seconds: number) => setSetting(test, 'refresh_grace_seconds', String(seconds))
  beforeAll(() => setGrace(10))
  afterAll(() => setGrace(0))

  it('may be used again for seconds, once, and spends what was lost', async () => {
    const { tokens } = await freshTokens()
    const lost = await refresh(test, party, tokens.refresh_token)
    test.clock.advance(5_000)
    const heard = await refresh(test, party, tokens.refresh_token)
    expect(heard.status).toBe(200)
    expect((await refresh(test, party, heard.body.refresh_token)).status).toBe(200)
    // The third request finds its token used, so it comes from a thief or from a faulty client.
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(400)
    expect((await userinfo(test, heard.body.access_token)).status).toBe(401)
    expect((await refresh(test, party, lost.body.refresh_token)).status).toBe(400)
  })

  it.each([
    ['the seconds are over', 10_001, false],
    ['the new one has been used', 0, true],
  ])('ends the family when %s', async (_, wait_ms, isHeard) => {
    const { tokens } = await freshTokens()
    const next = await refresh(test, party, tokens.refresh_token)
    if (isHeard) await refresh(test, party, next.body.refresh_token)
    test.clock.advance(wait_ms)
    expect((await refresh(test, party, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await userinfo(test, next.body.access_token)).status).toBe(401)
  })

  it('is worth nothing to another client', async () => {
    const { tokens } = await freshTokens()
    await refresh(test, party, tokens.refresh_token)
    await refused(tokens.refresh_token, 'invalid_grant', {}, await makeParty(test))
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
  })

  it('ends the family of an application without a secret', async () => {
    const open = await makeParty(test, { token_endpoint_auth_method: 'none' })
    const { client_id, redirect_uri } = open
    const ask = (fields: Record<string, unknown>) =>
      postForm(test, '/oauth2/token', { client_id, ...(fields as Record<string, string>) })
    const code_verifier = makeVerifier()
    const code_challenge = sha256(code_verifier).toString('base64url')
    const client = await (await makePerson(test)).signIn()
    const { code } = await authorize(client, open, { code_challenge, code_challenge_method: 'S256' })
    const { body } = await ask({ grant_type: 'authorization_code', code, redirect_uri, code_verifier })
    const again = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    const statuses = [await ask(again), await ask(again), await userinfo(test, body.access_token)]
    expect(statuses.map(({ status }) => status)).toEqual([200, 400, 401])
  })
})
