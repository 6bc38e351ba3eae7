/** Acts of one batch end as they would one by one, and a reused order_id harms no other act. */
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { openSettings } from '../../src/core/settings.ts'
import { rowArray } from '../../src/database/rows.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { ASKED_CHARGE, makeChargeMandate } from '../../src/payment/mandates/charge.ts'
import { ASKED_PAYMENT, makePayOrder } from '../../src/payment/orders/pay.ts'
import { makeCreateOrder, makePlaceOrder } from '../../src/payment/orders/place.ts'
import {
  ASKED_TRANSFER,
  makePostTransfer,
  type Transfer,
  type TransferRequest,
} from '../../src/payment/orders/transfers.ts'
import { AppError } from '../../src/platform/errors.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { chargeOf, makeMandate, makeMandateMerchant, outcomeOf, switchMandates } from '../harness/mandates.ts'
import { type Merchant, makeMerchant, recipient } from '../harness/merchant.ts'
import { makeRandom } from '../harness/random.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { itCounts, statementsOf } from '../harness/statements.ts'

const DAILY_LIMIT = 400n

const test = await useTestApp()
afterEach(() => expectSoundBooks(test.db))

/** A process of its own for batches and settings: `itemsMax` acts share a transaction. */
const lane = (itemsMax: number) => ({ ...test.deps, settings: openSettings(test.db), batching: { itemsMax } })

/** The outcome of a transfer: its fields, or the refusal. */
const outcome = (act: Promise<Transfer>): Promise<unknown[]> =>
  act.then(
    ({ amount, fee, status }) => [amount, fee, status],
    (error: unknown) => {
      if (!(error instanceof AppError)) throw error
      return [error.code, error.message]
    },
  )

async function withDailyLimit(run: () => Promise<void>): Promise<void> {
  await setSetting(test, 'points_transfer_daily_limit_tl2', String(DAILY_LIMIT))
  try {
    await run()
  } finally {
    await setSetting(test, 'points_transfer_daily_limit_tl2', '')
  }
}

describe('a batch', () => {
  it('of transfers ends as single ones would: keys, balances and days', () =>
    withDailyLimit(async () => {
      // Two worlds of the same kind: in one every transfer is a transaction, in the other all of them are one.
      const worlds = await Promise.all(
        [1, 200].map(async (itemsMax) => {
          const sides = await Promise.all([makeMerchant(test), makeMerchant(test), makeMerchant(test)])
          for (const [n, { owner }] of sides.entries()) await givePoints(test, owner, [2_000n, 120n, 1n][n]!)
          return { sides, post: makePostTransfer(lane(itemsMax)) }
        }),
      )
      const told = await Promise.all(
        worlds.map(async ({ sides, post }) => {
          const { below } = makeRandom(7)
          const requests = Array.from({ length: 120 }, (): TransferRequest => {
            const [from, to] = [below(3), below(3)]
            const { id, username } = sides[to]!.owner
            const [key, amount] = [below(60), BigInt([1, 20, 90, 150, 0][below(5)]!)]
            return {
              app_id: sides[from]!.id,
              order_id: `k-${key}`,
              to_user_id: id,
              to_username: username,
              amount,
            }
          })
          await post(requests[0]!).catch(() => {})
          const outcomes = await Promise.all(requests.map((request) => outcome(post(request))))
          const balances = await Promise.all(sides.map(({ owner }) => balanceOf(test.db, owner.id)))
          return { outcomes, balances }
        }),
      )
      expect(told[1]).toEqual(told[0])
      const codes = new Set(told[0]!.outcomes.map(([first]) => first))
      for (const code of [
        20n,
        'parameter_invalid',
        'transfer_to_self',
        'below_minimum',
        'insufficient_points',
        'daily_limit_reached',
      ])
        expect(codes).toContain(code)
    }))

  it('of payments ends as single ones would, in any order', async () => {
    const worlds = await Promise.all(
      [1, 200].map(async (itemsMax) => {
        const sides = await Promise.all([makeMerchant(test), makeMerchant(test)])
        const payers = [sides[0]!.owner, await makePerson(test), await makePerson(test)]
        for (const [n, payer] of payers.entries()) await givePoints(test, payer, [30n, 90n, 60n][n]!)
        const create = makeCreateOrder(lane(itemsMax))
        const orders = await Promise.all(
          Array.from({ length: 30 }, (_, n) =>
            create({
              app_id: sides[n % 2]!.id,
              order_id: `o-${n}`,
              description: 'Tea',
              amount: BigInt(1 + (n % 21)),
            }),
          ),
        )
        return { payers: [...payers, sides[1]!.owner], orders, pay: makePayOrder(lane(itemsMax)) }
      }),
    )
    const told = await Promise.all(
      worlds.map(async ({ payers, orders, pay }) => {
        const { below } = makeRandom(11)
        const outcomes = await Promise.all(
          Array.from({ length: 120 }, () => {
            const { transaction_id, amount } = orders[below(orders.length)]!
            const expected_amount = below(10) === 0 ? amount + 1n : amount
            return pay({ transaction_id, payer_id: payers[below(3)]!.id, expected_amount })
          }),
        )
        return { outcomes, balances: await Promise.all(payers.map(({ id }) => balanceOf(test.db, id))) }
      }),
    )
    expect(told[1]).toEqual(told[0])
    expect(new Set(told[0]!.outcomes)).toEqual(
      new Set(['paid', 'paid_before', 'paid_by_other', 'changed', 'insufficient']),
    )
  })
})

