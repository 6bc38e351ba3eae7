/**
 * Acts of an owner on a payment application after its creation, and of an administrator on one in use.
 * spec/payment-api 1.4 and 3.3.
 */
import { describe, expect, it } from 'vitest'
import { rotateToken } from '../../src/payment/apps/key-changes.ts'
import { currentKey } from '../../src/payment/signing/keys.ts'
import { isAddressRange, isAllowedAddress } from '../../src/payment/wire-fields/addresses.ts'
import { makePerson } from '../harness/cast.ts'
import { sendSurely } from '../harness/confirming.ts'
import { type Browser, useTestApp } from '../harness/harness.ts'
import {
  decideReview,
  type Merchant,
  makeMerchant,
  merchantSign,
  post,
  settingsForm,
} from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'

const test = await useTestApp()

let count = 0
const order = () => ({ amount: '10', description: 'Tea', order_id: `own-${++count}` })
const initiate = (merchant: Merchant, token: string, fields = order()) =>
  post(test, `/payment/pay/${merchant.payment_id}/process`, {
    ...fields,
    signature: merchantSign(token, fields),
  })

async function withShop(run: (merchant: Merchant, owner: Browser, page: string) => Promise<void>) {
  const merchant = await makeMerchant(test)
  await run(merchant, await merchant.owner.signIn(), `/payment/applications/${merchant.payment_id}`)
}
const edited = settingsForm({
  ...{ name: 'New name', description: 'Coffee', callback_url: 'https://new.example/cb', exchange_rate: '1' },
  ...{ homepage: 'https://new.example/', logo_url: 'https://new.example/logo.png?v=2' },
})
const row = (payment_id: string) => rowOf(test, 'payment_apps', { payment_id })
const audits = async (payment_id: string) =>
  (await rowsOf(test, 'audit_log', { subject: payment_id })).map(({ action }) => action)

/** Sends a form of the page of keys, and then the form of the page that asks first. */
const confirm = async (owner: Browser, page: string, act: string, fields: Record<string, string> = {}) =>
  (await sendSurely(owner, await owner.get(`${page}/developers`), `${page}/${act}`, fields)).answer

