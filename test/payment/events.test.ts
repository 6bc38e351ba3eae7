/**
 * Events of the HMAC API: off by default, then signed, retried and sent again like notifications of the gateway.
 * spec/payment-api 5.2.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { rotateEventSecret, setEventsUrl } from '../../src/payment/events/events.ts'
import { findEvents } from '../../src/payment/events/webhook.ts'
import { readNotifications, redeliver } from '../../src/payment/notifications/redelivery.ts'
import { expireOrders } from '../../src/payment/orders/orders.ts'
import { keyContext } from '../../src/payment/signing/keys.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf, unescaped } from '../harness/markup.ts'
import { type Merchant, makeMerchant, recipientFields } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders, type Received, startReceiver } from '../harness/notify-receiver.ts'
import { payOrder, placeOrder, refund } from '../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { makeScratchFolder } from '../harness/scratch.ts'
import { until } from '../harness/waiting.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

let status = 204
const receiver = await startReceiver()
receiver.answer = (_, response) => void response.writeHead(status).end()
const told = receiver.received
const url = `${receiver.url}/events?shop=7`
const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
test.startNotifier()
const shop = await makeMerchant(test)
const buyer = await makePerson(test, { points: 1_000_000n })
afterAll(async () => {
  await expectSoundBooks(test.db)
  await receiver.close()
})

/** Verifies as the standard says, with the test's own code. Returns how many of the signatures fit the secret. */
function fitting(
  secret: string,
  { headers, body }: { headers: Received['headers']; body: string },
): number[] {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  const expected = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')
  return String(signatures)
    .split(' ')
    .flatMap((each, i) => (each === `v1,${expected}` ? [i] : []))
}

const owner = (of = shop) => ({ user_id: of.owner.id, ip: '203.0.113.7' })
const eventsOf = (of: Merchant) => rowsOf(test, 'notifications', { app_id: of.id })

const createOrder = (of: Merchant) => placeOrder(of, { description: 'Tea & 茶' })

async function paidOrder(of: Merchant): Promise<string> {
  const order = await createOrder(of)
  await payOrder(test, order, buyer)
  return order.transaction_id
}

/**
 * Causes every event of an application. Returns the transaction IDs of the paid order, the expired one and the
 * transfer.
 */
async function liveThroughEverything(of: Merchant): Promise<[string, string, string]> {
  const paid = await paidOrder(of)
  for (const amount of [30n, 70n]) await refund(test, { transaction_id: paid }, amount)
  await paidOrder(of)
  const { transaction_id: expired } = await createOrder(of)
  // Otherwise half an hour would pass during an attempt, which others would then repeat as lost.
  await allTold(of)
  test.clock.advance(31 * MINUTE_MS)
  await expireOrders(test.deps)
  const to = recipientFields(buyer)
  const { status: ok, body } = await of.transfer({ ...to, amount: '25', order_id: randomUUID() })
  expect(ok).toBe(200)
  return [paid, expired, String(body.transaction_id)]
}

async function switchOn(of: Merchant): Promise<string> {
  const secret = await setEventsUrl(test.deps, of.payment_id, url, owner(of))
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  return secret!
}

async function allTold(of: Merchant): Promise<void> {
  test.deps.notifier.nudge()
  await until(async () => (await eventsOf(of)).every((row) => row.status !== 'due' || row.attempts > 0))
}