describe('acts of one number in one batch', () => {
  /** Runs acts that arrive together. They must share one statement: the function's own guard saw the repeats. */
  async function inOneStatement(name: string, acts: (() => Promise<unknown>)[]): Promise<unknown[]> {
    const [outcomes, statements] = await statementsOf(() => Promise.all(acts.map((act) => outcomeOf(act()))))
    expect(statements.filter((text) => text.includes(`${name}(`))).toHaveLength(1)
    return outcomes
  }
  /** A process whose settings are at hand, so that its callers meet in one batch. */
  async function ready() {
    const values = await test.deps.settings.read()
    return { ...lane(64), settings: { ...test.deps.settings, read: async () => values } }
  }

  itCounts('are one transfer', async () => {
    const [merchant, friend] = [await makeMerchant(test), await makePerson(test)]
    await givePoints(test, merchant.owner, 1_000n)
    const post = makePostTransfer(await ready())
    const acts = [10n, 10n, 20n].map((amount) => () => post(request(merchant, friend, 'twin', amount)))
    expect(await inOneStatement('post_transfers', acts)).toEqual(['done', 'done', 'parameter_invalid'])
    expect(await balanceOf(test.db, friend.id)).toBe(10n)
  })

  itCounts('are one charge', async () => {
    await switchMandates(test)
    const [merchant, member] = [await makeMandateMerchant(test), await makePerson(test, { points: 100n })]
    const mandate_id = await makeMandate(test, merchant, member)
    const charge = makeChargeMandate(await ready())
    const acts = [10n, 10n, 20n].map(
      (amount) => () => charge(chargeOf(merchant, mandate_id, amount, { order_id: 'twin' })),
    )
    expect(await inOneStatement('charge_mandates', acts)).toEqual(['done', 'done', 'parameter_invalid'])
    expect(await balanceOf(test.db, member.id)).toBe(90n)
  })

  itCounts('are one payment', async () => {
    const [merchant, buyer] = [await makeMerchant(test), await makePerson(test, { points: 100n })]
    const other = await makePerson(test, { points: 100n })
    const order = { app_id: merchant.id, order_id: 'twin', description: 'Tea', amount: 10n }
    const { transaction_id } = await makeCreateOrder(test.deps)(order)
    const pay = makePayOrder(await ready())
    const outcomes: unknown[] = []
    const acts = [buyer, buyer, other].map(
      ({ id: payer_id }) =>
        async () =>
          outcomes.push(await pay({ transaction_id, payer_id, expected_amount: 10n })),
    )
    await inOneStatement('pay_orders', acts)
    expect(outcomes).toEqual(['paid', 'paid_before', 'paid_by_other'])
    expect([await balanceOf(test.db, buyer.id), await balanceOf(test.db, other.id)]).toEqual([90n, 100n])
  })
})

it('without an amount nothing is paid, transferred, charged or refunded', async () => {
  const moved = () =>
    Promise.all(
      (
        ['orders', 'transfers', 'mandates', 'journal', 'entries', 'ledger_accounts', 'audit_log'] as const
      ).map((table) => rowsOf(test, table)),
    )
  await switchMandates(test)
  const [merchant, member] = [await makeMandateMerchant(test), await makePerson(test, { points: 100n })]
  await givePoints(test, merchant.owner, 100n)
  const now = test.clock.now()
  const create = makeCreateOrder(test.deps)
  const [open, paid] = await Promise.all(
    ['open', 'paid'].map((order_id) =>
      create({ app_id: merchant.id, order_id, description: 'Tea', amount: 10n }),
    ),
  )
  const pay = makePayOrder(test.deps)
  await pay({ transaction_id: paid!.transaction_id, payer_id: member.id, expected_amount: 10n })
  const transfer = request(merchant, member, 'sent', 10n)
  await makePostTransfer(test.deps)(transfer)
  const mandate_id = await makeMandate(test, merchant, member)
  const charge = chargeOf(merchant, mandate_id, 10n)
  await makeChargeMandate(test.deps)(charge)
  const before = await moved()
  const nothing = { amount: null, now, transaction_id: 'txn_'.padEnd(28, 'z') }
  const payment = { transaction_id: open!.transaction_id, payer_id: member.id, expected_amount: null, now }
  const { rows } = await sql`
    select (select outcome from pay_orders(${rowArray(ASKED_PAYMENT, [payment])}, 0)) as payment,
      (
        select (result).outcome from post_transfers(
          ${rowArray(ASKED_TRANSFER, [{ ...transfer, ...nothing }])}, '{0,0,0,0,0}', '{1,1,1,1,1}', '{9,9,9,9,9}', '{9,9,9,9,9}'
        )
      ) as transfer,
      (
        select (result).outcome from charge_mandates(
          ${rowArray(ASKED_CHARGE, [{ ...charge, ...nothing }])}, true, 0, '{9,9,9,9,9}'
        )
      ) as charge,
      refund_order(${paid!.transaction_id}, null, false, 'k', 'x', ${member.id}, ${now}, null) as refund`.execute(
    test.db,
  )
  expect(rows).toEqual([{ payment: 'changed', transfer: 'changed', charge: 'changed', refund: 'too_much' }])
  expect(await moved()).toEqual(before)
})

