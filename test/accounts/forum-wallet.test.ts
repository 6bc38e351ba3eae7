/** GET /forum/wallet.json: each case in its order, with its exact headers, and the member's switch. spec/accounts 5.9. */
import { beforeEach, describe, expect, it } from 'vitest'
import { openMetrics } from '../../src/core/metrics.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { type Browser, setSetting } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf, setRows } from '../harness/rows.ts'

const world = await useForumWorld()
const { forum, test } = world
const metrics = await openMetrics({ ...test.deps, config: { ...test.deps.config, METRICS_PORT: 9464 } })
const PATH = '/forum/wallet.json'
const CORS = ['access-control-allow-origin', 'access-control-allow-credentials']

async function joined() {
  const member = forum.join()
  const client = await world.signIn(member)
  const { id } = await world.userOf(member)
  return { member, client, id }
}

/** Asks as a page of the forum does. */
async function ask({
  client,
  origin = forum.url,
  query = {},
  method = 'GET' as 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'DELETE',
}: {
  client?: Browser
  origin?: string | undefined
  query?: Record<string, string>
  method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'DELETE'
}) {
  const answer = await test.app.inject({
    method,
    url: `${PATH}?${new URLSearchParams(query)}`,
    headers: { ...(origin && { origin }), ...(client && { cookie: cookieHeader(client) }) },
  })
  const { statusCode: status, headers, body } = answer
  expect(headers).toMatchObject({
    vary: expect.stringMatching(/^Origin$/i),
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-site',
    'x-content-type-options': 'nosniff',
  })
  expect(headers['set-cookie']).toBeUndefined()
  const cors = CORS.map((name) => headers[name])
  return { status, headers, cors, body: body === '' ? undefined : JSON.parse(body) }
}
const OPEN = [forum.url, 'true']
const CLOSED = [undefined, undefined]

beforeEach(() => setSetting(test, 'forum_wallet', 'on'))

