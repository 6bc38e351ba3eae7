/** A member's own mandates: what the pages show, and what each of their forms does. spec/mandates 2.3. */
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import { makePerson, type Person } from '../../harness/cast.ts'
import { type Browser, setSetting, useTestApp } from '../../harness/harness.ts'
import {
  chargedOr,
  chargeOf,
  decideRight,
  makeMandate,
  makeMandateMerchant,
  switchMandates,
} from '../../harness/mandates.ts'
import { textOf } from '../../harness/markup.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { expectPage } from '../../harness/pages.ts'
import { setRows } from '../../harness/rows.ts'
import { formsIn } from '../../web/form-markup.ts'

const HOUR_MS = 3_600_000
const PAGE = '/account/mandates'

let alice: Person
let client: Browser

const test = await useTestApp()
await switchMandates(test)
const merchant = await makeMandateMerchant(test)
beforeEach(async () => {
  alice = await makePerson(test, { points: 1_000n })
  client = await alice.signIn()
})

const { ownMandates: t, mandates } = messages.en
const shop = `Shop of ${merchant.owner.username}`
const stored = (mandate_id: string) => findMandate(test.db, { mandate_id }, test.clock.now())
const charge = (mandate_id: string, amount: bigint) =>
  chargedOr(makeChargeMandate(test.deps)(chargeOf(merchant, mandate_id, amount)))
/** Sends a form of the mandate's page as it is, but for these fields. */
async function send(mandate_id: string, act: string, fields: Record<string, string> = {}, by = client) {
  const path = `${PAGE}/${mandate_id}`
  const form = formsIn((await by.get(path)).body).find((one) => one.isOf(`${path}/${act}`))!
  return by.post(`${path}/${act}`, { ...form.values, ...fields })
}
/** Follows a form to its page, and reads what the page reports. */
async function reported({ location, status }: { location?: string | undefined; status: number }) {
  expect(status).toBe(303)
  return textOf((await client.get(location!)).body)
}

describe('the list', () => {
  it('is linked from the wallet and the account while mandates are on', async () => {
    const linkedFrom = async () =>
      Promise.all(
        ['/account', '/account/profile'].map(async (path) =>
          (await client.get(path)).body.includes(`href="${PAGE}"`),
        ),
      )
    expect(await linkedFrom()).toEqual([true, true])
    await switchMandates(test, 'off')
    expect(await linkedFrom()).toEqual([false, false])
    await switchMandates(test)
  })

  it('shows each mandate with its period, and nobody else’s', async () => {
    expect(textOf((await client.get(PAGE)).body)).toContain(t.empty)
    const up_to = await makeMandate(test, merchant, alice, { purpose: 'Daily <tea>' })
    await makeMandate(test, merchant, alice, { caps: { amount: 300n }, starts_on: '2026-02-01' })
    await charge(up_to, 60n)
    const words = textOf((await client.get(PAGE)).body)
    expect(words).toContain(`${shop} ${t.states.active} Daily <tea>`)
    expect(words).toContain(
      `${mandates.upToCaps('100', '250', 250n, 'month', false)} · ${t.until('31 Dec 2026')}`,
    )
    expect(words).toContain(`${t.thisPeriod}: ${t.spent('60', '190', '31 Jan 2026')}`)
    expect(words).toContain(`${t.nextCharge}: ${t.next('100', false, undefined)}`)
    expect(words).toContain(
      `${t.states.not_started} A service ${mandates.fixedCaps('300', 300n, 'month', false)}`,
    )
    expect(words).toContain(`${t.nextCharge}: ${t.next('300', true, '1 Feb 2026')}`)
    await charge(up_to, 100n)
    await charge(up_to, 90n)
    // Of a used-up period the next charge says enough.
    expect(textOf((await client.get(PAGE)).body)).not.toContain(t.thisPeriod)
    // Two mandates of one shop.
    expect(textOf((await client.get('/account/profile')).body)).toContain(messages.en.profile.mandates(1))
    const bob = await makePerson(test)
    const other = await bob.signIn()
    expect(textOf((await other.get(PAGE)).body)).toContain(t.empty)
    expect((await other.get(`${PAGE}/${up_to}`)).status).toBe(404)
    expect((await client.get(`${PAGE}/mdt_x`)).status).toBe(404)
  })
})