describe('the daily limit of a member', () => {
  it('asks for the last transfer only, which holds the day’s sum', () =>
    withDailyLimit(async () => {
      const merchant = await makeMerchant(test)
      const friend = await makePerson(test)
      await givePoints(test, merchant.owner, 10_000n)
      const post = makePostTransfer(lane(64))
      const transfer = (order_id: string, amount: bigint) => post(request(merchant, friend, order_id, amount))
      for (const n of [1, 2, 3]) await transfer(`day-${n}`, 100n)
      const sums = await rowsOf(test, 'transfers', { app_id: merchant.id })
      expect(sums.map(({ day_points }) => day_points)).toEqual(['100', '200', '300'])
      await expect(transfer('day-4', 101n)).rejects.toThrow('Daily limit reached (400, used 300)')
      // If the statement read the whole day, this would make no difference.
      await setRows(test, 'transfers', { app_id: merchant.id, order_id: 'day-3' }, { day_points: '390' })
      await expect(transfer('day-5', 11n)).rejects.toThrow('Daily limit reached (400, used 390)')
      expect(await transfer('day-6', 10n)).toMatchObject({ amount: 10n })
    }))

  it('holds at midnight between two processes whose clocks differ', () =>
    withDailyLimit(async () => {
      const merchant = await makeMerchant(test)
      const friend = await makePerson(test)
      await givePoints(test, merchant.owner, 10_000n)
      const midnight = Date.UTC(2026, 5, 1, 16)
      const at = (ms: number) => makePostTransfer({ ...lane(64), clock: () => new Date(midnight + ms) })
      const [ahead, behind] = [at(100), at(-100)]
      await behind(request(merchant, friend, 'eve', 400n))
      await ahead(request(merchant, friend, 'first', 300n))
      // The day has begun for this sender, and transfers from the slow clock count in it.
      await expect(behind(request(merchant, friend, 'late', 101n))).rejects.toThrow('used 300')
      await behind(request(merchant, friend, 'late', 100n))
      await expect(ahead(request(merchant, friend, 'more', 1n))).rejects.toThrow('used 400')
    }))
})

const request = (from: Merchant, to: Person, order_id: string, amount: bigint): TransferRequest => ({
  app_id: from.id,
  order_id,
  ...recipient(to),
  amount,
})

describe('a random name that was given before', () => {
  /** Gives the next row of a table this value in a column once, as a random collision would. */
  async function collideOnce(table: 'orders' | 'transfers', column: string, value: string): Promise<void> {
    const name = sql.raw(`collide_${table}_${column}`)
    await sql`create sequence ${name}`.execute(test.db)
    await sql`
      create function ${name}() returns trigger language plpgsql as $$
      begin
        -- A sequence keeps its count when the transaction is undone.
        if nextval(${sql.lit(`collide_${table}_${column}`)}) = 1 then new.${sql.raw(column)} := ${sql.lit(value)}; end if;
        return new;
      end $$`.execute(test.db)
    await sql`create trigger ${name} before insert on ${sql.table(table)} for each row execute function ${name}()`.execute(
      test.db,
    )
  }

  it('is given anew: order and transfer come about', async () => {
    const merchant = await makeMerchant(test)
    const friend = await makePerson(test)
    await givePoints(test, merchant.owner, 1_000n)
    const place = makePlaceOrder(lane(64))
    const order = (order_id: string) => ({ app_id: merchant.id, order_id, description: 'Tea', amount: 10n })
    const first = await place(order('first'))
    await collideOnce('orders', 'transaction_id', first.transaction_id)
    const second = await place(order('second'))
    expect(second).toMatchObject({ order_id: 'second', status: 'unpaid' })
    expect(second.transaction_id).not.toBe(first.transaction_id)

    const post = makePostTransfer(lane(64))
    const { transaction_id } = await post(request(merchant, friend, 'one', 10n))
    await collideOnce('transfers', 'transaction_id', transaction_id)
    const other = await post(request(merchant, friend, 'two', 10n))
    expect(other).toMatchObject({ order_id: 'two', status: 'completed' })
    expect(await balanceOf(test.db, friend.id)).toBe(20n)
  })
})
