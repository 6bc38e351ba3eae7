/**
 * Visits: a buyer orders, pays, and gets some of it back. What was answered is kept, and asked for once more in the end:
 * nothing told may be untrue, nothing may have happened twice.
 */
import { expect } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { rowsOf } from '../harness/rows.ts'
import { type ShopWorld, START_POINTS, type Told } from './world.ts'

const PRICE = 100n
const PRICE_NET = 95n
const CASHBACK = 10n
const CASHBACK_FEE = 1n

export type Visit = { order_id: string; buyer: ShopWorld['buyers'][number]; told: Told[] }

export type Visits<Kind extends { told: Told[] } = Visit> = {
  count(): number
  /** Answers once everything of the visit has been answered. */
  visit(): Promise<Kind>
  /** Asks everything of it once more. */
  expectSameAnswers(visit: Kind): Promise<void>
  /** Of all visits so far, which must have ended: the books, everything done and told, every balance. */
  expectNothingLostOrDoubled(): Promise<void>
}

export function openVisits(world: ShopWorld): Visits {
  let count = 0
  return {
    count: () => count,
    async visit() {
      count += 1
      const order_id = `visit-${count}`
      const buyer = world.buyers[count % world.buyers.length]!
      const initiated = await world.initiate({ order_id, amount: String(PRICE) })
      expect(initiated).toMatchObject({ status: 200 })
      const { transaction_id } = JSON.parse(initiated.text)
      const paid = await world.pay(buyer, transaction_id, String(PRICE))
      expect(paid).toMatchObject({ status: 303, text: expect.stringContaining(transaction_id) })
      const transferred = await world.transfer(buyer, { order_id, amount: String(CASHBACK) })
      expect(transferred).toMatchObject({ status: 200 })
      return { order_id, buyer, told: [initiated, paid, transferred] }
    },
    async expectSameAnswers({ order_id, buyer, told }) {
      const [initiated, paid, transferred] = told as [Told, Told, Told]
      const { transaction_id } = JSON.parse(initiated.text)
      const again = await world.initiate({ order_id, amount: String(PRICE) })
      expect(again.status).toBe(400)
      expect(JSON.parse(again.text).data).toEqual({ status: 'completed', transaction_id })
      expect((await world.pay(buyer, transaction_id, String(PRICE))).text).toBe(paid.text)
      const repeated = await world.transfer(buyer, { order_id, amount: String(CASHBACK) })
      expect(repeated.text).toBe(transferred.text)
    },
    expectNothingLostOrDoubled: () =>
      world.withDatabase(async (db) => {
        await expectSoundBooks(db)
        const [paid, transfers] = await Promise.all([
          rowsOf({ db }, 'orders', { app_id: world.shop.id, status: 'paid' }, ['id']),
          db.selectFrom('transfers').select('id').execute(),
        ])
        expect([paid.length, transfers.length]).toEqual([count, count])
        const visits = BigInt(count)
        expect(await balanceOf(db, world.shop.owner.id)).toBe(
          START_POINTS + visits * (PRICE_NET - CASHBACK - CASHBACK_FEE),
        )
        const balances = await Promise.all(world.buyers.map(({ id }) => balanceOf(db, id)))
        const total = balances.reduce((sum, balance) => sum + balance, 0n)
        expect(total).toBe(START_POINTS * BigInt(world.buyers.length) - visits * (PRICE - CASHBACK))
      }),
  }
}
