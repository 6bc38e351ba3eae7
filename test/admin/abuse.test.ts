/** /admin/abuse: the patterns that it finds in payments and transfers, and those that it does not report. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { clustersByAddress, movementPatterns } from '../../src/admin/points/abuse.page.ts'
import { showPatterns } from '../../src/admin/points/suspects.ts'
import { schema } from '../../src/core/setting-values.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { texts } from '../../src/texts.ts'
import { makeLocale } from '../../src/web/languages.ts'
import { siteWords } from '../../src/web/site-words.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'

const DAY_MS = 86_400_000
const words = messages.en.console.abuse
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
      // Three times 100 of the 300 + 250 + 100 points that they sent.
      ...{ points: 100n, movements: 3, percent: 46 },
    },
    {
      ...{ usernames: [a, b].map(names), user_ids: [a, b].map(({ owner }) => owner.id) },
      ...{ points: 50n, movements: 2, percent: 18 },
    },
  ])

  for (const person of people) await pay(person, c, 10n)
  const { movers, byRecipient } = await movementPatterns(test.db, now)
  // By what each passed on: 250, 150 and 100 points.
  expect(movers.map(({ username }) => username).slice(0, 3)).toEqual([b, a, c].map(names))
  expect(movers[2]).toMatchObject({ sent: 100n, received: 230n, movements: 5 })

  expect(byRecipient).toEqual([
    { shared: c.owner.username, members: 4, usernames: expect.any(Array), points: 230n, percent: 100 },
  ])
  for (const person of people.slice(0, 2)) await person.signIn()
  const shared = async () => (await clustersByAddress(test.db, now)).map(({ members }) => members)
  expect(await shared()).toEqual([])
  await people[2]!.signIn()
  expect(await shared()).toEqual([3])

  const admin = await (await makePerson(test, { username: 'root', is_admin: true })).signIn()
  const { body } = await admin.get('/admin/abuse')
  // A name leads to what moved between the member and the next one.
  const between = `/admin/wallets/${b.owner.id}?with=${a.owner.id}`
  expect(body).toContain(`href="${between}"`)
  const { body: compared } = await admin.get(between)
  const amounts = (html: string) =>
    [...html.matchAll(/class="end(?: plus)?">(.\d+)</g)].map(([, amount]) => amount)
  expect(amounts(compared)).toEqual(['−50', '+285'])
  expect(amounts((await admin.get(`/admin/wallets/${b.owner.id}`)).body).length).toBeGreaterThan(2)
  expect((await admin.get(`/admin/wallets/${b.owner.id}?with=999999`)).status).toBe(404)

  expect(textOf(body)).toContain(
    `@${a.owner.username} → @${b.owner.username} → @${c.owner.username} · ${words.why.rings(46)}`,
  )

  const later = new Date(now.getTime() + 31 * DAY_MS)
  expect(await movementPatterns(test.db, later)).toEqual({ rings: [], movers: [], byRecipient: [] })
  await sql`update users set created_at = ${new Date(now.getTime() - 400 * DAY_MS)}`.execute(test.db)
  expect(await clustersByAddress(test.db, now)).toEqual([])
  expect((await movementPatterns(test.db, now)).byRecipient).toEqual([])
})

it('puts a small ring of its own before a larger one within the trade of a shop', async () => {
  const shop = await makeMerchant(test)
  const [one, two] = [await makeMerchant(test), await makeMerchant(test)]
  const buyers = await Promise.all([1, 2, 3].map(() => makePerson(test, { points: 2_000n })))
  for (const { owner } of [shop, one, two]) await givePoints(test, owner, 5_000n)
  for (const buyer of buyers) await pay(buyer, shop, 1_000n)
  await pay(shop.owner, one, 400n)
  for (const other of [two, ...shops]) await pay(shop.owner, other, 1_000n)
  await pay(one.owner, shop, 400n)
  await pay(one.owner, two, 300n)
  await pay(two.owner, one, 300n)
  const { rings } = await movementPatterns(test.db, test.clock.now())
  const placeOf = (...owners: Merchant[]) =>
    rings.findIndex(({ user_ids }) => user_ids.join() === owners.map(({ owner }) => owner.id).join())
  expect(rings[placeOf(shop, one)]).toMatchObject({ points: 400n })
  expect(placeOf(one, two)).toBeGreaterThanOrEqual(0)
  expect(placeOf(one, two)).toBeLessThan(placeOf(shop, one))
})

it('begins with the pattern that is most of what its members did, and says why', () => {
  const { en } = messages
  const ring = { usernames: ['a', 'b'], user_ids: [1n, 2n], points: 9_000n, movements: 8, percent: 12 }
  const cluster = { shared: 'c', members: 5, usernames: ['d'], points: 40n, percent: 100 }
  const near = { shared: '192.0.2.1', members: 4, usernames: ['e'], hours: 49 }
  const locale = makeLocale('en', texts, { words: siteWords(schema.parse({}), 'en'), timeZone: 'UTC' })
  const found = { rings: [ring], movers: [], byRecipient: [cluster], byAddress: [near], byTips: [] }
  const patterns = showPatterns(found, locale)
  expect(patterns.map(({ name }) => name)).toEqual(['byRecipient', 'rings', 'byAddress'])
  expect(patterns.map(({ suspects }) => suspects[0]!.isStrong)).toEqual([true, false, false])
  const { why } = en.console.abuse
  expect(patterns.map(({ suspects }) => suspects[0]!.why)).toEqual([
    why.byRecipient('5', 100),
    why.rings(12),
    why.byAddress('4', 49),
  ])
})
