/** Races of buyers with each other and with the team, from two processes over one database: the promises of spec/links 2.3. */
import { sql } from 'kysely'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/core/core.ts'
import { type Tx, violatedConstraint } from '../../../src/database/connection.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { changeLink, editLink, stopLink } from '../../../src/payment/links/acts.ts'
import { addCodes, takeBackCodes } from '../../../src/payment/links/codes.ts'
import { makePayOrder, type PayOutcome } from '../../../src/payment/orders/pay.ts'
import { untilBlocked } from '../../harness/blocked.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { makePerson, type Person } from '../../harness/cast.ts'
import { anotherProcess, setSetting, useTestApp } from '../../harness/harness.ts'
import { details, IP, makeLink, orderAt, ownerOf, type TestLink } from '../../harness/links.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { makeRandom } from '../../harness/random.ts'
import { lockRows, rowOf } from '../../harness/rows.ts'
import { times } from '../../harness/thoroughness.ts'

const test = await useTestApp()
const { deps, db } = test
const elsewhere = await anotherProcess(test)
afterAll(() => elsewhere.close())
afterEach(() => expectSoundBooks(db))
await setSetting(test, 'limit_links_created', '0')
await setSetting(test, 'limit_link_orders', '0')
const ROUNDS = times(40, 2)
const BUYERS = 64
const buyers = await Promise.all(
  Array.from({ length: BUYERS }, () => makePerson(test, { points: 1_000_000n })),
)

/** Each process pays with small batches in several lanes, so that they meet in every order. */
const processes = [deps, elsewhere.deps].map(
  (process): Core => ({ ...process, batching: { itemsMax: 4, lanes: 4 } }),
)
const payers = processes.map((process) => makePayOrder(process))

type Placed = { transaction_id: string; person: Person; units: number }

async function placeAll(link: TestLink, people: Person[], unitsOf: (i: number) => number): Promise<Placed[]> {
  return Promise.all(
    people.map(async (person, i) => {
      const units = unitsOf(i)
      const transaction_id = await orderAt(processes[i % 2]!, link, person, { units })
      expect(transaction_id).toMatch(/^txn_/)
      return { transaction_id, person, units }
    }),
  )
}

const payAll = (orders: Placed[]): Promise<PayOutcome[]> =>
  Promise.all(
    orders.map(({ transaction_id, person, units }, i) =>
      payers[i % 2]!({ transaction_id, payer_id: person.id, expected_amount: 10n * BigInt(units) }),
    ),
  )

/** Pays in a transaction that the test commits. */
async function payWithin(tx: Tx, { transaction_id, person }: Omit<Placed, 'units'>): Promise<void> {
  const asked = sql`row(${transaction_id}::text, ${person.id}::bigint, 10::bigint, ${deps.clock()}::timestamptz)`
  await sql`select * from pay_orders(array[${asked}::asked_payment], 0)`.execute(tx)
}

const count = (outcomes: PayOutcome[], outcome: PayOutcome) =>
  outcomes.filter((each) => each === outcome).length
const codesOf = (name: string, length: number) => Array.from({ length }, (_, i) => `${name}-${i}`)
const soldOf = async ({ slug }: TestLink) => {
  const { id } = await rowOf(test, 'links', { slug })
  const { rows } = await sql<{ sold: bigint }>`select units_sold(${id}) as sold`.execute(db)
  return Number(rows[0]!.sold)
}

