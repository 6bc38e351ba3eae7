/** Races of tips, from two processes over one database: a limit is judged when a tip is paid. spec/tips 2.3. */
import { sql } from 'kysely'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/core/core.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { setTermsWithin } from '../../../src/payment/apps/terms.ts'
import { leaveOrder } from '../../../src/payment/orders/orders.ts'
import { makePayOrder, type PayOutcome } from '../../../src/payment/orders/pay.ts'
import { untilBlocked } from '../../harness/blocked.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, makePerson } from '../../harness/cast.ts'
import { anotherProcess, setSetting, useTestApp } from '../../harness/harness.ts'
import { refund } from '../../harness/orders.ts'
import { makeRandom } from '../../harness/random.ts'
import { rowsOf } from '../../harness/rows.ts'
import { times } from '../../harness/thoroughness.ts'
import { beginTip, makeTipper, payTip, switchTips, tip } from '../../harness/tips.ts'

const test = await useTestApp()
const { deps, db } = test
const elsewhere = await anotherProcess(test)
afterAll(() => elsewhere.close())
afterEach(() => expectSoundBooks(db))
const app = await switchTips(test)
const ROUNDS = times(20, 2)

/** Each process pays with small batches in several lanes, so that they meet in every order. */
const payers = [deps, elsewhere.deps].map((process) =>
  makePayOrder({ ...process, batching: { itemsMax: 4, lanes: 4 } } satisfies Core),
)

type Begun = { transaction_id: string; payer_id: bigint; expected_amount: bigint }

const payAll = (tips: Begun[]): Promise<PayOutcome[]> =>
  Promise.all(tips.map((begun, i) => payers[i % 2]!(begun)))
const count = (outcomes: PayOutcome[], outcome: PayOutcome) =>
  outcomes.filter((each) => each === outcome).length

describe('tips at once', () => {
  it('from one giver stop at the limit of the day: 10 of 20 are paid', async () => {
    await setSetting(test, 'tip_day_max_tl2', '100')
    for (let round = 0; round < ROUNDS; round += 1) {
      const erin = await makeTipper(test)
      const authors = await Promise.all(Array.from({ length: 20 }, () => makeTipper(test, { points: 0n })))
      const begun = await Promise.all(
        authors.map(async (author) => ({
          transaction_id: await beginTip(deps, erin, author),
          payer_id: erin.id,
          expected_amount: 10n,
        })),
      )
      const outcomes = await payAll(begun)
      expect([count(outcomes, 'paid'), count(outcomes, 'tip_limit')]).toEqual([10, 10])
      expect(await balanceOf(db, erin.id)).toBe(9_900n)
      expect(await rowsOf(test, 'tip_days', { user_id: erin.id })).toMatchObject([{ given_points: 100n }])
    }
    await setSetting(test, 'tip_day_max_tl2', '500')
  })

  it('to one author stop at the most that an author receives in a day', async () => {
    await setSetting(test, 'tip_received_day_max', '100')
    for (let round = 0; round < ROUNDS; round += 1) {
      const frank = await makeTipper(test, { points: 0n })
      const givers = await Promise.all(Array.from({ length: 20 }, () => makeTipper(test)))
      const begun = await Promise.all(
        givers.map(async (giver) => ({
          transaction_id: await beginTip(deps, giver, frank),
          payer_id: giver.id,
          expected_amount: 10n,
        })),
      )
      const outcomes = await payAll(begun)
      expect([count(outcomes, 'paid'), count(outcomes, 'tip_refused')]).toEqual([10, 10])
      expect(await rowsOf(test, 'tip_days', { user_id: frank.id })).toMatchObject([{ received_points: 100n }])
    }
    await setSetting(test, 'tip_received_day_max', '5000')
  })

  it('between two members stop at the tips of a week, in both directions', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const two = [await makeTipper(test), await makeTipper(test)] as const
      const begun = await Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          const [from, to] = i % 2 === 0 ? two : [two[1], two[0]]
          return {
            transaction_id: await beginTip(deps, from, to),
            payer_id: from.id,
            expected_amount: 10n,
          }
        }),
      )
      const outcomes = await payAll(begun)
      expect([count(outcomes, 'paid'), count(outcomes, 'tip_limit')]).toEqual([5, 7])
    }
  })

  it('stop at the daily limit of their application, although they lock other wallets', async () => {
    const staff = await makePerson(test, { username: 'admin', is_admin: true })
    const by = { actor_id: staff.id, ip: null, now: test.clock.now() }
    const { rows } = await sql<{ used: bigint }>`
      select coalesce(sum(amount), 0)::bigint as used from orders where app_id = ${app.id} and paid_at is not null`.execute(
      db,
    )
    const terms = (daily_payments_max: bigint | null) =>
      db
        .transaction()
        .execute((tx) =>
          setTermsWithin(
            tx,
            app.payment_id,
            { fee_rate: null, daily_payments_max, daily_transfers_max: null, reason: '' },
            by,
          ),
        )
    await terms(rows[0]!.used + 100n)
    const begun = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const giver = await makeTipper(test)
        return {
          transaction_id: await beginTip(deps, giver, await makeTipper(test, { points: 0n })),
          payer_id: giver.id,
          expected_amount: 10n,
        }
      }),
    )
    const outcomes = await payAll(begun)
    expect([count(outcomes, 'paid'), count(outcomes, 'daily_limit')]).toEqual([10, 10])
    await terms(null)
  })
})

