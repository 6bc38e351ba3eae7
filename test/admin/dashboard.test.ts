/** /admin: the figures of the day, what waits, health and first steps, by a bounded number of statements and rows. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NEWEST_MAX, readMembers, readToday } from '../../src/admin/dashboard/figures.ts'
import { closeDueDays } from '../../src/ledger/closes.ts'
import { keepProof } from '../../src/ledger/proofs.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { askRefund } from '../../src/payment/orders/refund-requests.ts'
import { refundOrder } from '../../src/payment/orders/refunds.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Browser, setSetting, startTestApp, type TestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { rowsRead } from '../harness/rows-read.ts'
import { itCounts, statementsOf } from '../harness/statements.ts'

const DAY_MS = 86_400_000

let test: TestApp
let merchant: Merchant
let buyer: Person
let root: Person
let admin: Browser
beforeAll(async () => {
  test = await startTestApp()
  merchant = await makeMerchant(test)
  buyer = await makePerson(test, { username: 'buyer', points: 10_000n })
  root = await makePerson(test, { username: 'root', is_admin: true })
  admin = await root.signIn()
})
afterAll(async () => {
  await merchant.close()
  await test.close()
})

let count = 0
async function paidOrder(amount: bigint) {
  count += 1
  const { body } = await merchant.process({
    ...{ amount: String(amount), description: 'Tea', order_id: `dashboard-${count}` },
  })
  const transaction_id = String(body.transaction_id)
  await makePayOrder(test.deps)({ transaction_id, payer_id: buyer.id, expected_amount: amount })
  return transaction_id
}
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const page = async () => textOf((await admin.get('/admin')).body)

describe('a new site', () => {
  it('begins with its first steps, which end themselves', async () => {
    const before = await page()
    expect(before).toContain('First steps 1 / 6')
    expect(before).toContain('Merchants now pay 5 % of each payment.')
    for (const [name, value] of [
      ['site_name_en', 'Spark'],
      ['points_payment_fee_rate', '0.05'],
      ['admins_need_second_factor', 'on'],
    ] as const)
      await setSetting(test, name, value)
    await setSetting(test, 'admins_need_second_factor', 'off')
    expect(await page()).toContain('First steps 3 / 6')
    await sql`
      insert into books_days (day, closed_at, journals, paid, transferred, given_back, fees, issued)
      select '2020-01-01'::date + n, now(), 1, 1, 0, 0, 0, 0 from generate_series(1, 30) as n`.execute(
      test.db,
    )
    expect(await page()).not.toContain('First steps')
  })
})

describe('the figures', () => {
  it('are those of the day in the site’s time zone, and of the last check', async () => {
    const transaction_id = await paidOrder(1_000n)
    await paidOrder(200n)
    await refundOrder(test.deps, {
      ...{ transaction_id, amount: 500n, with_fee: true, key: 'k', reason: 'x' },
      ...{ actor_id: root.id, ip: '203.0.113.7' },
    })
    const now = test.clock.now()
    expect(await readToday(test.db, { now, zone: 'Asia/Shanghai' })).toMatchObject({
      ...{ payments: 2, paid: 1_200n, given_back: 500n, fees: 35n, is_partial: false },
    })
    const tomorrow = new Date(now.getTime() + DAY_MS)
    expect(await readToday(test.db, { now: tomorrow, zone: 'Asia/Shanghai' })).toMatchObject({
      ...{ payments: 0, paid: 0n, fees: 0n },
    })
    expect(await page()).toContain('Paid today 1,200 points 2 payments')
    expect(await page()).toContain('Known after the first check of the books')
    await keepProof(test.deps)
    const { rows } = await sql<{ held: bigint }>`
      select sum(balance)::bigint as held from ledger_accounts where kind = 'wallet' and book = 'live'`.execute(
      test.db,
    )
    expect(await page()).toContain(`In members’ wallets ${rows[0]!.held.toLocaleString('en')} As of`)
  })

  it('chart the closed days, with a table of the same figures', async () => {
    const now = new Date(test.clock.now().getTime() + 2 * DAY_MS)
    await closeDueDays({ db: test.db, clock: () => now })
    const { body } = await admin.get('/admin')
    expect(body).toMatch(/<svg[^>]*role="img" aria-label="Points paid, last 30 days"/)
    expect(textOf(body)).toMatch(/Daily closes|Paid Refunded Transferred/)
    expect(body).toContain('1,200')
  })
})

describe('what waits', () => {
  it('is counted on the page and in the navigation, and leads to its queue', async () => {
    const pending = await makeMerchant(test, { approved: false })
    const transaction_id = await paidOrder(100n)
    const asking = { transaction_id, amount: 70n, reason: 'Torn' }
    const owner = { user_id: merchant.owner.id, ip: '203.0.113.7' }
    await askRefund(test.deps, merchant.payment_id, asking, owner)
    const { body } = await admin.get('/admin')
    expect(textOf(body)).toContain(
      `Payment applications to review Shop of ${pending.owner.username} · oldest since`,
    )
    expect(textOf(body)).toContain('Refund requests 70 points in total')
    const other = (await admin.get('/admin/books')).body
    for (const [href, label] of [
      ['/admin/reviews', 'Reviews'],
      ['/admin/refund-requests', 'Refund requests'],
    ])
      expect(textOf(new RegExp(`<a href="${href}"[^]*?</a>`).exec(other)![0]).trim()).toMatch(
        new RegExp(`^${label} 1$`),
      )
    await pending.close()
  })
})

it('is for administrators alone', async () => {
  expect((await (await buyer.signIn()).get('/admin')).status).toBe(403)
})

itCounts('takes as many statements on a big site as on a small one', async () => {
  const [, statements] = await statementsOf(() => admin.get('/admin'))
  expect(statements.length).toBeLessThanOrEqual(13)
})

it('reads the newest sessions and members only, however many there are', async () => {
  await sql`
    insert into sessions (token_hash, user_id, auth_time, amr, ip, agent, expires_at)
    select decode(md5(n::text), 'hex'), ${buyer.id}, ${test.clock.now()}, '{pwd}', '', '', ${test.clock.now()}
    from generate_series(1, ${NEWEST_MAX + 5_000}) as n`.execute(test.db)
  await sql`
    insert into users (username, password_hash, created_at)
    select 'bulk' || n, 'x', ${test.clock.now()} from generate_series(1, 12000) as n`.execute(test.db)
  await sql`analyze sessions, users`.execute(test.db)
  const now = test.clock.now()
  const zone = 'Asia/Shanghai'
  const { since } = await readToday(test.db, { now, zone })
  await test.db.transaction().execute(async (tx) => {
    const before = await rowsRead(tx, 'sessions')
    const members = await readMembers(tx, { since, zone, days: 30 })
    expect((await rowsRead(tx, 'sessions')) - before).toBeLessThanOrEqual(NEWEST_MAX + 10)
    expect(members).toMatchObject({ is_estimate: true, joined: expect.any(Number) })
    expect(members.total).toBeGreaterThan(12_000)
    expect(members.joined_by_day).toHaveLength(30)
    expect(members.joined_by_day.at(-1)).toBe(members.joined)
  })
})
