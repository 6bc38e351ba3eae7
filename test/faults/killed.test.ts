/**
 * People pay, transfer and initiate while the service, Postgres, one of its processes or the connections between them
 * are killed. Whoever is not answered asks again. No answer was untrue: nothing told is lost, and nothing happened twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { expectSoundBooks } from '../books.ts'
import { IS_FULL, ROUNDS } from './rounds.ts'
import { type FaultWorld, START_POINTS, startFaultWorld, type Told } from './world.ts'

/** What goes on at once. */
const VISITS = 8
const PRICE = 100n
const PRICE_NET = 95n
const CASHBACK = 10n
const CASHBACK_FEE = 1n
/** The longest that the load runs before the fault. */
const LEAD_MS = 150

let world: FaultWorld
let count = 0

beforeAll(async () => {
  world = await startFaultWorld()
}, 120_000)
afterAll(() => world.close())

type Visit = { order_id: string; buyer: FaultWorld['buyers'][number]; told: Told[] }

/** A buyer orders, pays, and gets some of it back. What was answered is kept. */
async function visit(): Promise<Visit> {
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
}

/** Asks everything once more. */
async function expectSameAnswers({ order_id, buyer, told }: Visit): Promise<void> {
  const [initiated, paid, transferred] = told as [Told, Told, Told]
  const { transaction_id } = JSON.parse(initiated.text)
  const again = await world.initiate({ order_id, amount: String(PRICE) })
  expect(again.status).toBe(400)
  expect(JSON.parse(again.text).data).toEqual({ status: 'completed', transaction_id })
  expect((await world.pay(buyer, transaction_id, String(PRICE))).text).toBe(paid.text)
  const repeated = await world.transfer(buyer, { order_id, amount: String(CASHBACK) })
  expect(repeated.text).toBe(transferred.text)
}

it(
  'a kill anywhere loses no answer and moves nothing twice',
  async () => {
    const faults = Object.values(world.faults)
    let askedAgain = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const visits = Promise.all(Array.from({ length: VISITS }, visit))
      // An error of theirs is reported where they are awaited.
      visits.catch(() => {})
      await sleep(Math.random() * LEAD_MS)
      await faults[round % faults.length]!()
      const ended = await visits
      await Promise.all(ended.map(expectSameAnswers))
      askedAgain += ended.flatMap(({ told }) => told).filter(({ tries }) => tries > 1).length
      await world.withDatabase(expectSoundBooks)
    }
    await world.withDatabase(async (db) => {
      const [paid, transfers] = await Promise.all([
        db.selectFrom('orders').where('status', '=', 'paid').select('id').execute(),
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
    })
    // Or the faults had struck nobody, and proved nothing.
    expect(askedAgain).toBeGreaterThan(0)
  },
  IS_FULL ? 3_600_000 : 120_000,
)
