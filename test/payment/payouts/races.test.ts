/** Races of payouts: two workers at one, payments and transfers of the same owner, locked wallets, and a cancellation. spec/payouts 2.6. */
import { sql } from 'kysely'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/core/core.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { makePostTransfer } from '../../../src/payment/orders/transfers.ts'
import { cancelPayout, findPayout, linesOfPayout } from '../../../src/payment/payouts/payouts.ts'
import { runPayouts } from '../../../src/payment/payouts/run.ts'
import { untilBlocked } from '../../harness/blocked.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { givePoints, makePerson } from '../../harness/cast.ts'
import { anotherProcess, setSetting, useTestApp } from '../../harness/harness.ts'
import { type Merchant, makeMerchant } from '../../harness/merchant.ts'
import { placeOrder } from '../../harness/orders.ts'
import { lines, startPayout } from '../../harness/payouts.ts'
import { lockRows, rowsOf } from '../../harness/rows.ts'
import { times } from '../../harness/thoroughness.ts'

const test = await useTestApp()
const { deps, db, clock } = test
const elsewhere = await anotherProcess(test)
afterAll(() => elsewhere.close())
afterEach(() => expectSoundBooks(db))
await setSetting(test, 'limit_api_requests', '0')
const people = await Promise.all(Array.from({ length: 8 }, () => makePerson(test, { points: 100_000n })))
const processes: Core[] = [deps, elsewhere.deps]
const ROUNDS = times(20, 1)

async function shop(): Promise<Merchant> {
  const merchant = await makeMerchant(test)
  await givePoints(test, merchant.owner, 1_000_000n)
  return merchant
}
const stateOf = async ({ id }: Merchant, reference: string) => (await findPayout(db, id, reference))!

/** Every line is paid by a transfer of its own. */
async function expectPaid(merchant: Merchant, reference: string, count: number): Promise<void> {
  const payout = await stateOf(merchant, reference)
  expect(payout).toMatchObject({ status: 'finished', paid: count })
  const ids = (await linesOfPayout(db, payout.id)).map(({ transaction_id }) => transaction_id)
  expect(new Set(ids).size).toBe(count)
  const { rows } = await sql<{ transfers: number }>`
    select count(*)::integer as transfers from transfers
    where app_id = ${merchant.id} and order_id like ${`payout:${reference}:%`}`.execute(db)
  expect(rows).toEqual([{ transfers: count }])
}

describe('two workers', () => {
  it(`pay each line of their payouts once, beside payments and transfers, in ${ROUNDS} rounds`, async () => {
    const pays = processes.map((process) => makePayOrder(process))
    const sends = processes.map((process) => makePostTransfer(process))
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one, two] = [await shop(), await shop()]
      // Each owner is paid by the other's payout, so that all of them lock the same wallets.
      const recipients = [...people, one.owner]
      await startPayout(deps, two, { reference: 'to', lines: lines(180, recipients) })
      await startPayout(deps, one, { reference: 'each', lines: lines(180, [...people, two.owner]) })
      await startPayout(deps, one, { reference: 'all', mode: 'all', lines: lines(90, people) })
      const orders = await Promise.all(people.map(() => placeOrder(one, { amount: '100' })))
      const paid = orders.map(({ transaction_id }, i) =>
        pays[i % 2]!({ transaction_id, payer_id: people[i]!.id, expected_amount: 100n }),
      )
      const sent = people.map(({ id, username }, i) =>
        sends[i % 2]!({
          app_id: one.id,
          order_id: `t${i}`,
          to_user_id: id,
          to_username: username,
          amount: 10n,
        }),
      )
      // A worker may find every payout with the other one, and rests. Its next round comes a second later.
      const work = async (process: Core) => {
        for (let i = 0; i < 40; i += 1) await runPayouts(process)
      }
      await Promise.all(processes.map(work))
      expect(await Promise.all(paid)).toEqual(people.map(() => 'paid'))
      expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(people.map(() => 'completed'))
      await expectPaid(two, 'to', 180)
      await expectPaid(one, 'each', 180)
      await expectPaid(one, 'all', 90)
    }
  })
})

describe('a piece', () => {
  it.each(['each', 'all'] as const)(
    'of the mode %s waits for a locked recipient and holds no lock',
    async (mode) => {
      const merchant = await shop()
      await startPayout(deps, merchant, { reference: 'busy', mode, lines: lines(16, people) })
      const { running } = await db.transaction().execute(async (tx) => {
        await lockRows(tx, 'ledger_accounts', { user_id: people[3]!.id })
        const running = runPayouts(elsewhere.deps)
        await untilBlocked(tx)
        const { pending, paid } = await stateOf(merchant, 'busy')
        expect({ pending, paid }).toEqual(
          mode === 'all' ? { pending: 16, paid: 0 } : { pending: 2, paid: 14 },
        )
        // Neither the payout nor the owner's wallet is locked.
        await sql`select from payouts where app_id = ${merchant.id} for update nowait`.execute(tx)
        await sql`select from ledger_accounts where user_id = ${merchant.owner.id} for update nowait`.execute(
          tx,
        )
        return { running }
      })
      // A worker that finds the payout with another one rests.
      await running
      await runPayouts(deps)
      await expectPaid(merchant, 'busy', 16)
    },
  )

  it('ends before the payout is cancelled, and none comes after the answer', async () => {
    const merchant = await shop()
    await startPayout(deps, merchant, { reference: 'stop', lines: lines(400, people) })
    const running = Promise.all(processes.map((process) => runPayouts(process)))
    const { id } = await stateOf(merchant, 'stop')
    expect(await cancelPayout(db, id, 'merchant', clock.now())).toBe(true)
    const then = await stateOf(merchant, 'stop')
    await running
    expect(await stateOf(merchant, 'stop')).toEqual(then)
    expect(then).toMatchObject({ status: 'cancelled', pending: 0 })
    expect(await rowsOf(test, 'transfers', { app_id: merchant.id })).toHaveLength(then.paid)
  })
})
