/**
 * Acts that require a recent sign-in: the page of the second factor, and payments above the set amount.
 * spec/accounts 3.2.
 */
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { stepAt, totpCode } from '../../src/accounts/security/totp.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Browser, type Page, startTestApp, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { makeOwnedApp, storedApp, TYPED } from '../identity/owned-app.ts'

const t = messages.en

const SECOND_FACTOR = '/account/second-factor'
const MINUTE_MS = 60_000

let count = 0

const test = await useTestApp()
const settings = { reauthenticate_above_points: '100', reauthenticate_minutes: '5' }
const rows = Object.entries(settings).map(([name, value]) => ({ name, value }))
await test.db.insertInto('site_settings').values(rows).execute()
const merchant = await makeMerchant(test)
const alice = await makePerson(test, { points: 5_000n })
afterEach(() => expectSoundBooks(test.db))

async function order(amount: string): Promise<string> {
  const { body } = await merchant.process({ amount, description: 'Stickers', order_id: `again-${++count}` })
  return new URL(String(body.payment_url)).pathname
}

/** Follows the page to the sign-in page, signs in there, and returns the answer after it. */
async function signInAgain(client: Browser, url: string, { username, password }: Person): Promise<Page> {
  const page = await client.get(url)
  expect(page.body).toContain(t.security.signInAgain.title)
  expect(page.body).toContain(`value="${username}"`)
  return client.submit(page, '/sign-in', { username, password })
}

const signInLink = (page: Page) =>
  /href="(\/sign-in\?return_to=[^"]+reason=again)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&')
const movements = async () => {
  const { rows } = await sql<{ n: bigint }>`select count(*) as n from journal`.execute(test.db)
  return rows[0]!.n
}

describe('paying above the set amount', () => {
  it('leads an old sign-in through the sign-in page, and then pays', async () => {
    const client = await alice.signIn()
    const path = await order('101')
    expect((await client.get(path)).body).toContain('Pay 101 points')
    test.clock.advance(5 * MINUTE_MS + 1)
    const before = await movements()
    const page = await client.get(path)
    expect(page.status).toBe(200)
    expect(page.body).toContain(t.security.signInAgain.toPay)
    expect(page.body).not.toContain('Pay 101 points')
    expect(() => page.form(path)).toThrow()

    const back = await signInAgain(client, signInLink(page)!, alice)
    expect(back).toMatchObject({ status: 303, location: path })
    expect(await movements()).toBe(before)
    const fresh = await client.get(path)
    const balance = await balanceOf(test.db, alice.id)
    expect((await client.submit(fresh, path)).status).toBe(303)
    expect(await balanceOf(test.db, alice.id)).toBe(balance - 101n)
  })

  it('confirms the member without asking for the name, and leads back without a change', async () => {
    const client = await alice.signIn()
    test.clock.advance(60 * MINUTE_MS)
    const { location } = await client.get('/account/second-factor')
    const page = await client.get(location!)
    const wrong = await client.submit(page, '/sign-in', { username: alice.username, password: 'wrong' })
    for (const { body } of [page, wrong]) {
      expect(body).not.toContain('id="username"')
      expect(body).toContain(`<strong class="grow">@${alice.username}</strong>`)
      expect(body).toContain(`href="/account/profile">${t.security.signInAgain.back}`)
    }
    const { username, password } = alice
    const elsewhere = { leave: '//evil.example', username, password: 'wrong' }
    for (const { body } of [
      await client.get('/sign-in?reason=again&leave=//evil.example'),
      await client.submit(page, '/sign-in', elsewhere),
    ])
      expect(body).toContain(`href="/">${t.security.signInAgain.back}`)
    expect((await client.submit(wrong, '/sign-in', { username, password })).location).toBe(
      '/account/second-factor',
    )
  })

  it('refuses the form of an old sign-in, and moves nothing', async () => {
    const client = await alice.signIn()
    const path = await order('101')
    const page = await client.get(path)
    test.clock.advance(5 * MINUTE_MS + 1)
    const before = await movements()
    const refused = await client.submit(page, path)
    expect(refused).toMatchObject({ status: 409, location: undefined })
    expect(refused.body).toContain(t.security.signInAgain.toPay)
    // A smaller amount in the form does not avoid the limit, because it is not the amount of the order.
    expect((await client.submit(page, path, { expected_amount: '100' })).status).toBe(409)
    expect(await movements()).toBe(before)
    expect((await signInAgain(client, signInLink(refused)!, alice)).location).toBe(path)
    const again = await client.get(path)
    expect((await client.submit(again, path)).status).toBe(303)
  })

  it('asks nobody at the amount itself, nor where the site sets none', async () => {
    const client = await alice.signIn()
    test.clock.advance(60 * MINUTE_MS)
    const path = await order('100')
    const page = await client.get(path)
    expect((await client.submit(page, path)).status).toBe(303)

    const open = await startTestApp()
    const [bob, shop] = [await makePerson(open, { points: 9_000n }), await makeMerchant(open)]
    const visitor = await bob.signIn()
    open.clock.advance(60 * MINUTE_MS)
    const { body } = await shop.process({ amount: '8000', description: 'A lot', order_id: 'large' })
    const large = new URL(String(body.payment_url)).pathname
    expect((await visitor.submit(await visitor.get(large), large)).status).toBe(303)
    await open.close()
  })
})

