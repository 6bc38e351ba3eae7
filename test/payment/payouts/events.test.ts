/** Events about payouts: one tells a halt, one the end, with the payout as it is then. spec/payouts 4.4. */
import { afterAll, beforeEach, expect, it } from 'vitest'
import { setEventsUrl } from '../../../src/payment/events/events.ts'
import { PayoutEvent } from '../../../src/payment/events/shapes.ts'
import { readNotifications, redeliver } from '../../../src/payment/notifications/redelivery.ts'
import { cancelPayout, findPayout, resumePayout } from '../../../src/payment/payouts/payouts.ts'
import { runPayouts } from '../../../src/payment/payouts/run.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { givePoints, makePerson } from '../../harness/cast.ts'
import { useTestApp } from '../../harness/harness.ts'
import { type Merchant, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { startReceiver } from '../../harness/notify-receiver.ts'
import { line, startPayout } from '../../harness/payouts.ts'
import { rowsOf } from '../../harness/rows.ts'
import { until } from '../../harness/waiting.ts'

const receiver = await startReceiver()
const url = `${receiver.url}/events`
const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
test.startNotifier()
const { deps, db } = test
afterAll(async () => {
  await expectSoundBooks(db)
  await receiver.close()
})
const alice = await makePerson(test)
const bob = await makePerson(test)
let shop: Merchant
beforeEach(async () => {
  shop = await makeMerchant(test)
  await givePoints(test, shop.owner, 35n)
  await setEventsUrl(deps, shop.payment_id, url, { user_id: shop.owner.id, ip: '203.0.113.7' })
  receiver.received.length = 0
})

const rows = () => rowsOf(test, 'notifications', { app_id: shop.id })
const kinds = async () => (await rows()).map(({ kind }) => kind).filter((kind) => kind.startsWith('payout.'))
const start = (reference: string, asked: object) =>
  startPayout(deps, shop, { reference, lines: [], ...asked })
const idOf = async (reference: string) => (await findPayout(db, shop.id, reference))!.id

/** What arrived of payouts, in the order of their events. */
async function arrived() {
  deps.notifier.nudge()
  await until(async () => (await rows()).every(({ status }) => status === 'delivered'))
  const order = await kinds()
  return receiver.received
    .splice(0)
    .map(({ body }) => JSON.parse(body))
    .filter(({ type }) => type.startsWith('payout.'))
    .map((body) => PayoutEvent.parse(body))
    .toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
}

it('a halt and an end each send the payout as it is then', async () => {
  await start('raffle', {
    lines: [line('a', alice), line('b', { ...bob, username: 'somebody' }), line('c', bob, 30n)],
  })
  await runPayouts(deps)
  await runPayouts(deps)
  expect(await kinds()).toEqual(['payout.halted'])
  await givePoints(test, shop.owner, 100n)
  await resumePayout(db, await idOf('raffle'), test.clock.now())
  await runPayouts(deps)
  expect(await kinds()).toEqual(['payout.halted', 'payout.finished'])
  const [halted, finished] = await arrived()
  expect(halted).toMatchObject({
    type: 'payout.halted',
    data: {
      ...{ reference: 'raffle', status: 'halted', reason: 'insufficient', mode: 'each', finished_at: null },
      ...{
        count: 3,
        paid: 1,
        refused: 1,
        pending: 1,
        cancelled: 0,
        amount: 50,
        fee: 3,
        total: 53,
        paid_total: 11,
      },
    },
  })
  expect(finished).toMatchObject({
    type: 'payout.finished',
    data: { status: 'finished', reason: null, paid: 2, pending: 0, paid_total: 42 },
  })
  expect(finished!.data.finished_at).not.toBeNull()
})

it('a payout of all lines that is refused sends payout.finished and no transfer', async () => {
  await start('all', { mode: 'all', lines: [line('a', alice), line('b', bob, 5_000n)] })
  await runPayouts(deps)
  expect((await rows()).map(({ kind }) => kind)).toEqual(['payout.finished'])
  expect(await arrived()).toMatchObject([{ data: { status: 'refused', paid: 0, refused: 1, cancelled: 1 } }])
})

it('neither a cancelled payout nor an application without an address sends any', async () => {
  await start('cancelled', { lines: [line('a', alice)] })
  await cancelPayout(db, await idOf('cancelled'), 'merchant', test.clock.now())
  await setEventsUrl(deps, shop.payment_id, null, { user_id: shop.owner.id, ip: '203.0.113.7' })
  await start('silent', { lines: [line('a', alice)] })
  await runPayouts(deps)
  expect(await findPayout(db, shop.id, 'silent')).toMatchObject({ status: 'finished' })
  expect(await rows()).toEqual([])
})

it('the team finds the event by its payout, and sends it again', async () => {
  await start('again', { lines: [line('a', alice)] })
  await runPayouts(deps)
  await arrived()
  const name = `payout-${await idOf('again')}`
  const browser = await shop.owner.signIn()
  const list = `/payment/applications/${shop.payment_id}/notifications`
  const page = await browser.get(`${list}?transaction_id=${name}`)
  expect(page.body).toContain(messages.en.events.kinds['payout.finished'])
  expect(page.body).toContain('<code>again</code>')
  expect(page.body).not.toContain(messages.en.events.kinds['transfer.completed'])

  const actor = { role: 'team', user_id: shop.owner.id, actor_id: shop.owner.id, ip: '203.0.113.7' } as const
  await redeliver(deps, name, actor)
  expect(await arrived()).toMatchObject([{ type: 'payout.finished', data: { reference: 'again' } }])
  const stranger = { role: 'team', user_id: bob.id } as const
  expect((await readNotifications(db, stranger, { transaction_id: name })).rows).toEqual([])
})
