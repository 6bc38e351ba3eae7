/**
 * Limits over two processes that share only the database: the 429 of each door, and requests without a limit.
 * spec/limits 2.1 and 2.2.
 */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { networkOf, openLimits } from '../../src/core/limits.ts'
import { RECORDED_OF_ALL_MAX, RECORDED_OF_NETWORK_MAX, recordRefusal } from '../../src/core/refusals.ts'
import { openSettings } from '../../src/core/settings.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { makePerson } from '../harness/cast.ts'
import { anotherProcess, type Browser, browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { COUNTED_APART, inOneProcess } from '../harness/one-process.ts'
import { rowsOf } from '../harness/rows.ts'
import {
  authorizationUrl,
  authorize,
  exchange,
  makeParty,
  obtainTokens,
  postForm,
  redeem,
  refresh,
} from '../identity/relying-party.ts'

const itCounts = it.skipIf(inOneProcess(COUNTED_APART))

let test: TestApp
let other: TestApp
beforeEach(async () => {
  test = await startTestApp({ TRUST_PROXY: '127.0.0.1' })
  other = await anotherProcess(test)
})
afterEach(async () => {
  await other.close()
  await test.close()
})

/** Sets limits, before a process reads its settings. */
async function set(values: Record<string, number>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const row = { name, value: String(value) }
    await test.db
      .insertInto('site_settings')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: row.value }))
      .execute()
  }
}
/** The number of pages that all processes together have counted. */
async function countOfPages(): Promise<number> {
  const rows = await rowsOf(test, 'limit_counters', { scope: 'pages' }, ['count'])
  return rows.reduce((sum, { count }) => sum + Number(count), 0)
}
const eventsOf = async (kind: string) =>
  test.db.selectFrom('security_events').where('kind', '=', kind).selectAll().execute()

describe('the token endpoint', () => {
  itCounts('counts failures of a client and address in both processes only', async () => {
    const party = await makeParty(test)
    const person = await makePerson(test)
    let { refresh_token } = await obtainTokens(test, await person.signIn(), party)
    const wrong = { ...party, client_secret: 'wrong' }
    const answers = []
    for (let n = 0; n < 60; n += 1) answers.push(await exchange(n % 2 ? test : other, wrong, 'x'))
    expect(answers.every(({ status }) => status === 401)).toBe(true)
    // The right secret works until the limit is reached.
    for (let n = 0; n < 5; n += 1) {
      const renewed = await refresh(n % 2 ? test : other, party, refresh_token)
      expect(renewed.status).toBe(200)
      refresh_token = renewed.body.refresh_token as string
    }
    test.clock.advance(10_000)
    for (const process of [test, other]) {
      const refused = await exchange(process, wrong, 'x')
      expect(refused).toMatchObject({
        status: 429,
        body: { error: 'temporarily_unavailable', error_description: expect.any(String) },
        headers: { 'retry-after': '50', 'cache-control': 'no-store' },
      })
      // Guessing is over: even the right secret is not checked.
      expect((await refresh(process, party, refresh_token)).status).toBe(429)
    }
    const elsewhere = { 'x-forwarded-for': '203.0.113.7' }
    const form = { grant_type: 'refresh_token', refresh_token }
    const renewed = await redeem(test, party, form, elsewhere)
    expect(renewed.status).toBe(200)
    test.clock.advance(50_000)
    expect((await refresh(other, party, renewed.body.refresh_token)).status).toBe(200)
    expect((await eventsOf('client_refused')).length).toBe(60)
    expect(await eventsOf('client_throttled')).toMatchObject([
      { client_id: party.client_id, address: '127.0.0.1' },
      { client_id: party.client_id, address: '127.0.0.1' },
    ])
    expect(JSON.stringify(await eventsOf('client_refused'), (_, v) => String(v))).not.toContain('wrong')
  })

  it('lets no more wrong secrets through when they come at once', async () => {
    const wrong = { ...(await makeParty(test)), client_secret: 'wrong' }
    const tries = Array.from({ length: 150 }, (_, n) => exchange(n % 2 ? test : other, wrong, 'x'))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(90)
  })

  it('slows a client with stale grants in those alone', async () => {
    const party = await makeParty(test)
    const person = await makePerson(test)
    const { refresh_token } = await obtainTokens(test, await person.signIn(), party)
    for (let n = 0; n < 60; n += 1)
      expect((await exchange(n % 2 ? test : other, party, 'stale')).status).toBe(400)
    expect((await exchange(other, party, 'stale')).status).toBe(429)
    expect((await refresh(other, party, refresh_token)).status).toBe(200)
  })

  it('records replays and group refusals, with who and where', async () => {
    const party = await makeParty(test)
    const person = await makePerson(test)
    const client = await person.signIn()
    const { code } = await authorize(client, party)
    const { body } = await exchange(test, party, code)
    expect((await exchange(test, party, code)).status).toBe(400)
    const tokens = await obtainTokens(test, client, party)
    const next = await refresh(test, party, tokens.refresh_token)
    await refresh(test, party, next.body.refresh_token)
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(400)
    const closed = await makeParty(test, { deny_groups: ['trust_level_0'] })
    expect((await client.get(authorizationUrl(closed))).status).toBe(403)
    for (const [kind, { client_id }] of [
      ['code_replayed', party],
      ['refresh_token_replayed', party],
      ['group_refused', closed],
    ] as const)
      expect(await eventsOf(kind)).toMatchObject([{ user_id: person.id, client_id, address: '127.0.0.1' }])
    const everything = JSON.stringify(
      await test.db.selectFrom('security_events').selectAll().execute(),
      (_, v) => (typeof v === 'bigint' ? String(v) : v),
    )
    for (const secret of [code, body.access_token, tokens.refresh_token, party.client_secret])
      expect(everything).not.toContain(secret)
  })
})