describe('buyers at one link', () => {
  it(`64 of 50 codes get 50, one each, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const merchant = await makeMerchant(test)
      const link = await makeLink(test, merchant, { codes: codesOf(`r${round}`, 50) })
      const outcomes = await payAll(await placeAll(link, buyers, () => 1))
      expect([count(outcomes, 'paid'), count(outcomes, 'sold_out')]).toEqual([50, 14])
      const { rows } = await sql<{ codes: number; orders: number }>`
        select count(*)::int as codes, count(distinct order_id)::int as orders from link_codes
        where link_id = (select id from links where slug = ${link.slug}) and order_id is not null`.execute(db)
      expect(rows).toEqual([{ codes: 50, orders: 50 }])
      expect(await soldOf(link)).toBe(50)
      // A unit of 10 points costs no fee below one point.
      expect(await balanceOf(db, merchant.owner.id)).toBe(500n)
    }
  })

  it('of whom one orders twenty times gets three, the most of a member', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const link = await makeLink(test, await makeMerchant(test), { member_max: 3, stock: 100 })
      const [person] = buyers
      // Orders that were placed before expire, so that many wait at once.
      const orders: Placed[] = []
      for (let i = 0; i < 20; i += 1) {
        const [placed] = await placeAll(link, [person!], () => 1)
        orders.push(placed!)
        await sql`update orders set status = 'closed' where transaction_id = ${placed!.transaction_id}`.execute(
          db,
        )
      }
      await sql`
        update orders set status = 'unpaid' where transaction_id = any(${orders.map((o) => o.transaction_id)}::text[])`.execute(
        db,
      )
      const outcomes = await payAll(orders)
      expect([count(outcomes, 'paid'), count(outcomes, 'member_limit')]).toEqual([3, 17])
    }
  })

  it('beside the return of codes get whole orders, and no returned code', async () => {
    const random = makeRandom(34)
    for (let round = 0; round < ROUNDS; round += 1) {
      const merchant = await makeMerchant(test)
      const link = await makeLink(test, merchant, { codes: codesOf(`t${round}`, 60), quantity_max: 3 })
      const orders = await placeAll(link, buyers.slice(0, 40), () => 1 + random.below(3))
      const paying = payAll(orders)
      const returned: string[] = []
      for (let i = 0; i < 6; i += 1) {
        const act = { slug: link.slug, count: i < 5 ? 3 : undefined }
        returned.push(
          ...(await takeBackCodes(processes[i % 2]!, merchant.payment_id, act, ownerOf(merchant))),
        )
      }
      const outcomes = await paying
      const sold = orders.filter((_, i) => outcomes[i] === 'paid').reduce((sum, { units }) => sum + units, 0)
      expect(count(outcomes, 'paid') + count(outcomes, 'sold_out')).toBe(40)
      expect(sold + returned.length).toBe(60)
      expect(new Set(returned).size).toBe(returned.length)
      const { rows } = await sql<{ sold: number; withdrawn: number }>`
        select count(order_id)::int as sold, count(withdrawn_at)::int as withdrawn from link_codes
        where link_id = (select id from links where slug = ${link.slug})`.execute(db)
      expect(rows).toEqual([{ sold, withdrawn: returned.length }])
    }
  })

  it('beside a pause pay nothing after its answer', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const merchant = await makeMerchant(test)
      const link = await makeLink(test, merchant)
      const [held, ...others] = await placeAll(link, buyers.slice(0, 48), () => 1)
      let then: number | undefined
      // One payment is judged and not yet committed. A pause that does not wait for it answers before it commits.
      const acts = await db.transaction().execute(async (tx) => {
        await payWithin(tx, held!)
        const act = { slug: link.slug, change: 'pause' } as const
        const pausing = changeLink(processes[round % 2]!, merchant.payment_id, act, ownerOf(merchant)).then(
          async () => {
            then = await soldOf(link)
          },
        )
        await untilBlocked(tx, 1, () => then !== undefined)
        return { pausing, paying: payAll(others) }
      })
      await acts.pausing
      const outcomes = await acts.paying
      expect(count(outcomes, 'paid') + count(outcomes, 'not_on_sale')).toBe(47)
      expect([await soldOf(link), count(outcomes, 'paid') + 1]).toEqual([then, then])
    }
  })
})

/** Every act that takes something off sale, and codes that are added. */
const acts: Record<string, (link: TestLink) => Promise<unknown>> = {
  pause: ({ slug, merchant }) =>
    changeLink(elsewhere.deps, merchant.payment_id, { slug, change: 'pause' }, ownerOf(merchant)),
  end: ({ slug, merchant }) =>
    changeLink(elsewhere.deps, merchant.payment_id, { slug, change: 'end' }, ownerOf(merchant)),
  edit: ({ slug, merchant }) =>
    editLink(
      elsewhere.deps,
      merchant.payment_id,
      { slug, details: details({ delivery: 'codes', stock: 1 }) },
      ownerOf(merchant),
    ),
  'take back': ({ slug, merchant }) =>
    takeBackCodes(elsewhere.deps, merchant.payment_id, { slug, count: undefined }, ownerOf(merchant)),
  stop: async ({ slug }) =>
    stopLink(elsewhere.deps, { slug, reason: 'A test' }, { user_id: (await staff).id, ip: IP }),
}
const staff = makePerson(test, { is_admin: true })

describe('an act waits for the payment that holds the owner’s wallet', () => {
  it.each(Object.keys(acts))('%s', async (name) => {
    const merchant = await makeMerchant(test)
    const link = await makeLink(test, merchant, { codes: ['a', 'b'] })
    const [{ transaction_id, person }] = (await placeAll(link, buyers.slice(0, 1), () => 1)) as [Placed]
    let done = false
    const acting = await db.transaction().execute(async (tx) => {
      await payWithin(tx, { transaction_id, person })
      const act = acts[name]!(link).finally(() => {
        done = true
      })
      await untilBlocked(tx, 1, () => done)
      expect(done).toBe(false)
      return { act }
    })
    await acting.act
    expect(await soldOf(link)).toBe(1)
  })

  it('but adding codes waits for none', async () => {
    const merchant = await makeMerchant(test)
    const { slug } = await makeLink(test, merchant, { codes: ['a'] })
    await db.transaction().execute(async (tx) => {
      await lockRows(tx, 'ledger_accounts', { user_id: merchant.owner.id })
      const file = { slug, file: 'b' }
      expect(await addCodes(elsewhere.deps, merchant.payment_id, file, ownerOf(merchant))).toMatchObject({
        added: 1,
      })
    })
  })
})

/** Takes the units of an order as its payment does, but without the owner's wallet. */
const takeBeside = async ({ transaction_id }: Placed): Promise<unknown> => {
  const { id } = await rowOf(test, 'orders', { transaction_id })
  return elsewhere.deps.db
    .transaction()
    .execute((tx) => sql`select take_units(${id}, ${deps.clock()}::timestamptz)`.execute(tx))
    .then(
      () => 'taken',
      (error) => violatedConstraint(error) ?? error.code,
    )
}

describe('a sale that did not wait for the wallet is refused by the schema', () => {
  // Both sales continue the same units. The sums of the second one are within the limits, because they lack the first one.
  it.each([
    ['over the stock', { stock: 2 }, { units: 2, by: 1 }],
    ['over the most of a member', { member_max: 2 }, { units: 2, by: 0 }],
    ['within the stock', { stock: 3 }, { units: 1, by: 1 }],
    ['of other codes', { codes: ['a', 'b', 'c'] }, { units: 2, by: 1 }],
  ])('%s', async (_, limits, { units, by }) => {
    const link = await makeLink(test, await makeMerchant(test), { ...limits, quantity_max: 2 })
    const [held] = await placeAll(link, [buyers[0]!], () => 1)
    const [other] = await placeAll(link, [buyers[by]!], () => units)
    let outcome: unknown
    const taking = await db.transaction().execute(async (tx) => {
      await payWithin(tx, held!)
      const act = takeBeside(other!).then((ended) => {
        outcome = ended
      })
      await untilBlocked(tx, 1, () => outcome !== undefined)
      expect(outcome).toBe(undefined)
      return { act }
    })
    await taking.act
    expect(outcome).toMatch(/^link_orders_sold_(before|total)$/)
    expect(await soldOf(link)).toBe(1)
  })

  it('for want of codes, without a wait', async () => {
    const link = await makeLink(test, await makeMerchant(test), { codes: ['a', 'b'], quantity_max: 2 })
    const [held, other] = await placeAll(link, buyers.slice(0, 2), (i) => i + 1)
    let outcome: unknown
    const taking = await db.transaction().execute(async (tx) => {
      await payWithin(tx, held!)
      const act = takeBeside(other!).then((ended) => {
        outcome = ended
      })
      await untilBlocked(tx, 1, () => outcome !== undefined)
      expect(outcome).toBe('55P03')
      return { act }
    })
    await taking.act
    expect(await soldOf(link)).toBe(1)
  })
})
