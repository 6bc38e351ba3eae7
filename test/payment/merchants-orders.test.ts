/** A merchant's orders: found by every filter, paged, exported as a file, and hidden from others. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { countOrders, eachOrder, ordersOfApp } from '../../src/payment/merchant/orders.ts'
import { readNotifications } from '../../src/payment/notifications/redelivery.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { gatewayText, md5, send } from '../harness/gateway-shop.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { addHay, payOrder, placeOrder, refund } from '../harness/orders.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { rowsReadBy } from '../harness/rows-read.ts'

const DAY_MS = 86_400_000
const { merchantOrders: o } = messages.en

const test = await useTestApp()
const merchant = await makeMerchant(test)
const owner = await merchant.owner.signIn()
const alice = await makePerson(test, { points: 10_000n })

let count = 0
const order = (description: string, amount: string, seller = merchant) =>
  placeOrder(seller, { amount, description, order_id: `seller-${++count}` })

async function pay(person: Person, description: string, amount: string) {
  const made = await order(description, amount)
  await payOrder(test, made, person)
  return made
}

const listOf = ({ payment_id }: Merchant) => `/payment/applications/${payment_id}/orders`
const asking = (asked: Record<string, string>, path = listOf(merchant)) =>
  `${path}?${new URLSearchParams(asked)}`

/** Expects these parts in a text, one after the other. */
function expectInOrder(text: string, ...parts: string[]): void {
  let from = 0
  for (const part of parts) {
    const at = text.indexOf(part, from)
    expect(at, `${part} in ${text}`).toBeGreaterThanOrEqual(from)
    from = at + part.length
  }
}

/** The descriptions of the orders that the page shows. */
async function found(asked: Record<string, string>): Promise<string[]> {
  const { body } = await owner.get(asking(asked))
  return [...body.matchAll(/class="what"><a [^>]*><bdi>(.*?)<\/bdi>/g)].map(([, text]) => text!)
}

