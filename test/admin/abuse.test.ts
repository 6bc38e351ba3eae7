/** /admin/abuse: the patterns that it finds in payments and transfers, and those that it does not report. spec/points 2.7. */
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { lookAt, readLooks } from '../../src/admin/points/looks.ts'
import { clustersByAddress, findPatterns, movementPatterns } from '../../src/admin/points/patterns.ts'
import { showPatterns } from '../../src/admin/points/suspects.ts'
import { schema } from '../../src/core/setting-values.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { runPayouts } from '../../src/payment/payouts/run.ts'
import { texts } from '../../src/texts.ts'
import { makeLocale } from '../../src/web/languages.ts'
import { siteWords } from '../../src/web/site-words.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { type Browser, setSetting, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { lines, startPayout } from '../harness/payouts.ts'
import { rowsOf } from '../harness/rows.ts'

const DAY_MS = 86_400_000
const words = messages.en.console.abuse
/** Every sum, and as many findings as the page shows. */
const ALL = { least: 0n, limit: 20 }
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
  expect((await movementPatterns(test.db, { now, ...ALL })).rings).toEqual([
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
  const { movers, byRecipient } = await movementPatterns(test.db, { now, ...ALL })
  // By what each passed on: 250, 150 and 100 points.
  expect(movers.map(({ username }) => username).slice(0, 3)).toEqual([b, a, c].map(names))
  expect(movers[2]).toMatchObject({ sent: 100n, received: 230n, movements: 5 })

  expect(byRecipient).toEqual([
    {
      ...{ shared: c.owner.username, shared_id: c.owner.id },
      members: 4,
      usernames: expect.any(Array),
      points: 230n,
      percent: 100,
    },
  ])
  for (const person of people.slice(0, 2)) await person.signIn()
  const shared = async () => (await clustersByAddress(test.db, { now, ...ALL })).map(({ members }) => members)
  expect(await shared()).toEqual([])
  await people[2]!.signIn()
  expect(await shared()).toEqual([3])

  const admin = await (await makePerson(test, { username: 'root', is_admin: true })).signIn()
  await setSetting(test, 'suspicious_points_min', '0')
  const { body } = await admin.get('/admin/abuse')
  // A name leads to what moved between the member and the next one.
  const between = `/admin/wallets/${a.owner.id}?with=${b.owner.id}`
  expect(body).toContain(`href="${between}"`)
  // The ring of a and b shares both with the ring of three before it.
  expect(body).not.toContain(`/admin/wallets/${b.owner.id}?with=${a.owner.id}`)
  const { body: compared } = await admin.get(between)
  const amounts = (html: string) =>
    [...html.matchAll(/class="end(?: plus)?">(.\d+)</g)].map(([, amount]) => amount)
  expect(amounts(compared)).toEqual(['+48', '−300'])
  expect(amounts((await admin.get(`/admin/wallets/${a.owner.id}`)).body).length).toBeGreaterThan(2)
  expect((await admin.get(`/admin/wallets/${a.owner.id}?with=999999`)).status).toBe(404)

  const ring = [a, b, c, a].map(({ owner }) => `@${owner.username}`).join(' → ')
  expect(textOf(body)).toContain(ring)
  expect(textOf(body)).toContain(words.why.rings(46))

  const later = new Date(now.getTime() + 31 * DAY_MS)
  expect(await movementPatterns(test.db, { now: later, ...ALL })).toEqual({
    rings: [],
    movers: [],
    byRecipient: [],
  })
  await sql`update users set created_at = ${new Date(now.getTime() - 400 * DAY_MS)}`.execute(test.db)
  expect(await clustersByAddress(test.db, { now, ...ALL })).toEqual([])
  expect((await movementPatterns(test.db, { now, ...ALL })).byRecipient).toEqual([])
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
  const { rings } = await movementPatterns(test.db, { now: test.clock.now(), ...ALL })
  const placeOf = (...owners: Merchant[]) =>
    rings.findIndex(({ user_ids }) => user_ids.join() === owners.map(({ owner }) => owner.id).join())
  expect(rings[placeOf(shop, one)]).toMatchObject({ points: 400n })
  expect(placeOf(one, two)).toBeGreaterThanOrEqual(0)
  expect(placeOf(one, two)).toBeLessThan(placeOf(shop, one))
})