it('the test’s verifying code agrees with the standard’s example', () => {
  const headers = {
    'webhook-id': 'msg_loFOjxBNrRLzqYUf',
    'webhook-timestamp': '1731705121',
    'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  }
  const body = '{"event_type":"ping","data":{"success":true}}'
  expect(fitting('whsec_plJ3nmyCDGBKInavdOK15jsl', { headers, body })).toEqual([0])
})

it('nothing is written or sent while they are off', async () => {
  await liveThroughEverything(shop)
  expect(await eventsOf(shop)).toEqual([])
  // Everything due has been processed once a later notification was sent.
  const other = await makeMerchant(test)
  await switchOn(other)
  await paidOrder(other)
  await allTold(other)
  expect(told.splice(0)).toHaveLength(1)
  expect(await eventsOf(shop)).toEqual([])
})

it('each is a signed POST of what happened, when, and the state', async () => {
  const seconds = () => String(test.clock.now().getTime() / 1000)
  const secret = await switchOn(shop)
  const began = seconds()
  const [paid, expired, transfer] = await liveThroughEverything(shop)
  await allTold(shop)
  const events = told.splice(0)
  const bodies = events.map(({ body }) => JSON.parse(body))
  const of = (type: string, transaction_id: string) =>
    bodies.filter((body) => body.type === type && body.data.transaction_id === transaction_id)
  const [payment] = of('order.paid', paid)
  expect(payment.data).toMatchObject({
    status: 'completed',
    amount: 100,
    platform_fee: 5,
    merchant_points: 95,
    description: 'Tea & 茶',
    refunded_amount: 0,
    expired: false,
  })
  expect(payment.timestamp).toBe(payment.data.paid_at.replace('Z', '.000Z'))
  const refunds = of('order.refunded', paid).map(({ data }) => [data.status, data.refunded_amount])
  expect(refunds.toSorted()).toEqual([
    ['completed', 30],
    ['refunded', 100],
  ])
  expect(of('order.expired', expired)[0].data).toMatchObject({
    status: 'pending',
    expired: true,
    paid_at: null,
  })
  expect(of('transfer.completed', transfer)[0].data).toMatchObject({
    amount: 25,
    fee: 1,
    total_deduction: 26,
    from_username: shop.owner.username,
    to_username: buyer.username,
  })
  expect(bodies).toHaveLength(6)
  for (const event of events) {
    expect(fitting(secret, event)).toEqual([0])
    expect(fitting(secret, { ...event, body: event.body.replace('100', '900') })).toEqual(
      event.body.includes('100') ? [] : [0],
    )
    expect(event.headers).toMatchObject({ 'content-type': 'application/json' })
    expect([began, seconds()]).toContain(event.headers['webhook-timestamp'])
    expect([event.path, event.fields]).toEqual(['/events', { shop: '7' }])
  }
  expect(new Set(events.map(({ headers }) => headers['webhook-id'])).size).toBe(6)
  expect((await eventsOf(shop)).map((row) => row.status)).toEqual(Array(6).fill('delivered'))
})

it('is retried on schedule and by its owner, under one id', async () => {
  status = 500
  const transaction_id = await paidOrder(shop)
  await allTold(shop)
  const { notifications: n, events } = messages.en
  const team = await shop.owner.signIn()
  const list = async () => (await team.get(`/payment/applications/${shop.payment_id}/notifications`)).body
  const failing = textOf(await list())
  expect(failing).toContain(`${n.eventHop} ${n.hopStates.idle}`)
  expect(failing).not.toContain(n.hops.confirm)
  test.clock.advance(MINUTE_MS)
  status = 200
  const waiting = async () => (await eventsOf(shop)).filter((row) => row.status === 'due').length
  test.deps.notifier.nudge()
  await until(async () => (await waiting()) === 0)
  await redeliver(test.deps, transaction_id, {
    role: 'team',
    user_id: shop.owner.id,
    actor_id: shop.owner.id,
    ip: '',
  })
  await until(async () => (await waiting()) === 0)
  const tries = told.splice(0)
  expect(tries).toHaveLength(3)
  const [first, second, third] = tries.map(({ headers }) => headers)
  expect(new Set(tries.map(({ body }) => body)).size).toBe(1)
  expect(second!['webhook-id']).toBe(first!['webhook-id'])
  expect(third!['webhook-id']).toBe(first!['webhook-id'])
  expect(Number(second!['webhook-timestamp']) - Number(first!['webhook-timestamp'])).toBe(60)
  const [kept] = (await readNotifications(test.db, { role: 'administrator' }, { transaction_id }, 1)).rows
  expect(kept!.log.map(({ outcome, response_status, url: to }) => [outcome, response_status, to])).toEqual([
    ['bad_status', 500, url],
    ['delivered', 200, url],
    ['delivered', 200, url],
  ])
  // On phones its row has what happened and when in place of how long the answer took.
  const rows = (await list()).split('<li>')
  const row = rows.find((each) => each.includes(`transaction_id=${transaction_id}#`))!
  expect(row).toContain(`<span class="desk">${n.answered(kept!.log.at(-1)!.duration_ms!)}</span>`)
  expect(row).toContain(`<p class="clip soft small phone">${events.kinds['order.paid']}`)
  expect(row).toMatch(/<span class="phone"><time /)
  const stranger = { role: 'team', user_id: buyer.id, actor_id: buyer.id, ip: '' } as const
  await expect(redeliver(test.deps, transaction_id, stranger)).rejects.toMatchObject({ code: 'not_found' })
})

it('is not written by an undone act, nor for gateway orders', async () => {
  const before = (await eventsOf(shop)).length
  const { transaction_id } = await createOrder(shop)
  const undone = test.db.transaction().execute(async (tx) => {
    await setRows({ db: tx }, 'orders', { transaction_id }, { status: 'expired' })
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  const [trade] = await makeGatewayOrders(test, shop, { notify_url: 'http://127.0.0.1:9/notify' })
  await payOrder(test, { transaction_id: trade! }, buyer)
  const kinds = (await eventsOf(shop)).slice(before).map(({ kind }) => kind)
  expect(kinds).toEqual(['gateway'])
})

it('carries the signatures of both secrets while one replaces the other', async () => {
  const seller = await makeMerchant(test)
  const conflict = { code: 'conflict' }
  await expect(rotateEventSecret(test.deps, seller.payment_id, 1, owner(seller))).rejects.toMatchObject(
    conflict,
  )
  const first = await switchOn(seller)
  const { secret: second } = await rotateEventSecret(test.deps, seller.payment_id, 2, owner(seller))
  const tellOne = async () => {
    told.length = 0
    await paidOrder(seller)
    await allTold(seller)
    return told.pop()!
  }
  const both = await tellOne()
  expect([fitting(second, both), fitting(first, both)]).toEqual([[0], [1]])
  test.clock.advance(2 * HOUR_MS)
  const one = await tellOne()
  expect([fitting(second, one), fitting(first, one)]).toEqual([[0], []])
  expect(one.headers['webhook-signature']).not.toContain(' ')
  const { secret: third } = await rotateEventSecret(test.deps, seller.payment_id, 0, owner(seller))
  const last = await tellOne()
  expect([fitting(third, last), fitting(second, last)]).toEqual([[0], []])
  // The database stores neither of them in the clear.
  const keys = await rowsOf(test, 'payment_app_keys')
  const stored = keys.map(({ value_encrypted }) => value_encrypted.toString('latin1')).join()
  for (const secret of [first, second, third]) expect(stored).not.toContain(secret.slice(6))
})

it('switched off, drops what is unsent and writes no more', async () => {
  const seller = await makeMerchant(test)
  await switchOn(seller)
  status = 503
  const transaction_id = await paidOrder(seller)
  await allTold(seller)
  status = 200
  await setEventsUrl(test.deps, seller.payment_id, null, owner(seller))
  expect((await eventsOf(seller)).map((row) => row.status)).toEqual(['failed'])
  const actor = { role: 'team', user_id: seller.owner.id, actor_id: seller.owner.id, ip: '' } as const
  await expect(redeliver(test.deps, transaction_id, actor)).rejects.toMatchObject({ code: 'conflict' })
  told.length = 0
  await paidOrder(seller)
  test.clock.advance(13 * HOUR_MS)
  // On again: the secret is the earlier one, and events that were not written meanwhile stay unwritten.
  expect(await setEventsUrl(test.deps, seller.payment_id, url, owner(seller))).toBeUndefined()
  const after = await paidOrder(seller)
  await allTold(seller)
  expect(told.map(({ body }) => JSON.parse(body).data.transaction_id)).toEqual([after])
})

it('a dead address gets no more: the team is alerted', async () => {
  const seller = await makeMerchant(test)
  await switchOn(seller)
  const [trade] = await makeGatewayOrders(test, seller, { notify_url: url })
  status = 410
  await payOrder(test, { transaction_id: trade! }, buyer)
  // Only one order, because its event may be sent and all switched off before a second one is paid.
  await paidOrder(seller)
  await allTold(seller)
  await until(async () => (await eventsOf(seller)).every(({ claimed_until }) => claimed_until === null))
  status = 200
  const isOn = async () => (await rowOf(test, 'payment_apps', { id: seller.id })).events_url !== null
  expect(await isOn()).toBe(false)
  // The gateway's protocol has no such answer, so its schedule continues.
  expect((await eventsOf(seller)).map((row) => [row.kind, row.status]).sort()).toEqual([
    ['gateway', 'due'],
    ['order.paid', 'failed'],
  ])
  const written = (await eventsOf(seller)).length
  await paidOrder(seller)
  expect(await eventsOf(seller)).toHaveLength(written)
  const browser = await seller.owner.signIn()
  const alerts = await browser.get('/account/alerts')
  expect(alerts.body.split('410 Gone')).toHaveLength(2)
  const path = `/payment/applications/${seller.payment_id}/events`
  const off = (await browser.get(path)).body
  // Without an address no secret is in use, so none can be replaced.
  expect([off.includes(messages.en.events.gone), off.includes(`${path}/rotate`)]).toEqual([true, false])
  const trail = await rowsOf(test, 'audit_log', {
    subject: seller.payment_id,
    action: 'payment_app.events_gone',
  })
  expect(trail).toMatchObject([{ actor_id: null, detail: { url } }])

  expect((await browser.submit(await browser.get(path), path, { events_url: url })).status).toBe(303)
  expect((await browser.get(path)).body).not.toContain(messages.en.events.gone)
  expect(await isOn()).toBe(true)
})

it('the owner’s page enables them, shows the secret once, and verifies', async () => {
  const seller = await makeMerchant(test)
  const browser = await seller.owner.signIn()
  const path = `/payment/applications/${seller.payment_id}/events`
  const page = await browser.get(path)
  for (const events_url of [
    'http://shop.example.org/e',
    'ftp://x.example',
    `${url}#f`,
    'https://u:p@x.example',
    'x',
  ])
    expect((await browser.submit(page, path, { events_url })).status).toBe(400)
  expect((await eventsOf(seller)).length).toBe(0)
  const { location } = await browser.submit(page, path, { events_url: url })
  const shown = await browser.get(location!)
  expect(shown.status).toBe(200)
  const secret = /whsec_[A-Za-z0-9+/=]+/.exec(shown.body)![0]
  expect(shown.body).toContain(`data-copy="${secret}"`)
  const again = await browser.get(path)
  expect(again.body).toContain('shop=7')
  expect(again.body).not.toContain(secret)
  expect((await browser.submit(again, path, { events_url: url })).status).toBe(303)
  expect((await browser.submit(again, `${path}/rotate`, { overlap_hours: 'x' })).status).toBe(400)
  const asked = await browser.submit(again, `${path}/rotate`, { overlap_hours: '2' })
  expect(asked.body).not.toContain('whsec_')
  const made = await browser.submit(asked, `${path}/rotate`)
  const rotated = await browser.get(made.location!)
  expect(/whsec_[A-Za-z0-9+/=]+/.exec(rotated.body)![0]).not.toBe(secret)

  told.length = 0
  const transaction_id = await paidOrder(seller)
  await allTold(seller)
  const { headers, body } = told.pop()!
  const sample = /<pre[^>]*id="event-sample"[^>]*>([\s\S]*?)<\/pre>/.exec(again.body)![1]!
  const source = unescaped(sample)
  const folder = await makeScratchFolder()
  const file = join(folder, 'sample.mjs')
  await writeFile(file, source.replace('Date.now()', 'Number(process.env.EVENT_NOW)'))
  process.env.EVENT_SECRET = secret
  process.env.EVENT_NOW = String(test.clock.now().getTime())
  const { readEvent } = await import(file)
  await rm(folder, { recursive: true })
  expect(readEvent(headers, body).data.transaction_id).toBe(transaction_id)
  expect(readEvent(headers, body.replace('completed', 'refunded'))).toBeUndefined()
  expect(readEvent({ ...headers, 'webhook-timestamp': '1' }, body)).toBeUndefined()
  for (const signature of [undefined, '', 'v1,', 'v1,é v2,x'])
    expect(readEvent({ ...headers, 'webhook-signature': signature }, body)).toBeUndefined()
  expect(readEvent({}, body)).toBeUndefined()
  // The payer's receipt says that the shop was notified.
  const receipt = await (await buyer.signIn()).get(`/payment/pay/${transaction_id}`)
  expect(receipt.body).toContain(messages.en.pay.notification.delivered)
})

it('an unreadable secret fails its own application’s events alone', async () => {
  const [one, two] = [await makeMerchant(test), await makeMerchant(test)]
  for (const each of [one, two]) {
    await switchOn(each)
    await paidOrder(each)
    await allTold(each)
  }
  const strange = makeSecrets('a secret that nobody ever used for anything in here')
  await setRows(
    test,
    'payment_app_keys',
    { app_id: one.id, kind: 'event_secret' },
    { value_encrypted: strange.encrypt(keyContext(one.id, 'event_secret'), 'whsec_none') },
  )
  const rows = [...(await eventsOf(one)), ...(await eventsOf(two))]
  const events = [...(await findEvents(test.deps, rows)).values()]
  expect(events).toHaveLength(2)
  const of = (merchant: Merchant) => events.find(({ app_id }) => app_id === merchant.id)!
  expect(() => of(one).openSecrets()).toThrow('another APP_SECRET')
  expect(of(two).openSecrets()).toEqual([expect.stringMatching(/^whsec_/)])
  told.splice(0)
})

it('is listed before the confirmed ones of its day, which are folded', async () => {
  const of = await makeMerchant(test)
  await switchOn(of)
  status = 500
  const failing = await paidOrder(of)
  await allTold(of)
  status = 200
  for (let i = 0; i < 4; i += 1) await paidOrder(of)
  await allTold(of)
  const team = await of.owner.signIn()
  const page = `/payment/applications/${of.payment_id}/notifications`
  const { body } = await team.get(page)
  const [first, folded] = [body.indexOf(`/${failing}/redeliver`), body.indexOf('<details class="grow"')]
  expect([first > 0, first < folded]).toEqual([true, true])
  // Its attempts are open, and the confirmed ones closed.
  expect(body).toContain('<details class="small" open>')
  const { notifications: n } = messages.en
  expect(textOf(body.slice(folded))).toContain(n.confirmedCount('4'))
  const confirmed = (await team.get(`${page}?status=delivered`)).body
  expect(confirmed).not.toContain('<details class="grow"')
  expect(confirmed.split(`<li><a href="${page}?`)).toHaveLength(5)
})