describe('one mandate', () => {
  it('shows its charges with receipts, refused attempts, and who changed what', async () => {
    const mandate_id = await makeMandate(test, merchant, alice)
    expect(await charge(mandate_id, 60n)).toBe(60n)
    await charge(mandate_id, 101n)
    await charge(mandate_id, 102n)
    await send(mandate_id, 'terms', { charge_max: '50' })
    const { body } = await client.get(`${PAGE}/${mandate_id}`)
    const words = textOf(body)
    expect(words).toContain('Tea today 08:00 −60')
    expect(words).toContain(`${t.chargedSoFar} ${t.sum('60', 1)}`)
    expect(words).toContain(`${t.nextCharge} ${t.next('50', false, undefined)}`)
    const [receipt] = /\/payment\/pay\/txn_[a-z0-9]{24}/.exec(body)!
    const paid = await client.get(receipt)
    expect(textOf(paid.body)).toContain(messages.en.pay.notification.byCharge)
    expect(paid.body).toContain(`href="${PAGE}/${mandate_id}"`)
    expect(words).toContain(`${t.outcomes.charge_limit} ${t.refusal(2, '102')}`)
    expect(words).toMatch(
      new RegExp(
        `${t.acted('change', 'member')} [^·]* · ${mandates.upToCaps('50', '250', 250n, 'month', false)} · ${t.until('31 Dec 2026')}`,
      ),
    )
    expect(words).toMatch(
      new RegExp(
        `${t.acted('accept', 'member')} [^·]* · ${mandates.upToCaps('100', '250', 250n, 'month', false)} · ${t.until('31 Dec 2026')}`,
      ),
    )
  })

  it('pages through its charges', async () => {
    const mandate_id = await makeMandate(test, merchant, alice, { caps: { charge_max: 1n, period_max: 60n } })
    for (let n = 0; n < 40; n += 1) await charge(mandate_id, 1n)
    const first = await client.get(`${PAGE}/${mandate_id}`)
    const next = /href="([^"]*before=\d+)"/.exec(first.body)![1]!
    const second = await client.get(next)
    const count = (body: string) => body.match(/\/payment\/pay\/txn_/g)!.length
    expect(count(first.body) + count(second.body)).toBe(40)
  })
})

describe('pausing and revoking', () => {
  it('are one click, and stop charges at once', async () => {
    const mandate_id = await makeMandate(test, merchant, alice)
    expect(await reported(await send(mandate_id, 'pause'))).toContain(t.done.paused(shop))
    expect(await charge(mandate_id, 1n)).toEqual(['mandate_inactive', { status: 'paused', reason: 'member' }])
    expect(await reported(await send(mandate_id, 'revoke'))).toContain(t.done.revoked(shop))
    expect(await charge(mandate_id, 1n)).toEqual(['mandate_inactive', { status: 'ended', reason: 'member' }])
    expect((await client.get(`${PAGE}/${mandate_id}`)).body).not.toContain('/revoke"')
  })

  it('work from a page out of date, with an old sign-in, and whatever is switched off', async () => {
    const ids = [await makeMandate(test, merchant, alice), await makeMandate(test, merchant, alice)]
    const page = await client.get(`${PAGE}/${ids[0]}`)
    await send(ids[0]!, 'terms', { charge_max: '50' })
    test.clock.advance(2 * HOUR_MS)
    await switchMandates(test, 'off')
    await setSetting(test, 'payments_read_only', 'on')
    await decideRight(test, merchant, { decision: 'withdraw' })
    const setStatus = (status: 'suspended' | 'approved') =>
      setRows(test, 'payment_apps', { id: merchant.id }, { status })
    await setStatus('suspended')
    const own = `${PAGE}/${ids[0]}`
    expect((await client.post(`${own}/pause`, page.form(`${own}/pause`))).status).toBe(303)
    expect(await stored(ids[0]!)).toMatchObject({ status: 'paused' })
    expect((await client.post(`${own}/revoke`, page.form(`${own}/revoke`))).status).toBe(303)
    expect((await send(ids[1]!, 'revoke')).status).toBe(303)
    for (const id of ids) expect(await stored(id)).toMatchObject({ status: 'ended', reason: 'member' })
    await setStatus('approved')
    await decideRight(test, merchant, { decision: 'grant', daily_max: 1_000_000n })
    await setSetting(test, 'payments_read_only', 'off')
    await switchMandates(test)
  })
})

