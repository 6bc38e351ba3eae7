/** The page of a link, from a visitor's look to the receipt with what was bought. spec/links 2.1, 2.2, 2.5, 3.4 and 4.4. */
import { describe, expect, it } from 'vitest'
import { changeLink, createLink } from '../../../src/payment/links/acts.ts'
import { makePerson } from '../../harness/cast.ts'
import { browser, setSetting, useTestApp } from '../../harness/harness.ts'
import { buyAt, details, makeLink, orderAt, ownerOf } from '../../harness/links.ts'
import { textOf } from '../../harness/markup.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { placeOrder, refund } from '../../harness/orders.ts'
import { rowsOf, setRows } from '../../harness/rows.ts'

const l = messages.en.paymentLinks
const p = messages.en.pay
const test = await useTestApp()
await setSetting(test, 'limit_links_created', '0')
const merchant = await makeMerchant(test)
const owner = ownerOf(merchant)
const alice = await makePerson(test, { points: 1_000n })
const bob = await makePerson(test, { points: 1_000n })
const [client, other, visitor] = [await alice.signIn(), await bob.signIn(), browser(test)]

describe('leaving the pay page of a link', () => {
  it('ends the order at once, and only that of its buyer', async () => {
    const link = await makeLink(test, merchant, { codes: ['the-only-one'] })
    const path = `/payment/pay/${await orderAt(test.deps, link, alice)}`
    const paying = await client.get(path)
    const token = (await other.get('/account')).form('/sign-out')
    expect((await other.post(`${path}/leave`, token)).status).toBe(404)
    const left = await client.submit(paying, `${path}/leave`, {})
    expect(left).toMatchObject({ status: 303, location: `/l/${link.slug}` })
    expect(textOf((await client.get(`/l/${link.slug}`)).body)).toContain(p.left)
    expect(textOf((await client.get(path)).body)).toContain(p.states.expired)
    expect((await client.submit(paying, path, {})).status).toBe(409)
    // The code is still there for another buyer.
    expect((await buyAt(test.deps, link, bob)).outcome).toBe('paid')
  })

  it('makes room for another order of the member, and keeps a paid one', async () => {
    const link = await makeLink(test, merchant, {})
    const ids = []
    for (let i = 0; i < 3; i += 1) ids.push(await orderAt(test.deps, link, alice))
    expect(await orderAt(test.deps, link, alice)).toBe('too_many_open')
    await client.submit(await client.get(`/payment/pay/${ids[0]}`), `/payment/pay/${ids[0]}/leave`, {})
    expect(await orderAt(test.deps, link, alice)).toMatch(/^txn_/)
    const path = `/payment/pay/${ids[1]}`
    const paying = await client.get(path)
    await client.submit(paying, path, {})
    expect(await client.submit(paying, `${path}/leave`, {})).toMatchObject({ status: 303, location: path })
    expect(await rowsOf(test, 'orders', { transaction_id: ids[1]! })).toMatchObject([{ status: 'paid' }])
  })

  it('is a link that leaves the order of a shop payable', async () => {
    const order = await placeOrder(merchant, { amount: '5' })
    const path = `/payment/pay/${order.transaction_id}`
    const paying = await client.get(path)
    expect(paying.body).not.toContain(`${path}/leave`)
    const token = (await client.get('/account')).form('/sign-out')
    expect((await client.post(`${path}/leave`, token)).status).toBe(404)
    expect((await client.submit(paying, path, {})).status).toBe(303)
  })
})