it('counts what a member sent as a payout', async () => {
  const shop = await makeMerchant(test)
  const buyers = await Promise.all([1, 2].map(() => makePerson(test, { points: 100n })))
  for (const buyer of buyers) await pay(buyer, shop, 100n)
  await startPayout(test.deps, shop, { reference: 'prizes', lines: lines(2, buyers) })
  await runPayouts(test.deps)
  const { movers } = await movementPatterns(test.db, { now: test.clock.now(), ...ALL })
  const mover = movers.find(({ user_id }) => user_id === shop.owner.id)
  expect(mover).toMatchObject({ sent: 20n, movements: 4, payouts: 2, paid_out: 20n })
})

it('begins with the pattern that is most of what its members did, and says why', () => {
  const { en } = messages
  const ring = { usernames: ['a', 'b'], user_ids: [1n, 2n], points: 9_000n, movements: 8, percent: 12 }
  const cluster = { shared: 'c', shared_id: 3n, members: 5, usernames: ['d'], points: 40n, percent: 100 }
  const near = { shared: '192.0.2.1', members: 4, usernames: ['e'], hours: 49 }
  const locale = makeLocale('en', texts, { words: siteWords(schema.parse({}), 'en'), timeZone: 'UTC' })
  const mover = {
    ...{ user_id: 4n, username: 'f', trust_level: 2, movements: 9, sent: 90n, received: 100n },
    ...{ payouts: 7, paid_out: 88n },
  }
  const found = { rings: [ring], movers: [mover], byRecipient: [cluster], byAddress: [near], byTips: [] }
  const patterns = showPatterns(found, locale)
  expect(patterns.map(({ name }) => name)).toEqual(['byRecipient', 'rings', 'movers', 'byAddress'])
  expect(patterns.map(({ suspects }) => suspects[0]!.isStrong)).toEqual([true, false, false, false])
  const { why } = en.console.abuse
  expect(patterns.map(({ suspects }) => suspects[0]!.why)).toEqual([
    why.byRecipient('5', 100),
    why.rings(12),
    why.movers(en.common.trustLevel(2), '100', '90', why.payouts('7', '88')),
    why.byAddress('4', 49),
  ])
})