describe('the record of refusals', () => {
  const refusedFrom = (network: number, address: number) =>
    recordRefusal(test.db, {
      kind: 'client_refused',
      address: `2001:db8:${network.toString(16)}::${address.toString(16)}`,
      at: test.clock.now(),
    })
  const ofMany = async (count: number, refuse: (n: number) => Promise<void>) => {
    for (let n = 0; n < count; n += 1) await refuse(n)
    return (await eventsOf('client_refused')).length
  }

  it('takes as much of an IPv6 network as of one address', async () => {
    expect(await ofMany(100, (n) => refusedFrom(1, n))).toBe(RECORDED_OF_NETWORK_MAX)
    expect(await ofMany(1, () => refusedFrom(2, 1))).toBe(RECORDED_OF_NETWORK_MAX + 1)
    test.clock.advance(60_001)
    expect(await ofMany(1, () => refusedFrom(1, 1))).toBe(RECORDED_OF_NETWORK_MAX + 2)
  })

  it('takes so many of a kind an hour, and other kinds beside', async () => {
    expect(await ofMany(RECORDED_OF_ALL_MAX + 50, (n) => refusedFrom(n, 1))).toBe(RECORDED_OF_ALL_MAX)
    const record = { kind: 'sign_in_failed', address: '192.0.2.1', at: test.clock.now() } as const
    await recordRefusal(test.db, record)
    expect(await eventsOf('sign_in_failed')).toHaveLength(1)
    test.clock.advance(3_600_001)
    expect(await ofMany(1, () => refusedFrom(1, 1))).toBe(RECORDED_OF_ALL_MAX + 1)
  })

  it('and the counters grow with networks, not with invented clients', async () => {
    const party = await makeParty(test)
    const invented = (n: number) => ({ ...party, client_id: `nobody${n}`, client_secret: 'wrong' })
    const from = (n: number) => ({ 'x-forwarded-for': `2001:db8:5::${n.toString(16)}` })
    const statuses = []
    for (let n = 0; n < 80; n += 1) {
      const form = { grant_type: 'refresh_token', refresh_token: 'x' }
      statuses.push((await redeem(test, invented(n), form, from(n))).status)
    }
    expect(statuses).toEqual([...Array(60).fill(401), ...Array(20).fill(429)])
    const counters = await rowsOf(test, 'limit_counters', { scope: 'token_failures' }, ['key'])
    expect(counters).toHaveLength(1)
    expect(await eventsOf('client_refused')).toHaveLength(60)
    // Requests of unknown clients do not delay known clients.
    const right = await redeem(test, party, { grant_type: 'refresh_token', refresh_token: 'x' }, from(1))
    expect(right.body.error).toBe('invalid_grant')
  })
})

describe('pages', () => {
  itCounts('are limited for an address over all processes, as far as they have shared counts', async () => {
    await set({ limit_pages: 20 })
    const [one, two] = [browser(test), browser(other)]
    const show = async (client: Browser, count: number, network = '2001:db8:1:2') => {
      const statuses = []
      for (let n = 0; n < count; n += 1)
        statuses.push((await client.get('/sign-in', { 'x-forwarded-for': `${network}::${n}` })).status)
      return statuses
    }
    expect(await show(one, 10)).toEqual(Array(10).fill(200))
    await test.deps.limits.share()
    expect(await show(two, 9)).toEqual(Array(9).fill(200))
    await other.deps.limits.share()
    expect(await show(two, 2)).toEqual([200, 429])
    await other.deps.limits.share()
    // The first process does not know the requests of the second one until it shares again.
    expect(await show(one, 1)).toEqual([200])
    await test.deps.limits.share()
    expect(await one.get('/sign-in', { 'x-forwarded-for': '2001:db8:1:2::1' })).toMatchObject({
      status: 429,
      headers: { 'retry-after': '60', 'content-type': expect.stringMatching(/^text\/html/) },
    })
    expect(await show(one, 1, '2001:db8:1:3')).toEqual([200])
    test.clock.advance(60_000)
    expect(await show(one, 1)).toEqual([200])
  })

  it('are added to the common count without more requests', async () => {
    await set({ limit_pages: 20 })
    await browser(test).get('/sign-in')
    await expect.poll(countOfPages).toBe(1)
  })

  it('record forms that are not ours', async () => {
    expect((await browser(test).post('/sign-in', { username: 'a', password: 'b' })).status).toBe(403)
    expect(await eventsOf('form_refused')).toMatchObject([
      { user_id: null, address: '127.0.0.1', detail: { route: '/sign-in' } },
    ])
  })
})