describe('editing', () => {
  it('changes what an owner may change', () =>
    withShop(async (merchant, owner, page) => {
      const before = await owner.get(`${page}/settings`)
      expect(before.body).toContain('name="exchange_rate" value="100"')
      expect(await owner.submit(before, `${page}/edit`, edited)).toMatchObject({
        status: 303,
        location: `${page}/settings`,
      })
      expect(await row(merchant.payment_id)).toMatchObject({
        name: 'New name',
        exchange_rate: '1.000000',
        homepage: 'https://new.example/',
        logo_url: 'https://new.example/logo.png?v=2',
        status: 'approved',
      })
      const after = await owner.get(`${page}/settings`)
      expect(after.body).toContain('name="exchange_rate" value="1"')
      expect(after.body).toContain(messages.en.paymentApps.own.savedRate('100', '1'))
      expect(await audits(merchant.payment_id)).toEqual([
        'payment_app.apply',
        'payment_app.approve',
        'payment_app.edit',
        'payment_app.change_unreviewed',
      ])
    }))

  it.each([
    ['exchange_rate', '0'],
    ['exchange_rate', '0.000000'],
    ['exchange_rate', '-1'],
    ['exchange_rate', '1e3'],
    ['exchange_rate', '1.1234567'],
    ['exchange_rate', '1234567'],
    ['homepage', 'javascript:alert(1)'],
    ['logo_url', 'http://new.example/logo.png'],
    ['logo_url', 'https://new.example/ "onload="'],
    ['callback_url', 'https://x.example/?amount=1'],
    ['allowed_addresses', 'example.org'],
    ['allowed_addresses', '10.0.0.0/33'],
    ['name', ''],
    ['name', 'x'.repeat(61)],
    ['description', 'y'.repeat(501)],
  ])('refuses %s %j, keeps what was typed, and changes nothing', (field, value) =>
    withShop(async (merchant, owner, page) => {
      const before = await row(merchant.payment_id)
      const fields = { ...edited, [field]: value }
      const answer = await owner.submit(await owner.get(`${page}/settings`), `${page}/edit`, fields)
      expect(answer.status).toBe(400)
      expect(answer.body).toContain(`id="${field}-problem"`)
      expect(await row(merchant.payment_id)).toEqual(before)
    }),
  )

  it.each(
    Object.entries({
      name: 'Official Forum Donations',
      description: 'Gifts for all',
      callback_url: 'https://other.example.org/back',
      homepage: 'https://other.example.org/',
      logo_url: 'https://other.example.org/logo.png',
    }),
  )('of what was approved removes the mark until approved again: %s', (field, value) =>
    withShop(async (merchant, owner, page) => {
      const payPage = async () => {
        const { body } = await merchant.process(order())
        const path = new URL(String(body.payment_url)).pathname
        return (await (await makePerson(test)).signIn()).get(path)
      }
      const { name, description, callback_url } = await row(merchant.payment_id)
      const facts = { ...edited, name, description, callback_url, homepage: '', logo_url: '' }
      const edit = async (fields: Record<string, string>) => {
        const { status } = await owner.submit(await owner.get(`${page}/settings`), `${page}/edit`, {
          ...facts,
          ...fields,
        })
        expect(status).toBe(303)
      }
      const { body } = await owner.get(`${page}/settings`)
      expect(body).toContain(messages.en.paymentApps.own.losesMark)
      await edit({ exchange_rate: '10' })
      expect((await payPage()).body).toContain(messages.en.common.reviewed)

      await edit({ [field]: value })
      expect((await owner.get(`${page}/settings`)).body).toContain(messages.en.paymentApps.own.unreviewed)
      const shown = await payPage()
      expect(shown.body).toContain(messages.en.common.changedSince)
      expect(shown.body).not.toContain(messages.en.common.reviewed)

      const admin = await (await makePerson(test, { is_admin: true })).signIn()
      const review = `/admin/reviews/${merchant.payment_id}`
      const seen = await admin.get('/admin/reviews')
      expect(seen.body).toContain(value)
      test.clock.advance(1)
      await edit({ [field]: value.replace('o', '0') })
      expect((await admin.submit(seen, review, { decision: 'approve' })).status).toBe(409)
      expect((await payPage()).body).not.toContain(messages.en.common.reviewed)
      expect(await decideReview(admin, merchant, { decision: 'approve' })).toBe(303)
      expect((await payPage()).body).toContain(messages.en.common.reviewed)
      const again = { ...(await admin.get('/admin/reviews')).form('/language'), decision: 'approve' }
      expect((await admin.post(review, again)).status).toBe(409)
      const acts = ['edit', 'edit', 'change_unreviewed', 'edit', 'change_unreviewed', 'approve']
      expect((await audits(merchant.payment_id)).slice(2)).toEqual(acts.map((act) => `payment_app.${act}`))
    }),
  )

  it('of a waiting application is approved only as seen', async () => {
    const merchant = await makeMerchant(test, { approved: false })
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    const shown = `/admin/payment-applications/${merchant.payment_id}`
    const reviews = [`/admin/reviews/${merchant.payment_id}`, `${shown}/review`]
    const owner = await merchant.owner.signIn()
    const page = `/payment/applications/${merchant.payment_id}`
    const edit = async (name: string) => {
      const answer = await owner.submit(await owner.get(`${page}/settings`), `${page}/edit`, {
        ...edited,
        name,
      })
      expect(answer.status).toBe(303)
    }
    const pages = async () => [await admin.get('/admin/reviews'), await admin.get(shown)]
    const approve = async (seen: Awaited<ReturnType<typeof pages>>) => {
      const answers = []
      for (const [n, each] of seen.entries())
        answers.push((await admin.submit(each, reviews[n % 2]!, { decision: 'approve' })).status)
      return answers
    }
    const first = await pages()
    await edit('Official Bank')
    expect(await approve(first)).toEqual([409, 409])
    const second = await pages()
    // The check also works within one millisecond.
    await edit('Official Forum Bank')
    expect(await approve(second)).toEqual([409, 409])
    expect(await row(merchant.payment_id)).toMatchObject({ status: 'pending', name: 'Official Forum Bank' })

    const third = await pages()
    for (const { body } of third) {
      const own = body.split('<article').find((part) => part.includes(shown))
      expect(own).toContain('Official Forum Bank')
      expect(own).not.toContain('the owner has changed it since')
      expect(own).toContain('value="reject"')
    }
    expect((await owner.get(`${page}/settings`)).body).not.toContain(messages.en.paymentApps.own.unreviewed)
    const rejected = await admin.submit(first[0]!, reviews[0]!, { decision: 'reject', reason: 'Say more' })
    expect(rejected.status).toBe(303)
    await edit('Official Donations')
    expect(await approve(third)).toEqual([409, 409])
    const fourth = await pages()
    expect(await approve(fourth)).toEqual([303, 409])
    expect(await row(merchant.payment_id)).toMatchObject({ status: 'approved', unreviewed_change_at: null })

    await edit('Official Bank once more')
    expect(await approve([...first, ...fourth])).toEqual([409, 409, 409, 409])
    expect((await row(merchant.payment_id)).unreviewed_change_at).not.toBeNull()
  })

  it('of a rejected application applies again', async () => {
    const merchant = await makeMerchant(test, { approved: false })
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    await decideReview(admin, merchant, { decision: 'reject', reason: 'Say more' })
    const owner = await merchant.owner.signIn()
    const page = `/payment/applications/${merchant.payment_id}`
    expect((await owner.get(`${page}/settings`)).body).toContain(messages.en.paymentApps.own.reapply)
    await owner.submit(await owner.get(`${page}/settings`), `${page}/edit`, edited)
    expect(await row(merchant.payment_id)).toMatchObject({ status: 'pending', review_reason: null })
    await decideReview(admin, merchant, { decision: 'approve' })
    expect((await merchant.process(order())).status).toBe(200)
  })
})