describe('the page of the second factor', () => {
  it('sends an old sign-in to sign in and back', async () => {
    const member = await makePerson(test)
    const client = await member.signIn()
    test.clock.advance(5 * MINUTE_MS)
    expect((await client.get(SECOND_FACTOR)).status).toBe(200)
    test.clock.advance(1)
    const bounced = await client.get(`${SECOND_FACTOR}?return_to=%2Fapps`)
    expect(bounced.status).toBe(303)
    const back = await signInAgain(client, bounced.location!, member)
    expect(back.location).toBe(`${SECOND_FACTOR}?return_to=%2Fapps`)
    expect((await client.get(back.location!)).status).toBe(200)
  })

  it('refuses its forms on an old sign-in, and changes nothing', async () => {
    const member = await makePerson(test)
    const client = await member.signIn()
    const page = await client.get(SECOND_FACTOR)
    const secret = /<code>([A-Z2-7 ]+)</.exec(page.body)![1]!.replaceAll(' ', '')
    test.clock.advance(5 * MINUTE_MS + 1)
    const code = totpCode(secret, stepAt(test.clock.now()))
    const refused = await client.submit(page, SECOND_FACTOR, { code })
    expect(refused.status).toBe(409)
    expect(refused.body).toContain(t.security.signInAgain.text(5))
    expect(signInLink(refused)).toContain('return_to=%2Faccount%2Fsecond-factor&')
    for (const path of ['/off', '/recovery-codes'])
      expect((await client.post(SECOND_FACTOR + path, page.form(SECOND_FACTOR))).status).toBe(409)
    const factors = await rowsOf(test, 'second_factors', { user_id: member.id })
    expect(factors).toEqual([])
  })

  it('wants the factor itself: a password or its change is not fresh', async () => {
    const member = await makePerson(test)
    const client = await member.signIn()
    const page = await client.get(SECOND_FACTOR)
    const secret = /<code>([A-Z2-7 ]+)</.exec(page.body)![1]!.replaceAll(' ', '')
    await client.submit(page, SECOND_FACTOR, { code: totpCode(secret, stepAt(test.clock.now())) })
    expect((await client.get(SECOND_FACTOR)).status).toBe(200)

    test.clock.advance(5 * MINUTE_MS + 1)
    const changed = await client.submit(await client.get('/account/password'), '/account/password', {
      current_password: member.password,
      new_password: 'another password',
    })
    expect(changed.status).toBe(303)
    const bounced = await client.get(SECOND_FACTOR)
    expect(bounced.status).toBe(303)
    const second = await signInAgain(client, bounced.location!, { ...member, password: 'another password' })
    expect(second.location).toBe(`/sign-in/second-factor?return_to=${encodeURIComponent(SECOND_FACTOR)}`)
    expect((await client.get(SECOND_FACTOR)).status).toBe(303)
    const stepPage = await client.get('/sign-in/second-factor')
    const code = totpCode(secret, stepAt(test.clock.now()))
    const back = await client.submit(stepPage, '/sign-in/second-factor', { code })
    expect(back.location).toBe(SECOND_FACTOR)
    expect((await client.get(SECOND_FACTOR)).status).toBe(200)
    // A sign-in before the factor was turned on does not count as recent.
    await setRows(test, 'sessions', { user_id: member.id }, { amr: ['pwd'] })
    expect((await client.get(SECOND_FACTOR)).status).toBe(303)
  })
})

