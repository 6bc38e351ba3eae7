/** Events about mandates and charges: which act sends which, what it says, and that an undone act sends none. */
import { afterAll, beforeEach, expect, it } from 'vitest'
import { setEventsUrl } from '../../../src/payment/events/events.ts'
import {
  ChargeEvent,
  MandateEvent,
  OrderEvent,
  RefusedChargeEvent,
} from '../../../src/payment/events/shapes.ts'
import {
  changeOwn,
  finishMandates,
  pauseOwn,
  resumeOwn,
  revokeByProgram,
  revokeOwn,
  setNotice,
} from '../../../src/payment/mandates/acts.ts'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { declineMandate } from '../../../src/payment/mandates/consent.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import { endMandates } from '../../../src/payment/mandates/record.ts'
import { readNotifications, redeliver } from '../../../src/payment/notifications/redelivery.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { givePoints, makePerson, type Person } from '../../harness/cast.ts'
import { useTestApp } from '../../harness/harness.ts'
import {
  chargedOr,
  chargeOf,
  IP,
  makeMandate,
  makeMandateMerchant,
  offer,
  switchMandates,
} from '../../harness/mandates.ts'
import type { Merchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { startReceiver } from '../../harness/notify-receiver.ts'
import { refund } from '../../harness/orders.ts'
import { rowsOf } from '../../harness/rows.ts'
import { until } from '../../harness/waiting.ts'

let shop: Merchant
let member: Person
const receiver = await startReceiver()
const url = `${receiver.url}/events`
const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
test.startNotifier()
await switchMandates(test)
afterAll(async () => {
  await expectSoundBooks(test.db)
  await receiver.close()
})
beforeEach(async () => {
  shop = await makeMandateMerchant(test)
  await setEventsUrl(test.deps, shop.payment_id, url, { user_id: shop.owner.id, ip: IP })
  member = await makePerson(test, { points: 1_000n })
  receiver.received.length = 0
})

const own = () => ({ user_id: member.id, ip: IP })
const rows = () => rowsOf(test, 'notifications', { app_id: shop.id })
const kinds = async () => (await rows()).map(({ kind }) => kind)
const agreeing = async (mandate_id: string) => {
  const { version } = (await findMandate(test.db, { mandate_id }, test.clock.now()))!
  return { ...own(), version, isFresh: true }
}

type Shape = { parse(body: unknown): { type: string; data: Record<string, unknown> } }
const SHAPES: [start: string, shape: Shape][] = [
  ['mandate.', MandateEvent],
  ['charge.completed', ChargeEvent],
  ['charge.failed', RefusedChargeEvent],
  ['order.', OrderEvent],
]

/** Waits until everything is delivered: a clock that moves during an attempt repeats it. Returns what arrived, each in its shape, by the order of the acts. */
async function arrived() {
  test.deps.notifier.nudge()
  await until(async () => (await rows()).every(({ status }) => status === 'delivered'))
  const order = await kinds()
  const bodies = receiver.received.splice(0).map(({ body }) => {
    const sent = JSON.parse(body)
    return SHAPES.find(([start]) => sent.type.startsWith(start))![1].parse(sent)
  })
  return bodies.toSorted((a, b) => order.indexOf(a.type as never) - order.indexOf(b.type as never))
}

it('every act of a member and the merchant sends the mandate as it is then', async () => {
  const mandate_id = await makeMandate(test, shop, member)
  await pauseOwn(test.deps, mandate_id, own())
  await pauseOwn(test.deps, mandate_id, own())
  expect(await resumeOwn(test.deps, mandate_id, await agreeing(mandate_id))).toBeUndefined()
  const terms = { charge_max: 40n, period_max: 80n }
  expect(await changeOwn(test.deps, mandate_id, terms, await agreeing(mandate_id))).toBeUndefined()
  // A notice is a matter of the member alone.
  await setNotice(test.deps, mandate_id, 'each', own())
  const revoked = { app_id: shop.id, mandate_id, reason: 'closed', ip: IP }
  await revokeByProgram(test.deps, revoked)
  await revokeByProgram(test.deps, revoked)
  expect(await kinds()).toEqual(['mandate.created', ...Array(3).fill('mandate.changed'), 'mandate.revoked'])
  const bodies = await arrived()
  expect(bodies[0]!.data).toMatchObject({
    mandate_id,
    status: 'active',
    reason: null,
    user_id: Number(member.id),
    username: member.username,
    charge_max: 100,
    spent: 0,
    left: 250,
  })
  const changed = bodies.slice(1, 4).map(({ data }) => [data.version, data.status, data.period_max])
  expect(changed.toSorted()).toEqual([
    [3, 'paused', 250],
    [4, 'active', 250],
    [5, 'active', 80],
  ])
  expect(bodies[4]!.data).toMatchObject({ status: 'ended', reason: 'merchant', left: null })
})

it('an end by time or by replacement sends mandate.revoked', async () => {
  const first = await makeMandate(test, shop, member)
  const second = await makeMandate(test, shop, member, { replaces: first })
  const before = await arrived()
  test.clock.advance(370 * 86_400_000)
  await finishMandates(test.deps)
  const ends = [...before, ...(await arrived())].flatMap(({ type, data }) =>
    type === 'mandate.revoked' ? [[data.mandate_id, data.reason]] : [],
  )
  expect(ends.toSorted()).toEqual(
    [
      [first, 'replaced'],
      [second, 'finished'],
    ].toSorted(),
  )
})

it('an offer that is declined or revoked sends nothing', async () => {
  const declined = await offer(test, shop)
  expect(await declineMandate(test.deps, declined, own())).toBeUndefined()
  await revokeByProgram(test.deps, {
    app_id: shop.id,
    mandate_id: await offer(test, shop),
    reason: 'x',
    ip: IP,
  })
  expect(await rows()).toEqual([])
})

it('a charge sends its answer and no order.paid; its refund sends order.refunded', async () => {
  const mandate_id = await makeMandate(test, shop, member)
  const charge = makeChargeMandate(test.deps)
  const request = chargeOf(shop, mandate_id, 60n)
  const { order } = await charge(request)
  await charge(request)
  await refund(test, order, 60n)
  const [, charged, refunded] = await arrived()
  expect(charged).toMatchObject({
    type: 'charge.completed',
    data: {
      transaction_id: order.transaction_id,
      order_id: request.order_id,
      status: 'completed',
      amount: 60,
      platform_fee: 3,
      merchant_points: 57,
      mandate_id,
      period_from: '2027-01-06',
      spent: 60,
      left: 190,
      resets_at: '2027-02-05T16:00:00Z',
    },
  })
  expect(refunded).toMatchObject({
    type: 'order.refunded',
    data: { transaction_id: order.transaction_id, status: 'refunded', mandate_id },
  })
  expect(await kinds()).toEqual(['mandate.created', 'charge.completed', 'order.refunded'])
})

it('charge.failed repeats the answer to the first refusal of a kind', async () => {
  const mandate_id = await makeMandate(test, shop, member, { period: 'day' })
  const charge = makeChargeMandate(test.deps)
  const ask = (amount: bigint) => chargedOr(charge(chargeOf(shop, mandate_id, amount)))
  // A batch of three holds two refusals of one kind.
  await Promise.all([ask(101n), ask(102n), ask(100n)])
  await ask(100n)
  await ask(100n)
  await ask(103n)
  const before = await arrived()
  test.clock.advance(86_400_000)
  await ask(104n)
  await revokeOwn(test.deps, mandate_id, own())
  await ask(1n)
  await ask(1n)
  const failed = [...before, ...(await arrived())].filter(({ type }) => type === 'charge.failed')
  const said = failed.map(({ data }) => [data.amount, data.code, data.message])
  expect(said.toSorted()).toEqual(
    [
      [101, 1023, 'The amount is above the limit of a charge (100)'],
      [100, 1024, 'The limit of this period is reached (250, spent 200, left 50)'],
      [104, 1023, 'The amount is above the limit of a charge (100)'],
      [1, 1022, 'The mandate is not active (member)'],
    ].toSorted(),
  )
  expect(new Set(failed.map(({ data }) => data.period_from)).size).toBe(2)
  for (const { data } of failed) expect(data.mandate_id).toBe(mandate_id)
})

it('charge.failed does not tell the member’s balance', async () => {
  const poor = await makePerson(test, { points: 5n })
  const mandate_id = await makeMandate(test, shop, poor)
  const charge = makeChargeMandate(test.deps)
  const request = chargeOf(shop, mandate_id, 50n)
  await chargedOr(charge(request))
  await chargedOr(charge(request))
  await givePoints(test, poor, 100n)
  expect(await chargedOr(charge(request))).toBe(50n)
  const failed = (await arrived()).filter(({ type }) => type === 'charge.failed')
  expect(failed.map(({ data }) => data)).toEqual([
    {
      mandate_id,
      order_id: request.order_id,
      amount: 50,
      code: 1010,
      message: 'The member has too few points (need 50)',
      period_from: expect.any(String),
    },
  ])
})

it('an application without an address has no events', async () => {
  await setEventsUrl(test.deps, shop.payment_id, null, { user_id: shop.owner.id, ip: IP })
  const mandate_id = await makeMandate(test, shop, member)
  await chargedOr(makeChargeMandate(test.deps)(chargeOf(shop, mandate_id, 60n)))
  await chargedOr(makeChargeMandate(test.deps)(chargeOf(shop, mandate_id, 600n)))
  await revokeOwn(test.deps, mandate_id, own())
  expect(await rows()).toEqual([])
})

it('an act that is undone sends nothing', async () => {
  const mandate_id = await makeMandate(test, shop, member)
  const undone = test.db.transaction().execute(async (tx) => {
    const { id } = (await findMandate(tx, { mandate_id }, test.clock.now()))!
    await endMandates(tx, [id], {
      reason: 'staff',
      now: test.clock.now(),
      actor_id: null,
      ip: null,
      detail: {},
    })
    expect(await rowsOf({ db: tx }, 'notifications', { mandate_id: id })).toHaveLength(2)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await kinds()).toEqual(['mandate.created'])
})

it('the team sees the events of a mandate and sends one again', async () => {
  const mandate_id = await makeMandate(test, shop, member, { reference: 'club-7' })
  await arrived()
  const reader = { role: 'team', user_id: shop.owner.id } as const
  const [row] = (await readNotifications(test.db, reader, { transaction_id: mandate_id }, 5)).rows
  expect(row).toMatchObject({ kind: 'mandate.created', order_id: 'club-7', transaction_id: mandate_id })
  const browser = await shop.owner.signIn()
  const list = `/payment/applications/${shop.payment_id}/notifications`
  const { body } = await browser.get(list)
  expect(body).toContain(messages.en.events.kinds['mandate.created'])
  const own = `${list}?transaction_id=${mandate_id}`
  expect(body).toContain(`href="${own}#notifications"`)
  const sent = await browser.submit(await browser.get(own), `${list}/${mandate_id}/redeliver`)
  expect(sent.status).toBe(303)
  expect((await browser.get(sent.location!)).body).toContain(mandate_id)
  expect((await arrived()).map(({ type }) => type)).toEqual(['mandate.created'])
  const stranger = { role: 'team', user_id: member.id, actor_id: member.id, ip: IP } as const
  await expect(redeliver(test.deps, mandate_id, stranger)).rejects.toMatchObject({ code: 'not_found' })
})
