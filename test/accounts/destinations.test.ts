/** Sign-in on the way to a shop or an application: what it names, and how failures lead back. */
import { describe, expect, it } from 'vitest'
import { STALE_TOKEN } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import { browser, HTML, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { setRows } from '../harness/rows.ts'
import { authorizationUrl, makeParty } from '../identity/relying-party.ts'

const t = messages.en

let count = 0

const test = await useTestApp()
const merchant = await makeMerchant(test)

async function order(amount = '120') {
  count += 1
  const { body } = await merchant.process({ amount, description: 'Stickers <b>', order_id: `on-${count}` })
  const transaction_id = String(body.transaction_id)
  return { transaction_id, path: `/payment/pay/${transaction_id}` }
}

const signInTo = (path: string) => `/sign-in?return_to=${encodeURIComponent(path)}`

describe('the sign-in page', () => {
  it('names the shop, its logo and the amount of an order', async () => {
    const logo_url = 'https://shop.example/logo.png'
    const shop = test.db.updateTable('payment_apps').where('payment_id', '=', merchant.payment_id)
    await shop.set({ logo_url }).execute()
    const { path } = await order()
    const visitor = browser(test)
    const { body } = await visitor.get((await visitor.get(path)).location!)
    const name = `Shop of ${merchant.owner.username}`
    const toPay = t.signIn.toPay(name, '120', 120n)
    expect(body).toContain(`<title>${toPay} · `)
    const order120 = `Stickers <b> · ${t.signIn.sum('120', 120n, false)} ${t.signIn.validUntil} `
    expect(textOf(body)).toMatch(new RegExp(`${toPay} .*${name} ${order120}`))
    expect(body).toContain(`src="${logo_url}"`)
    expect(textOf(body)).toContain(t.signIn.giveUp(name))
    await shop.set({ logo_url: null }).execute()
  })

  it.each([
    ['/device?user_code=BCDF-GHJK', t.signIn.leadsTo.device],
    ['/launch', t.signIn.leadsTo.launch],
    ['/account/email/confirm?token=x', t.signIn.leadsTo.confirm],
    ['/admin', t.signIn.leadsTo.other],
  ])('says what follows when it leads to %s', async (path, words) => {
    const { body } = await browser(test).get(signInTo(path))
    expect(textOf(body)).toContain(words)
  })

  it('says play points for an order in test mode', async () => {
    const shop = await makeMerchant(test, { isTest: true })
    const { body } = await shop.process({ amount: '25', description: 'Tea', order_id: 'play' })
    const page = await browser(test).get(signInTo(`/payment/pay/${body.transaction_id}`))
    expect(textOf(page.body)).toContain(t.signIn.toPlay(`Shop of ${shop.owner.username}`, '25', 25n))
    expect(page.body).toContain('class="test-mark"')
  })

  it('keeps the amount and the product of a closed order to itself', async () => {
    const { path, transaction_id } = await order()
    await setRows(test, 'orders', { transaction_id }, { status: 'closed' })
    const { body } = await browser(test).get(signInTo(path))
    expect(textOf(body)).toContain(t.signIn.toOrder(`Shop of ${merchant.owner.username}`))
    expect(body).not.toMatch(/120 points|Stickers/)
  })

  it('names the application that asks, unless its request is faulty', async () => {
    const party = await makeParty(test)
    const page = async (path: string) => textOf((await browser(test).get(signInTo(path))).body)
    expect(await page(authorizationUrl(party))).toContain(t.signIn.toApp('Reading Club'))
    const elsewhere = authorizationUrl(party, { redirect_uri: 'https://evil.example/' })
    expect(await page(elsewhere)).not.toContain('Reading Club')
    expect(await page('/oauth2/auth?client_id=nobody')).not.toContain('Reading Club')
    expect(await page('/payment/pay/txn_000000000000000000000000')).not.toContain('order')
  })

  it('names the configured host, and never that of the request', async () => {
    const page = await browser(test).get('/sign-in', { host: 'evil.example' })
    expect(page.body).toContain(`<strong>${new URL(test.url).host}</strong>`)
    expect(page.body).not.toContain('evil.example')
  })
})

describe('a lock-out', () => {
  it('keeps the form and what was typed, says until when, and leads to the order', async () => {
    const alice = await makePerson(test)
    const { path } = await order()
    const visitor = browser(test)
    const page = await visitor.get(signInTo(path))
    const guess = () => visitor.submit(page, '/sign-in', { username: alice.username, password: 'a guess' })
    for (let i = 0; i < 10; i += 1) expect((await guess()).status).toBe(401)
    const locked = await guess()
    expect(locked.status).toBe(429)
    expect(locked.headers['retry-after']).toBe('30')
    expect(locked.body).toContain('<strong data-seconds="30">0:30</strong>')
    expect(locked.body).toContain(`value="${alice.username}"`)
    expect(textOf(locked.body)).toContain('120 points')
    expect(textOf(locked.body)).toContain(t.signIn.afterwards)
    test.clock.advance(30_000)
    const paid = await visitor.submit(locked, '/sign-in', {
      username: alice.username,
      password: alice.password,
    })
    expect(paid).toMatchObject({ status: 303, location: path })
  })

  it('answers a script as before', async () => {
    const alice = await makePerson(test)
    const visitor = browser(test)
    const page = await visitor.get('/sign-in')
    const fields = { ...page.form('/sign-in'), username: alice.username, password: 'a guess' }
    const guess = () => visitor.post('/sign-in', fields, { accept: 'application/json' })
    for (let i = 0; i < 10; i += 1) await guess()
    const locked = await guess()
    expect(locked.status).toBe(429)
    expect(JSON.parse(locked.body)).toMatchObject({ error: 'too_many_attempts' })
  })
})

describe('a form that is too old', () => {
  it('of the sign-in page is shown again with the username, and leads on', async () => {
    const alice = await makePerson(test)
    const { path } = await order()
    const visitor = browser(test)
    const page = await visitor.get(signInTo(path))
    visitor.cookies.clear()
    const again = await visitor.submit(page, '/sign-in', {
      username: alice.username,
      password: alice.password,
    })
    expect(again.status).toBe(403)
    expect(again.body).toContain(`value="${alice.username}"`)
    expect(again.body).not.toContain(alice.password)
    expect(textOf(again.body)).toContain(t.signIn.expired)
    const { username, password } = alice
    expect(await visitor.submit(again, '/sign-in', { username, password })).toMatchObject({ location: path })
  })

  it('of an order leads back to the order, and says that nothing was taken', async () => {
    const alice = await makePerson(test, { points: 500n })
    const { path } = await order()
    const client = await alice.signIn()
    const page = await client.get(path)
    const stale = await client.submit(page, path, { form_token: STALE_TOKEN })
    expect(stale.status).toBe(403)
    expect(stale.body).toContain(`<a class="inset row keep" href="${path}">`)
    expect(textOf(stale.body)).toContain(t.errors.orderWaits)
    expect(textOf(stale.body)).toContain(t.errors.backToOrder)
    client.cookies.delete('tessera_session')
    const over = await client.submit(page, path)
    expect(over.status).toBe(403)
    expect(over.body).toContain(`href="${path}"`)
  })

  it.each([
    ['/account/profile', '/account/profile'],
    ['/account/sessions/end', '/account/sessions'],
    ['/payment/applications', '/payment/applications'],
    ['//account//sessions/end/', '/account/sessions'],
    ['/payment/pay/txn_000000000000000000000000/tell', '/payment/pay/txn_000000000000000000000000'],
  ])('of %s leads to %s', async (action, page) => {
    const client = await (await makePerson(test)).signIn()
    const answer = await client.post(action, {})
    expect(answer.status).toBe(403)
    expect(answer.body).toContain(`<a class="button primary" href="${page}">`)
  })

  it('of consent leads back to the request', async () => {
    const client = await (await makePerson(test)).signIn()
    const party = await makeParty(test)
    const page = await client.get(authorizationUrl(party))
    const answer = await client.submit(page, '/oauth2/consent', {
      decision: 'allow',
      form_token: STALE_TOKEN,
    })
    expect(answer.status).toBe(403)
    const [, back] = /<a class="button primary[^"]*" href="([^"]*)">/.exec(answer.body)!
    const again = await client.get(back!.replaceAll('&amp;', '&'))
    expect(again.body).toContain(t.identity.consent.title('Reading Club'))
  })

  it('of the second factor starts over on the way to the same place', async () => {
    const { path } = await order()
    const old = `/sign-in/second-factor?return_to=${encodeURIComponent(path)}`
    expect(await browser(test).get(old)).toMatchObject({ status: 303, location: signInTo(path) })
  })
})

describe('a refused page', () => {
  it('says who is signed in, and offers to switch', async () => {
    const bob = await makePerson(test, { username: 'bob' })
    const page = await (await bob.signIn()).get('/admin/settings')
    expect(page.status).toBe(403)
    expect(page.body).toContain(t.errors.signedInAs(bob.username))
    expect(page.body).toContain(`href="${signInTo('/admin/settings')}"`)
  })

  it('leads nowhere else, whatever the address', async () => {
    const client = await (await makePerson(test)).signIn()
    for (const url of ['//evil.example/account/sessions/end', '/\\evil.example', '//evil.example']) {
      const { body } = await test.app.inject({
        method: 'POST',
        url,
        headers: { accept: HTML, cookie: [...client.cookies].map(([n, v]) => `${n}=${v}`).join('; ') },
      })
      expect(body).not.toMatch(/href="\/\/|href="\/\\/)
    }
  })
})