describe('the orders of an application', () => {
  it('are found by number, words, buyer, points, state and day, combined', async () => {
    const other = await makePerson(test, { points: 1_000n })
    const kettle = await pay(alice, 'Kettle, 100% steel', '300')
    await refund(test, await pay(alice, 'Torn poster', '40'), 40n)
    await refund(test, await pay(other, 'Half torn poster', '50'), 20n)
    const late = await order('Late lamp', '70')
    const closed = await order('Closed cup', '80')
    const set = (id: string, values: Record<string, unknown>) =>
      setRows(test, 'orders', { transaction_id: id }, values)
    await set(late.transaction_id, { expires_at: test.clock.now() })
    await set(closed.transaction_id, { status: 'closed' })
    const [trade] = await makeGatewayOrders(test, merchant, { notify_url: 'https://shop.example/notify' })
    const { trade_no, description } = await rowOf(test, 'orders', { transaction_id: trade! })

    expect(await found({ q: kettle.order_id })).toEqual(['Kettle, 100% steel'])
    expect(await found({ q: kettle.transaction_id })).toEqual(['Kettle, 100% steel'])
    expect(await found({ q: trade_no! })).toEqual([description])
    expect(await found({ q: 'POSTER' })).toEqual(['Half torn poster', 'Torn poster'])
    expect(await found({ q: '100%' })).toEqual(['Kettle, 100% steel'])
    expect(await found({ buyer: `@${other.username.toUpperCase()}` })).toEqual(['Half torn poster'])
    expect(await found({ buyer: alice.username })).toEqual(['Torn poster', 'Kettle, 100% steel'])
    expect(await found({ buyer: 'nobody-of-this-name' })).toEqual([])
    expect(await found({ min: '60', max: '80' })).toEqual(['Closed cup', 'Late lamp'])
    expect(await found({ min: '300', max: '300', status: 'paid', buyer: alice.username })).toHaveLength(1)
    expect(await found({ q: kettle.order_id, status: 'closed' })).toEqual([])
    expect(await found({ q: kettle.order_id, buyer: other.username })).toEqual([])
    expect(await found({ status: 'open' })).toEqual([description])
    expect(await found({ status: 'paid' })).toEqual(['Kettle, 100% steel'])
    expect(await found({ status: 'partlyRefunded' })).toEqual(['Half torn poster'])
    expect(await found({ status: 'refunded' })).toEqual(['Torn poster'])
    expect(await found({ status: 'expired' })).toEqual(['Late lamp'])
    expect(await found({ status: 'closed' })).toEqual(['Closed cup'])
    expect(await found({ min: '', max: '', status: '', from: '', until: '', q: '' })).toHaveLength(6)
    // The notation of the pages.
    expect(await found({ min: '0,300', max: '3 00' })).toEqual(['Kettle, 100% steel'])
    const chips = async (asked: Record<string, string>) =>
      [...(await owner.get(asking(asked))).body.matchAll(/status=(\w+)[^>]*>[^<]*<span>([\d,+]+)</g)].map(
        ([, fate, rows]) => `${fate} ${rows}`,
      )
    const each = ['open 1', 'paid 1', 'partlyRefunded 1', 'refunded 1', 'expired 1', 'closed 1']
    expect(await chips({})).toEqual(each)
    expect(await chips({ status: 'paid', min: '60' })).toContain('closed 1')
    expect(await chips({ status: 'paid', min: '60' })).toContain('refunded 0')
    expect(await chips({ q: 'poster' })).toEqual([
      ...['open 0', 'paid 0', 'partlyRefunded 1', 'refunded 1', 'expired 0', 'closed 0'],
    ])
    // An unreadable filter must not select everything, least of all in a file.
    for (const wrong of [
      { status: 'x' },
      { min: '-1' },
      { max: '10.5' },
      { from: '2026-02-31' },
      { until: '31.12.2026' },
      { from: '2026-01-02', until: '2026-01-01' },
    ]) {
      const page = await owner.get(asking(wrong))
      expect([page.status, page.body.includes('poster')]).toEqual([400, false])
      expect((await owner.get(asking(wrong).replace('/orders?', '/orders/export.csv?'))).status).toBe(400)
    }
    const everything = await owner.get(listOf(merchant))
    expect(everything.body).toContain(`placeholder="${o.searchHint}"`)
    expect(everything.body).toContain(`>${messages.en.lists.shown('1', '6', '6', false)}</p>`)
    const shown = (rows: string) => `>${messages.en.lists.shown('1', rows, rows, false)}</p>`
    expect((await owner.get(asking({ status: 'paid' }))).body).toContain(shown('1'))
    expect((await owner.get(asking({ q: 'poster' }))).body).toContain(shown('2'))
    // The address contains the whole search, so it can be shared.
    const page = await owner.get(asking({ q: 'poster', min: '41' }))
    expect(page.body).toContain('name="q" value="poster"')
    expect(page.body).toContain('name="min" value="41"')
  })

  it('are paged by the last row, also in a far search', async () => {
    const seller = await makeMerchant(test)
    const needle = await order('Needle', '10', seller)
    await addHay(test, seller, 10_100)
    const all: bigint[] = []
    for (let before: bigint | undefined, pages = 0; pages < 3; pages += 1) {
      const page = await ordersOfApp(test.db, seller.id, { before }, test.clock.now())
      all.push(...page.rows.map(({ id }) => id))
      before = page.next
      await order('Meanwhile', '10', seller)
    }
    expect(all).toHaveLength(75)
    expect(all).toEqual([...new Set(all)].sort((a, b) => Number(b - a)))

    const browser = await seller.owner.signIn()
    const newest = await browser.get(listOf(seller))
    expect(newest.body).toContain(`>${messages.en.lists.shown('1', '25', '1,000', true)}</p>`)
    const older = /href="([^"]*before=\d+[^"]*)"/.exec(newest.body)![1]!.replaceAll('&amp;', '&')
    expect((await browser.get(older)).body).toContain(
      `>${messages.en.lists.shown('26', '50', '1,000', true)}</p>`,
    )
    expect((await browser.get(asking({ q: 'straw' }, listOf(seller)))).body).toContain(
      `>${messages.en.lists.shown('1', '25', '9,997', true)}</p>`,
    )

    const first = await ordersOfApp(test.db, seller.id, { text: 'needle' }, test.clock.now())
    expect(first.rows).toEqual([])
    expect(first.looked_back_to).toBeInstanceOf(Date)
    const filter = { text: 'needle', before: first.next }
    const second = await ordersOfApp(test.db, seller.id, filter, test.clock.now())
    expect(second.rows.map(({ order_id }) => order_id)).toEqual([needle.order_id])
    expect(second.next).toBeUndefined()

    const lines: string[] = []
    for await (const some of eachOrder(test.db, seller.id, { text: 'hay' }, test.clock.now(), 10_050))
      lines.push(...some.map(({ order_id }) => order_id))
    expect(lines).toHaveLength(10_050)
    expect(new Set(lines).size).toBe(10_050)
    // It looks at the newest 10,000 alone, and the page says so.
    const counted = await countOrders(test.db, seller.id, { text: 'hay' }, test.clock.now())
    expect(counted).toEqual({ rows: 9_997, among: 10_000 })
    const page = await (await seller.owner.signIn()).get(asking({ q: 'hay' }, `${listOf(seller)}/export`))
    expect(textOf(page.body)).toContain(o.exportCapped('10,000', '50,000'))
  })

  it('go into a file as filtered, without formulas', async () => {
    const seller = await makeMerchant(test)
    const browser = await seller.owner.signIn()
    const path = listOf(seller)
    await order('贴纸, "glow"', '12', seller)
    await order('=SUM(1)', '13', seller)
    await order('Too cheap', '1', seller)
    const page = await browser.get(asking({ min: '2' }, `${path}/export`))
    expect(page.body).toContain(o.exportRows('2', 2))
    const file = await browser.get(asking({ min: '2' }, `${path}/export.csv`))
    expect(file.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(file.headers['content-disposition']).toMatch(
      /^attachment; filename="orders-pay_\w{20}-[\d-]{10}\.csv"$/,
    )
    const [head, ...lines] = file.body.split('\r\n')
    expect(head).toMatch(/^\uFEFFcreated_at,transaction_id,order_id,/)
    expect(lines.map((line) => line.split(',').slice(4).join(','))).toEqual([
      `'=SUM(1),pending,false,,13,,,0,,`,
      '"贴纸, ""glow""",pending,false,,12,,,0,,',
      '',
    ])
    // The statuses are those of the API, whatever the page calls them.
    await setRows(test, 'orders', { app_id: seller.id, amount: 12n }, { status: 'closed' })
    test.clock.advance(31 * 60_000)
    const later = (await (await seller.owner.signIn()).get(`${path}/export.csv?min=12`)).body
    const statuses = later.split('\r\n').map((line) => line.split(',').slice(-9, -7).join(' '))
    expect(statuses.slice(1, 3)).toEqual(['pending true', 'cancelled false'])
  })

  it('are found by day without reading what others sold in between', async () => {
    const seller = await makeMerchant(test)
    const busy = await makeMerchant(test)
    await order('Early', '1', seller)
    const now = test.clock.now()
    await addHay(test, busy, 5_000)
    await order('Late', '1', seller)
    await sql`analyze orders`.execute(test.db)
    const read = await rowsReadBy(test, 'orders', async (tx) => {
      for (const at of [0, now.getTime(), now.getTime() + DAY_MS])
        await sql`select first_order_since(${seller.id}, ${new Date(at)})`.execute(tx)
    })
    expect(read).toBeLessThan(300)
  })

  it('have their notifications found without reading those of others', async () => {
    const seller = await makeMerchant(test)
    const busy = await makeMerchant(test)
    const { transaction_id: own } = await order('Told', '1', seller)
    await addHay(test, busy, 2_000)
    await sql`
      insert into notifications (order_id, status, next_attempt_at)
      select id, 'delivered', null from orders where app_id in (${seller.id}, ${busy.id}) order by id`.execute(
      test.db,
    )
    await sql`analyze notifications`.execute(test.db)
    const reader = { role: 'team', user_id: seller.owner.id } as const
    const read = await rowsReadBy(test, 'notifications', async (tx) => {
      const { rows: told } = await readNotifications(tx, reader, { payment_id: seller.payment_id }, 25)
      expect(told.map(({ transaction_id }) => transaction_id)).toEqual([own])
    })
    expect(read).toBeLessThan(50)
  })

  it('go into so many files an hour of one member', async () => {
    const seller = await makeMerchant(test)
    const browser = await seller.owner.signIn()
    const set = (value: string) => setSetting(test, 'limit_order_files', value)
    await set('2')
    const file = `${listOf(seller)}/export.csv`
    const statuses = [await browser.get(file), await browser.get(file), await browser.get(file)]
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429])
    await set('30')
  })

  it('are not there for another application', async () => {
    const { transaction_id } = await order('Secret', '10')
    const seller = await makeMerchant(test)
    const stranger = await seller.owner.signIn()
    const { body } = await stranger.get(asking({ q: transaction_id }, listOf(seller)))
    expect(body).toContain(messages.en.lists.nothing)
    expect((await stranger.get(`${listOf(seller)}/${transaction_id}`)).status).toBe(404)
  })

  it('show their history, payees and request, without its secrets', async () => {
    const order_id = `seller-${++count}`
    const fields = {
      amount: '119',
      description: 'Teapot',
      order_id,
      note: 'n'.repeat(3_000),
      api_key: 'not-to-be-shown',
    }
    const { body } = await merchant.process(fields)
    const transaction_id = String(body.transaction_id)
    const client = await alice.signIn()
    const payPath = `/payment/pay/${transaction_id}`
    const payUrl = `data-copy="${test.deps.config.PAYMENT_PUBLIC_URL}${payPath}"`
    const orderPath = `${listOf(merchant)}/${transaction_id}`
    const open = (await owner.get(orderPath)).body
    // The merchant sends the address of an order that waits, so it comes first.
    expectInOrder(open, payUrl, messages.en.merchantOrders.shares)
    const toPay = await client.get(payPath)
    test.clock.advance(60_000)
    await client.submit(toPay, payPath)
    test.clock.advance(60_000)
    await refund(test, { transaction_id }, 100n)
    // A repeated request does not change the order.
    await merchant.process({ ...fields, description: 'Kettle' })

    const page = await owner.get(orderPath)
    expect(page.status).toBe(200)
    expect(page.body).not.toContain(payUrl)
    const text = textOf(page.body)
    const { common, account, merchantTabs } = messages.en
    const [payer, payee] = [`@${alice.username}`, `@${merchant.owner.username}`]
    expectInOrder(
      text,
      `${o.events.refunded} · ${common.points('100', 100n)} Torn `,
      `${o.events.paid} · ${payer} · ${common.points('119', 119n)} `,
      `${o.events.viewed} ${o.viewers(1)}`,
      o.events.created,
    )
    expectInOrder(
      text,
      `${o.paidByBuyer} 119 ${o.fee} 4.2% −5 ${o.refundedToBuyer} −100 ${o.feeReturned} +4 ` +
        `${o.received} ${common.points('18', 18n)}`,
    )
    expectInOrder(
      text,
      `${account.kinds.payment} · `,
      ` ${payer} −119 ${payee} +114 ${o.platformFee} +5 ${account.kinds.refund} · `,
      ` ${payer} +100 ${payee} −96 ${o.platformFee} −4`,
    )
    expectInOrder(text, `POST /payment/pay/${merchant.payment_id}/process `, `${o.fromAddress} 127.0.0.1 `)
    expectInOrder(text, `${o.numbers} ${o.product} Teapot ${o.orderId} order_id ${order_id} `)
    const long = `note ${'n'.repeat(1_000)}… `
    expectInOrder(text, 'description Teapot ', long, `api_key ${o.hidden} signature ${o.hidden}`)
    expectInOrder(text, `${o.byBrowserOnly} ${merchantTabs.events} `)
    // The amount is in the head, and the buyer leads to their other orders.
    expectInOrder(text, 'Teapot 119 points ', `${o.shares} `)
    const others = /href="([^"]*\/orders\?buyer=[^"]*)"/.exec(page.body)![1]!
    expect((await owner.get(others)).body).toContain(`/orders/${transaction_id}"`)
    const { id } = await rowOf(test, 'orders', { transaction_id })
    const { request } = await rowOf(test, 'order_requests', { order_id: id })
    expect(JSON.stringify(request)).not.toContain('not-to-be-shown')
    expect(Object.fromEntries(request.parameters)).toMatchObject({
      amount: '119',
      signature: null,
      api_key: null,
    })
  })

  it('that ended without a payment promise neither a fee nor a notification', async () => {
    const { transaction_id } = await order('Late kettle', '70')
    const text = async () => textOf((await owner.get(`${listOf(merchant)}/${transaction_id}`)).body)
    const { notifications: n } = messages.en
    expect(await text()).toContain(o.feePending)
    await setRows(test, 'orders', { transaction_id }, { status: 'closed' })
    const ended = await text()
    expect(ended).toContain(o.neverPaid)
    for (const promise of [o.feePending, o.noBuyer, n.nothingText]) expect(ended).not.toContain(promise)
  })

  it('of the gateway show request and attempts, which may be repeated', async () => {
    const trade = {
      pid: merchant.pid.toString(),
      out_trade_no: `seller-${++count}`,
      name: 'Lamp',
      money: '1.00',
      notify_url: 'https://shop.example/notify?shop=1',
      ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`extra${i}`, 'x'.repeat(900)])),
    }
    const signed = { ...trade, sign: md5(gatewayText(trade) + merchant.merchant_key), sign_type: 'MD5' }
    const { headers } = await send(test, 'POST', '/payment/submit.php', signed)
    const transaction_id = headers.location!.split('/').pop()!
    await payOrder(test, { transaction_id }, alice)
    const path = `${listOf(merchant)}/${transaction_id}`
    const page = await owner.get(path)
    const text = textOf(page.body)
    expectInOrder(text, '/payment/submit.php ', `out_trade_no ${trade.out_trade_no} `, o.leftOut(6))
    const { converted } = messages.en.pay
    expect(text).toContain(`${converted('1.00', '100', '100')} ${o.paidByBuyer}`)
    expect(page.body).not.toContain(signed.sign)
    const redeliver = `/payment/applications/${merchant.payment_id}/notifications/${transaction_id}/redeliver`
    // One button notifies the shop again.
    expect(page.body.split(`action="${redeliver}"`)).toHaveLength(2)
    expect((await owner.submit(page, redeliver)).status).toBe(303)
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const again = `/admin/notifications/${transaction_id}/redeliver`
    const list = await admin.get(`/admin/notifications?transaction_id=${transaction_id}`)
    expect(list.body).toContain('<p class="clip"><bdi>Lamp</bdi></p>')
    expect(page.body).not.toContain('<p class="clip">')
    expect((await admin.submit(list, again)).status).toBe(303)
  })

  it('of a day are those created from midnight to midnight in China', async () => {
    const seller = await makeMerchant(test)
    const path = listOf(seller)
    /** Half an hour before a midnight in China, at that midnight, and a day later. */
    const midnight = Math.ceil(test.clock.now().getTime() / DAY_MS) * DAY_MS + 16 * 3_600_000
    test.clock.advance(midnight - 1_800_000 - test.clock.now().getTime())
    const made: string[] = []
    for (const step of [1_800_000, DAY_MS, 0]) {
      made.push((await order('Dated', '10', seller)).order_id)
      test.clock.advance(step)
    }
    let browser = await seller.owner.signIn()
    /** The day in China that begins `days` after that midnight. */
    const day = (days: number) => new Date(midnight + (days + 1 / 3) * DAY_MS).toISOString().slice(0, 10)
    const ids = async (asked: Record<string, string>) => {
      const { body } = await browser.get(asking(asked, path))
      return [...body.matchAll(/<code[^>]*>(seller-\d+)<\/code>/g)].map(([, id]) => id!)
    }
    const [before, on, after] = made
    expect(await ids({ from: day(0), until: day(0) })).toEqual([on])
    expect(await ids({ until: day(-1) })).toEqual([before])
    expect(await ids({ from: day(0) })).toEqual([after, on])
    expect(await ids({ from: day(2) })).toEqual([])
    expect(await ids({ until: day(-2) })).toEqual([])
    // Now it is the second day after that midnight.
    expect(await ids({ period: 'today' })).toEqual([after])
    expect(await ids({ period: 'week' })).toEqual([after, on, before])
    expect(await ids({ period: 'today', until: day(-1) })).toEqual([before])
    test.clock.advance(29 * DAY_MS)
    browser = await seller.owner.signIn()
    expect(await ids({ period: 'days30' })).toEqual([after])
    expect(await ids({ period: 'days90' })).toEqual([after, on, before])
    expect((await browser.get(asking({ period: 'ever' }, path))).status).toBe(400)
  })
})
