/** The mandate page: who sees what, what a form allows, and the signed return to the shop. spec/mandates 2.2. */
import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { revokeOwn } from '../../../src/payment/mandates/acts.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import type { OfferedTerms } from '../../../src/payment/mandates/offers.ts'
import { secretKeyOf } from '../../../src/payment/signing/hmac.ts'
import { changePerson, makePerson, type Person, setFrozen } from '../../harness/cast.ts'
import { type Browser, browser, setSetting, useTestApp } from '../../harness/harness.ts'
import {
  decideRight,
  IP,
  makeMandate,
  makeMandateMerchant,
  offer,
  switchMandates,
} from '../../harness/mandates.ts'
import { textOf } from '../../harness/markup.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { expectPage } from '../../harness/pages.ts'
import { setRows } from '../../harness/rows.ts'
import { formsIn } from '../../web/form-markup.ts'

const FIXED = { caps: { amount: 300n } } satisfies Partial<OfferedTerms>
const HOUR_MS = 3_600_000

let alice: Person
let client: Browser

const test = await useTestApp()
await switchMandates(test)
const merchant = await makeMandateMerchant(test)
beforeEach(async () => {
  alice = await makePerson(test, { points: 5_000n })
  client = await alice.signIn()
})

const { mandateOffer: t, mandates } = messages.en
const pathOf = (mandate_id: string) => `/payment/mandate/${mandate_id}`
const offered = async (over: Partial<OfferedTerms> = {}) => pathOf(await offer(test, merchant, over))
const idOf = (path: string) => path.split('/').at(-1)!
const stored = (path: string) => findMandate(test.db, { mandate_id: idOf(path) }, test.clock.now())
const setApp = (values: object) => setRows(test, 'payment_apps', { id: merchant.id }, values)
const allow = (path: string, fields: Record<string, string> = {}, by = client) =>
  by.get(path).then((page) => by.post(path, { ...filledIn(page, path), ...fields }))

/** What the form of the page sends as it is. */
const filledIn = ({ body }: { body: string }, path: string) =>
  formsIn(body).find((form) => form.isOf(path))!.values

/** Checks the signature of a callback, and returns its other parameters. */
function verified(location: string | undefined): Record<string, string> {
  const { origin, pathname, searchParams } = new URL(location!)
  expect(`${origin}${pathname}`).toBe(merchant.callbackUrl)
  const { signature, ...fields } = Object.fromEntries(searchParams)
  const text = Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&')
  expect(signature).toBe(createHmac('sha256', secretKeyOf(merchant.token)).update(text).digest('hex'))
  return fields
}

