/** The first order without a program, and the check of the whole round, which finds what is paid but not credited. */
import { afterAll, describe, expect, it } from 'vitest'
import { judgeRound, type RoundStep } from '../../src/payment/merchant/round.ts'
import { makePerson } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { makeLink, orderAt } from '../harness/links.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { startReceiver } from '../harness/notify-receiver.ts'
import { placeOrder } from '../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'

const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.1/32' })
test.startNotifier()
const receiver = await startReceiver()
afterAll(() => receiver.close())
const { round: t, paymentApps, testMode } = messages.en
const APPS = '/payment/applications'
/** As the form is filled in. */
const typedOrder = { description: t.product, amount: '10' }
const pathOf = (url: string) => new URL(url, test.url).pathname

it('a new member pays a test order by three clicks, without a program and an address', async () => {
  const newcomer = await makePerson(test, { username: 'newcomer', trust_level: 0 })
  const browser = await newcomer.signIn()
  const list = await browser.get(APPS)
  expect(list.body).toContain(`<button class="primary" name="book" value="test">${testMode.create}`)
  // 1. Create the application.
  const made = await browser.submit(list, APPS, {
    ...{ name: 'Mugs', description: '', callback_url: '', book: 'test' },
  })
  const app = await rowOf(test, 'payment_apps', { applicant_id: newcomer.id })
  const overview = `${APPS}/${app.payment_id}`
  expect(app.callback_url).toBe(`${test.deps.config.PUBLIC_URL}${overview}`)
  // The first act is the order. The keys stand beside it, once.
  expect(made.location).toBe(overview)
  const first = await browser.get(overview)
  expect(textOf(first.body)).toContain(t.first.title)
  // Without a program, a link is a way to sell too.
  expect(first.body).toContain(`href="${overview}/links/new"`)
  const keys = [/data-copy="tk_test[A-Za-z0-9]{36}"/, /data-copy="[0-9a-f]{64}"/]
  for (const key of keys) expect(first.body).toMatch(key)
  expect(first.body.indexOf(`action="${overview}/test-order"`)).toBeLessThan(first.body.search(keys[0]!))
  for (const key of keys) expect((await browser.get(overview)).body).not.toMatch(key)
  // 2. Create the order, 3. pay it.
  const { location } = await browser.submit(first, `${overview}/test-order`, typedOrder)
  const paid = await browser.submit(await browser.get(location!), pathOf(location!))
  expect(pathOf(paid.location!)).toBe(overview)
  // The signed facts of the order leave the address of the page.
  expect(await browser.get(paid.location!)).toMatchObject({ status: 303, location: overview })
  // The verdict comes first, then the next order and the way to the live application.
  const back = (await browser.get(overview)).body
  const { worked, conditions } = messages.en.goLive
  const order = await rowOf(test, 'orders', { app_id: app.id })
  expect(textOf(back)).toContain(
    `${worked.good} 10 play points · ${order.order_id} ${worked.alone} ${t.enterAddress}`,
  )
  expect(textOf(back)).toContain(`${t.first.another} ${t.first.name}`)
  // A live application needs more trust than this member has.
  expect(textOf(back)).toContain(
    `${conditions.review} ${conditions.keys} ${conditions.apart} ${paymentApps.needTrustLevel(1, 0)}`,
  )
  expect((await browser.get(`${overview}/go-live`)).body).not.toContain('name="callback_url"')
  // The newest order has the verdict, paid or not.
  const next = await browser.submit(await browser.get(overview), `${overview}/test-order`, typedOrder)
  const unpaid = (await browser.get(overview)).body
  expect(textOf(unpaid)).toContain(worked.unpaid)
  expect(unpaid).toContain(`href="${pathOf(next.location!)}"`)
  await test.db
    .updateTable('orders')
    .set({ status: 'closed' })
    .where('transaction_id', '=', pathOf(next.location!).split('/').at(-1)!)
    .execute()
  expect(textOf((await browser.get(overview)).body)).toContain(`${worked.over}`)
  expect(order).toMatchObject({
    book: 'test',
    door: 'hmac',
    status: 'paid',
    amount: 10n,
    payer_id: newcomer.id,
  })
})

