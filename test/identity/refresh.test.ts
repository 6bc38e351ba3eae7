/**
 * POST /oauth2/token with a refresh token: rotation, the end of a family, and replays.
 * spec/sign-in 2.5 and 1.3.
 */
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { json } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeSecrets, sha256 } from '../../src/platform/secrets.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { changePerson, joinGroup, makePerson } from '../harness/cast.ts'
import { APP_SECRET } from '../harness/global-setup.ts'
import { anotherProcess, setSetting, useTestApp } from '../harness/harness.ts'
import { lockRows, rowOf, rowsOf } from '../harness/rows.ts'
import { until } from '../harness/waiting.ts'
import {
  type Answer,
  authorize,
  claimsOf,
  exchangePublic,
  makeParty,
  makeVerifier,
  obtainTokens,
  type Party,
  pkce,
  postForm,
  refresh,
  type Tokens,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const DAY_MS = 86_400_000
/** How long a lost answer may be asked for again. */
const GRACE_MS = 30_000

/** The newest spent tokens that a family keeps. */
const SPENT_TOKENS_KEPT = 200

const test = await useTestApp()
const party = await makeParty(test)

async function freshTokens(parameters = {}, app = party) {
  const person = await makePerson(test)
  return { person, tokens: await obtainTokens(test, await person.signIn(), app, parameters) }
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

    const [before, after] = [claimsOf(tokens.id_token), claimsOf(body.id_token)]
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
    await changePerson(test, person, { trust_level: 3 })
    const { body } = await refresh(test, party, tokens.refresh_token)
    expect(claimsOf(body.id_token).groups).toContain('trust_level_3')
  })

  it('may ask for less, for that access token only', async () => {
    const { tokens } = await freshTokens({ scope: 'openid profile email' })
    const narrow = await refresh(test, party, tokens.refresh_token, { scope: 'openid' })
    expect(narrow.body.scope).toBe('openid')
    expect(claimsOf(narrow.body.id_token)).not.toHaveProperty('username')
    const blank = await refresh(test, party, narrow.body.refresh_token, { scope: ' ' })
    expect(blank.body.scope).toBe('openid profile email')
    const wide = await refresh(test, party, blank.body.refresh_token)
    expect(wide.body.scope).toBe('openid profile email')
  })

  it('may name scopes that nobody knows, as an authorization request may', async () => {
    const { tokens } = await freshTokens({ scope: 'openid email roles' })
    const some = await refresh(test, party, tokens.refresh_token, { scope: 'openid roles' })
    expect(some.body.scope).toBe('openid')
    const none = await refresh(test, party, some.body.refresh_token, { scope: 'roles' })
    expect(none.body.scope).toBe('openid email')
  })

  it('may not ask for more', async () => {
    const { tokens } = await freshTokens()
    await refused(tokens.refresh_token, 'invalid_scope', { scope: 'openid email' })
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
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
    const subject = party.client_id
    const trail = await rowsOf(test, 'audit_log', { action: 'oauth_grant.revoked', subject })
    expect(trail.at(-1)?.detail).toMatchObject({ reason: 'refresh token replayed' })
  })

  it('used again leaves the member’s other families alone', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const one = await obtainTokens(test, client, party)
    const two = await obtainTokens(test, client, party)
    await refresh(test, party, one.refresh_token)
    test.clock.advance(GRACE_MS)
    expect((await refresh(test, party, one.refresh_token)).status).toBe(400)
    expect((await userinfo(test, two.access_token)).status).toBe(200)
    expect((await refresh(test, party, two.refresh_token)).status).toBe(200)
  })
})