describe('a tip that its giver leaves and pays at once', () => {
  const leave = ({ transaction_id, payer_id: user_id }: Begun) =>
    leaveOrder(elsewhere.deps, { transaction_id, user_id })

  it('ends in exactly one of the two, whichever locks the order first', async () => {
    const [erin, frank] = [await makeTipper(test), await makeTipper(test, { points: 0n })]
    await setSetting(test, 'tip_pair_week_max', '100')
    const begun = await Promise.all(
      Array.from({ length: 20 }, async () => ({
        transaction_id: await beginTip(deps, erin, frank),
        payer_id: erin.id,
        expected_amount: 10n,
      })),
    )
    const ends = await Promise.all(begun.map((each, i) => Promise.all([payers[i % 2]!(each), leave(each)])))
    for (const [paid, isLeft] of ends) expect([paid, isLeft]).toEqual([isLeft ? 'expired' : 'paid', isLeft])
    const paid = BigInt(ends.filter(([outcome]) => outcome === 'paid').length)
    expect(await balanceOf(db, erin.id)).toBe(10_000n - 10n * paid)
    await setSetting(test, 'tip_pair_week_max', '5')
  })

  it.each([true, false])(
    'waits for the order as the other does, and pays if it was first: %s',
    async (isPaidFirst) => {
      const [erin, frank] = [await makeTipper(test), await makeTipper(test)]
      const transaction_id = await beginTip(deps, erin, frank)
      const begun = { transaction_id, payer_id: erin.id, expected_amount: 10n }
      let paying: Promise<PayOutcome> | undefined
      let leaving: Promise<boolean> | undefined
      await db.transaction().execute(async (tx) => {
        await sql`select from orders where transaction_id = ${transaction_id} for no key update`.execute(tx)
        if (isPaidFirst) paying = payers[0]!(begun)
        else leaving = leave(begun)
        await untilBlocked(tx)
        paying ??= payers[0]!(begun)
        leaving ??= leave(begun)
        await untilBlocked(tx, 2)
      })
      const isLeft = await leaving
      expect([await paying, isLeft]).toEqual([isLeft ? 'expired' : 'paid', isLeft])
      expect(await rowsOf(test, 'journal', { reference: transaction_id })).toHaveLength(isLeft ? 0 : 1)
    },
  )
})

describe('an author who is barred', () => {
  it('while the payment waits gets nothing', async () => {
    const [erin, frank] = [await makeTipper(test), await makeTipper(test)]
    const transaction_id = await beginTip(deps, erin, frank)
    let paying: Promise<PayOutcome> | undefined
    await db.transaction().execute(async (tx) => {
      await sql`select from ledger_accounts where user_id = ${frank.id} for update`.execute(tx)
      paying = payTip(deps, transaction_id, erin)
      await untilBlocked(tx)
      await changePerson(test, frank, { is_banned: true })
    })
    expect(await paying).toBe('tip_refused')
    expect(await rowsOf(test, 'journal', { reference: transaction_id })).toEqual([])
    expect(await rowsOf(test, 'tip_days', { user_id: frank.id })).toEqual([])
  })
})

it('two hundred random tips and refunds leave sound books, and limits that count every tip', async () => {
  const random = makeRandom(12)
  const members = await Promise.all(Array.from({ length: 12 }, () => makeTipper(test, { trust_level: 3 })))
  await setSetting(test, 'tip_pair_week_max', '1000')
  const paid: { transaction_id: string; amount: bigint; from: bigint; to: bigint }[] = []
  for (let step = 0; step < times(2_000, 200); step += 1) {
    const [from, to] = [members[random.below(12)]!, members[random.below(12)]!]
    const amount = [10n, 50n, 100n][random.below(3)]!
    const process = step % 2 === 0 ? deps : elsewhere.deps
    const known = paid[random.below(Math.max(1, paid.length))]
    if (random.below(4) === 0 && known !== undefined && (await balanceOf(db, known.to)) >= known.amount) {
      await refund(test, known, known.amount)
      paid.splice(paid.indexOf(known), 1)
    } else {
      const { outcome, transaction_id } = await tip(process, from, to, { amount })
      if (outcome === 'paid') paid.push({ transaction_id, amount, from: from.id, to: to.id })
    }
  }
  const { rows } = await sql<{ day: bigint; sum: bigint }>`
    select (select coalesce(sum(given_points), 0) from tip_days where user_id = member.id)::bigint as day,
      (select coalesce(sum(amount), 0) from orders where door = 'tip' and payer_id = member.id)::bigint as sum
    from users as member where id = any(${members.map(({ id }) => id)}::bigint[])`.execute(db)
  for (const { day, sum } of rows) expect(day).toBe(sum)
  await setSetting(test, 'tip_pair_week_max', '5')
})