describe('a test order', () => {
  it('is refused without a name and a price of 1 to 1,000, on the page of its form', async () => {
    const twin = await makeMerchant(test, { isTest: true })
    const browser = await twin.owner.signIn()
    const overview = `${APPS}/${twin.payment_id}`
    const page = await browser.get(overview)
    for (const wrong of [{ amount: '0' }, { amount: '1001' }, { amount: '1.5' }, { description: ' ' }]) {
      const { status, body } = await browser.submit(page, `${overview}/test-order`, {
        ...typedOrder,
        ...wrong,
      })
      expect(status).toBe(400)
      expect(textOf(body)).toContain(wrong.amount ? t.amountWrong(1000) : t.descriptionWrong)
    }
    expect(await rowsOf(test, 'orders', { app_id: twin.id })).toEqual([])
  })

  it('is not created in a live application, nor by a stranger', async () => {
    const live = await makeMerchant(test)
    const twin = await makeMerchant(test, { twinOf: live })
    const stranger = await makePerson(test, { username: 'stranger' })
    const post = async (by: typeof stranger, payment_id: string) => {
      const browser = await by.signIn()
      const typed = { ...(await browser.get(APPS)).form(APPS), ...typedOrder }
      return (await browser.post(`${APPS}/${payment_id}/test-order`, typed)).status
    }
    expect(await post(live.owner, live.payment_id)).toBe(409)
    expect(await post(stranger, twin.payment_id)).toBe(404)
    for (const app_id of [live.id, twin.id]) expect(await rowsOf(test, 'orders', { app_id })).toEqual([])
  })
})

it('the keys page finds a payment that the shop does not confirm, and one that it does', async () => {
  const shop = await makeMerchant(test, { isTest: true })
  const browser = await shop.owner.signIn()
  const [app, keys] = [`${APPS}/${shop.payment_id}`, `${APPS}/${shop.payment_id}/developers`]
  const shown = async () => textOf((await browser.get(keys)).body)
  expect(await shown()).toContain(t.nothing)

  const pay = async (return_url: string) => {
    const typed = { notify_url: receiver.url, return_url }
    const { location } = await browser.submit(await browser.get(keys), `${app}/test-trade`, typed)
    expect(await shown()).toContain(t.verdicts.unpaid)
    await browser.submit(await browser.get(location!), pathOf(location!))
  }
  // The form's address has the place of its section.
  const tryReturn = async () =>
    browser.post(`${keys}/return`, (await browser.get(keys)).form(`${keys}/return#round`))

  receiver.answer = (_request, response) => void response.end('ok')
  await pay(`http://127.0.0.1:${await freePort()}/paid`)
  const { usually, outcomes } = messages.en.notifications
  const failed = await shown()
  expect(failed).toContain(`${t.failed} ${t.order}`)
  expect(failed).toContain(`${t.notConfirmed('200')} ${outcomes.wrong_body} ${usually.confirm}`)
  const { worked } = messages.en.goLive
  expect(textOf((await browser.get(app)).body)).toContain(worked.failed)
  const tried = await tryReturn()
  expect(textOf(tried.body)).toContain(`${t.unreachable} ${outcomes.refused}`)

  receiver.answer = (_request, response) => void response.end('success')
  await pay(receiver.url)
  // Only the return is left, which harms no buyer before it is looked at.
  expect(await shown()).toContain(`${t.untried} ${t.order}`)
  expect(await shown()).toContain(`${t.steps.returned} ${t.stateWords.untried}`)
  // It is called as the buyer's browser does, so a shop that checks the signature does not refuse it.
  receiver.answer = ({ fields: { trade_status, sign = '' } }, response) => {
    const isSigned = trade_status === 'TRADE_SUCCESS' && /^[0-9a-f]{32}$/.test(sign)
    response.writeHead(isSigned ? 200 : 400).end()
  }
  const whole = await tryReturn()
  expect(textOf(whole.body)).toContain(`${t.passed} ${t.order}`)
  receiver.answer = (_request, response) => void response.writeHead(500).end()
  const failing = textOf((await tryReturn()).body)
  expect(failing).toContain(t.error('500'))
  expect(failing).not.toContain(t.errorUnpaid)
  receiver.answer = (_request, response) => void response.end('success')
  const never = await browser.submit(await browser.get(keys), `${app}/test-trade`, {
    notify_url: 'http://10.0.0.1/',
    return_url: '',
  })
  expect(never.status).toBe(400)
  expect(textOf(never.body)).toContain(paymentApps.neverCalled.host)
  const orders = await rowsOf(test, 'orders', { app_id: shop.id })
  const first = await browser.get(`${keys}?order=${orders[0]!.order_id}`)
  const again = await browser.post(`${keys}/return`, first.form(`${keys}/return#round`))
  expect(textOf(again.body)).toContain(`${t.unreachable} ${outcomes.refused}`)
  expect(orders.map(({ door, status, amount }) => ({ door, status, amount }))).toEqual([
    { door: 'gateway', status: 'paid', amount: 100n },
    { door: 'gateway', status: 'paid', amount: 100n },
  ])
})