describe('applications on an old sign-in', () => {
  /** Expects a refusal that leads to the sign-in page and back to `page`. */
  const expectRefused = (answer: Page, page: string) => {
    expect(answer.status).toBe(409)
    expect(answer.body).toContain(t.security.signInAgain.text(5))
    expect(signInLink(answer)).toContain(`return_to=${encodeURIComponent(page)}&`)
  }
  const rowOf = (id: bigint) =>
    test.db.selectFrom('payment_apps').where('id', '=', id).selectAll().executeTakeFirstOrThrow()

  it('edit a payment application’s description, but send buyers or points nowhere else', async () => {
    const client = await merchant.owner.signIn()
    const page = `/payment/applications/${merchant.payment_id}`
    const stored = {
      ...{ name: 'Mugs', description: '', callback_url: merchant.callbackUrl, homepage: '', logo_url: '' },
      ...{ notify_url: '', order_minutes: '', exchange_rate: '100', allowed_addresses: '' },
    }
    const settings = `${page}/settings`
    const form = { ...(await client.get(settings)).form(`${page}/edit`), ...stored }
    test.clock.advance(5 * MINUTE_MS + 1)
    const before = await rowOf(merchant.id)
    const sensitive = [
      { callback_url: 'https://elsewhere.example/' },
      { notify_url: 'https://elsewhere.example/' },
      { exchange_rate: '7' },
      { allowed_addresses: '192.0.2.1' },
    ]
    for (const change of sensitive)
      expectRefused(await client.post(`${page}/edit`, { ...form, ...change }), settings)
    expect(await rowOf(merchant.id)).toEqual(before)
    expect((await client.post(`${page}/edit`, form)).status).toBe(303)
    expect((await rowOf(merchant.id)).name).toBe('Mugs')
  })

  it('describe an OAuth application anew, and send its codes nowhere else', async () => {
    const { client, party, settings: page, access } = await makeOwnedApp(test)
    const form = { ...(await client.get(page)).form(page), ...TYPED }
    const groups = (await client.get(access)).form(access)
    test.clock.advance(5 * MINUTE_MS + 1)
    const before = await storedApp(test, party)
    expectRefused(await client.post(page, { ...form, redirect_uris: 'https://evil.example/cb' }), page)
    expectRefused(await client.post(access, { ...groups, allow_groups: 'staff' }), access)
    expect(await storedApp(test, party)).toEqual(before)
    expect((await client.post(page, { ...form, description: 'Another' })).status).toBe(303)
  })

  it('are not taken over, whose points they then move', async () => {
    const seller = await makeMerchant(test)
    const heir = await makePerson(test, { trust_level: 1 })
    const [owner, next] = [await seller.owner.signIn(), await heir.signIn()]
    const page = `/payment/applications/${seller.payment_id}/handover`
    const named = { username: heir.username, confirmed: 'yes' }
    await owner.submit(await owner.get(page), `${page}/offer`, named)
    const offer = await next.get(page)
    test.clock.advance(5 * MINUTE_MS + 1)
    expectRefused(await next.submit(offer, `${page}/accept`), page)
    expect((await rowOf(seller.id)).applicant_id).toBe(seller.owner.id)
  })

  it('are neither reviewed nor given terms', async () => {
    const shop = await makeMerchant(test, { approved: false })
    const client = await (await makePerson(test, { is_admin: true })).signIn()
    const page = `/admin/payment-applications/${shop.payment_id}`
    const form = (await client.get(page)).form(`${page}/terms`)
    test.clock.advance(5 * MINUTE_MS + 1)
    const before = await rowOf(shop.id)
    expectRefused(await client.post(`${page}/review`, { ...form, decision: 'approve' }), page)
    expectRefused(await client.post(`${page}/terms`, form), page)
    expect(await rowOf(shop.id)).toEqual(before)
  })
})