describe('the page of a link', () => {
  it('says before an order which points its reader lacks', async () => {
    const poor = await (await makePerson(test, { points: 10n })).signIn()
    const { slug } = await makeLink(test, merchant, { amount: 40n })
    const { missing } = p
    const short = (await poor.get(`/l/${slug}`)).body
    expect(textOf(short)).toContain(missing('30', 30n))
    // The one primary act is to earn points.
    expect(short.match(/\bprimary\b[^>]*>/g)).toEqual(['primary block big" href="/#earn">'])
    for (const reader of [client, visitor])
      expect(textOf((await reader.get(`/l/${slug}`)).body)).not.toContain(missing('30', 30n))
    const free = await makeLink(test, merchant, { amount: null, amount_min: 12n, amount_max: 90n })
    expect(textOf((await poor.get(`/l/${free.slug}`)).body)).toContain(missing('2', 2n))
    const exact = await makeLink(test, merchant, { amount: 10n, quantity_max: 3 })
    const { body } = await poor.get(`/l/${exact.slug}`)
    expect(textOf(body)).not.toContain(missing('0', 0n))
    const { buyEach, buyFor } = l
    expect(body).toContain(
      `data-each="10" data-total="${buyFor('{}', 10n, false)}">${buyEach('10', 10n, false)}<`,
    )
  })

  it('sells a code in the paying transaction, and shows it on the buyer’s receipt alone', async () => {
    const codes = ['SECRET-<b>-1', 'SECRET-2', 'SECRET-3']
    const { slug } = await makeLink(test, merchant, { codes, quantity_max: 2, thanks: 'Enjoy & print' })
    const path = `/l/${slug}`
    const shown = await visitor.get(path)
    expect([shown.status, shown.headers['x-robots-tag']]).toEqual([200, 'noindex'])
    expect(shown.body).toContain('<form method="get"')
    expect(textOf(shown.body)).toContain(l.left('3'))
    expect(textOf(shown.body)).toContain(merchant.owner.username)
    // Its button leads to sign-in, and back with the fields.
    const away = await visitor.get(`${path}?buy=1&quantity=2`)
    expect(away.status).toBe(303)
    expect(decodeURIComponent(away.location!)).toContain(`/sign-in?return_to=${path}?buy=1&quantity=2&visit=`)
    const form = await client.get(`${path}?buy=1&quantity=2`)
    expect(form.body).toMatch(/name="quantity"[^>]*value="2"/)

    // The price is the link's, whatever the form says.
    const ordered = await client.submit(form, path, { quantity: '2', amount: '1' })
    expect([ordered.status, ordered.location]).toEqual([303, expect.stringMatching(/^\/payment\/pay\/txn_/)])
    const payPath = ordered.location!
    const again = await client.submit(form, path, { quantity: '2' })
    expect(again.location).toBe(payPath)
    for (const [name, place] of [
      ['other', payPath],
      ['other', `${payPath}/state`],
      ['other', `${payPath}/qr.svg`],
    ] as const)
      expect([name, place, (await other.get(place)).status]).toEqual([name, place, 404])
    const fields = { ...(await other.get(path)).form(path), expected_amount: '20' }
    const stranger = await other.post(payPath, fields)
    expect(stranger.status).toBe(404)
    expect((await visitor.get(`/sign-in?return_to=${payPath}`)).body).not.toContain('Cat stickers')

    const paid = await client.submit(await client.get(payPath), payPath)
    expect([paid.status, paid.location]).toEqual([303, payPath])
    const receipt = await client.get(payPath)
    expect(receipt.headers['cache-control']).toBe('no-store')
    expect(receipt.body).toContain('SECRET-&lt;b&gt;-1')
    expect(textOf(receipt.body)).toContain(l.use.many(`Shop of ${merchant.owner.username}`))
    // The main button is for what was bought. Paper has it too.
    const primaries = [...receipt.body.matchAll(/class="[^"]*\bprimary\b[^>]*data-copy="([^"]*)"/g)].map(
      ([, copied]) => copied,
    )
    expect(primaries).toEqual(['SECRET-&lt;b&gt;-1\nSECRET-2'])
    expect(receipt.body.match(/\bprimary\b/g)).toHaveLength(1)
    const paper = receipt.body.slice(receipt.body.indexOf('paper-only'))
    expect(paper).toContain(
      '<code class="figure">SECRET-&lt;b&gt;-1</code></p><p><code class="figure">SECRET-2</code>',
    )
    expect(receipt.body).toContain('SECRET-2')
    expect(receipt.body).not.toContain('SECRET-3')
    expect(textOf(receipt.body)).toContain('Enjoy & print')
    expect(receipt.body).toContain(`href="${path}"`)
    expect((await client.get(`${payPath}/return`)).status).toBe(200)
    expect((await other.get(payPath)).body).not.toContain('SECRET')
    for (const place of ['orders', `orders/${payPath.split('/').at(-1)}`]) {
      const sold = await (await merchant.owner.signIn()).get(
        `/payment/applications/${merchant.payment_id}/${place}`,
      )
      expect([sold.status, sold.body.includes('SECRET')]).toEqual([200, false])
    }
    await refund(test, { transaction_id: payPath.split('/').at(-1)! }, 20n)
    expect((await client.get(payPath)).body).toContain(l.refunded)
  })

  it('leads a visitor from one press of its button through the sign-in to the payment', async () => {
    const link = await makeLink(test, merchant, { quantity_max: 3, stock: 2, messages: 'public' })
    const path = `/l/${link.slug}`
    const buyer = await makePerson(test, { points: 100n })
    const phone = browser(test)
    expect(textOf((await phone.get(path)).body)).toContain(l.signInFirst)
    const away = await phone.get(`${path}?buy=1&quantity=2&message=Hello`)
    const signInPage = await phone.get(away.location!)
    expect(textOf(signInPage.body)).toContain('Cat stickers')
    expect(textOf(signInPage.body)).toContain(messages.en.signIn.sum('20', 20n, false))
    const { username, password } = buyer
    const back = (await phone.submit(signInPage, '/sign-in', { username, password })).location!
    expect(back).toMatch(`${path}?buy=1`)
    const led = await phone.get(back)
    expect([led.status, led.location]).toEqual([303, expect.stringMatching(/^\/payment\/pay\/txn_/)])
    // Nothing is paid before its own confirmation, which shows the message that the team will see.
    const page = await phone.get(led.location!)
    expect(page.body).toContain(p.submit('20', 20n, false))
    expect(textOf(page.body)).toContain(`${l.yourMessage} “ Hello ” · ${username}`)
    expect(await rowsOf(test, 'journal', { reference: led.location!.split('/').at(-1)! })).toEqual([])
    // The same address finds the same order, also after it is paid.
    expect((await phone.get(back)).location).toBe(led.location)
    expect((await phone.submit(page, led.location!)).status).toBe(303)
    expect((await phone.get(back)).location).toBe(led.location)
    // Changed, in another browser or without the proof it is the page of the link, and orders nothing.
    const plain = back.replace(/&visit=.*/, '')
    const others = [
      [phone, plain],
      [phone, back.replace('quantity=2', 'quantity=1')],
      [phone, back.replace('Hello', 'Bye')],
      [phone, back.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
      [client, back],
    ] as const
    for (const [reader, address] of others)
      expect([address, (await reader.get(address)).status]).toEqual([address, 200])
    const orders = await rowsOf(test, 'orders', { description: `Cat stickers × 2`, payer_id: buyer.id })
    expect(orders).toHaveLength(1)
  })

  it('tells a visitor what is wrong before the sign-in, and a buyer what has changed since', async () => {
    const over = { amount: null, amount_min: 5n, amount_max: 9n, messages: 'private' } as const
    const tip = `/l/${(await makeLink(test, merchant, over)).slug}?buy=1`
    for (const amount of ['4', '10', 'x', '']) {
      const { status, body } = await visitor.get(`${tip}&amount=${amount}`)
      expect([amount, status, textOf(body).includes(l.amountWrong('5', '9'))]).toEqual([amount, 400, true])
    }
    // A public message needs no name, which a visitor may say before the sign-in.
    const open = `/l/${(await makeLink(test, merchant, { messages: 'public' })).slug}`
    expect((await visitor.get(open)).body).toContain('name="anonymous"')
    const window = browser(test)
    const left = await window.get(`${open}?buy=1&message=Psst&anonymous=on`)
    const { username: shy, password: secret } = await makePerson(test)
    const form = await window.get(left.location!)
    const on = await window.submit(form, '/sign-in', { username: shy, password: secret })
    const unsigned = await window.get((await window.get(on.location!)).location!)
    expect(textOf(unsigned.body)).toContain(`${l.yourMessage} “ Psst ” · ${l.anonymous}`)
    const long = await visitor.get(`${tip}&amount=7&message=${'x'.repeat(201)}`)
    expect([long.status, textOf(long.body).includes(l.saidWrong.message)]).toEqual([400, true])
    const link = await makeLink(test, merchant, { quantity_max: 3, codes: ['a', 'b', 'c'] })
    const path = `/l/${link.slug}`
    const many = await visitor.get(`${path}?buy=1&quantity=4`)
    expect([many.status, textOf(many.body).includes(l.quantityWrong(3))]).toEqual([400, true])
    expect((await visitor.get('/l/aaaaaaaaaa?buy=1')).status).toBe(404)

    const phone = browser(test)
    const away = await phone.get(`${path}?buy=1&quantity=3`)
    const { username, password } = await makePerson(test)
    const signInPage = await phone.get(away.location!)
    const back = (await phone.submit(signInPage, '/sign-in', { username, password })).location!
    expect((await buyAt(test.deps, link, alice)).outcome).toBe('paid')
    const fewer = await phone.get(back)
    expect([fewer.status, textOf(fewer.body).includes(l.fewerLeft)]).toEqual([400, true])
    await changeLink(test.deps, merchant.payment_id, { slug: link.slug, change: 'pause' }, owner)
    const paused = await phone.get(back)
    expect([paused.status, paused.body.includes(l.refusals.not_on_sale)]).toEqual([409, true])
  })

  it('is not found alike when it is unknown or a draft', async () => {
    const draft = await createLink(test.deps, merchant.payment_id, details(), owner)
    const pages = await Promise.all(
      ['aaaaaaaaaa', draft, 'x', 'AAAAAAAAAA'].map((slug) => visitor.get(`/l/${slug}`)),
    )
    for (const page of pages) expect(page.status).toBe(404)
    const withoutId = ({ body }: { body: string }) => textOf(body).replace(/req-[\w-]+/, '')
    expect(withoutId(pages[0]!)).toBe(withoutId(pages[1]!))
    for (const language of ['en', 'zh-CN'] as const) {
      const { body } = await visitor.get('/l/aaaaaaaaaa', { 'accept-language': language })
      expect(textOf(body)).toContain(messages[language].errors.noLink.advice)
    }
    // A buyer of long ago finds what was bought.
    expect((await client.get('/l/aaaaaaaaaa')).body).toContain(
      '<a class="button primary" href="/account/payments">',
    )
    // A member keeps the bar, and none of its links is marked.
    for (const path of ['/l/aaaaaaaaaa', '/account/aaaaaaaaaa']) {
      const { status, body } = await client.get(path)
      expect([status, body.includes('class="bottombar"')]).toEqual([404, true])
      expect(body.split('class="bottombar"')[1]).not.toContain('aria-current')
    }
  })

  it('leads a member who may buy no more to the last receipt', async () => {
    for (const [link, label] of [
      [
        await makeLink(test, merchant, { member_max: 2, codes: ['KEPT-1', 'KEPT-2', 'KEPT-3'] }),
        l.seeLast.codes,
      ],
      [await makeLink(test, merchant, { member_max: 2 }), l.seeLast.none],
    ] as const) {
      const path = `/l/${link.slug}`
      await buyAt(test.deps, link, alice)
      expect((await client.get(path)).body).not.toContain(label)
      const { transaction_id } = await buyAt(test.deps, link, alice)
      const { body } = await client.get(path)
      expect(textOf(body)).toContain(l.refusals.member_limit)
      expect(body).toContain(`href="/payment/pay/${transaction_id}">${label}</a>`)
      // Others buy on, and see no receipt of hers.
      for (const reader of [other, visitor]) expect((await reader.get(path)).body).not.toContain(label)
    }
  })

  it('lets the buyer choose a free price within its bounds', async () => {
    const over = { amount: null, amount_min: 5n, amount_max: 900n, suggestions: [10n, 50n] }
    const { slug } = await makeLink(test, merchant, over)
    const path = `/l/${slug}`
    const form = await client.get(path)
    expect(form.body).toMatch(/<input type="radio" name="choice" value="50" checked>/)
    expect(form.body.match(/ checked>/g)).toHaveLength(1)
    for (const amount of ['4', '901', 'x', '1e2', '-5', '9'.repeat(16)]) {
      const refused = await client.submit(form, path, { amount })
      expect([amount, refused.status]).toEqual([amount, 400])
      // The problem names the bounds.
      expect(textOf(refused.body)).toContain(l.amountWrong('5', '900'))
    }
    const none = await client.submit(form, path, { amount: '' })
    expect([none.status, textOf(none.body).includes(l.amountWrong('5', '900'))]).toEqual([400, true])
    const suggested = await client.submit(form, path, { choice: '50' })
    expect((await client.get(suggested.location!)).body).toContain(l.tipPay.submit('50', 50n, false))
    const own = await client.submit(await client.get(path), path, { choice: '50', amount: '7' })
    expect((await client.get(own.location!)).body).toContain(l.tipPay.submit('7', 7n, false))
  })

  it('of a tip says give and not buy, up to the receipt with the thanks of its shop', async () => {
    const over = { amount: null, amount_min: 5n, amount_max: 900n, title: 'A coffee', thanks: 'See you soon' }
    const { slug } = await makeLink(test, merchant, over)
    const path = `/l/${slug}`
    const form = await client.get(path)
    expect(form.body).toContain(`>${l.tip.buy}</button>`)
    expect(textOf(form.body)).toContain(l.tip.gets.none)
    const goods = [l.buy, l.about, l.checkFirst, l.gets.none, l.inStock, p.product, l.said].map(
      (text) => `>${text}<`,
    )
    for (const text of goods) expect([text, form.body.includes(text)]).toEqual([text, false])
    const signIn = await visitor.get(`/sign-in?return_to=${encodeURIComponent(path)}`)
    expect(textOf(signIn.body)).toContain(messages.en.signIn.toGive(`Shop of ${merchant.owner.username}`))
    expect((await visitor.get(`${path}/button.svg?lang=zh-CN`)).body).toContain('>支持，5 积分起</text>')
    const { location } = await client.submit(form, path, { amount: '7' })
    const payPage = await client.get(location!)
    expect(payPage.body).toContain(l.tipPay.submit('7', 7n, false))
    expect(payPage.body).not.toContain(p.submit('7', 7n, false))
    await client.submit(payPage, location!)
    const receipt = textOf((await client.get(location!)).body)
    for (const text of [l.tipPay.paid, l.tip.backToPage]) expect(receipt).toContain(text)
    // The thanks and the way back come before the details.
    const order = ['See you soon', l.tip.backToPage, p.paidAt].map((text) => receipt.indexOf(text))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    const from = `${l.from} Shop of ${merchant.owner.username} · @${merchant.owner.username}`
    expect(receipt.replaceAll(/\s+/g, ' ')).toContain(`${from} See you soon`)
    expect((await visitor.get(path)).body).toContain(l.tip.sold('1'))
    await changeLink(test.deps, merchant.payment_id, { slug, change: 'pause' }, owner)
    expect(textOf((await visitor.get(path)).body)).toContain(l.tip.refusals.not_on_sale)
  })

  it('with a free price that delivers something is bought, not given', async () => {
    const over = {
      amount: null,
      amount_min: 5n,
      amount_max: 900n,
      delivery: 'text',
      delivered: 'Fold',
    } as const
    const { slug } = await makeLink(test, merchant, over)
    const path = `/l/${slug}`
    const form = await client.get(path)
    expect(form.body).toContain(`>${l.buy}</button>`)
    const { location } = await client.submit(form, path, { amount: '7' })
    expect((await client.get(location!)).body).toContain(p.submit('7', 7n, false))
  })

  it.each([
    ['url', 'https://files.example/set?a=1&b=2', 'href="https://files.example/set?a=1&amp;b=2"'],
    ['text', 'Fold here.\nThen there.', 'data-copy="Fold here.\nThen there."'],
  ] as const)('shows what was bought by its main button: %s', async (delivery, delivered, button) => {
    const link = await makeLink(test, merchant, { delivery, delivered })
    const { transaction_id } = await buyAt(test.deps, link, alice)
    const { body } = await client.get(`/payment/pay/${transaction_id}`)
    const primary = /<(?:a|button) class="[^"]*\bprimary\b[^>]*>/.exec(body)?.[0]
    expect(primary).toContain(button)
    expect(body.match(/\bprimary\b/g)).toHaveLength(1)
    expect(textOf(body.slice(body.indexOf('paper-only')))).toContain(delivered.split('\n')[0])
  })

  it('says once that it is sold out', async () => {
    const link = await makeLink(test, merchant, { stock: 1 })
    expect((await buyAt(test.deps, link, bob)).outcome).toBe('paid')
    const shown = textOf((await visitor.get(`/l/${link.slug}`)).body)
    expect(shown.match(/sold out/gi)).toHaveLength(1)
    const back = messages.en.pay.returnToShop(`Shop of ${merchant.owner.username}`)
    expect(shown).not.toContain(back)
    await setRows(test, 'payment_apps', { id: merchant.id }, { homepage: 'https://shop.example/' })
    const { body } = await visitor.get(`/l/${link.slug}`)
    expect(body).toMatch(new RegExp(`href="https://shop.example/"[^>]*>${back}</a>`))
    await setRows(test, 'payment_apps', { id: merchant.id }, { homepage: null })
  })

  it('marks a quantity that is above its bound, or of which not so many are left', async () => {
    const limits = { quantity_max: 3, member_max: 4, amount: 1n }
    const link = await makeLink(test, merchant, { codes: ['a', 'b', 'c', 'd', 'e', 'f'], ...limits })
    const path = `/l/${link.slug}`
    const form = await client.get(path)
    const order = async (quantity: string) => {
      const { status, body } = await client.submit(form, path, { quantity, key: `key ${quantity}` })
      const problem = /<p class="problem" id="quantity-problem">([^<]+)</.exec(body)?.[1]
      return [status, problem, body.includes('class="flash warn" role="alert"')]
    }
    for (const quantity of ['4', '0', 'x', '0x2', '2e0', ''])
      expect(await order(quantity)).toEqual([400, l.quantityWrong(3), false])
    expect((await buyAt(test.deps, link, alice, 3)).outcome).toBe('paid')
    expect(await order('2')).toEqual([409, l.fewerForMember, false])
    expect((await buyAt(test.deps, link, bob, 2)).outcome).toBe('paid')
    const newcomer = await makePerson(test)
    const fresh = await newcomer.signIn()
    const refused = await fresh.submit(await fresh.get(path), path, { quantity: '2' })
    expect([refused.status, textOf(refused.body).includes(l.fewerLeft)]).toEqual([409, true])
    // Of the last one there is enough.
    expect((await fresh.submit(await fresh.get(path), path, { quantity: '1' })).status).toBe(303)
  })

  it('tells why nothing is sold, and refuses a form that comes too late', async () => {
    const link = await makeLink(test, merchant, { stock: 1 })
    const path = `/l/${link.slug}`
    const form = await client.get(path)
    const [mine, his] = [await orderAt(test.deps, link, alice), await orderAt(test.deps, link, bob)]
    const payPage = await client.get(`/payment/pay/${mine}`)
    const hisPage = await other.get(`/payment/pay/${his}`)
    expect((await other.submit(hisPage, `/payment/pay/${his}`)).status).toBe(303)
    const late = await client.submit(payPage, `/payment/pay/${mine}`)
    expect(late.status).toBe(409)
    expect(textOf(late.body)).toContain(p.states.soldOutText)
    expect(late.body).toContain(`href="${path}"`)
    expect((await visitor.get(path)).body).toContain(l.refusals.sold_out)
    const refused = await client.submit(form, path)
    expect([refused.status, refused.body.includes(l.refusals.sold_out)]).toEqual([409, true])
    await changeLink(test.deps, merchant.payment_id, { slug: link.slug, change: 'pause' }, owner)
    expect((await visitor.get(path)).body).toContain(l.refusals.not_on_sale)
    const paused = await client.submit(payPage, `/payment/pay/${mine}`)
    expect([paused.status, paused.body.includes(p.states.notOnSaleText)]).toEqual([409, true])
    expect(await rowsOf(test, 'journal', { reference: mine })).toEqual([])
  })

  it.each([
    [403, 'not_allowed', { min_level: 3 }],
    [409, 'over', { sells_until: test.clock.now() }],
    [409, 'not_yet', { sells_from: new Date(test.clock.now().getTime() + 60_000) }],
  ] as const)('answers %i for %s', async (status, refusal, over) => {
    const { slug } = await makeLink(test, merchant, over)
    const open = `/l/${(await makeLink(test, merchant)).slug}`
    const refused = await client.post(`/l/${slug}`, (await client.get(open)).form(open))
    expect([refused.status, refused.body.includes(l.refusals[refusal])]).toEqual([status, true])
    expect((await client.get(`/l/${slug}`)).body).toContain(l.refusals[refusal])
  })

  it('answers 503 while payments are paused', async () => {
    const { slug } = await makeLink(test, merchant)
    const form = await client.get(`/l/${slug}`)
    await setSetting(test, 'payments_read_only', 'on')
    const refused = await client.submit(form, `/l/${slug}`)
    expect([refused.status, refused.body.includes(l.refusals.paused)]).toEqual([503, true])
    await setSetting(test, 'payments_read_only', 'off')
  })
})