it('calls of a shop’s addresses are limited per hour, on both pages together', async () => {
  const shop = await makeMerchant(test)
  const browser = await shop.owner.signIn()
  await placeOrder(shop)
  const app = `${APPS}/${shop.payment_id}`
  // Any 2xx status confirms an event.
  const round = textOf((await shop.owner.signIn().then((each) => each.get(`${app}/developers`))).body)
  expect([round.includes(t.eventConfirmed), round.includes(t.steps.confirmed)]).toEqual([true, false])
  await setRows(test, 'payment_apps', { id: shop.id }, { callback_url: `${receiver.url}/return` })
  const tryReturn = async () => {
    const page = await browser.get(`${app}/developers`)
    return (await browser.post(`${app}/developers/return`, page.form(`${app}/developers/return#round`)))
      .status
  }
  await setSetting(test, 'limit_address_tries', '2')
  receiver.received.length = 0
  receiver.answer = (_request, response) => void response.writeHead(400).end()
  expect([await tryReturn(), await tryReturn(), await tryReturn()]).toEqual([200, 200, 429])
  receiver.answer = (_request, response) => void response.end('success')
  const { form_token } = (await browser.get(`${app}/settings`)).form(`${app}/edit`)
  expect(
    (await browser.post(`${app}/addresses`, { form_token: form_token!, url: receiver.url })).status,
  ).toBe(429)
  expect(receiver.received.map(({ path }) => path)).toEqual(['/return', '/return'])
  const tries = { subject: shop.payment_id, action: 'payment_app.try_address' }
  expect(await rowsOf(test, 'audit_log', tries)).toHaveLength(2)
  await setSetting(test, 'limit_address_tries', '20')
})

it('a live application shows the round of its newest order, or of the one that is named, and creates none', async () => {
  const shop = await makeMerchant(test)
  const keys = `${APPS}/${shop.payment_id}/developers`
  const [first, newest] = [await placeOrder(shop), await placeOrder(shop)]
  const foreign = await placeOrder(await makeMerchant(test))
  const browser = await shop.owner.signIn()
  const shown = async (number: string) =>
    (await browser.get(`${keys}?order=${encodeURIComponent(number)}`)).body
  const body = await shown('')
  expect(textOf(body)).toContain(t.verdicts.unpaid)
  expect(body).toContain(`/orders/${newest.transaction_id}"`)
  expect(body).not.toContain('/test-trade')
  for (const number of [first.transaction_id, first.order_id])
    expect(await shown(number)).toContain(`/orders/${first.transaction_id}"`)
  const order = await browser.get(`${APPS}/${shop.payment_id}/orders/${first.transaction_id}`)
  expect(order.body).toContain(`${keys}?order=${first.transaction_id}#round`)
  expect(textOf(await shown(foreign.transaction_id))).toContain(t.notFound(foreign.transaction_id))
})