describe('an offer', () => {
  it('names shop and terms on the sign-in page before it', async () => {
    const path = await offered({ purpose: 'Daily tea' })
    const visitor = browser(test)
    const { status, location } = await visitor.get(path)
    expect([status, location]).toEqual([303, `/sign-in?return_to=${encodeURIComponent(path)}`])
    const words = textOf((await visitor.get(location!)).body)
    expect(words).toContain(
      `Shop of ${merchant.owner.username} Daily tea · ${mandates.upToCaps('100', '250', 250n, 'month', false)}`,
    )
    const own = await offered({ purpose: 'Daily tea', user_id: alice.id })
    expect(textOf((await visitor.get(`/sign-in?return_to=${own}`)).body)).not.toContain('Daily tea')
  })

  it('shows its terms, and what they come to', async () => {
    const path = await offered({ purpose: 'Daily <tea>', with_token: true })
    const { body, status } = await client.get(path)
    expect(status).toBe(200)
    const words = textOf(body)
    expect(words).toContain(
      `Shop of ${merchant.owner.username} ${messages.en.common.reviewed} @${merchant.owner.username} · `,
    )
    expect(words).toContain(
      `250${mandates.unitUpTo(250n, 'month', false)} ${t.first('100', 100n, false, undefined)} ${mandates.each('100', 100n, false)} Daily <tea>`,
    )
    expect(words).toContain(`${t.days} ${t.until('31 Dec 2026')} ${t.most} 3,000 points ${t.balance} 5,000`)
    expect(words).toContain(`${t.month} ${t.ofAllowed('250', '10,000')}`)
    expect(words).toContain(`${t.as} @${alice.username}`)
    expect(words).toContain(t.withToken)
    const chinese = await client.get(path, { 'accept-language': 'zh-CN' })
    expect(textOf(chinese.body)).toContain(messages['zh-CN'].mandates.each('100', 100n, false))
    const fixed = await client.get(await offered({ ...FIXED, period: 'week', ends_on: '2026-01-20' }))
    expect(textOf(fixed.body)).toContain(mandates.fixedCaps('300', 300n, 'week', false))
    expect(textOf(fixed.body)).toContain(`${t.most} 900 points in 3 charges`)
    const later = await client.get(await offered({ ...FIXED, starts_on: '2026-02-01' }))
    expect(textOf(later.body)).toContain(t.first('300', 300n, true, '1 Feb 2026'))
    expect(textOf(later.body)).toContain(`${t.days} 1 Feb 2026 – 31 Jan 2027`)
    expect(fixed.body).not.toContain('name="charge_max"')
  })

  it('leads back with a signed callback once it is allowed, and again', async () => {
    const path = await offered({ reference: 'club 茶?'.replaceAll(' ', '-') })
    const { status, location } = await allow(path)
    expect(status).toBe(303)
    const told = {
      decided_at: '2026-01-01T00:00:00Z',
      mandate_id: idOf(path),
      mandate_status: 'active',
      reference: 'club-茶?',
    }
    expect(verified(location)).toEqual(told)
    expect(await stored(path)).toMatchObject({ status: 'active', user_id: alice.id, charge_max: 100n })
    expect(verified((await client.get(`${path}/return`)).location)).toEqual(told)
    const again = await client.get(path)
    expect(textOf(again.body)).toContain(t.states.accepted.title)
    expect(again.body).toContain(`href="${path}/return"`)
    await revokeOwn(test.deps, idOf(path), { user_id: alice.id, ip: IP })
    const ended = await client.get(`${path}/return`)
    expectPage(ended, 200, t.states.ended.title)
  })

  it('is refused with a signed callback', async () => {
    const path = await offered()
    const page = await client.get(path)
    const { status, location } = await client.post(`${path}/refuse`, page.form(path))
    expect(status).toBe(303)
    expect(verified(location)).toMatchObject({ mandate_id: idOf(path), mandate_status: 'declined' })
    expect(await stored(path)).toMatchObject({ status: 'ended', reason: 'declined' })
    const late = await client.post(path, page.form(path))
    expectPage(late, 409, t.states.ended.title)
    expect((await client.post(`${path}/refuse`, page.form(path))).status).toBe(409)
  })

  it('needs the form of the page', async () => {
    const path = await offered()
    for (const address of [path, `${path}/refuse`]) expect((await client.post(address, {})).status).toBe(403)
    expect(await stored(path)).toMatchObject({ status: 'pending' })
  })

  it('tells another member nothing of its terms', async () => {
    const bob = await makePerson(test)
    const other = await bob.signIn()
    const taken = await offered({ purpose: 'Secret tea' })
    const seen = await other.get(taken)
    await allow(taken)
    const late = await other.submit(seen, taken)
    expectPage(late, 409, t.states.taken.title)
    const own = await offered({ purpose: 'Secret tea', user_id: alice.id })
    const strange = await other.get(own)
    expect(textOf(strange.body)).toContain(t.states.other_member.title)
    expect((await other.get(`${taken}/return`)).location).toBeUndefined()
    for (const { body } of [late, strange, await other.get(taken)]) {
      expect(body).not.toContain('Secret tea')
      expect(body).not.toContain(alice.username)
    }
    expect((await client.get(own)).body).toContain('Secret tea')
  })
})

describe('terms', () => {
  it.each([
    [{ period_max: '251' }, 'period_max', t.periodMaxWrong('250')],
    [{ charge_max: '101' }, 'charge_max', t.chargeMaxWrong('100')],
    [{ charge_max: '60', period_max: '50' }, 'charge_max', t.chargeMaxWrong('100')],
    [{ charge_max: '0' }, 'charge_max', t.chargeMaxWrong('100')],
    [{ charge_max: 'all' }, 'charge_max', t.chargeMaxWrong('100')],
    [{ ends_on: '2027-01-01' }, 'ends_on', t.endsOnWrong('1\u00a0Jan\u00a02026', '31\u00a0Dec\u00a02026')],
    [{ ends_on: '2025-12-31' }, 'ends_on', t.endsOnWrong('1\u00a0Jan\u00a02026', '31\u00a0Dec\u00a02026')],
    [{ ends_on: 'soon' }, 'ends_on', t.endsOnWrong('1\u00a0Jan\u00a02026', '31\u00a0Dec\u00a02026')],
  ])('%o are a fault of their field', async (fields, field, problem) => {
    const path = await offered()
    const { status, body } = await allow(path, fields)
    expect(status).toBe(400)
    expect(body).toMatch(new RegExp(`id="${field}-problem">\\s*${problem}`))
    for (const [name, value] of Object.entries(fields))
      expect(body).toContain(`name="${name}" value="${value}"`)
    expect(await stored(path)).toMatchObject({ status: 'pending' })
  })

  it('begin at what the member may allow', async () => {
    const path = await offered({ caps: { charge_max: 3_000n, period_max: 20_000n } })
    const page = await client.get(path)
    expect(filledIn(page, path)).toMatchObject({ charge_max: '2000', period_max: '10000' })
    expect(textOf(page.body)).toContain(t.lowered)
    const more = await client.post(path, { ...filledIn(page, path), charge_max: '2001' })
    expectPage(more, 400, t.limit('2,000'))
    expect((await client.post(path, filledIn(page, path))).status).toBe(303)
    const rest = await client.get(await offered())
    expect(textOf(rest.body)).toContain(t.states.month_max.title)
    const dear = await client.get(await offered({ caps: { amount: 2_001n } }))
    expect(textOf(dear.body)).toContain(t.states.charge_max.title)
    expect(textOf(dear.body)).toContain(t.limit('2,000'))
    await changePerson(test, alice, { trust_level: 0 })
    const none = textOf((await client.get(await offered())).body)
    await changePerson(test, alice, { trust_level: 2 })
    expect(none).toContain(`${t.noneAtLevel(0)} ${t.noneAtLevelText}`)
    expect(none).not.toContain(t.limit('0'))
  })

  it('stand beside those of the mandate that they replace', async () => {
    const before = await makeMandate(test, merchant, alice, FIXED)
    const path = await offered({ caps: { amount: 450n }, replaces: before })
    const { body } = await client.get(path)
    expect(textOf(body)).toContain(
      `${t.before}: ${mandates.fixedCaps('300', 300n, 'month', false)} ${t.after}: ${mandates.fixedCaps('450', 450n, 'month', false)}`,
    )
    expect((await allow(path)).status).toBe(303)
    expect(await stored(pathOf(before))).toMatchObject({ status: 'ended', reason: 'replaced' })
  })
})