describe('a finding', () => {
  const root = () => makePerson(test, { is_admin: true })
  /** The first ring of the page: who it is about, and its figure. */
  async function ringOf() {
    const { rings } = await findPatterns(test.db, { now: test.clock.now(), ...ALL })
    const [{ usernames, user_ids, points }] = rings as [(typeof rings)[number]]
    return { finding: `rings:${user_ids.join()}`, size: points, first: usernames[0]!, user_ids }
  }
  const forms = (html: string) => [...html.matchAll(/name="finding" value="([^"]+)"/g)].map(([, id]) => id)
  const looked = async (client: Browser) => forms((await client.get('/admin/abuse?show=looked')).body)
  const open = async (client: Browser) => forms((await client.get('/admin/abuse')).body)

  beforeEach(() => test.db.deleteFrom('looked_findings').execute())

  it('stays away once an administrator has looked at it, until it is put back', async () => {
    const admin = await root()
    const client = await admin.signIn()
    const { finding, size } = await ringOf()
    const page = await client.get('/admin/abuse')
    expect(forms(page.body)).toContain(finding)
    const note = 'They trade prints'
    const sent = { finding, size: String(size), note }
    const { location } = await client.submit(page, '/admin/abuse/looked', sent)
    expect(location).toBe('/admin/abuse')
    expect(await open(client)).not.toContain(finding)
    const kept = await client.get('/admin/abuse?show=looked')
    expect(textOf(kept.body)).toContain(words.lookedBy(admin.username))
    expect(textOf(kept.body)).toContain(note)
    const [entry] = await rowsOf(test, 'audit_log', { action: 'finding.look' }, [
      'actor_id',
      'subject',
      'detail',
    ])
    expect(entry).toMatchObject({ actor_id: admin.id, subject: `finding:${finding}` })
    expect(entry!.detail).toMatchObject({ amount: String(size), note, who: expect.stringMatching(/^@/) })
    const log = textOf((await client.get('/admin/audit?action=finding')).body)
    expect(log).toContain(`${words.titles.rings}`)
    await client.submit(kept, '/admin/abuse/reopen', { finding })
    expect(await open(client)).toContain(finding)
    expect(await looked(client)).toEqual([])
    await client.submit(kept, '/admin/abuse/reopen', { finding })
    expect(await rowsOf(test, 'audit_log', { action: 'finding.reopen' }, ['id'])).toHaveLength(1)
  })

  it('shows again when its figure has grown by half, with what was seen', async () => {
    const admin = await root()
    const client = await admin.signIn()
    const { finding, size } = await ringOf()
    const actor = { actor_id: admin.id, ip: '203.0.113.7' }
    const seen = { finding, note: '', who: '@x' }
    await lookAt(test.deps, { ...seen, size: (size * 2n) / 3n + 1n }, actor)
    expect(await open(client)).not.toContain(finding)
    await lookAt(test.deps, { ...seen, size: (size * 2n) / 3n + 2n }, actor)
    await sql`alter table looked_findings disable trigger looked_findings_kept`.execute(test.db)
    await test.db
      .updateTable('looked_findings')
      .set({ size: size / 2n })
      .execute()
    await sql`alter table looked_findings enable trigger looked_findings_kept`.execute(test.db)
    expect(await open(client)).toContain(finding)
    const text = textOf((await client.get('/admin/abuse')).body)
    expect(text).toContain(words.grown(String(size / 2n), admin.username))
  })

  it('keeps the first look when two administrators look at once', async () => {
    const admins = await Promise.all([root(), root()])
    const { finding, size } = await ringOf()
    const looks = await Promise.all(
      admins.map(({ id, username }) =>
        lookAt(test.deps, { finding, size, note: username, who: '@x' }, { actor_id: id, ip: '203.0.113.7' }),
      ),
    )
    const later = looks.filter((look) => look !== undefined)
    expect(later).toHaveLength(1)
    const [kept] = (await readLooks(test.db, test.clock.now())).values()
    expect(later[0]).toEqual(kept)
    expect(kept!.note).toBe(kept!.username)
    // The page names who was first.
    const other = admins.find(({ username }) => username !== kept!.username)!
    const client = await other.signIn()
    const page = await client.get('/admin/abuse')
    await client.submit(page, '/admin/abuse/looked', { finding, size: String(size), note: 'mine' })
    const text = textOf((await client.get('/admin/abuse')).body)
    expect(text).toContain(words.already(kept!.username, kept!.note))
    expect([...(await readLooks(test.db, test.clock.now())).values()]).toEqual([kept])
  })

  it('that is not found, or grew meanwhile, is not marked beyond what was seen', async () => {
    const client = await (await root()).signIn()
    const { finding, size } = await ringOf()
    const page = await client.get('/admin/abuse')
    await client.submit(page, '/admin/abuse/looked', { finding: 'rings:1,2', size: '5', note: '' })
    expect(await looked(client)).toEqual([])
    // A larger figure than there is counts as what there is.
    await client.submit(page, '/admin/abuse/looked', { finding, size: String(size * 9n), note: '' })
    expect((await readLooks(test.db, test.clock.now())).get(finding)).toMatchObject({ size })
  })

  it('of a sum below the setting is not listed', async () => {
    const client = await (await root()).signIn()
    const { finding, size } = await ringOf()
    await setSetting(test, 'suspicious_points_min', String(size + 1n))
    expect(await open(client)).not.toContain(finding)
    await setSetting(test, 'suspicious_points_min', String(size))
    expect(await open(client)).toContain(finding)
  })

  it('keeps its larger look for 30 days, by a rule of the database', async () => {
    const admin = await root()
    const { finding, size } = await ringOf()
    await lookAt(test.deps, { finding, size, note: '', who: '@x' }, { actor_id: admin.id, ip: '203.0.113.7' })
    const update = (size: bigint, looked_at = test.clock.now()) =>
      test.db.updateTable('looked_findings').set({ size, looked_at }).execute()
    await expect(update(size)).rejects.toMatchObject({ code: '23001' })
    await update(size + 1n)
    await update(size, new Date(test.clock.now().getTime() + 30 * DAY_MS))
  })
})