describe('a link on other sites', () => {
  const description = `Two\nlines & "quotes" <b>${'x'.repeat(300)}`
  /** Reads tags as Discourse does: by property or name, with the entities of HTML. */
  const tagsOf = (body: string) =>
    Object.fromEntries(
      [...body.matchAll(/<meta (?:property|name)="((?:og|product|twitter):[^"]+)" content="([^"]*)">/g)].map(
        ([, name, content]) => [name, textOf(content!)],
      ),
    )

  it('has the tags of a product, escaped and without figures of the stock', async () => {
    const { slug } = await makeLink(test, merchant, {
      title: 'Cats "<3"',
      description,
      amount: 50n,
      stock: 7,
    })
    const { body } = await visitor.get(`/l/${slug}`)
    expect(body).not.toContain('<b>x')
    const tags = tagsOf(body)
    expect(tags).toMatchObject({
      ...{
        'og:type': 'product',
        'og:title': 'Cats "<3"',
        'og:url': `${test.deps.config.PAYMENT_PUBLIC_URL}/l/${slug}`,
      },
      ...{ 'og:locale': 'en_GB', 'product:price:amount': '50', 'product:availability': 'in stock' },
      ...{ 'twitter:label1': 'Price', 'twitter:data1': '50 points' },
    })
    expect(tags['og:description']).toMatch(/^50 points · Two lines & "quotes" <b>x+$/)
    expect(tags['og:description']).toHaveLength(250)
    expect(JSON.stringify(tags)).not.toContain('777777')
    await changeLink(test.deps, merchant.payment_id, { slug, change: 'pause' }, owner)
    expect(tagsOf((await visitor.get(`/l/${slug}`)).body)['product:availability']).toBe('out of stock')
    const free = { amount: null, amount_min: 5n, amount_max: 9n }
    const tip = await makeLink(test, merchant, free)
    expect(tagsOf((await visitor.get(`/l/${tip.slug}`)).body)['twitter:data1']).toBe('5 points')
  })

  it('has no tags as a draft and in test mode', async () => {
    const draft = await createLink(test.deps, merchant.payment_id, details(), owner)
    const seller = await merchant.owner.signIn()
    expect(tagsOf((await seller.get(`/l/${draft}`)).body)).toEqual({})
    expect(await visitor.get(`/l/${draft}/button.svg`)).toMatchObject({ status: 404 })
    const twin = await makeMerchant(test, { twinOf: merchant })
    const { slug } = await makeLink(test, twin)
    expect(tagsOf((await visitor.get(`/l/${slug}`)).body)).toEqual({})
  })

  it('is a button with its price, and escaped Markdown and HTML', async () => {
    const title = '[x](http://evil.example) "><script>'
    const { slug } = await makeLink(test, merchant, { title, amount: 50n })
    for (const [lang, label] of [
      ['en', 'Buy for 50 points'],
      ['zh-CN', '购买，50 积分'],
    ] as const) {
      const button = await visitor.get(`/l/${slug}/button.svg?lang=${lang}`)
      expect(button.headers['content-type']).toContain('image/svg+xml')
      expect(button.headers['set-cookie']).toBeUndefined()
      expect(button.body).toContain(`>${label}</text>`)
      expect(button.body).not.toMatch(/script|href|style=/)
    }
    const seller = await merchant.owner.signIn()
    const shared = await seller.get(`/payment/applications/${merchant.payment_id}/links/${slug}/share`)
    const copied = textOf(shared.body)
    const url = `${test.deps.config.PAYMENT_PUBLIC_URL}/l/${slug}`
    expect(copied).toContain(`[\\[x\\]\\(http://evil.example\\) "\\>\\<script\\> – 50 points](${url})`)
    expect(copied).toContain(
      `<a href="${url}"><img src="${url}/button.svg?lang=en" alt="[x](http://evil.example) &quot;&gt;&lt;script&gt; – 50 points"></a>`,
    )
    expect(shared.body).not.toContain('<script>')
    expect(shared.body).toContain('<svg')
  })
})
