/** /admin/abuse: the patterns that it finds in payments and transfers, and those that it does not report. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { clustersByAddress, movementPatterns } from '../../src/admin/points/abuse.page.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'

const DAY_MS = 86_400_000
let count = 0

const test = await useTestApp()
const shops = [await makeMerchant(test), await makeMerchant(test), await makeMerchant(test)]

async function pay(payer: Person, shop: Merchant, amount: bigint) {
  count += 1
  const sent = { amount: String(amount), description: 'Tea', order_id: `abuse-${count}` }
  const transaction_id = String((await shop.process(sent)).body.transaction_id)
  const payment = { transaction_id, payer_id: payer.id, expected_amount: amount }
  expect(await makePayOrder(test.deps)(payment)).toBe('paid')
}

it('finds rings, top movers and related new accounts, without old ones', async () => {
  const [a, b, c] = shops as [Merchant, Merchant, Merchant]
  const people = await Promise.all(
    ['one', 'two', 'three'].map((username) => makePerson(test, { username, points: 100n })),
  )
  for (const { owner } of shops)
    await sql`
    select post_points(
      array[${owner.id}::bigint], array[1000], array[${`seed ${owner.id}`}], 'x', null, ${test.clock.now()}
    )`.execute(test.db)
  // A ring of three, and a ring of two. A payment to oneself is no ring.
  await pay(a.owner, b, 300n)
  await pay(b.owner, c, 200n)
  await pay(c.owner, a, 100n)
  await pay(b.owner, a, 50n)
  await pay(a.owner, a, 400n)
  const now = test.clock.now()
  const names = (shop: Merchant) => shop.owner.username
  expect((await movementPatterns(test.db, now)).rings).toEqual([
    {
      ...{ usernames: [a, b, c].map(names), user_ids: [a, b, c].map(({ owner }) => owner.id) },
      ...{ points: 100n, movements: 3 },
    },
    {
      ...{ usernames: [a, b].map(names), user_ids: [a, b].map(({ owner }) => owner.id) },
      ...{ points: 50n, movements: 2 },
    },
  ])

  for (const person of people) await pay(person, c, 10n)
  const { movers, byRecipient } = await movementPatterns(test.db, now)
  expect(movers[0]).toMatchObject({ username: c.owner.username, sent: 100n, received: 230n, movements: 5 })

  expect(byRecipient).toEqual([
    { shared: c.owner.username, members: 4, usernames: expect.any(Array), points: 230n },
  ])
  for (const person of people.slice(0, 2)) await person.signIn()
  const shared = async () => (await clustersByAddress(test.db, now)).map(({ members }) => members)
  expect(await shared()).toEqual([])
  await people[2]!.signIn()
  expect(await shared()).toEqual([3])

  const admin = await (await makePerson(test, { username: 'root', is_admin: true })).signIn()
  const { body } = await admin.get('/admin/abuse')
  expect(body).toContain(`href="/admin/wallets/${a.owner.id}"`)

  const later = new Date(now.getTime() + 31 * DAY_MS)
  expect(await movementPatterns(test.db, later)).toEqual({ rings: [], movers: [], byRecipient: [] })
  await sql`update users set created_at = ${new Date(now.getTime() - 400 * DAY_MS)}`.execute(test.db)
  expect(await clustersByAddress(test.db, now)).toEqual([])
  expect((await movementPatterns(test.db, now)).byRecipient).toEqual([])
})