describe('agreeing', () => {
  it('to resume needs a recent sign-in and the present page', async () => {
    const mandate_id = await makeMandate(test, merchant, alice)
    await send(mandate_id, 'pause')
    const before = await client.get(`${PAGE}/${mandate_id}`)
    test.clock.advance(2 * HOUR_MS)
    const stale = await send(mandate_id, 'resume')
    expect([stale.status, stale.body]).toEqual([409, expect.stringContaining('/sign-in?return_to=')])
    expect(await stored(mandate_id)).toMatchObject({ status: 'paused' })
    client = await alice.signIn()
    await send(mandate_id, 'terms', { charge_max: '50' })
    const path = `${PAGE}/${mandate_id}/resume`
    const { version } = before.form(path)
    const old = await send(mandate_id, 'resume', { version: version! })
    expectPage(old, 409, t.outOfDate)
    expect(await reported(await send(mandate_id, 'resume'))).toContain(t.done.resumed(shop))
    expect(await charge(mandate_id, 50n)).toBe(50n)
  })

  it('to a new owner names the owner', async () => {
    const seller = await makeMandateMerchant(test)
    const mandate_id = await makeMandate(test, seller, alice)
    const buyer = await makePerson(test)
    await sql`select hand_over_application(${seller.id}, ${buyer.id}, ${test.clock.now()})`.execute(test.db)
    const { body } = await client.get(`${PAGE}/${mandate_id}`)
    expect(textOf(body)).toContain(t.newOwner(buyer.username))
    const unreviewed = await send(mandate_id, 'resume')
    expectPage(unreviewed, 409, messages.en.mandateOffer.states.app_changed.title)
    const reviewed = { unreviewed_change_at: null }
    await setRows(test, 'payment_apps', { id: seller.id }, reviewed)
    expect((await send(mandate_id, 'resume')).status).toBe(303)
    expect(await stored(mandate_id)).toMatchObject({ status: 'active', payee_id: buyer.id })
  })

  it('to higher caps or a later day needs a recent sign-in; to lower does not', async () => {
    const mandate_id = await makeMandate(test, merchant, alice)
    test.clock.advance(2 * HOUR_MS)
    const lower = { charge_max: '50', period_max: '60', ends_on: '2026-06-30' }
    expect(await reported(await send(mandate_id, 'terms', lower))).toContain(
      t.done.changed('360', '30 Jun 2026'),
    )
    expect(await stored(mandate_id)).toMatchObject({
      charge_max: 50n,
      period_max: 60n,
      ends_on: '2026-06-30',
    })
    const stale = await send(mandate_id, 'terms', { charge_max: '51' })
    expect([stale.status, stale.body]).toEqual([409, expect.stringContaining('/sign-in?return_to=')])
    client = await alice.signIn()
    expect((await send(mandate_id, 'terms', { ends_on: '2027-01-02' })).status).toBe(303)
    const above = await send(mandate_id, 'terms', { period_max: '251' })
    expect([above.status, above.body]).toEqual([400, expect.stringMatching(/period_max-problem">[^<]*250/)])
    const late = await send(mandate_id, 'terms', { ends_on: '2027-01-03' })
    expect([late.status, late.body]).toEqual([
      400,
      expect.stringMatching(/ends_on-problem">[^<]*2\sJan\s2027/),
    ])
    await setSetting(test, 'mandate_month_max_tl2', '70')
    const much = await send(mandate_id, 'terms', { period_max: '80' })
    expectPage(much, 409, messages.en.mandateOffer.limit('70'))
    await setSetting(test, 'mandate_month_max_tl2', '10000')
    expect(await stored(mandate_id)).toMatchObject({
      charge_max: 50n,
      period_max: 60n,
      ends_on: '2027-01-02',
    })
  })
})

it('a mandate takes no more than its page promises until the member chooses a later day', async () => {
  const mandate_id = await makeMandate(test, merchant, alice, { caps: { amount: 60n } })
  const began = test.clock.now()
  const moveTo = (moment: number) => test.clock.advance(moment - test.clock.now().getTime())
  const page = async () => textOf((await client.get(`${PAGE}/${mandate_id}`)).body)
  expect(await page()).toContain(`${t.left} ${t.leftUntil('720', '31 Dec 2026')}`)
  for (let month = 1; month <= 12; month += 1) {
    moveTo(Date.UTC(2026, month, 0))
    expect(await charge(mandate_id, 60n)).toBe(60n)
  }
  client = await alice.signIn()
  expect(await page()).toContain(`${t.left} ${t.leftUntil('0', '31 Dec 2026')}`)
  expect(await charge(mandate_id, 60n)).toEqual(['mandate_limit_reached', expect.anything()])
  // The latest day is a year ahead, so thirteen more months begin until then.
  expect(await page()).toContain(t.laterDay('1 Jan 2028', '780'))
  test.clock.advance(24 * HOUR_MS)
  expect(await charge(mandate_id, 60n)).toEqual(['mandate_inactive', { status: 'ended', reason: 'finished' }])
  moveTo(began.getTime())
})

it('the member chooses how to hear of charges', async () => {
  const mandate_id = await makeMandate(test, merchant, alice)
  expect(await stored(mandate_id)).toMatchObject({ notice: 'daily' })
  expect(await reported(await send(mandate_id, 'notice', { notice: 'each' }))).toContain(t.done.noticeEach)
  expect(await stored(mandate_id)).toMatchObject({ notice: 'each' })
  expect((await send(mandate_id, 'notice', { notice: 'never' })).status).toBe(400)
})

it('a test mandate begins its next period by a button', async () => {
  const twin = await makeMerchant(test, { twinOf: merchant })
  const mandate_id = await makeMandate(test, { ...twin, book: 'test' }, alice)
  const { body } = await client.get(`${PAGE}/${mandate_id}`)
  expect(body).toContain('/next-period"')
  expect(await reported(await send(mandate_id, 'next-period'))).toContain(t.done.nextPeriod)
  expect(await stored(mandate_id)).toMatchObject({ period_from: '2026-02-01' })
})