describe('a form that needed a fresh sign-in', () => {
  const HANDOVER = () => `/payment/applications/${merchant.payment_id}/handover`
  const offered = () => `${HANDOVER()}/offer`
  const typed = 'somebody-to-be'
  const offers = () =>
    test.db.selectFrom('payment_app_offers').where('app_id', '=', merchant.id).selectAll().execute()
  const keptForms = () => test.db.selectFrom('kept_forms').selectAll().execute()

  /** Sends the form with an old sign-in. Returns the browser and the link to the sign-in page. */
  async function sendStale() {
    await test.db.deleteFrom('kept_forms').execute()
    const client = await merchant.owner.signIn()
    const page = await client.get(HANDOVER())
    test.clock.advance(5 * MINUTE_MS + 1)
    const asked = await client.submit(page, offered(), { username: typed, password: 'a secret' })
    expect(asked.status).toBe(409)
    expect(asked.body).toContain(t.errors.late.kept)
    return { client, link: signInLink(asked)! }
  }

  it('is on its page again after the sign-in, once, and nothing was done', async () => {
    const { client, link } = await sendStale()
    const back = await signInAgain(client, link, merchant.owner)
    expect(back.location).toBe(HANDOVER())
    const page = await client.get(back.location!)
    expect(page.body).toContain(t.forms.kept)
    expect(page.body).toContain(`value="${typed}"`)
    expect(await offers()).toEqual([])
    expect(await keptForms()).toEqual([])
    const reloaded = await client.get(HANDOVER())
    expect(reloaded.body).not.toContain(typed)
    expect(reloaded.body).not.toContain(t.forms.kept)
  })

  it('is kept encrypted, and without passwords', async () => {
    await sendStale()
    const [{ form } = { form: Buffer.alloc(0) }] = await keptForms()
    expect(form.toString('latin1')).not.toContain(typed)
    const text = test.deps.secrets.decrypt('kept form', form)
    expect(JSON.parse(text)).toEqual({ path: offered(), typed: { username: typed } })
  })

  it('is shown to no other member, on no other page, and not after 15 minutes', async () => {
    const { client, link } = await sendStale()
    expect((await client.get('/payment/applications')).body).not.toContain(t.forms.kept)
    const other = await alice.signIn()
    other.cookies.set('kept_form', client.cookies.get('kept_form')!)
    await other.get(HANDOVER())
    expect(await keptForms()).toHaveLength(1)
    test.clock.advance(15 * MINUTE_MS)
    await signInAgain(client, link, merchant.owner)
    expect((await client.get(HANDOVER())).body).not.toContain(typed)
  })

  it('is not taken from another site', async () => {
    const client = await merchant.owner.signIn()
    await test.db.deleteFrom('kept_forms').execute()
    const { form_token = '' } = (await client.get(HANDOVER())).form('/language')
    const fields = { language: 'en', kept_path: offered(), 'kept.username': typed, return_to: HANDOVER() }
    const answers = [
      await client.post('/language', fields),
      await client.post('/language', { ...fields, form_token }, { 'sec-fetch-site': 'cross-site' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
    expect(await keptForms()).toEqual([])
  })
})
