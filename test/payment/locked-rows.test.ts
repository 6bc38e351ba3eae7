/**
 * A connection that holds the lock of one wallet or order delays only the acts that need this row. They end when it is free,
 * and each is done once.
 */
import { sql } from 'kysely'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Tx } from '../../src/database/connection.ts'
import { rowArray } from '../../src/database/rows.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { makeChargeMandate } from '../../src/payment/mandates/charge.ts'
import { ASKED_PAYMENT, makePayOrder } from '../../src/payment/orders/pay.ts'
import { ASKED_ORDER, makeCreateOrder } from '../../src/payment/orders/place.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { chargeOf, giveRight, makeMandate, switchMandates } from '../harness/mandates.ts'
import { type Merchant, makeMerchant, recipient } from '../harness/merchant.ts'
import { lockRows } from '../harness/rows.ts'

const OTHERS = 40

let count = 0

const test = await useTestApp()
const merchants = [await makeMerchant(test), await makeMerchant(test)]
const payers = await Promise.all(Array.from({ length: 6 }, () => makePerson(test, { points: 10_000n })))
afterEach(() => expectSoundBooks(test.db))

const newOrder = ({ id: app_id }: Merchant, order_id = `locked-${++count}`) => ({
  app_id,
  order_id,
  description: 'Tea',
  amount: 10n,
})
/** Orders of a merchant, each with its payer in turn. */
async function ordersOf(merchant: Merchant, by: Person[], times: number) {
  const create = makeCreateOrder(test.deps)
  const orders = await Promise.all(Array.from({ length: times }, () => create(newOrder(merchant))))
  return orders.map(({ transaction_id }, n) => ({
    transaction_id,
    payer_id: by[n % by.length]!.id,
    expected_amount: 10n,
  }))
}

const lockWallet = (tx: Tx, { id: user_id }: Pick<Person, 'id'>) =>
  lockRows(tx, 'ledger_accounts', { user_id })
/** The payments of a batch that skips locked rows. */
const payments = (tx: Tx, asked: { transaction_id: string; payer_id: bigint; expected_amount: bigint }[]) => {
  const now = test.clock.now()
  const batch = rowArray(
    ASKED_PAYMENT,
    asked.map((payment) => ({ ...payment, now })),
  )
  return sql<{ outcome: string; locked: string | null }>`
    select outcome, locked from pay_orders(${batch}, 0, true) order by item`.execute(tx)
}
const lockOrder = (tx: Tx, transaction_id: string) => lockRows(tx, 'orders', { transaction_id })

/**
 * Runs acts that need the locked row and acts that do not, in one batch. The others must end while the lock is held, and
 * the first only afterwards. Returns both outcomes.
 */
async function besideLock<T, U>(
  lock: (tx: Tx) => Promise<unknown>,
  blocked: () => Promise<T>[],
  others: () => Promise<U>[],
): Promise<{ blocked: T[]; others: U[] }> {
  let ended = 0
  const { waiting, done } = await test.db.transaction().execute(async (tx) => {
    await lock(tx)
    const acts = blocked().map((act) => act.finally(() => (ended += 1)))
    const waiting = Promise.all(acts)
    waiting.catch(() => {})
    const done = await Promise.all(others())
    expect(ended).toBe(0)
    return { waiting, done }
  })
  return { blocked: await waiting, others: done }
}

for (const { owner } of merchants) await givePoints(test, owner, 10_000n)