it('an order of a payment link needs no check, found by its number or the only kind', async () => {
  const shop = await makeMerchant(test)
  const browser = await shop.owner.signIn()
  const shown = async (number = '') =>
    textOf((await browser.get(`${APPS}/${shop.payment_id}/developers?order=${number}`)).body)
  expect(await shown()).toContain(t.nothing)
  const buyer = await makePerson(test)
  const sale = await orderAt(test.deps, await makeLink(test, shop), buyer)
  expect(await shown()).toContain(t.ofLink)
  // An order that the shop placed has a round to check.
  await placeOrder(shop)
  expect(await shown()).toContain(t.verdicts.unpaid)
  expect(await shown(sale)).toContain(t.ofLink)
})

describe('the verdict', () => {
  const now = new Date('2026-01-02T03:04:05Z')
  const later = new Date(now.getTime() + 60_000)
  const paid = { status: 'paid', paid_at: now, expires_at: later } as const
  const last = { detail: null, is_tls: true, started_at: now, response_status: null }
  const verdictsOf = (steps: RoundStep[]) =>
    steps.map(({ step, state, verdict }) => `${step} ${state} ${verdict}`)
  const judge = (over: Partial<Parameters<typeof judgeRound>[0]>) =>
    verdictsOf(
      judgeRound(
        {
          order: paid,
          returnsTo: 'https://x.example',
          notification: undefined,
          tried: undefined,
          isTest: false,
          overview: 'https://y.example',
          ...over,
        },
        now,
      ),
    )

  it('of an order that nobody has paid leaves the rest for later', () => {
    const order = { status: 'unpaid', paid_at: null, expires_at: later } as const
    const rest = ['sent idle idle', 'confirmed idle idle', 'returned open untried']
    expect(judge({ order })).toEqual(['created good created', 'paid open unpaid', ...rest])
    expect(judge({ order: { ...order, expires_at: now } })[1]).toBe('paid bad expired')
    expect(judge({ order: { ...order, status: 'closed' } })[1]).toBe('paid bad closed')
  })

  it('of a notification names the step that failed', () => {
    const told = (attempt: {
      outcome: 'delivered' | 'dns' | 'tls' | 'timeout' | 'bad_status' | 'interrupted'
      detail?: string
    }) => judge({ notification: { last: { ...last, ...attempt } } }).slice(2, 4)
    expect(judge({}).slice(2, 4)).toEqual(['sent bad noAddress', 'confirmed idle idle'])
    expect(judge({ isTest: true })[2]).toBe('sent open noAddress')
    expect(judge({ notification: { last: undefined } })[2]).toBe('sent open waiting')
    expect(told({ outcome: 'interrupted' })).toEqual(['sent open waiting', 'confirmed idle idle'])
    expect(told({ outcome: 'delivered' })).toEqual(['sent good sent', 'confirmed good confirmed'])
    for (const outcome of ['dns', 'tls'] as const)
      expect(told({ outcome })).toEqual(['sent bad unreached', 'confirmed idle idle'])
    expect(told({ outcome: 'timeout', detail: 'connect' })[0]).toBe('sent bad unreached')
    expect(told({ outcome: 'timeout', detail: 'answer' })).toEqual([
      'sent good sent',
      'confirmed bad unconfirmed',
    ])
    expect(told({ outcome: 'bad_status' })[1]).toBe('confirmed bad unconfirmed')
  })

  it('of the return takes any page that is no error', () => {
    const back = (response_status: number | null) =>
      judge({ tried: { outcome: 'wrong_body', response_status, isSigned: true } })[4]
    expect([200, 302, 404, null].map(back)).toEqual([
      ...['returned good answers', 'returned good answers', 'returned bad error', 'returned bad unreachable'],
    ])
    expect(judge({ returnsTo: null })[4]).toBe('returned good noReturn')
  })
})
