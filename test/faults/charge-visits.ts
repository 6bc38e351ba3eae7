/**
 * Visits of members who accept a mandate and are charged under it. What was answered is kept, and asked for once more in the
 * end, as in visits.ts.
 */
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Core } from '../../src/core/core.ts'
import type { Db } from '../../src/database/connection.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { askMandateRight, decideMandateRight } from '../../src/payment/mandates/right.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { setRows } from '../harness/rows.ts'
import type { Visits } from './visits.ts'
import {
  type Buyer,
  makeBuyers,
  makeShop,
  type Shop,
  type ShopWorld,
  START_POINTS,
  type Told,
} from './world.ts'

const PRICE = 100n
const PRICE_NET = 95n

/** Makes a shop with the right to mandates and an address for events, where nothing listens, and its own buyers. */
async function openClub(db: Db): Promise<{ shop: Shop; buyers: Buyer[] }> {
  const shop = await makeShop(db, 'club_owner')
  const deps = { db, clock: () => new Date() } as Core
  const owner = { user_id: shop.owner.id, ip: '127.0.0.1' }
  await askMandateRight(deps, shop.payment_id, 'Charges under faults', owner)
  const granted = { decision: 'grant', reason: 'test', daily_max: START_POINTS } as const
  await decideMandateRight(deps, shop.payment_id, granted, { actor_id: null, ip: null })
  await setRows({ db }, 'payment_apps', { id: shop.id }, { events_url: 'http://127.0.0.1:9/events' })
  return { shop, buyers: await makeBuyers(db, 'member') }
}

export type ChargeVisit = { mandate_id: string; charge: Record<string, string>; told: Told[] }

/** Opens visits of a shop and of members who take no part in other visits. */
export async function openChargeVisits(world: ShopWorld): Promise<Visits<ChargeVisit>> {
  const { shop, buyers } = await world.withDatabase(openClub)
  let count = 0
  return {
    count: () => count,
    // Offers a mandate, lets a member accept it, charges it, and revokes it.
    async visit() {
      count += 1
      const reference = `visit-${count}`
      const buyer: Buyer = buyers[count % buyers.length]!
      const terms = { reference, purpose: 'A club', amount: String(PRICE), period: 'month' }
      const offered = await world.mandate(shop, 'offer', terms)
      expect(offered).toMatchObject({ status: 200 })
      const { mandate_id } = JSON.parse(offered.text)
      const accepted = await world.accept(buyer, mandate_id)
      // The member who asks again reads that the mandate is active.
      expect(accepted.tries === 1 ? [303] : [303, 409]).toContain(accepted.status)
      const charge = { mandate_id, order_id: reference, amount: String(PRICE), description: 'January' }
      const charged = await world.mandate(shop, 'charge', charge)
      expect(charged).toMatchObject({ status: 200 })
      const revoked = await world.mandate(shop, 'revoke', { mandate_id, reason: 'The visit is over' })
      expect(revoked).toMatchObject({ status: 200 })
      return { mandate_id, charge, told: [offered, accepted, charged, revoked] }
    },
    async expectSameAnswers({ mandate_id, charge, told }) {
      const [, , charged, revoked] = told as [Told, Told, Told, Told]
      expect((await world.mandate(shop, 'charge', charge)).text).toBe(charged.text)
      const another = await world.mandate(shop, 'charge', { ...charge, order_id: `${charge.order_id}-again` })
      expect(JSON.parse(another.text).errors[0].code).toBe(1022)
      expect((await world.mandate(shop, 'revoke', { mandate_id, reason: 'Again' })).text).toBe(revoked.text)
    },
    expectNothingLostOrDoubled: () =>
      world.withDatabase(async (db) => {
        await expectSoundBooks(db)
        const charges = await db
          .selectFrom('orders')
          .where('mandate_id', 'is not', null)
          .select('amount')
          .execute()
        expect(charges.map(({ amount }) => amount)).toEqual(Array(count).fill(PRICE))
        const { rows: ended } =
          await sql`select from mandates where status = 'ended' and ended_reason = 'merchant'`.execute(db)
        expect(ended).toHaveLength(count)
        const visits = BigInt(count)
        expect(await balanceOf(db, shop.owner.id)).toBe(START_POINTS + visits * PRICE_NET)
        const balances = await Promise.all(buyers.map(({ id }) => balanceOf(db, id)))
        const total = balances.reduce((sum, balance) => sum + balance, 0n)
        expect(total).toBe(START_POINTS * BigInt(buyers.length) - visits * PRICE)
        const { rows: events } = await sql<{ kind: string; count: number }>`
          select kind, count(*)::integer as count from notifications
          where app_id = ${shop.id} and kind <> 'charge.failed' group by kind order by kind`.execute(db)
        expect(events).toEqual(
          ['charge.completed', 'mandate.created', 'mandate.revoked'].map((kind) => ({ kind, count })),
        )
      }),
  }
}
