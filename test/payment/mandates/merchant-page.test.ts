/**
 * The page of an application's mandates: the right, the linked sign-in application, the list, and revoking.
 * spec/mandates 3.4.
 */
import { beforeEach, expect, it } from 'vitest'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import { expectedPoints } from '../../../src/payment/merchant/mandates.ts'
import { makePerson, type Person } from '../../harness/cast.ts'
import { type Browser, useTestApp } from '../../harness/harness.ts'
import {
  chargeOf,
  decideRight,
  giveRight,
  makeMandate,
  makeMandateMerchant,
  offer,
  switchMandates,
} from '../../harness/mandates.ts'
import { textOf } from '../../harness/markup.ts'
import { joinTeam, type Merchant, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { expectPage } from '../../harness/pages.ts'
import { makeParty } from '../../identity/relying-party.ts'

let merchant: Merchant
let alice: Person
let owner: Browser
let page: string

const test = await useTestApp()
await switchMandates(test)
beforeEach(async () => {
  merchant = await makeMerchant(test)
  alice = await makePerson(test, { points: 1_000n })
  owner = await merchant.owner.signIn()
  page = `/payment/applications/${merchant.payment_id}/mandates`
})

const { merchantMandates: t, mandates } = messages.en
const tokenOf = (by: Browser) => by.get(page).then((shown) => shown.form('/language'))
const send = async (act: string, fields: Record<string, string>, by = owner) =>
  by.post(`${page}${act}`, { ...(await tokenOf(by)), ...fields })
const stored = (mandate_id: string) => findMandate(test.db, { mandate_id }, test.clock.now())
const teamMember = async (role: 'viewer' | 'operator' | 'manager') =>
  (await joinTeam(test, merchant, role)).signIn()

it('is among the places of the application while mandates are on', async () => {
  const overview = `/payment/applications/${merchant.payment_id}`
  expect((await owner.get(overview)).body).toContain(`href="${page}"`)
  await switchMandates(test, 'off')
  expect((await owner.get(overview)).body).not.toContain(`href="${page}"`)
  await switchMandates(test)
})

it('asks for the right, once, and shows what was decided', async () => {
  const short = await send('/ask', { purpose: 'Too short' })
  expect([short.status, short.body]).toEqual([400, expect.stringContaining('id="purpose-problem"')])
  expect((await send('/ask', { purpose: 'Subscriptions to our books' })).status).toBe(303)
  const waiting = await owner.get(page)
  expect(textOf(waiting.body)).toContain(`${t.right} ${t.rights.asked}`)
  expect(waiting.body).not.toContain(`action="${page}/ask"`)
  await decideRight(test, merchant, { decision: 'refuse' })
  expect(textOf((await owner.get(page)).body)).toContain(
    `${t.rights.refused} ${t.purposeAsked}: Subscriptions to our books`,
  )
  expect((await send('/ask', { purpose: 'Subscriptions to our books' })).status).toBe(303)
  await decideRight(test, merchant, { decision: 'grant', daily_max: 9_000n })
  expect(textOf((await owner.get(page)).body)).toContain(`${t.rights.granted} ${t.dailyMax('9,000')}`)
  await decideRight(test, merchant, { decision: 'withdraw' })
  expect(textOf((await owner.get(page)).body)).toContain(t.withdrawnText)
})

it('links a sign-in application of the owner, and no other', async () => {
  const own = await makeParty(test, { name: 'Book club' })
  const theirs = test.db.updateTable('oauth_apps').where('client_id', '=', own.client_id)
  await theirs.set({ owner_id: merchant.owner.id }).execute()
  const strange = await makeParty(test)
  expect((await send('/link', { client_id: own.client_id })).status).toBe(303)
  expect((await owner.get(page)).body).toContain(`value="${own.client_id}" selected`)
  const refused = await send('/link', { client_id: strange.client_id })
  expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('id="client_id-problem"')])
  expect((await send('/link', { client_id: '' })).status).toBe(303)
  expect((await owner.get(page)).body).not.toContain('selected')
})