it('registering applications is limited per member, by page and token together', async () => {
  await set({ limit_apps_created: 2 })
  const party = await makeParty(test)
  const person = await makePerson(test)
  const { access_token } = await obtainTokens(test, await person.signIn(), party)
  const register = (process: TestApp) =>
    process.app.inject({
      method: 'POST',
      url: '/api/apps',
      headers: { authorization: `Bearer ${access_token}` },
      payload: { name: 'Mine', redirect_uris: ['https://app.example/'] },
    })
  const answers = await Promise.all([register(test), register(other), register(test), register(other)])
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 201, 429, 429])
  const refused = answers.find(({ statusCode }) => statusCode === 429)!
  expect(refused.json()).toMatchObject({ error: 'temporarily_unavailable' })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
})

itCounts('the payment API is limited per application; bad signatures use nothing', async () => {
  await set({ limit_api_requests: 3 })
  const merchant = await makeMerchant(test)
  const forged = { transaction_id: 'txn_x', signature: '0'.repeat(64) }
  const path = `/payment/query/${merchant.payment_id}`
  for (const status of [401, 401, 401, 429]) expect((await postForm(test, path, forged)).status).toBe(status)
  const statuses = []
  for (let n = 0; n < 3; n += 1) statuses.push((await merchant.query({ transaction_id: 'txn_x' })).status)
  expect(statuses).toEqual([400, 400, 400])
  expect(await merchant.query({ transaction_id: 'txn_x' })).toMatchObject({
    status: 429,
    body: { success: false, errors: [{ code: 1029 }], data: null },
  })
})

describe('counters', () => {
  it('of one window are few, and go when it has ended', async () => {
    const limits = openLimits({ ...test.deps, settings: openSettings(test.db) })
    await set({ limit_pages: 1_000 })
    const takes = Array.from({ length: 500 }, (_, n) => limits.take('pages', `203.0.113.${n % 5}`))
    await Promise.all(takes)
    await limits.share()
    const rows = await test.db.selectFrom('limit_counters').selectAll().execute()
    expect(rows.map(({ count }) => count)).toEqual([100n, 100n, 100n, 100n, 100n])
    test.clock.advance(60_001)
    await deleteExpiredRows(test.deps)
    expect(await test.db.selectFrom('limit_counters').selectAll().execute()).toEqual([])
  })

  it('of a process are exact while it shares them', async () => {
    const limits = openLimits({ ...test.deps, settings: openSettings(test.db) })
    await set({ limit_pages: 2 })
    await other.db.transaction().execute(async (tx) => {
      await sql`lock table limit_counters`.execute(tx)
      for (let n = 0; n < 2; n += 1) await limits.take('pages', 'x')
      await untilBlocked(tx)
      await expect(limits.take('pages', 'x')).rejects.toMatchObject({ code: 'too_many_attempts' })
    })
    await limits.share()
    expect(await test.db.selectFrom('limit_counters').select('count').execute()).toEqual([{ count: 2n }])
  })

  it('lose nothing while the database does not answer', async () => {
    const limits = openLimits({ ...test.deps, settings: openSettings(test.db) })
    await set({ limit_pages: 1_000 })
    await limits.take('pages', 'x')
    await test.db.schema.alterTable('limit_counters').renameTo('away').execute()
    await limits.share()
    await test.db.schema.alterTable('away').renameTo('limit_counters').execute()
    await limits.take('pages', 'x')
    await limits.share()
    expect(await test.db.selectFrom('limit_counters').select('count').execute()).toEqual([{ count: 2n }])
  })

  it('take IPv6 by its network', () => {
    expect(networkOf('203.0.113.9')).toBe('203.0.113.9')
    expect(networkOf('::ffff:203.0.113.9')).toBe('203.0.113.9')
    expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(networkOf('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64')
    expect(networkOf('2001:0DB8::1')).toBe('2001:db8:0:0::/64')
    expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
    expect(networkOf('::1')).toBe('0:0:0:0::/64')
  })
})

it('no address fills the record, and it is forgotten in time', async () => {
  for (let n = 0; n < 70; n += 1) await browser(test).post('/sign-in', {})
  expect((await eventsOf('form_refused')).length).toBe(60)
  test.clock.advance(90 * 86_400_000 + 1)
  await deleteExpiredRows(test.deps)
  expect(await eventsOf('form_refused')).toEqual([])
})
