/**
 * The life of a payment application on the pages: a member applies, and an administrator decides.
 * spec/payment-api 1.1 and 1.2.
 */
import { createHook } from 'node:async_hooks'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { isCallbackUrl } from '../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { merchantSign, post, settingsForm } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'
import { itCounts, statementsOf } from '../harness/statements.ts'

const test = await useTestApp()

const PATH = '/payment/applications'
const filled = { name: 'Tea House', description: 'Tea', callback_url: 'https://tea.example.org/paid' }
const rows = () => rowsOf(test, 'payment_apps')

describe('applying', () => {
  it('shows the credentials once, and no key in the list', async () => {
    const bob = await makePerson(test, { username: 'bob', trust_level: 1 })
    const client = await bob.signIn()
    const { status, body, location } = await client.submit(await client.get(PATH), PATH, filled)
    expect([status, body]).toEqual([303, ''])
    const created = await client.get(location!)
    expect(created.status).toBe(200)
    expect(created.headers['cache-control']).toBe('no-store')
    const token = /tk_[A-Za-z0-9]{40}/.exec(created.body)?.[0]
    const secretKey = />([0-9a-f]{64})</.exec(created.body)?.[1]
    expect(token).toBeDefined()
    expect(secretKey).toBeDefined()
    for (const secret of [token, secretKey]) expect(created.body).toContain(`data-copy="${secret}"`)
    expect(created.body).toContain(messages.en.paymentApps.made.live('Tea House'))
    expect(created.form('/docs/applications').return_to).toBe('/docs/merchant')
    const own = location!.replace('/new-secret', '')
    expect(await client.get(location!)).toMatchObject({ status: 303, location: `${own}/developers` })
    const card = await client.get(PATH)
    expect(card.body).not.toContain(token)
    expect(card.body).not.toContain(secretKey)
    expect(card.body).toMatch(/pay_[a-z0-9]{20}/)
    expect(card.body).not.toMatch(/>[A-Za-z0-9]{32}</)
    expect(card.body).toContain(messages.en.paymentApps.status.pending)
    // The form is folded below the list, until the button above opens it or it is refused.
    expect(card.body).toContain('<details class="panel" id="register">')
    const opened = await client.get(/href="([^"]+\?new)#register"/.exec(card.body)![1]!)
    expect(opened.body).toContain('id="register" open>')
    expect((await client.submit(opened, PATH, { ...filled, name: ' ' })).body).toContain(
      'id="register" open>',
    )
    const keys = await rowsOf(test, 'payment_app_keys')
    expect(keys.map((key) => key.kind).sort()).toEqual(['merchant_key', 'token'])
    for (const key of keys) expect(key.value_encrypted.toString('latin1')).not.toContain(token!.slice(3))
  })

  it('without a callback address leads to its links, and buyers return to their payments', async () => {
    const client = await (await makePerson(test, { trust_level: 1 })).signIn()
    const applied = await client.submit(await client.get(PATH), PATH, { ...filled, callback_url: '' })
    const { payment_id, callback_url, status } = (await rows()).at(-1)!
    expect(applied).toMatchObject({ status: 303, location: `${PATH}/${payment_id}/links` })
    expect([status, callback_url]).toEqual(['pending', `${test.deps.config.PUBLIC_URL}/account/payments`])
    expect((await client.get(applied.location!)).body).toContain(
      messages.en.paymentApps.made.forLinks(filled.name),
    )
  })

  it('to sell by links leads to the links, in test mode too', async () => {
    const seller = await makePerson(test, { trust_level: 1 })
    const browser = await seller.signIn()
    for (const book of [{ book: 'test' }, {}]) {
      // What was typed for another choice counts for nothing.
      const form = { ...filled, ...book, sells: 'links' }
      const { location } = await browser.submit(await browser.get(PATH), PATH, form)
      expect(location).toMatch(/^\/payment\/applications\/pay_\w+\/links$/)
    }
    const made = await rowsOf(test, 'payment_apps', { applicant_id: seller.id }, ['callback_url'])
    for (const { callback_url } of made) expect(callback_url).not.toBe(filled.callback_url)
  })

  it('needs trust level 1, on the page and in the verb', async () => {
    const newcomer = await makePerson(test, { trust_level: 0 })
    const client = await newcomer.signIn()
    const page = await client.get(PATH)
    expect(page.body).toContain(messages.en.paymentApps.needTrustLevel(1, 0))
    const before = await rows()
    const forced = await client.post(PATH, { ...page.form('/sign-out'), ...filled })
    expect(forced.status).toBe(403)
    expect(await rows()).toEqual(before)
  })

  it('refuses names and descriptions with control, invisible or reversing characters', async () => {
    const client = await (await makePerson(test)).signIn()
    const before = await rows()
    const texts = ['Tea\u0007House', 'Tea\u202eesuoH', 'Tea\u2066House', 'Tea\u00adHouse', '\u3164']
    for (const fields of texts.flatMap((text) => [{ name: text }, { description: text }])) {
      const answer = await client.submit(await client.get(PATH), PATH, { ...filled, ...fields })
      expect([fields, answer.status]).toEqual([fields, 400])
    }
    expect(await rows()).toEqual(before)
  })
})

