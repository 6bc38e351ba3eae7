/** The pay page besides paying: details, ways out, other devices, and every state with its link to the shop. */
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { makeShop, send } from '../harness/gateway-shop.ts'
import { browser, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { payOrder, placeOrder, refund } from '../harness/orders.ts'
import { readQr } from '../harness/qr.ts'
import { setRows } from '../harness/rows.ts'

const t = messages.en.pay
const FORUM = 'https://forum.example.org'

const test = await useTestApp({
  ...{
    DISCOURSE_URL: FORUM,
    DISCOURSE_SECRET: 'a-secret-of-the-forum',
    DISCOURSE_API_KEY: 'a-key-of-the-forum',
  },
})
const merchant = await makeMerchant(test)
const alice = await makePerson(test, { points: 5_000n })

const order = () => placeOrder(merchant, { amount: '120', description: 'Stickers <b>' })
const setShop = (values: { homepage?: string | null; logo_url?: string | null }) =>
  setRows(test, 'payment_apps', { payment_id: merchant.payment_id }, values)

/** What the page says on paper. */
const paperOf = ({ body }: { body: string }) =>
  textOf(/<article class="paper[\s\S]*<\/article>/.exec(body)![0])

describe('before paying', () => {
  it('shows merchant, payer, what is left, and the shop’s picture', async () => {
    const { path, order_id } = await order()
    const client = await alice.signIn()
    const { body } = await client.get(path)
    const facts = textOf(body)
    expect(facts).toContain(
      `Shop of ${merchant.owner.username} ${messages.en.common.reviewed} @${merchant.owner.username} · `,
    )
    expect(facts).toContain('120 points Stickers <b>')
    expect(facts).toContain(`${t.payingAs} @${alice.username}`)
    expect(facts).toContain(`${t.balanceNow} 5,000 ${t.thisPayment} −120 ${t.balanceAfter} 4,880`)
    // Once in the fold of a phone, and once beside a wide payment. A reader sees one of them.
    expect(facts.split(order_id)).toHaveLength(3)
    expect(body).toContain(`data-copy="${order_id}"`)
    expect(body).toContain(`href="/sign-in?return_to=${encodeURIComponent(path)}"`)
    await setShop({ logo_url: 'https://shop.example/logo.png?v="1"' })
    expect((await client.get(path)).body).toContain('src="https://shop.example/logo.png?v=&quot;1&quot;"')
    await setShop({ logo_url: null })
  })

  it('leads a short payer to earn points where a forum gives them, and everyone back', async () => {
    const poor = await makePerson(test, { points: 5n })
    const { path } = await order()
    const client = await poor.signIn()
    const nowhere = await client.get(path)
    expect(nowhere.body).not.toContain(t.earnLink)
    const shortFacts = textOf(nowhere.body)
    expect(shortFacts).toContain(`${t.thisPayment} −120 ${t.missing('115', 115n)} `)
    // One way on in place of a button that could not pay.
    expect(nowhere.body).toContain(`<a class="button primary block big" href="/#earn">${t.sources}</a>`)
    expect(nowhere.body).not.toContain('name="expected_amount"')
    const bridge = { name: 'forum_points_bridge', value: 'on', actor_id: null, ip: null } as const
    await test.deps.settings.change({ ...bridge, now: test.clock.now() })
    const page = await client.get(path)
    expect(page.body).toContain(`href="${FORUM}">${t.earnLink}`)
    expect(page.body).toContain(`href="${new URL(merchant.callbackUrl).origin}"`)
    await setShop({ homepage: 'https://shop.example/tea' })
    const homely = await client.get(path)
    expect(homely.body).toContain('href="https://shop.example/tea"')
    expect(homely.body).not.toContain('signature')
    await setShop({ homepage: null })
  })

  it('counts down only the last quarter, by the clock of the server', async () => {
    const { path } = await order()
    const { body } = await (await alice.signIn()).get(path)
    const now = test.clock.now()
    expect(body).toContain(`data-now="${now.toISOString()}"`)
    expect(body).toContain(`data-expires="${new Date(now.getTime() + 30 * 60_000).toISOString()}"`)
    expect(body).toContain('data-countdown="450"')
    expect(body).toMatch(/role="status"/)
  })

  it('shows its address as code and link to signed-in members', async () => {
    const { path } = await order()
    const client = await alice.signIn()
    const { body } = await client.get(path)
    expect(body).toContain(`src="${path}/qr.svg"`)
    expect(body).toContain(`<code>${test.url}${path}</code>`)
    const code = await client.get(`${path}/qr.svg`)
    expect(code.headers['content-type']).toBe('image/svg+xml')
    expect(code.body).toMatch(/^<svg [^>]*><rect width="100%" height="100%" fill="#fff"\/>/)
    expect(readQr(code.body)).toBe(`${test.url}${path}`)
    expect((await browser(test).get(`${path}/qr.svg`)).status).toBe(303)
    expect((await client.get('/payment/pay/txn_000000000000000000000000/qr.svg')).status).toBe(404)
  })
})

describe('on another device', () => {
  it('the page learns the order’s state, as its reader may know it', async () => {
    const made = await order()
    const [client, other] = [await alice.signIn(), await (await makePerson(test)).signIn()]
    const stateFor = async (reader: typeof client) =>
      JSON.parse((await reader.get(`${made.path}/state`)).body)
    expect(await stateFor(client)).toEqual({ state: 'open' })
    await payOrder(test, made, alice)
    expect(await stateFor(client)).toEqual({ state: 'paid' })
    expect(await stateFor(other)).toEqual({ state: 'paidByOther' })
    expect((await browser(test).get(`${made.path}/state`)).status).toBe(303)
    expect((await client.get('/payment/pay/txn_x/state')).status).toBe(404)
  })
})

describe('whatever has become of it', () => {
  it('there is a way on and a reference', async () => {
    const client = await alice.signIn()
    const shop = new URL(merchant.callbackUrl).origin
    const open = await order()
    const set = (values: Record<string, unknown>) =>
      setRows(test, 'orders', { transaction_id: open.transaction_id }, values)
    await set({ status: 'closed' })
    const closed = await client.get(open.path)
    await set({ status: 'expired' })
    const expired = await client.get(open.path)
    await set({ status: 'unpaid' })
    const suspend = (status: 'suspended' | 'approved') =>
      setRows(test, 'payment_apps', { payment_id: merchant.payment_id }, { status })
    await suspend('suspended')
    const unusable = await client.get(open.path)
    await suspend('approved')
    await payOrder(test, open, await makePerson(test, { points: 500n }))
    const taken = await client.get(open.path)
    for (const [page, heading] of [
      [closed, t.states.closed],
      [expired, t.states.expired],
      [unusable, t.states.unusable],
      [taken, t.states.paidByOther],
    ] as const) {
      expect(page.body).toContain(`<h1>${heading}</h1>`)
      expect(page.body).toContain(`href="${shop}"`)
      expect(page.body).toContain(`<code>${open.transaction_id}</code>`)
    }
    const nowhere = await client.get('/payment/pay/txn_000000000000000000000000')
    expect(nowhere.status).toBe(404)
    expect(nowhere.body).toMatch(/Reference <code>req-[\w-]+<\/code>/)
    expect(nowhere.body).toContain('href="/account/payments"')
  })

  it('the receipt tells refunds and reasons, and leads back while paid', async () => {
    const made = await order()
    await payOrder(test, made, alice)
    const client = await alice.signIn()
    expect(paperOf(await client.get(made.path))).toContain(`${t.receipt.total} ${t.sum('120', 120n)}`)
    const { body } = await client.get(made.path)
    const balanceOn = (page: string) =>
      new RegExp(`${t.balanceAfter}</dt><dd>([\\d,]+ points)`).exec(page)?.[1]
    const balance = balanceOn(body)
    expect(balance).toBeDefined()
    for (const number of [made.order_id, made.transaction_id]) expect(body).toContain(`data-copy="${number}"`)
    const logo_url = 'https://shop.example/logo.png'
    await setShop({ logo_url })
    // On the screen only. On paper it would push the name out of its column.
    expect((await client.get(made.path)).body.split(`src="${logo_url}"`)).toHaveLength(2)
    await setShop({ logo_url: null })
    await refund(test, made, 20n, { reason: 'One <torn>' })
    const part = await client.get(made.path)
    const { number, member, asOf } = messages.en.paper
    const paper = paperOf(part)
    for (const fact of [
      `${new URL(test.url).host} ${t.receipt.title} ${number} ${made.transaction_id} `,
      `${t.payer} ${alice.username} @${alice.username} · ${member(String(alice.id))} `,
      `100 points ${t.netOf('120', '20')} ${messages.en.payments.fates.partlyRefunded} ${t.payer} `,
      `${t.payee} Shop of ${merchant.owner.username} @${merchant.owner.username} ${t.paidAt} `,
      'Stickers <b> 120 ',
      `${t.reason('One <torn>')} −20 ${t.netAmount} ${t.sum('100', 100n)} `,
      `${t.order} ${made.order_id} ${t.product} `,
      `${t.receipt.address} ${test.url}${made.path} `,
      `${t.receipt.worth} ${asOf} `,
    ])
      expect(paper).toContain(fact)
    expect(part.body).toContain(`<h1>${t.partlyRefunded}</h1>`)
    expect(part.body).toContain(t.netOf('120', '20'))
    // The balance is that after the payment, whatever has moved since.
    expect(balanceOn(part.body)).toBe(balance)
    expect(part.body).toMatch(/20 points refunded[\s\S]*<time[\s\S]*One &lt;torn&gt;/)
    expect(part.body).toContain(`href="${made.path}/return"`)
    await refund(test, made, 100n, { reason: 'All of it' })
    const whole = await client.get(made.path)
    expect(paperOf(whole)).toContain(`${t.netAmount} ${t.sum('0', 0n)}`)
    expect(whole.body).toContain(`<h1>${t.refunded}</h1>`)
    expect(whole.body).toContain('All of it')
    // The message says it all, so no sums repeat it.
    expect(whole.body.split('<article class="paper')[0]).not.toContain(t.netAmount)
    expect(whole.body).not.toContain(`${made.path}/return`)
    expect(whole.body).not.toContain('id="shop"')
  })
})

it('a shop’s description is kept as sent and shown without reversing marks', async () => {
  const shop = await makeShop(test)
  const admin = await (await makePerson(test, { username: 'admin', is_admin: true })).signIn()
  const buyer = await (await makePerson(test, { points: 100n })).signIn()
  const sent = 'Tea \u202egnp.exe\u2066\u200b'
  const unseen = '\u3164\u200b'
  const created = await shop.process({ amount: '10', description: sent, order_id: 'by-hmac' })
  const nothing = await shop.process({ amount: '10', description: unseen, order_id: 'unseen' })
  const trade = await send(
    test,
    'POST',
    '/payment/api/mapi.php',
    shop.signMd5({
      pid: shop.pidText,
      type: 'epay',
      out_trade_no: 'by-gateway',
      notify_url: 'https://shop.example/n',
      name: sent,
      money: '0.10',
    }),
  )
  const paths = [created.body.payment_url, trade.json().payurl].map((url) => new URL(String(url)).pathname)
  for (const path of paths) {
    const page = await buyer.get(path)
    expect(page.body).toContain('<bdi>Tea gnp.exe</bdi>')
    expect((await buyer.submit(page, path)).status).toBe(303)
  }
  expect((await buyer.get(new URL(String(nothing.body.payment_url)).pathname)).body).toContain('<bdi>—</bdi>')

  const owner = await shop.owner.signIn()
  const orders = `/payment/applications/${shop.payment_id}/orders`
  const ids = paths.map((path) => path.split('/').pop()!)
  const pages = await Promise.all([
    ...['/account', '/account/payments', ...paths].map((path) => buyer.get(path)),
    ...[
      orders,
      ...ids.map((id) => `${orders}/${id}`),
      `/payment/applications/${shop.payment_id}/statistics`,
    ].map((path) => owner.get(path)),
    ...[...ids.map((id) => `/admin/orders/${id}`), `/admin/adjustments?id=${ids[0]}`].map((path) =>
      admin.get(path),
    ),
  ])
  for (const { status, body } of pages) {
    expect(status).toBe(200)
    expect(body).toContain('Tea gnp.exe')
    expect(body.replace(/<details[\s\S]*?<\/details>/g, '')).not.toMatch(/[\u202e\u2066\u200b]/)
  }
  const { location } = await buyer.get(`${paths[1]}/return`)
  expect(new URL(location!).searchParams.get('name')).toBe(sent)
})