describe('while another connection holds a wallet', () => {
  it('payments of other members to other shops go through', async () => {
    const pay = makePayOrder(test.deps)
    const [locked, ...free] = payers
    const theirs = await ordersOf(merchants[0]!, [locked!], 5)
    const others = await ordersOf(merchants[1]!, free, OTHERS)
    const before = await balanceOf(test.db, locked!.id)
    const { blocked, others: done } = await besideLock(
      (tx) => lockWallet(tx, locked!),
      () => theirs.map(pay),
      () => others.map(pay),
    )
    expect(new Set([...blocked, ...done])).toEqual(new Set(['paid']))
    expect(await balanceOf(test.db, locked!.id)).toBe(before - 50n)
    expect(await Promise.all(theirs.map(pay))).toEqual(theirs.map(() => 'paid_before'))
    expect(await balanceOf(test.db, locked!.id)).toBe(before - 50n)
  })

  it('a merchant’s own payments wait, of any payer', async () => {
    const pay = makePayOrder(test.deps)
    const { owner } = merchants[0]!
    const before = await balanceOf(test.db, owner.id)
    const theirs = await ordersOf(merchants[0]!, payers, 12)
    const others = await ordersOf(merchants[1]!, payers, OTHERS)
    const { blocked, others: done } = await besideLock(
      (tx) => lockWallet(tx, owner),
      () => theirs.map(pay),
      () => others.map(pay),
    )
    expect(new Set([...blocked, ...done])).toEqual(new Set(['paid']))
    // Ten points each, without half a point of fee, which is rounded down.
    expect(await balanceOf(test.db, owner.id)).toBe(before + 120n)
  })

  it('transfers from and to other wallets go through, and repeats stay one', async () => {
    const post = makePostTransfer(test.deps)
    const [locked, other] = payers
    const transfer = (from: Merchant, to: Person, order_id: string) =>
      post({ app_id: from.id, order_id, ...recipient(to), amount: 10n })
    const before = await balanceOf(test.db, locked!.id)
    const { blocked } = await besideLock(
      (tx) => lockWallet(tx, locked!),
      // The same order_id twice is one transfer.
      () => ['a', 'b', 'a'].map((order_id) => transfer(merchants[0]!, locked!, order_id)),
      () => Array.from({ length: OTHERS }, (_, n) => transfer(merchants[n % 2]!, other!, `free-${n}`)),
    )
    expect(blocked[0]!.transaction_id).toBe(blocked[2]!.transaction_id)
    expect(await balanceOf(test.db, locked!.id)).toBe(before + 20n)
  })
})

describe('while another connection holds', () => {
  it.each(['a mandate', 'the wallet of its member'])('%s, charges under others go through', async (held) => {
    await switchMandates(test)
    const [merchant, another] = [await makeMerchant(test), await makeMerchant(test)]
    for (const each of [merchant, another]) await giveRight(test, each)
    const [locked, other] = [
      await makePerson(test, { points: 500n }),
      await makePerson(test, { points: 500n }),
    ]
    const theirs = await makeMandate(test, merchant, locked)
    const others = await makeMandate(test, another, other)
    const charge = makeChargeMandate(test.deps)
    const request = chargeOf(merchant, theirs, 10n)
    const { blocked, others: done } = await besideLock(
      (tx) =>
        held === 'a mandate' ? lockRows(tx, 'mandates', { mandate_id: theirs }) : lockWallet(tx, locked),
      // A repeated request is one charge.
      () => [request, chargeOf(merchant, theirs, 10n), request].map((each) => charge(each)),
      () => Array.from({ length: 20 }, () => charge(chargeOf(another, others, 10n))),
    )
    expect(new Set(blocked.map(({ order }) => order.id)).size).toBe(2)
    expect(await balanceOf(test.db, locked.id)).toBe(480n)
    expect(done.map(({ spent }) => spent).sort((a, b) => Number(a - b))).toEqual(
      Array.from({ length: 20 }, (_, n) => BigInt(n + 1) * 10n),
    )
  })
})

describe('while another connection holds an order', () => {
  it('payments of other orders go through, also by its payer', async () => {
    const pay = makePayOrder(test.deps)
    const [locked] = await ordersOf(merchants[0]!, payers, 1)
    const others = await ordersOf(merchants[0]!, payers, OTHERS)
    const { blocked, others: done } = await besideLock(
      (tx) => lockOrder(tx, locked!.transaction_id),
      () => [pay(locked!), pay(locked!)],
      () => others.map(pay),
    )
    expect(blocked.sort()).toEqual(['paid', 'paid_before'])
    expect(new Set(done)).toEqual(new Set(['paid']))
  })

  it('other orders are placed, and it begins again afterwards', async () => {
    const create = makeCreateOrder(test.deps)
    const expired = await create(newOrder(merchants[0]!, 'again'))
    test.clock.advance(31 * 60_000)
    const { blocked } = await besideLock(
      (tx) => lockOrder(tx, expired.transaction_id),
      () => [create(newOrder(merchants[0]!, 'again'))],
      () => Array.from({ length: OTHERS }, () => create(newOrder(merchants[0]!))),
    )
    expect(blocked[0]!.transaction_id).toBe(expired.transaction_id)
    expect(blocked[0]!.expires_at.getTime()).toBeGreaterThan(test.clock.now().getTime())
  })
})