it('lists mandates and offers, and finds them by reference, id and member', async () => {
  await giveRight(test, merchant)
  const accepted = await makeMandate(test, merchant, alice, { reference: 'club-1', purpose: 'Books <b>' })
  await offer(test, merchant, { reference: 'club-2' })
  const { active } = messages.en.ownMandates.states
  const words = textOf((await owner.get(page)).body)
  expect(words).toContain(`club-2 ${t.pending}`)
  expect(words).toContain(
    `@${alice.username} · club-1 ${active} Books <b> · ${mandates.upToCaps('100', '250', 250n, 'month', false)}`,
  )
  for (const q of ['club-1', accepted, `@${alice.username}`, alice.username.toUpperCase()]) {
    const found = textOf((await owner.get(`${page}?q=${encodeURIComponent(q)}`)).body)
    expect(found).toContain(`club-1 ${active}`)
    expect(found).not.toContain('club-2')
  }
  expect(textOf((await owner.get(`${page}?q=nobody`)).body)).toContain(messages.en.lists.nothing)
})

it('revokes with a reason that the member reads', async () => {
  await giveRight(test, merchant)
  const mandate_id = await makeMandate(test, merchant, alice)
  const act = `/${mandate_id}/revoke`
  const silent = await send(act, { reason: ' ' })
  expectPage(silent, 400, t.reasonWrong)
  expect((await send(act, { reason: 'We close' })).status).toBe(303)
  expect(await stored(mandate_id)).toMatchObject({ status: 'ended', reason: 'merchant' })
  const client = await alice.signIn()
  expect(textOf((await client.get(`/account/mandates/${mandate_id}`)).body)).toMatch(
    new RegExp(`${messages.en.ownMandates.states.merchant} .* · We close`),
  )
  const other = await makeMandateMerchant(test)
  const theirs = await makeMandate(test, other, alice)
  expect((await send(`/${theirs}/revoke`, { reason: 'x' })).status).toBe(404)
  expect(await stored(theirs)).toMatchObject({ status: 'active' })
})

it('shows each role the forms that it may send', async () => {
  await giveRight(test, merchant)
  const mandate_id = await makeMandate(test, merchant, alice)
  const forms = async (by: Browser) => {
    const { body } = await by.get(page)
    return ['/link', `/${mandate_id}/revoke`].filter((act) => body.includes(`action="${page}${act}`))
  }
  const [viewer, operator, manager] = [
    await teamMember('viewer'),
    await teamMember('operator'),
    await teamMember('manager'),
  ]
  expect(await forms(viewer)).toEqual([])
  expect(await forms(operator)).toEqual([`/${mandate_id}/revoke`])
  expect(await forms(manager)).toEqual(['/link', `/${mandate_id}/revoke`])
})

it('expects the fixed amounts of the next 30 days that are not charged yet', async () => {
  await giveRight(test, merchant)
  const expected = () => expectedPoints(test.db, merchant.id, test.clock.now())
  expect(await expected()).toBe(0n)
  // The running month alone: 1 to 30 January.
  const monthly = await makeMandate(test, merchant, alice, { caps: { amount: 100n } })
  expect(await expected()).toBe(100n)
  // Weeks begin on the 1st, 8th, 15th, 22nd and 29th.
  await makeMandate(test, merchant, alice, { caps: { amount: 10n }, period: 'week' })
  expect(await expected()).toBe(150n)
  await makeMandate(test, merchant, alice, { caps: { amount: 7n }, starts_on: '2026-01-30' })
  await makeMandate(test, merchant, alice, { caps: { amount: 1_000n }, starts_on: '2026-01-31' })
  await makeMandate(test, merchant, alice)
  expect(await expected()).toBe(157n)
  await makeChargeMandate(test.deps)(chargeOf(merchant, monthly, 100n))
  expect(await expected()).toBe(57n)
})