describe('refreshes that come at once', () => {
  const openClient = () => makeParty(test, { token_endpoint_auth_method: 'none' })

  /** The tokens of a sign-in to an application without a secret. */
  async function publicTokens(app: Party): Promise<Tokens> {
    const code_verifier = makeVerifier()
    const { code } = await authorize(await (await makePerson(test)).signIn(), app, pkce(code_verifier))
    return (await exchangePublic(test, app, code, { code_verifier })).body as Tokens
  }

  const send = (app: Party, refresh_token: unknown, process = test) =>
    app.client_secret === ''
      ? postForm(process, '/oauth2/token', {
          grant_type: 'refresh_token',
          client_id: app.client_id,
          refresh_token: String(refresh_token),
        })
      : refresh(process, app, refresh_token)

  /** Sends requests while another transaction holds the token. */
  async function atOnce(refresh_token: string, requests: (() => Promise<Answer>)[]) {
    return test.db.transaction().execute(async (tx) => {
      await lockRows(tx, 'refresh_tokens', { token_hash: sha256(refresh_token) })
      const answers = Promise.all(requests.map((request) => request()))
      await untilBlocked(tx)
      return { answers }
    })
  }

  function expectOneSuccessor(answers: Answer[]): string {
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(answers.length)
    return answers[0]!.body.refresh_token as string
  }

  it.each([
    ['confidential', () => makeParty(test)],
    ['public', openClient],
  ])('get one refresh token in two processes, and an access token each: %s', async (kind, makeApp) => {
    const app = await makeApp()
    const tokens = kind === 'public' ? await publicTokens(app) : (await freshTokens({}, app)).tokens
    const other = await anotherProcess(test)
    try {
      const sends = [test, other, test, other].map(
        (process) => () => send(app, tokens.refresh_token, process),
      )
      const answers = await (await atOnce(tokens.refresh_token, sends)).answers
      const next = expectOneSuccessor(answers)
      for (const { body } of answers) expect((await userinfo(test, body.access_token)).status).toBe(200)
      expect((await send(app, next, other)).status).toBe(200)
    } finally {
      await other.close()
    }
  })

  it('agree while processes have different secrets, during a change of APP_SECRET', async () => {
    const { tokens } = await freshTokens()
    const secrets = makeSecrets('another secret of at least 32 characters', APP_SECRET)
    const withNew = await anotherProcess(test, { secrets })
    const both = await anotherProcess(test, {
      secrets: makeSecrets(APP_SECRET, 'another secret of at least 32 characters'),
    })
    try {
      const sends = [withNew, both, withNew].map(
        (process) => () => refresh(process, party, tokens.refresh_token),
      )
      const answers = await (await atOnce(tokens.refresh_token, sends)).answers
      const next = expectOneSuccessor(answers)
      expect((await refresh(both, party, next)).status).toBe(200)
    } finally {
      await withNew.close()
      await both.close()
    }
  })

  it('get the successor ten times again, then 429, which ends nothing', async () => {
    const { tokens } = await freshTokens()
    const sends = Array.from({ length: 14 }, () => () => refresh(test, party, tokens.refresh_token))
    const answers = await (await atOnce(tokens.refresh_token, sends)).answers
    const next = expectOneSuccessor(answers.filter(({ status }) => status === 200))
    const late = answers.filter(({ status }) => status !== 200)
    expect(late).toHaveLength(3)
    for (const answer of late) {
      expect(answer).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
      expect(answer.headers['retry-after']).toBe('60')
    }
    expect((await refresh(test, party, next)).status).toBe(200)
  })

  it('keep their own scopes, and none gets more than was granted', async () => {
    const { tokens } = await freshTokens()
    const sends = [{}, { scope: 'openid' }, { scope: 'openid email' }].map(
      (more) => () => refresh(test, party, tokens.refresh_token, more),
    )
    const [whole, narrow, wide] = await (await atOnce(tokens.refresh_token, sends)).answers
    expect([whole!.body.scope, narrow!.body.scope]).toEqual(['openid profile', 'openid'])
    expect(wide).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    const next = expectOneSuccessor([whole!, narrow!])
    expect((await refresh(test, party, next)).status).toBe(200)
  })

  it('of another client are no part of it', async () => {
    const { tokens } = await freshTokens()
    const mallory = await makeParty(test)
    const sends = [party, mallory, party].map((app) => () => refresh(test, app, tokens.refresh_token))
    const [one, foreign, two] = await (await atOnce(tokens.refresh_token, sends)).answers
    expect(foreign).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expectOneSuccessor([one!, two!])
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

  it('stops at the grant’s limit, spends nothing, and continues a minute later', async () => {
    const { tokens, person } = await freshTokens()
    expect((await test.deps.settings.read()).limit_refreshes).toBe(100)
    await setSetting(test, 'limit_refreshes', '3')
    const last = await refreshTimes(3, tokens.refresh_token)
    const tooMany = await withoutWriting(test, () => refresh(test, party, last))
    expect(tooMany).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
    expect(tooMany.headers['retry-after']).toBe('60')
    // The member's other grants have their own limits, and a replay is still recognised.
    const other = await obtainTokens(test, await person.signIn(), party)
    expect((await refresh(test, party, other.refresh_token)).status).toBe(200)

    test.clock.advance(60_000)
    const next = await refreshTimes(1, last)
    expect((await refresh(test, party, next)).status).toBe(429)
    test.clock.advance(GRACE_MS)
    expect((await refresh(test, party, last)).body.error).toBe('invalid_grant')
    expect((await refresh(test, party, next)).body.error).toBe('invalid_grant')
    await setSetting(test, 'limit_refreshes', '100')
  })

  it('keeps a family’s newest 200 spent tokens, and ends it by any', async () => {
    await setSetting(test, 'limit_refreshes', '0')
    const { tokens } = await freshTokens()
    const { grant_id } = await rowOf(test, 'refresh_tokens', { token_hash: sha256(tokens.refresh_token) })
    const revokedAt = async () => (await rowOf(test, 'grants', { id: grant_id })).revoked_at
    const early = await refreshTimes(59, tokens.refresh_token)
    const kept = await refreshTimes(1, early)
    const newest = await refreshTimes(SPENT_TOKENS_KEPT, kept)
    await setSetting(test, 'limit_refreshes', '100')

    expect(await rowsOf(test, 'refresh_tokens', { grant_id })).toHaveLength(SPENT_TOKENS_KEPT + 1)
    await refused(early)
    expect(await revokedAt()).toBeNull()
    expect((await refresh(test, party, kept)).body.error).toBe('invalid_grant')
    expect(await revokedAt()).not.toBeNull()
    await refused(newest)
  })
})

describe('a member who may not come in any more', () => {
  it('when suspended gets nothing until the suspension ends', async () => {
    const { tokens, person } = await freshTokens()
    const suspended_till = new Date(test.clock.now().getTime() + DAY_MS)
    await changePerson(test, person, { suspended_till })
    await refused(tokens.refresh_token)
    test.clock.advance(DAY_MS)
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
  })

  it('when out of the allowed groups loses the family', async () => {
    const app = await makeParty(test, { allow_groups: ['trust_level_2'] })
    const { tokens, person } = await freshTokens({}, app)
    const level = (trust_level: number) => changePerson(test, person, { trust_level })
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
    await joinGroup(test, person.id, 'newcomers')
    expect((await refresh(test, app, tokens.refresh_token)).body.error).toBe('invalid_grant')
  })
})

describe('a refresh token whose answer was lost', () => {
  it('may be used again for half a minute, and gets what was lost', async () => {
    const { tokens } = await freshTokens()
    const lost = await refresh(test, party, tokens.refresh_token)
    test.clock.advance(GRACE_MS - 1)
    const heard = await refresh(test, party, tokens.refresh_token)
    expect(heard.status).toBe(200)
    expect(heard.body.refresh_token).toBe(lost.body.refresh_token)
    expect(heard.body.access_token).not.toBe(lost.body.access_token)
    expect((await refresh(test, party, heard.body.refresh_token)).status).toBe(200)
    // The successor is used, so this request comes from a thief or from a faulty client.
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(400)
    expect((await userinfo(test, heard.body.access_token)).status).toBe(401)
  })

  it('ends the family when the half minute is over', async () => {
    const { tokens } = await freshTokens()
    const next = await refresh(test, party, tokens.refresh_token)
    test.clock.advance(GRACE_MS)
    expect((await refresh(test, party, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await userinfo(test, next.body.access_token)).status).toBe(401)
  })

  it('may not be used again where the site sets no time for it', async () => {
    await setSetting(test, 'refresh_grace_seconds', '0')
    try {
      const { tokens } = await freshTokens()
      const next = await refresh(test, party, tokens.refresh_token)
      expect((await refresh(test, party, tokens.refresh_token)).body.error).toBe('invalid_grant')
      await refused(next.body.refresh_token)
    } finally {
      await setSetting(test, 'refresh_grace_seconds', '30')
    }
  })
})

describe('over sockets of their own', () => {
  let address: URL
  beforeAll(async () => {
    address = new URL('/oauth2/token', await test.app.listen({ port: 0, host: '127.0.0.1' }))
  })

  /** Begins a refresh on a new connection. */
  function beginFresh(refresh_token: string) {
    const { client_id, client_secret } = party
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = httpRequest(address, { method: 'POST', agent: false, headers })
    request.end(
      `${new URLSearchParams({ grant_type: 'refresh_token', client_id, client_secret, refresh_token })}`,
    )
    return request
  }

  async function sendFresh(refresh_token: string): Promise<Tokens> {
    const [response] = await once(beginFresh(refresh_token), 'response')
    return (await json(response)) as Tokens
  }

  it('one that is cut off before its answer may be sent again', async () => {
    const { tokens } = await freshTokens()
    const row = { token_hash: sha256(tokens.refresh_token) }
    await test.db.transaction().execute(async (tx) => {
      await lockRows(tx, 'refresh_tokens', row)
      const cut = beginFresh(tokens.refresh_token)
      await untilBlocked(tx)
      cut.socket!.resetAndDestroy()
      await once(cut, 'error')
    })
    await until(async () => (await rowOf(test, 'refresh_tokens', row)).used_at !== null)
    const again = await sendFresh(tokens.refresh_token)
    expect((await sendFresh(again.refresh_token)).access_token).toBeDefined()
  })
})