describe('tokens', () => {
  it('rotate with an overlap, in which callbacks follow the requests’ key', () =>
    withShop(async (merchant, owner, page) => {
      const buyer = await (await makePerson(test, { points: 100n })).signIn()
      const pay = async (token: string) => {
        const { body } = await initiate(merchant, token)
        const path = new URL(String(body.payment_url)).pathname
        const paid = await buyer.submit(await buyer.get(path), path)
        return Object.fromEntries(new URL(paid.location!).searchParams)
      }
      const isSignedBy = (fields: Record<string, string>, token: string) =>
        merchantSign(token, fields) === fields.signature

      const { location } = await confirm(owner, page, 'rotate', { overlap_hours: '24' })
      const rotated = await owner.get(location!)
      expect(rotated.body).toContain(messages.en.developers.rotated('').split('. ')[0])
      const token = /tk_[A-Za-z0-9]{40}/.exec(rotated.body)![0]
      expect(rotated.body).toContain(`data-copy="${token}"`)
      for (const shown of [rotated, await owner.get(`${page}/developers`)]) {
        expect(shown.body).toContain(messages.en.paymentApps.which.secretKey)
        expect(shown.body).toContain(messages.en.paymentApps.which.token)
      }
      expect(token).not.toBe(merchant.token)
      for (const place of ['', '/developers', '/settings'])
        expect((await owner.get(`${page}${place}`)).body).not.toContain(token)
      expect(isSignedBy(await pay(merchant.token), merchant.token)).toBe(true)
      expect(isSignedBy(await pay(token), token)).toBe(true)
      expect(isSignedBy(await pay(merchant.token), merchant.token)).toBe(true)
      test.clock.advance(24 * 3_600_000)
      expect((await initiate(merchant, merchant.token)).status).toBe(401)
      expect((await initiate(merchant, token)).status).toBe(200)
    }))

  it('end at once without an overlap, or when the owner ends it', () =>
    withShop(async (merchant, owner, page) => {
      const rotate = async (overlap_hours: string) => {
        const { location } = await confirm(owner, page, 'rotate', { overlap_hours })
        const answer = await owner.get(location!)
        return /tk_[A-Za-z0-9]{40}/.exec(answer.body)![0]
      }
      const second = await rotate('0')
      expect((await initiate(merchant, merchant.token)).status).toBe(401)
      const third = await rotate('24')
      expect((await initiate(merchant, second)).status).toBe(200)
      expect(await confirm(owner, page, 'end-overlap')).toMatchObject({ status: 303 })
      expect((await initiate(merchant, second)).status).toBe(401)
      expect((await initiate(merchant, third)).status).toBe(200)
      const form = (await owner.get(`${page}/developers`)).form(`${page}/rotate`)
      const again = await owner.post(`${page}/end-overlap`, { ...form, confirmed: 'yes' })
      expect(again.status).toBe(409)
      for (const overlap_hours of ['-1', '721', 'x', '']) {
        const refused = await owner.post(`${page}/rotate`, { ...form, overlap_hours })
        expect(refused.status).toBe(400)
      }
      expect((await initiate(merchant, third)).status).toBe(200)
    }))

  it('rotated ten times at once leave one current and one earlier', () =>
    withShop(async (merchant) => {
      const actor = { user_id: merchant.owner.id, ip: '127.0.0.1' }
      const rotated = await Promise.all(
        Array.from({ length: 10 }, () => rotateToken(test.deps, merchant.payment_id, 24, actor)),
      )
      const answers = await Promise.all(rotated.map(({ token }) => initiate(merchant, token)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    }))

  it('and Merchant KEY need a fresh sign-in; the KEY changes at once', () =>
    withShop(async (merchant, owner, page) => {
      const before = await currentKey(test.deps, merchant.id, 'merchant_key')
      expect(before).toBe(merchant.merchant_key)
      const asked = await owner.submit(await owner.get(`${page}/developers`), `${page}/reset-key`)
      expect(asked.status).toBe(200)
      expect(asked.body).toContain(messages.en.developers.ask.resetNote)
      expect(await currentKey(test.deps, merchant.id, 'merchant_key')).toBe(before)
      expect(await confirm(owner, page, 'reset-key')).toMatchObject({ location: `${page}/new-secret` })
      const after = await currentKey(test.deps, merchant.id, 'merchant_key')
      expect(after).toMatch(/^[A-Za-z0-9]{32}$/)
      expect(after).not.toBe(before)
      const card = `${page}/developers`
      const shown = (await owner.get(`${page}/new-secret`)).body
      expect(shown).toContain(messages.en.developers.done.reset(after.slice(-4), '0', 0))
      expect(shown).toContain(`data-copy="${after}"`)
      expect(await owner.get(`${page}/new-secret`)).toMatchObject({ status: 303, location: card })
      expect((await owner.get(card)).body).not.toContain(after)
      expect((await owner.get(`${card}?show=key`)).body).toContain(after)
      test.clock.advance(11 * 60_000)
      expect(await owner.get(`${card}?show=key`)).toMatchObject({
        status: 303,
        location: expect.stringContaining(encodeURIComponent(`${card}?show=key`)),
      })
      const stale = await owner.submit(await owner.get(card), `${page}/reset-key`)
      expect(stale.status).toBe(409)
      expect(stale.body).toContain(`/sign-in?return_to=${encodeURIComponent(card)}&amp;`)
      expect(stale.body).toContain(`href="${card}"`)
      expect(await currentKey(test.deps, merchant.id, 'merchant_key')).toBe(after)
    }))
})

describe('the address list', () => {
  it('admits the addresses and ranges on it, after the signature was checked', () =>
    withShop(async (merchant, owner, page) => {
      const list = async (allowed_addresses: string) =>
        owner.submit(await owner.get(`${page}/settings`), `${page}/edit`, {
          ...edited,
          callback_url: merchant.callbackUrl,
          allowed_addresses,
        })
      await list('203.0.113.0/24\n2001:db8::/32')
      const refused = await initiate(merchant, merchant.token)
      expect(refused).toMatchObject({
        status: 400,
        body: { errors: [{ code: 1003, detail: expect.stringContaining('127.0.0.1') }] },
      })
      expect((await initiate(merchant, 'tk_wrong')).status).toBe(401)
      await list('203.0.113.0/24, 127.0.0.1')
      expect((await initiate(merchant, merchant.token)).status).toBe(200)
    }))

  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['11.1.2.3', ['10.0.0.0/8'], false],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['2001:db8::5', ['2001:db8::/32'], true],
    ['2001:db9::5', ['2001:db8::/32'], false],
    ['10.1.2.3', ['10.1.2.3'], true],
    ['10.1.2.3', [], true],
    ['10.1.2.3', ['2001:db8::/32'], false],
  ])('%s in %j: %s', (address, ranges, expected) => {
    expect(isAllowedAddress(address, ranges)).toBe(expected)
  })

  it('knows an address from what is none', () => {
    for (const good of ['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32'])
      expect(isAddressRange(good)).toBe(true)
    const bad = '10.0.0 10.0.0.0/ 10.0.0.0/33 ::1/129 10.0.0.0/8/8 fe80::1%eth0 localhost'.split(' ')
    for (const each of ['', ...bad]) expect(isAddressRange(each)).toBe(false)
  })
})