describe('what one member may ask of others', () => {
  /** Counts the key pairs that this process starts to make during an act. */
  async function pairsMade(act: () => Promise<unknown>): Promise<number> {
    let pairs = 0
    const hook = createHook({
      init(_id, type) {
        if (type === 'KEYPAIRGENREQUEST') pairs += 1
      },
    }).enable()
    await act()
    hook.disable()
    return pairs
  }

  it('is five reviews at a time, also at once; no sixth key', async () => {
    const bob = await makePerson(test, { username: 'bob' })
    const client = await bob.signIn()
    const page = await client.get(PATH)
    const asked = await Promise.all(Array.from({ length: 8 }, () => client.submit(page, PATH, filled)))
    expect(asked.map(({ status }) => status).sort()).toEqual([303, 303, 303, 303, 303, 409, 409, 409])
    const own = test.db.selectFrom('payment_apps').where('applicant_id', '=', bob.id)
    expect(await own.select('id').execute()).toHaveLength(5)
    const full = await client.get(PATH)
    expect(full.body).toContain(messages.en.paymentApps.waiting(5))
    expect(full.body).toContain(messages.en.testMode.create)
    expect(full.body).not.toContain('<button class="primary">Apply</button>')
    const newcomer = await makePerson(test, { trust_level: 0 })
    const theirs = await newcomer.signIn()
    const form = await theirs.get(PATH)
    const refused = async () => {
      expect((await client.submit(page, PATH, filled)).status).toBe(409)
      expect((await theirs.submit(form, PATH, filled)).status).toBe(403)
    }
    expect(await pairsMade(refused)).toBe(0)
    // A corrected application after a rejection takes a place too.
    const admin = await makePerson(test, { is_admin: true })
    const { payment_id } = await own.select('payment_id').limit(1).executeTakeFirstOrThrow()
    const reject = { decision: 'reject', reason: 'Which tea?', reviewer_id: admin.id } as const
    await reviewPaymentApp(test.deps, { payment_id, ...reject })
    expect((await client.submit(page, PATH, filled)).status).toBe(303)
    const one = await client.get(`${PATH}/${payment_id}/settings`)
    const again = await client.submit(one, `${PATH}/${payment_id}/edit`, settingsForm())
    expect(again.status).toBe(409)
    expect(await own.where('status', '=', 'pending').select('id').execute()).toHaveLength(5)
  })

  it('is so many pairs of keys an hour, whatever they are for', async () => {
    const set = (value: string) => setSetting(test, 'limit_key_pairs', value)
    await set('2')
    const client = await (await makePerson(test)).signIn()
    const page = await client.get(PATH)
    const created = await client.submit(page, PATH, filled)
    const one = created.location!.replace('/new-secret', '')
    expect((await client.submit(page, PATH, { ...filled, book: 'test' })).status).toBe(303)
    // The page makes the platform key, which it shows.
    const keys = await client.get(`${one}/developers`)
    const refused = async () => {
      expect((await client.submit(page, PATH, filled)).status).toBe(429)
      expect((await client.submit(await client.get(`${one}/settings`), `${one}/test`)).status).toBe(429)
      expect((await client.submit(keys, `${one}/key-pair`)).status).toBe(429)
    }
    expect(await pairsMade(refused)).toBe(0)
    test.clock.advance(3_600_000)
    expect((await client.submit(page, PATH, filled)).status).toBe(303)
    await set('30')
    const form = await client.get(`${one}/settings`)
    expect((await client.submit(form, `${one}/test`)).status).toBe(303)
    const again = async () => expect((await client.submit(form, `${one}/test`)).status).toBe(409)
    expect(await pairsMade(again)).toBe(0)
  })

  it('fills its own places only: the queue is paged to its end', async () => {
    const many = await makePerson(test, { username: 'many' })
    await sql`
      insert into payment_apps (payment_id, applicant_id, name, description, callback_url)
      select 'pay_queue' || lpad(n::text, 15, '0'), ${many.id}, 'Queued ' || n, '', 'https://shop.example/cb'
      from generate_series(1, 60) as n
    `.execute(test.db)
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const pages: string[] = []
    for (let at: string | undefined = '/admin/reviews'; at !== undefined; ) {
      const { body }: { body: string } = await admin.get(at)
      pages.push(body)
      at = /href="(\/admin\/reviews\?after=\d+)"/.exec(body)?.[1]
    }
    expect(pages.length).toBeGreaterThan(1)
    const names = pages.flatMap((body) =>
      [...body.matchAll(/<bdi>(Queued \d+)<\/bdi>/g)].map(([, name]) => name),
    )
    expect(names).toEqual(Array.from({ length: 60 }, (_, i) => `Queued ${i + 1}`))
    expect(pages.at(-1)).toContain(messages.en.admin.first)
    // An invalid form of the second page is shown again, with its faults.
    const last = 'pay_queue000000000000060'
    const [, review] = new RegExp(`action="(/admin/reviews/${last}[^"]*)"`).exec(pages.at(-1)!)!
    const token = (await admin.get('/admin/reviews')).form('/sign-out')
    const bare = await admin.post(review!, { ...token, decision: 'reject', reason: '' })
    expect(bare.status).toBe(400)
    expect(bare.body).toMatch(new RegExp(`id="${last}-reason"[^>]*aria-invalid="true"`))
    // The other tests do not see these applications.
    await sql`delete from payment_apps where applicant_id = ${many.id}`.execute(test.db)
  })

  itCounts('takes as many statements as a list of one', async () => {
    const owner = await makePerson(test)
    const client = await owner.signIn()
    const page = await client.get(PATH)
    const statements = async () => {
      const [{ body }, texts] = await statementsOf(() => client.get(PATH))
      expect(body.match(/Tea House/g)?.length).toBeGreaterThan(0)
      return texts.filter((text) => text.includes('payment_app')).length
    }
    await client.submit(page, PATH, filled)
    const ofOne = await statements()
    for (let n = 0; n < 3; n += 1) await client.submit(page, PATH, filled)
    expect(await statements()).toBe(ofOne)
    expect(ofOne).toBeGreaterThan(0)
  })
})