it('rows that refer to an order hold none of its acts back', async () => {
  const create = makeCreateOrder(test.deps)
  const again = newOrder(merchants[0]!)
  const expired = [await create(again), await create(newOrder(merchants[0]!))]
  test.clock.advance(31 * 60_000)
  const [open, paid] = await ordersOf(merchants[0]!, payers, 2)
  await makePayOrder(test.deps)(paid!)
  const now = test.clock.now()
  const asked = { ...again, door: 'hmac', transaction_id: 'txn_'.padEnd(28, 'z'), expires_at: now, now }
  await test.db.transaction().execute(async (referring) => {
    // As the foreign key of a view or a notification does.
    await sql`select from orders order by id for key share`.execute(referring)
    await test.db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout = '100ms'`.execute(tx)
      const { rows } = await sql<{ expired: number }>`
        select begin_again(${rowArray(ASKED_ORDER, [asked])}, true) as left_out,
          refund_order(${paid!.transaction_id}, 1, false, 'k', 'x', ${payers[0]!.id}, ${now}, null) as refund,
          (select await_row('order ' || id) from orders where transaction_id = ${open!.transaction_id}) as awaited,
          expire_orders(${now}, 100) as expired`.execute(tx)
      expect(rows).toEqual([{ left_out: [], refund: 'refunded', awaited: '', expired: expect.any(Number) }])
      expect(rows[0]!.expired).toBeGreaterThanOrEqual(expired.length)
      expect((await payments(tx, [open!])).rows).toEqual([{ outcome: 'paid', locked: null }])
    })
  })
})

it('a batch that skips does not wait for the issuance of play points', async () => {
  const shop = await makeMerchant(test, { isTest: true })
  const [holder, newcomer] = [await makePerson(test), await makePerson(test)]
  const pay = makePayOrder(test.deps)
  // Opens both wallets.
  for (const order of await ordersOf(shop, [holder], 1)) expect(await pay(order)).toBe('paid')
  const orders = await ordersOf(shop, [holder, newcomer], 2)
  await test.db.transaction().execute(async (issuing) => {
    await lockRows(issuing, 'ledger_accounts', { kind: 'issuance', book: 'test' })
    const { rows } = await sql<{ id: bigint }>`
      select id from ledger_accounts where kind = 'issuance' and book = 'test'`.execute(issuing)
    await test.db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout = '100ms'`.execute(tx)
      expect((await payments(tx, orders)).rows).toEqual([
        { outcome: 'paid', locked: null },
        { outcome: 'locked', locked: `wallet ${rows[0]!.id}` },
      ])
    })
  })
  expect(await Promise.all(orders.map(pay))).toEqual(['paid_before', 'paid'])
})

it('a payment that waits holds no lock of another row', async () => {
  const pay = makePayOrder(test.deps)
  const [locked] = payers
  const [theirs] = await ordersOf(merchants[0]!, [locked!], 1)
  const paid = await test.db.transaction().execute(async (tx) => {
    await lockWallet(tx, locked!)
    const paid = pay(theirs!)
    // Its first statement waits with the lock of its order. The next one knows that it waits, and locks nothing before.
    const waits = async () => {
      const { rows } = await sql<{ since: Date }>`select query_start as since from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
      return rows[0]?.since.getTime()
    }
    const first = await vi.waitUntil(waits, { timeout: 20_000, interval: 5 })
    const isWaitingAgain = async () => ((await waits()) ?? first) !== first
    await vi.waitUntil(isWaitingAgain, { timeout: 20_000, interval: 5 })
    // The order and the merchant's wallet are free.
    await sql`set local lock_timeout = '50ms'`.execute(tx)
    await lockOrder(tx, theirs!.transaction_id)
    await lockWallet(tx, merchants[0]!.owner)
    return { paid }
  })
  expect(await paid.paid).toBe('paid')
})