describe('an administrator', () => {
  it('suspends with a reason and reinstates', () =>
    withShop(async (merchant, owner, page) => {
      const admin = await (await makePerson(test, { is_admin: true })).signIn()
      const review = `/admin/payment-applications/${merchant.payment_id}/review`
      const decide = async (decision: string, reason: string) =>
        admin.post(review, {
          ...(await admin.get('/admin/reviews')).form('/language'),
          ...{ decision, reason, confirmed: 'yes' },
        })
      expect((await decide('suspend', '')).status).toBe(400)
      expect((await row(merchant.payment_id)).status).toBe('approved')
      expect((await decide('suspend', 'Complaints')).status).toBe(303)
      expect((await merchant.process(order())).body).toMatchObject({ errors: [{ code: 1009 }] })
      expect((await owner.get(page)).body).toContain('Complaints')
      const form = (await owner.get(`${page}/developers`)).form(`${page}/rotate`)
      expect((await owner.post(`${page}/edit`, { ...form, ...edited })).status).toBe(409)
      expect((await decide('reinstate', '')).status).toBe(303)
      expect((await merchant.process(order())).status).toBe(200)
      expect(await audits(merchant.payment_id)).toEqual([
        'payment_app.apply',
        'payment_app.approve',
        'payment_app.suspend',
        'payment_app.reinstate',
      ])
    }))
})
