/** What a merchant sees first of an application: honest figures, failures before all else, and the next step. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { applyForPaymentApp, returnWithout } from '../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { changeLink, createLink } from '../../src/payment/links/acts.ts'
import { tellOfStock } from '../../src/payment/links/notices.ts'
import { overviewOf } from '../../src/payment/merchant/overview.ts'
import { hopsOf } from '../../src/payment/notifications/hops.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { refusedRequests } from '../../src/payment/signing/refused-requests.ts'
import { dayIn, daysBetween, daysLater, startOfDay } from '../../src/web/periods/days.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { buyAt, details, IP, makeLink, orderAt, type TestLink } from '../harness/links.ts'
import { textOf } from '../harness/markup.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { addHay, payOrder, placeOrder } from '../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { rowsOfTables } from '../harness/rows-read.ts'
import { itCounts, statementsOf } from '../harness/statements.ts'

const test = await useTestApp()
const shop = await makeMerchant(test)
const owner = await shop.owner.signIn()
const buyer = await makePerson(test, { points: 100_000n })
const page = `/payment/applications/${shop.payment_id}`

async function order(amount: string, isPaid: boolean, of = shop) {
  const placed = await placeOrder(of, { amount })
  if (isPaid) await payOrder(test, placed, buyer)
}
const t = messages.en.merchantOverview
const shown = async (by = owner) => textOf((await by.get(page)).body)
const appOf = (of: Merchant) => ({ id: of.id, book: 'live' as const, status: 'approved' as const })

it('leads a new application to its first payment', async () => {
  const steps = async () =>
    (await overviewOf(test.deps, appOf(shop))).progress.steps
      .filter(({ isDone }) => !isDone)
      .map(({ what }) => what)
  expect(await steps()).toEqual(['tested', 'ordered', 'paid'])
  const first = await owner.get(page)
  expect(first.body).toMatch(new RegExp(`action="${page}/test">.*<button class="primary">`))
  expect(textOf(first.body)).toContain(`${t.steps.live} 2 / 5`)
  expect(textOf(first.body)).not.toContain(t.statistics)
  // On a phone, the top of the page names the shop and leads to the others.
  expect(first.body).toContain('<a class="brand" href="/payment/applications">')
  const twin = await makeMerchant(test, { twinOf: shop })
  await order('10', true, twin)
  expect(await steps()).toEqual(['ordered', 'paid'])
  expect((await owner.get(page)).body).toContain(`${page}/developers`)
  await order('20', false)
  expect(await steps()).toEqual(['paid'])
  await order('100', true)
  expect(await shown()).not.toContain(t.steps.live)
})

it('leads a seller by links from a draft over the review to the first sale', async () => {
  const seller = await makePerson(test, { trust_level: 2 })
  const reviewer_id = (await makePerson(test, { is_admin: true })).id
  const reader = await seller.signIn()
  const { payment_id } = await applyForPaymentApp(test.deps, {
    ...{ applicant_id: seller.id, name: `Links of ${seller.username}`, description: 'Codes' },
    callback_url: returnWithout(test.deps),
  })
  const home = `/payment/applications/${payment_id}`
  const actor = { user_id: seller.id, ip: IP }
  const next = async () => {
    const { body } = await reader.get(home)
    expect(textOf(body)).not.toContain(t.stepText.ordered)
    const step = /<li class="next">.*?<p>([^<]+)<\/p>/s.exec(body)?.[1]
    return [step, /<li class="next">.*?<a class="button primary" href="([^"]+)"/s.exec(body)?.[1]]
  }
  expect(await next()).toEqual([t.step.linked, `${home}/links/new`])
  expect(textOf((await reader.get(home)).body)).toContain(t.pendingLinks)
  const slug = await createLink(test.deps, payment_id, details({ title: 'Lanterns' }), actor)
  expect(await next()).toEqual([t.step.reviewed, undefined])
  const approval = { payment_id, decision: 'approve', reason: 'Welcome', reviewer_id } as const
  await reviewPaymentApp(test.deps, approval)
  // The alert of the approval leads to the draft, which is ready.
  const [alert] = await rowsOf(test, 'alerts', { user_id: seller.id, kind: 'reviewed' })
  expect(alert!.facts).toMatchObject({ link: slug, title: 'Lanterns' })
  const alerts = await reader.get('/account/alerts')
  expect(alerts.body).toContain(`href="${home}/links/${slug}"`)
  expect(textOf(alerts.body)).toContain(messages.en.alerts.mails.reviewed(alert!.facts as never).text)
  // An alert of a draft that is gone leads to the list, and says so.
  const deleted = await reader.get(`${home}/links/aaaaaaaaaa`)
  expect(deleted).toMatchObject({ status: 303, location: `${home}/links` })
  expect(textOf((await reader.get(`${home}/links`)).body)).toContain(messages.en.teamLinks.deletedDraft)
  expect((await (await buyer.signIn()).get(`${home}/links/aaaaaaaaaa`)).status).toBe(404)
  expect(await next()).toEqual([t.step.published, `/l/${slug}`])
  await changeLink(test.deps, payment_id, { slug, change: 'publish' }, actor)
  expect(await next()).toEqual([t.step.sold, `${home}/links/${slug}/share`])
  const link = { slug, merchant: { owner: seller } } as TestLink
  await orderAt(test.deps, link, buyer)
  expect(await next()).toEqual([t.step.sold, `${home}/links/${slug}/share`])
  expect((await buyAt(test.deps, link, buyer)).outcome).toBe('paid')
  expect(await next()).toEqual([undefined, undefined])
  // A review of a change names no draft once something was on sale.
  await createLink(test.deps, payment_id, details(), actor)
  await reviewPaymentApp(test.deps, { ...approval, decision: 'suspend' })
  await reviewPaymentApp(test.deps, { ...approval, decision: 'reinstate' })
  for (const { facts } of (await rowsOf(test, 'alerts', { user_id: seller.id, kind: 'reviewed' })).slice(1))
    expect(facts).not.toHaveProperty('link')
})

it('leads the test of a seller by links from a link to its sale and on to going live', async () => {
  const seller = await makePerson(test, { trust_level: 2 })
  const reader = await seller.signIn()
  const apps = '/payment/applications'
  const made = await reader.submit(await reader.get(apps), apps, {
    ...{ name: 'Lantern test', description: 'Lanterns', callback_url: '', sells: 'links', book: 'test' },
  })
  const home = made.location!.replace(/\/links$/, '')
  const next = async () => {
    const { body } = await reader.get(home)
    expect(textOf(body)).not.toContain(messages.en.round.first.create)
    return /<li class="next">.*?<a class="button primary" href="([^"]+)"/s.exec(body)?.[1]
  }
  expect(await next()).toBe(`${home}/links/new`)
  const payment_id = home.split('/').at(-1)!
  const actor = { user_id: seller.id, ip: IP }
  const slug = await createLink(test.deps, payment_id, details(), actor)
  expect(await next()).toBe(`/l/${slug}`)
  await changeLink(test.deps, payment_id, { slug, change: 'publish' }, actor)
  expect(await next()).toBe(`/l/${slug}`)
  await reader.submit(await reader.get(`/l/${slug}`), `/l/${slug}`)
  const { transaction_id } = await rowOf(test, 'orders', {
    app_id: (await rowOf(test, 'payment_apps', { payment_id })).id,
  })
  await makePayOrder(test.deps)({ transaction_id, payer_id: seller.id, expected_amount: 10n })
  const { body } = await reader.get(home)
  const { worked } = messages.en.goLive
  expect(textOf(body)).toContain(`${worked.good} ${worked.next}`)
  expect(body).toContain(`href="${home}/go-live"`)
  // Without a program, the live application needs no address either.
  const live = await reader.get(`${home}/go-live`)
  expect(live.body).not.toContain('type="url"')
  expect((await reader.submit(live, `${home}/go-live`)).status).toBe(303)
  const applied = await rowOf(test, 'payment_apps', { applicant_id: seller.id, book: 'live' })
  expect(applied.callback_url).toBe(returnWithout(test.deps))
})

it('names links that run out, and messages of buyers that wait', async () => {
  const merchant = await makeMerchant(test)
  const link = await makeLink(test, merchant, { stock: 2, title: 'Posters', messages: 'public' })
  const owner = await merchant.owner.signIn()
  const page = `/payment/applications/${merchant.payment_id}`
  const seen = async () => textOf((await owner.get(page)).body)
  expect(await seen()).not.toContain(t.needs)
  await tellOfStock(test.deps)
  expect(await seen()).toContain(t.linkLow('Posters', 2))
  const said = { name: 'Me', message: 'Hello' }
  const transaction_id = await orderAt(test.deps, link, buyer, { units: 1, said })
  await makePayOrder(test.deps)({ transaction_id, payer_id: buyer.id, expected_amount: 10n })
  expect(await seen()).toContain(`${t.linkWaiting(1)} Posters`)
  expect((await buyAt(test.deps, link, buyer)).outcome).toBe('paid')
  await tellOfStock(test.deps)
  expect(await seen()).toContain(`${t.linkSoldOut('Posters')} ${t.linkLowText}`)
  expect((await owner.get(page)).body).toContain(`href="${page}/links/${link.slug}#stock"`)
  // The form begins with what the link lacks.
  const form = (await owner.get(`${page}/links/${link.slug}`)).body
  expect(form.indexOf('name="stock"')).toBeLessThan(form.indexOf('name="title"'))
})

it('leads from a link without codes to its codes', async () => {
  const merchant = await makeMerchant(test)
  const link = await makeLink(test, merchant, { title: 'Keys', delivery: 'codes', stock: 9 })
  await tellOfStock(test.deps)
  const owner = await merchant.owner.signIn()
  const page = `/payment/applications/${merchant.payment_id}`
  const codes = `href="${page}/links/${link.slug}/codes"`
  const { body } = await owner.get(page)
  expect(textOf(body)).toContain(`${t.linkSoldOut('Keys')} ${t.linkCodesText}`)
  for (const address of [page, `${page}/links`, '/payment/links', `${page}/links/${link.slug}`])
    expect([address, (await owner.get(address)).body.includes(codes)]).toEqual([address, true])
})

it('says of the rate what it divides, and what it leaves out', async () => {
  test.clock.advance(40 * 60_000)
  await order('30', false)
  // A few orders make no figures.
  expect(await shown()).not.toContain(t.rate)
  for (const amount of ['30', '30']) await order(amount, false)
  const text = await shown()
  expect(text).toContain(`${t.rate} 50.0% ${t.rateText('1', '2', 2)}`)
  expect(text).toContain(`${t.newest.days} ${t.stillOpen('3', 3)}`)
})

it('begins the day in the time zone of the site', async () => {
  const { takings } = await overviewOf(test.deps, appOf(shop))
  expect(takings.days.map(({ day }) => day).at(-1)).toBe(dayIn('Asia/Shanghai', test.clock.now()))
  const now = test.clock.now()
  for (const zone of ['Asia/Shanghai', 'America/St_Johns', 'UTC']) {
    const day = dayIn(zone, now)
    const [start, end] = [startOfDay(day, zone), startOfDay(daysLater(day, 1), zone)]
    expect(start.getTime()).toBeLessThanOrEqual(now.getTime())
    expect(end.getTime()).toBeGreaterThan(now.getTime())
    expect(dayIn(zone, start)).toBe(day)
    expect(dayIn(zone, new Date(start.getTime() - 1))).toBe(daysLater(day, -1))
  }
  // A day on which the clocks change has another length.
  const berlin = (day: string) => startOfDay(day, 'Europe/Berlin').toISOString()
  expect([berlin('2026-03-29'), berlin('2026-03-30')]).toEqual([
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ])
  expect(daysBetween('2026-02-27', '2026-03-01')).toBe(3)
})

it('shows failed notifications before all else, and where they failed', async () => {
  expect((await owner.get(page)).body).not.toContain('class="flash bad"')
  const [transaction_id] = await makeGatewayOrders(test, shop, {
    notify_url: 'https://shop.example.org/notify',
  })
  await payOrder(test, { transaction_id: transaction_id! }, buyer)
  const failed = { attempts: 6, status: 'failed', next_attempt_at: null } as const
  await setRows(test, 'notifications', { app_id: shop.id }, failed)
  const { id: notification_id } = await rowOf(test, 'notifications', { app_id: shop.id })
  await test.db
    .insertInto('notification_attempts')
    .values({
      notification_id,
      claim: 6,
      started_at: test.clock.now(),
      duration_ms: 40,
      url: 'https://shop.example.org/notify',
      response_status: 502,
      outcome: 'bad_status',
      step_ms: JSON.stringify({ dns: 4, connect: 31 }),
    })
    .execute()
  const { body } = await owner.get(page)
  // The product is named first, the number second.
  const { order_id, description } = await rowOf(test, 'orders', { transaction_id: transaction_id! })
  expect(textOf(body)).toContain(
    `${t.paidUnconfirmed(description)} ${order_id} shop.example.org: ${t.status(502)} ${t.tries(6)}`,
  )
  expect(textOf(body)).toContain(t.noMoreTries)
  expect(body).toContain(`action="${page}/notifications/${transaction_id}/redeliver"`)
  expect(body.indexOf(t.paidUnconfirmed(description))).toBeLessThan(body.indexOf(t.today))
  expect(body).toContain('<b class="count warn">1</b>')
  const list = (await owner.get(`${page}/notifications`)).body
  const notifications = textOf(list)
  const last = `${page}/notifications?transaction_id=${transaction_id}`
  expect(list).toContain(`href="${last}#notifications"`)
  expect(list.split('<details class="small" open>')).toHaveLength(2)
  expect((await owner.get(last)).body).toContain('<details class="small" open>')
  const { hops, hopStates, milliseconds } = messages.en.notifications
  expect(notifications).toContain(
    [
      ...[hops.dns, milliseconds('4'), hops.connect, milliseconds('31'), hops.tls, hopStates.good],
      ...[hops.answer, 'HTTP 502', hops.confirm, hopStates.idle],
    ].join(' '),
  )
  const late = { outcome: 'timeout', detail: 'connect', is_tls: false, step_ms: { dns: 12 } } as const
  expect(hopsOf(late)).toEqual([
    { step: 'dns', state: 'good', ms: 12 },
    { step: 'connect', state: 'bad' },
    { step: 'answer', state: 'idle' },
    { step: 'confirm', state: 'idle' },
  ])
  expect(hopsOf({ outcome: 'internal', detail: null, is_tls: true, step_ms: null })).toEqual([])
})

it('names refused requests of the last day', async () => {
  await shop.process({ amount: '1', description: 'Tea', order_id: 'bad', timestamp: '1' })
  const { needs } = await overviewOf(test.deps, appOf(shop))
  expect(needs.refused).toBe((await refusedRequests(test.deps, shop.id, {}, 50)).length)
  if (needs.refused > 0) expect(await shown()).toContain(t.refused(needs.refused, String(needs.refused)))
})

itCounts('costs as many statements for many orders as for few', async () => {
  const once = async () => {
    const [{ status }, texts] = await statementsOf(() => owner.get(page))
    expect(status).toBe(200)
    return texts.length
  }
  // Now and then, a statement of another kind runs beside them.
  const statements = async () => Math.min(await once(), await once(), await once())
  const few = await statements()
  for (let n = 0; n < 20; n += 1) await order('5', n % 2 === 0)
  expect(await statements()).toBe(few)
  expect(few).toBeLessThanOrEqual(18)
})

it('is in the words and the zone of the site', async () => {
  await setSetting(test, 'time_zone', 'Europe/London')
  await setSetting(test, 'point_many_en', 'sparks')
  const text = await shown()
  expect(text).toContain('United Kingdom Time')
  expect(text).toMatch(/\d+ sparks/)
  expect(text).not.toMatch(/\d points/)
  await setSetting(test, 'time_zone', 'Asia/Shanghai')
  await setSetting(test, 'point_many_en', '')
})

it('compares today with yesterday at this time, and shows thirty days and the last five orders', async () => {
  const other = await makeMerchant(test)
  const at = async () =>
    (await (await other.owner.signIn()).get(`/payment/applications/${other.payment_id}`)).body
  const pay = (amount: string) => order(amount, true, other)
  // Eleven in the morning in China, so the next hours are of the same day.
  const { time_zone: zone } = await test.deps.settings.read()
  const now = test.clock.now()
  const elevens = startOfDay(dayIn(zone, now), zone).getTime() + 35 * 3_600_000
  test.clock.advance(elevens - now.getTime())
  await pay('100')
  test.clock.advance(3_600_000)
  await pay('40')
  test.clock.advance(23 * 3_600_000)
  for (const amount of ['70', '5', '15', '10']) await pay(amount)
  const html = await at()
  const text = textOf(html)
  expect(text).toContain(`${t.today} 100 points ${t.same} ${t.todayText('4', 4, '97')}`)
  expect(text).toContain(`${t.compare.today} 100 ${t.compare.soFar} 100 ${t.compare.yesterday} 140`)
  expect(text).toContain(`${t.chart} 240 points`)
  // The head of the table and five orders.
  expect(html.match(/<tr role="row">/g)).toHaveLength(6)
  await pay('1')
  expect(textOf(await at())).toContain(t.more('1'))
  test.clock.advance(3_600_000)
  expect(textOf(await at())).toContain(t.less('39'))
  test.clock.advance(2 * 24 * 3_600_000)
  const quiet = textOf(await at())
  expect(quiet).toContain(`${t.today} 0 points ${t.quiet}`)
  expect(quiet).not.toContain(t.compare.yesterday)
})

it('reads at most a thousand rows of a shop with many orders', async () => {
  await addHay(test, shop, 5_000)
  await sql`analyze orders`.execute(test.db)
  const read = await test.db.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx)
    const before = await rowsOfTables(tx)
    await overviewOf({ ...test.deps, db: tx }, appOf(shop))
    const after = await rowsOfTables(tx)
    return [...after].reduce((sum, [table, rows]) => sum + rows - (before.get(table) ?? 0), 0)
  })
  expect(read).toBeLessThanOrEqual(1_000)
})