describe('an answer', () => {
  it('is 404 while the setting is off, for every caller', async () => {
    await setSetting(test, 'forum_wallet', 'off')
    const { client } = await joined()
    for (const origin of [forum.url, 'https://evil.example'])
      expect(await ask({ client, origin })).toMatchObject({
        status: 404,
        cors: CLOSED,
        body: { error: 'not_found' },
      })
  })

  it.each([
    ['absent', ''],
    ['null', 'null'],
    ['a sibling', forum.url.replace('127.0.0.1', 'sibling.127.0.0.1')],
    ['another port', 'http://127.0.0.1:1'],
    ['the forum over https', forum.url.replace('http:', 'https:')],
    ['the forum in capitals with a slash', `${forum.url}/`],
    ['this service', 'http://localhost'],
  ])('is 403 without CORS to an Origin that is %s', async (_, origin) => {
    const { client, member } = await joined()
    const query = { forum_id: String(member.id) }
    expect(await ask({ client, origin, query })).toMatchObject({
      status: 403,
      cors: CLOSED,
      body: { error: 'origin_not_allowed' },
    })
  })

  it('is 429 above the limit of pages, also without a session', async () => {
    await setSetting(test, 'limit_pages', '1')
    const answers = [await ask({}), await ask({}), await ask({})]
    await setSetting(test, 'limit_pages', '0')
    const last = answers.at(-1)!
    expect(last).toMatchObject({ status: 429, cors: OPEN, body: { error: 'too_many_requests' } })
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
  })

  it('is 429 above 60 a minute and session, and other sessions go on', async () => {
    const { client, member } = await joined()
    const other = await world.signIn(member)
    const query = { forum_id: String(member.id) }
    const statuses: number[] = []
    for (let count = 0; count < 61; count += 1) statuses.push((await ask({ client, query })).status)
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429])
    expect((await ask({ client: other, query })).status).toBe(200)
  })

  it('is 401 without a session, after its end, and while a password must be changed', async () => {
    const refused = { status: 401, cors: OPEN, body: { error: 'not_signed_in' } }
    expect(await ask({})).toMatchObject(refused)
    const { client, id } = await joined()
    await setRows(test, 'users', { id }, { must_change_password: true })
    expect(await ask({ client })).toMatchObject(refused)
    await setRows(test, 'users', { id }, { must_change_password: false, is_banned: true })
    expect(await ask({ client })).toMatchObject(refused)
    await setRows(test, 'users', { id }, { is_banned: false })
    await test.db.deleteFrom('sessions').where('user_id', '=', id).execute()
    expect(await ask({ client })).toMatchObject(refused)
  })

  it('is 409 to another member, without forum_id, and for an account that is not of the forum', async () => {
    const refused = { status: 409, cors: OPEN, body: { error: 'other_member' } }
    const [{ client }, { member: other }] = [await joined(), await joined()]
    expect(await ask({ client, query: { forum_id: String(other.id) } })).toMatchObject(refused)
    expect(await ask({ client })).toMatchObject(refused)
    const local = await (await makePerson(test)).signIn()
    expect(await ask({ client: local, query: { forum_id: 'null' } })).toMatchObject(refused)
  })

  it('is 403 while the member hides the wallet, by a switch on the profile that is recorded', async () => {
    const { client, member, id } = await joined()
    const query = { forum_id: String(member.id) }
    const { profile } = messages.en
    const page = await client.get('/account/profile')
    expect(page.body).toContain(profile.forumWalletText)
    const path = '/account/profile/forum-wallet'
    expect(await client.submit(page, path, { shows: 'off' })).toMatchObject({ status: 303 })
    expect((await client.get('/account/profile')).body).toContain(profile.hiddenAtForum)
    expect(await ask({ client, query })).toMatchObject({
      status: 403,
      cors: OPEN,
      body: { error: 'hidden' },
    })
    await client.submit(await client.get('/account/profile'), path, { shows: 'off' })
    await client.submit(await client.get('/account/profile'), path, { shows: 'on' })
    expect((await ask({ client, query })).status).toBe(200)
    const acts = await rowsOf(test, 'audit_log', { action: 'account.forum_wallet' }, ['actor_id', 'detail'])
    expect(acts).toEqual([
      { actor_id: id, detail: { is_shown: false } },
      { actor_id: id, detail: { is_shown: true } },
    ])
    await setSetting(test, 'forum_wallet', 'off')
    expect((await client.get('/account/profile')).body).not.toContain(profile.forumWalletText)
  })

  it('has the balance and the newest five movements, without an administrator’s reason', async () => {
    const { client, member, id } = await joined()
    for (let amount = 1n; amount <= 6n; amount += 1n) {
      test.clock.advance(1_000)
      const reason = amount === 6n ? 'Forum score of 2026-01-02' : 'secret of the staff <img>'
      await grantPoints(test.db, {
        user_id: id,
        amount,
        reference: `wallet:${id}:${amount}`,
        reason,
        actor_id: null,
        now: test.clock.now(),
      })
    }
    const sessions = await rowsOf(test, 'sessions', { user_id: id }, ['last_seen_at', 'expires_at'])
    test.clock.advance(3_600_000)
    const answer = await ask({ client, query: { forum_id: String(member.id), lang: 'en' } })
    expect(answer).toMatchObject({ status: 200, cors: OPEN })
    const { movements, ...wallet } = answer.body
    expect(wallet).toEqual({
      forum_id: String(member.id),
      balance: 21,
      unit: 'points',
      frozen: false,
      tips: false,
      time_zone: 'Asia/Shanghai',
    })
    const t = messages.en.account
    expect(movements.map(({ amount, kind, text }: Record<string, unknown>) => [amount, kind, text])).toEqual([
      [6, 'grant', t.forumActivity],
      ...[5, 4, 3, 2].map((amount) => [amount, 'grant', t.words.grant]),
    ])
    expect(movements[0].at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    expect(JSON.stringify(answer.body)).not.toContain('secret of the staff')
    expect(JSON.stringify(answer.body)).not.toContain('@example.org')
    const chinese = await ask({ client, query: { forum_id: String(member.id), lang: 'zh-CN' } })
    expect(chinese.body.unit).toBe('积分')
    // It notes no use of the session.
    expect(await rowsOf(test, 'sessions', { user_id: id }, ['last_seen_at', 'expires_at'])).toEqual(sessions)
  })

  it.each(['OPTIONS', 'HEAD', 'POST', 'DELETE'] as const)('is 405 without CORS to %s', async (method) => {
    const { client } = await joined()
    const answer = await ask({ client, method })
    expect(answer).toMatchObject({ status: 405, cors: CLOSED })
    expect(answer.headers.allow).toBe('GET')
  })

  it('is counted by its outcome', async () => {
    test.deps.metrics = metrics!
    await ask({})
    await ask({ origin: '' })
    const { text } = await metrics!.scrape()
    expect(text).toContain('tessera_forum_wallet_total{outcome="not_signed_in"} 1')
    expect(text).toContain('tessera_forum_wallet_total{outcome="origin_not_allowed"} 1')
  })
})