describe('an old sign-in', () => {
  it('must be renewed before anything is allowed, and the chosen terms wait', async () => {
    const path = await offered()
    const fresh = await client.get(path)
    test.clock.advance(HOUR_MS)
    const { body } = await client.get(path)
    expect(textOf(body)).toContain(t.signInAgain)
    expect(body).toContain(`href="/sign-in?return_to=${encodeURIComponent(path)}&amp;login_hint=`)
    const lower = { charge_max: '7', period_max: '9' }
    const refused = await client.post(path, { ...filledIn(fresh, path), ...lower })
    expectPage(refused, 409, messages.en.security.signInAgain.title)
    expect(await stored(path)).toMatchObject({ status: 'pending' })
    await setRows(test, 'sessions', {}, { auth_time: test.clock.now() })
    const again = await client.get(path)
    expect(filledIn(again, path)).toMatchObject(lower)
    expect(again.body).toContain('<details class="small" open>')
    test.clock.advance(HOUR_MS)
    // To refuse needs none.
    expect((await client.post(`${path}/refuse`, fresh.form(path))).status).toBe(303)
  })

  it('is judged by the posted cap of a period', async () => {
    await setSetting(test, 'mandates_fresh_sign_in_above', '50')
    const path = await offered()
    test.clock.advance(HOUR_MS)
    expect((await allow(path)).status).toBe(409)
    expect((await allow(path, { charge_max: '50', period_max: '50' })).status).toBe(303)
    await setSetting(test, 'mandates_fresh_sign_in_above', '')
    expect((await allow(await offered(FIXED))).status).toBe(303)
    await setSetting(test, 'mandates_fresh_sign_in_above', '0')
  })

  it('is enough for play points', async () => {
    const twin = await makeMerchant(test, { twinOf: merchant })
    const path = pathOf(await offer(test, { ...twin, book: 'test' }, FIXED))
    test.clock.advance(HOUR_MS)
    const page = await client.get(path)
    expect(textOf(page.body)).toContain(mandates.fixedCaps('300', 300n, 'month', true))
    expect((await client.submit(page, path)).status).toBe(303)
  })
})

describe('every other state', () => {
  it('has its page, and a link to the shop', async () => {
    const path = await offered()
    const page = await client.get(path)
    const expectState = async (title: string, [shown, posted] = [200, 409]) => {
      for (const [answer, status] of [
        [await client.get(path), shown],
        [await client.post(path, page.form(path)), posted],
      ] as const) {
        expectPage(answer, status, title)
        expect(answer.body).toContain(`href="${new URL(merchant.callbackUrl).origin}"`)
      }
    }
    await switchMandates(test, 'off')
    await expectState(t.states.off.title)
    await switchMandates(test)
    await setSetting(test, 'payments_read_only', 'on')
    await expectState(t.states.payments_paused.title, [503, 503])
    await setSetting(test, 'payments_read_only', 'off')
    await setApp({ status: 'suspended' })
    await expectState(t.states.app_unusable.title)
    await setApp({ status: 'approved' })
    await decideRight(test, merchant, { decision: 'withdraw' })
    await expectState(t.states.no_right.title)
    await decideRight(test, merchant, { decision: 'grant', daily_max: 1_000_000n })
    await setApp({ unreviewed_change_at: test.clock.now() })
    await expectState(t.states.app_changed.title)
    await setApp({ unreviewed_change_at: null })
    await setFrozen(test, alice)
    await expectState(t.states.wallet_frozen.title)
    await setFrozen(test, alice, false)
    for (let n = 0; n < 10; n += 1) await makeMandate(test, merchant, alice, { caps: { amount: 1n } })
    await expectState(t.states.too_many.title)
    test.clock.advance(24 * HOUR_MS)
    client = await alice.signIn()
    const lapsed = await client.get(path)
    expectPage(lapsed, 200, t.states.lapsed.title)
  })

  it('is 404 for an unknown mandate', async () => {
    for (const id of ['mdt_000000000000000000000000', 'x', merchant.payment_id]) {
      expect((await client.get(pathOf(id))).status).toBe(404)
      expect((await client.get(`${pathOf(id)}/return`)).status).toBe(404)
    }
  })
})
