/**
 * The page of mandates for administrators: the right of applications, the search, and the end of a mandate.
 * spec/mandates 1.3.
 */
import { beforeEach, expect, it } from 'vitest'
import { findMandate } from '../../src/payment/mandates/mandates.ts'
import { askMandateRight } from '../../src/payment/mandates/right.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { giveRight, IP, makeMandate, switchMandates } from '../harness/mandates.ts'
import { textOf } from '../harness/markup.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf } from '../harness/rows.ts'

const PAGE = '/admin/mandates'
const { rights } = messages.en.merchantMandates

let merchant: Merchant
let alice: Person

const test = await useTestApp()
await switchMandates(test)
const admin = await (await makePerson(test, { is_admin: true })).signIn()
beforeEach(async () => {
  merchant = await makeMerchant(test)
  alice = await makePerson(test, { points: 1_000n })
})

const send = async (act: string, fields: Record<string, string>) =>
  admin.post(`${PAGE}${act}`, { ...(await admin.get(PAGE)).form('/language'), ...fields })

it('decides on the right: asked, granted, another limit, withdrawn and granted again', async () => {
  const act = `/rights/${merchant.payment_id}`
  const actor = { user_id: merchant.owner.id, ip: IP }
  await askMandateRight(test.deps, merchant.payment_id, 'Subscriptions to <books>', actor)
  const { body } = await admin.get(PAGE)
  const waiting = `Shop of ${merchant.owner.username} ${rights.asked} Subscriptions to <books>`
  expect(textOf(body)).toContain(waiting)
  expect(textOf(body)).toContain(`${messages.en.console.mandateReview.title} 1 `)
  const faults = [
    [{ decision: 'grant', daily_max: '' }, 'daily_max'],
    [{ decision: 'grant', daily_max: '0' }, 'daily_max'],
    [{ decision: 'refuse', daily_max: '', reason: ' ' }, 'reason'],
    [{ decision: 'refuse', daily_max: '', reason: 'x'.repeat(501) }, 'reason'],
  ] as const
  for (const [fields, field] of faults) {
    const refused = await send(act, fields)
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining(`-${field}-problem"`)])
  }
  expect((await send(act, { decision: 'withdraw', daily_max: '', reason: 'No' })).status).toBe(409)
  for (const [fields, mandate_right, mandate_daily_max] of [
    [{ decision: 'grant', daily_max: '500' }, 'granted', 500n],
    [{ decision: 'grant', daily_max: '900' }, 'granted', 900n],
    [{ decision: 'withdraw', daily_max: '', reason: 'Complaints' }, 'withdrawn', 900n],
    [{ decision: 'grant', daily_max: '700' }, 'granted', 700n],
  ] as const) {
    expect((await send(act, fields)).status).toBe(303)
    expect(await rowOf(test, 'payment_apps', { id: merchant.id })).toMatchObject({
      mandate_right,
      mandate_daily_max,
    })
  }
  expect((await send('/rights/pay_nobody', { decision: 'grant', daily_max: '1' })).status).toBe(404)
})

it('refuses the right with a reason', async () => {
  const actor = { user_id: merchant.owner.id, ip: IP }
  await askMandateRight(test.deps, merchant.payment_id, 'Subscriptions to books', actor)
  const fields = { decision: 'refuse', daily_max: '', reason: 'Not yet' }
  expect((await send(`/rights/${merchant.payment_id}`, fields)).status).toBe(303)
  const { body } = await admin.get(`${PAGE}?q=${merchant.payment_id}`)
  expect(textOf(body)).toContain(`${rights.refused} Subscriptions to books`)
  expect(textOf(body)).toContain(`${messages.en.common.reason}: Not yet`)
})

it('finds a mandate by id, reference and member, and ends it with a reason', async () => {
  await giveRight(test, merchant)
  const reference = `club-${merchant.payment_id}`
  const mandate_id = await makeMandate(test, merchant, alice, { reference })
  for (const q of [mandate_id, reference, `@${alice.username.toUpperCase()}`])
    expect(textOf((await admin.get(`${PAGE}?q=${encodeURIComponent(q)}`)).body)).toContain(
      `@${alice.username} · ${reference} ${messages.en.ownMandates.states.active}`,
    )
  const act = `/${mandate_id}/end`
  expect((await send(act, { reason: '' })).status).toBe(400)
  const { status, location } = await send(act, { reason: 'Fraud' })
  expect([status, location]).toEqual([303, `${PAGE}?q=${mandate_id}`])
  expect(await findMandate(test.db, { mandate_id }, test.clock.now())).toMatchObject({
    status: 'ended',
    reason: 'staff',
  })
  expect((await send('/mdt_none/end', { reason: 'x' })).status).toBe(404)
})