it('the navigation of an application leads to the other ones of the member', async () => {
  const member = await makePerson(test, { username: 'several', trust_level: 2 })
  const browser = await member.signIn()
  for (const name of ['Tea House', 'Cake House'])
    await browser.submit(await browser.get(PATH), PATH, { ...filled, name, book: 'test' })
  const [tea, cake] = (await rowsOf(test, 'payment_apps', { applicant_id: member.id })).map(
    ({ payment_id }) => `${PATH}/${payment_id}`,
  )
  const switcher = async (at: string) => {
    const { body } = await browser.get(`${at}/orders`)
    return body.slice(
      body.indexOf('class="switcher"'),
      body.indexOf('<ul class="nav">', body.indexOf('</details>')),
    )
  }
  expect([...(await switcher(tea!)).matchAll(/href="(\/payment[^"]+)"/g)].map(([, href]) => href)).toEqual([
    cake,
  ])
  expect([...(await switcher(cake!)).matchAll(/href="(\/payment[^"]+)"/g)].map(([, href]) => href)).toEqual([
    tea,
  ])
})

describe('callback addresses', () => {
  it.each([
    ['https://shop.example.org/cb', true, true],
    ['https://shop.example.org:8443/a/b', true, true],
    ['http://127.0.0.1:4000/cb', true, false],
    ['http://localhost/cb', true, false],
    ['http://shop.example.org/cb', false, false],
    ['https://shop.example.org/cb?x=1', false, false],
    ['https://shop.example.org/cb?', false, false],
    ['https://shop.example.org/cb#', false, false],
    ['https://user@shop.example.org/cb', false, false],
    ['https://sh\\op.example.org/cb', false, false],
    ['javascript:alert(1)', false, false],
    ['https://shop.example.org/回调', false, false],
    ['https://商店.example/cb', false, false],
    ['https://shop.example.org/é', false, false],
    ['https://shop.example.org/a"b', false, false],
    ['https://shop.example.org/%zz', false, false],
    ['https://shop.example.org/%E5%9B%9E', true, true],
    ['https://xn--3ds443g.example/cb', true, true],
    ['/cb', false, false],
    ['', false, false],
  ])('%s: %s in development, %s in production', (url, inDevelopment, inProduction) => {
    expect(isCallbackUrl(url, false)).toBe(inDevelopment)
    expect(isCallbackUrl(url, true)).toBe(inProduction)
  })
})

describe('the review', () => {
  async function applied() {
    const bob = await makePerson(test, { username: 'bob' })
    const client = await bob.signIn()
    const { location } = await client.submit(await client.get(PATH), PATH, filled)
    const created = await client.get(location!)
    const payment_id = /pay_[a-z0-9]{20}/.exec(created.body)![0]
    const token = /tk_[A-Za-z0-9]{40}/.exec(created.body)![0]
    return { client, payment_id, token, review: `/admin/reviews/${payment_id}` }
  }
  const statusOf = async (payment_id: string) => (await rowOf(test, 'payment_apps', { payment_id })).status

  it('by an administrator makes the application usable', async () => {
    const { payment_id, token, review, client } = await applied()
    const order = { amount: '5', description: 'Tea', order_id: 'one' }
    const signed = { ...order, signature: merchantSign(token, order) }
    const path = `/payment/pay/${payment_id}/process`
    expect((await post(test, path, signed)).body).toMatchObject({ success: false, errors: [{ code: 1009 }] })
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const decided = await admin.submit(await admin.get('/admin/reviews'), review, { decision: 'approve' })
    expect(decided).toMatchObject({ status: 303, location: '/admin/reviews' })
    expect((await post(test, path, signed)).status).toBe(200)
    expect((await client.get(PATH)).body).toContain(messages.en.paymentApps.status.approved)
    const audit = await rowsOf(test, 'audit_log', { subject: payment_id })
    expect(audit.map(({ action }) => action)).toEqual(['payment_app.apply', 'payment_app.approve'])
  })

  it('rejects only with a reason, which the applicant reads', async () => {
    const { payment_id, review, client } = await applied()
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const page = await admin.get('/admin/reviews')
    const bare = await admin.submit(page, review, { decision: 'reject', reason: '  ' })
    expect(bare.status).toBe(400)
    expect(await statusOf(payment_id)).toBe('pending')
    await admin.submit(page, review, { decision: 'reject', reason: 'Say more about the goods' })
    expect(await statusOf(payment_id)).toBe('rejected')
    expect((await client.get(`${PATH}/${payment_id}`)).body).toContain('Say more about the goods')
    const late = await admin.submit(page, review, { decision: 'approve' })
    expect(late.status).toBe(409)
    expect(await statusOf(payment_id)).toBe('rejected')
  })

  it('takes a decision that exists, of an application that exists', async () => {
    const { payment_id, review } = await applied()
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const form = (await admin.get('/admin/reviews')).form(review)
    expect((await admin.post(review, { ...form, decision: 'perhaps' })).status).toBe(400)
    expect(
      (await admin.post('/admin/payment-applications/pay_none/review', { ...form, decision: 'approve' }))
        .status,
    ).toBe(404)
    expect(await statusOf(payment_id)).toBe('pending')
  })
})
