/** The parts of a test of notifications: a merchant, a payer, a receiver that is a real server, and names for it. */
import { expect } from 'vitest'
import { type Notification, readNotifications } from '../../src/payment/notifications/redelivery.ts'
import { openNotifier } from '../../src/payment/notifications/worker.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePerson, type Person } from './cast.ts'
import { type DnsServer, startDnsServer } from './dns-server.ts'
import { startTestApp, type TestApp } from './harness.ts'
import { type Merchant, makeMerchant } from './merchant.ts'
import { makeGatewayOrders, type Received, type Receiver, startReceiver } from './notify-receiver.ts'
import { until } from './waiting.ts'

type OrderOptions = { count?: number; protocol?: 'v1' | 'v2'; of?: Merchant }

type Attempts = Notification['log']

export type NotifyWorld = {
  test: TestApp
  dns: DnsServer
  receiver: Receiver
  merchant: Merchant
  buyer: Person
  /** Pays orders with notifications to an address, without waking the worker. Returns their transaction IDs. */
  payOrders(notify_url: string, options?: OrderOptions): Promise<string[]>
  payOne(notify_url: string, options?: OrderOptions): Promise<string>
  rowsOf(transaction_ids: string[]): ReturnType<typeof readRows>
  rowOf(transaction_id: string): Promise<Awaited<ReturnType<typeof readRows>>[number]>
  /** The attempts made so far, oldest first. */
  attemptsOf(transaction_id: string): Promise<Attempts>
  /** Wakes the worker, and waits until each of these has this many attempts in its present schedule. */
  told(transaction_ids: string[], attempts?: number): Promise<void>
  /** Pays an order, waits for one attempt, and returns it. */
  outcomeAt(notify_url: string): Promise<Attempts[number]>
  /**
   * Resolves when every notification that was due at the call has been claimed, because one claim covers all hosts.
   */
  everybodyElseIsTold(): Promise<void>
  requestsTo(path: string): Received[]
  close(): Promise<void>
}

function readRows({ db }: TestApp, transaction_ids: string[]) {
  return db
    .selectFrom('notifications')
    .innerJoin('orders', 'orders.id', 'notifications.order_id')
    .where('orders.transaction_id', 'in', transaction_ids)
    .selectAll('notifications')
    .select('orders.transaction_id')
    .execute()
}

/** @param timeout_ms the time limit of an attempt. The default is 10 seconds. */
export async function startNotifyWorld({
  env,
  ...limits
}: {
  timeout_ms?: number
  env?: Record<string, string>
} = {}): Promise<NotifyWorld> {
  const [dns, receiver] = await Promise.all([startDnsServer(), startReceiver()])
  const test = await startTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8', ...env })
  test.deps.notifier = openNotifier(test.deps, { resolver: dns.resolver, ...limits })
  const merchant = await makeMerchant(test)
  const buyer = await makePerson(test, { points: 1_000_000n })
  const pay = makePayOrder(test.deps)
  test.deps.notifier.start(test.app.log)

  const world: NotifyWorld = {
    test,
    dns,
    receiver,
    merchant,
    buyer,
    async payOrders(notify_url, { of = merchant, ...rest } = {}) {
      const ids = await makeGatewayOrders(test, of, { notify_url, ...rest })
      const outcomes = await Promise.all(
        ids.map((transaction_id) => pay({ transaction_id, payer_id: buyer.id, expected_amount: 100n })),
      )
      expect(new Set(outcomes)).toEqual(new Set(['paid']))
      return ids
    },
    async payOne(notify_url, rest) {
      const [transaction_id] = await world.payOrders(notify_url, rest)
      return transaction_id!
    },
    rowsOf: (transaction_ids) => readRows(test, transaction_ids),
    async rowOf(transaction_id) {
      const [row] = await readRows(test, [transaction_id])
      return row!
    },
    async attemptsOf(transaction_id) {
      const [read] = (await readNotifications(test.db, { role: 'administrator' }, { transaction_id }, 1)).rows
      return read!.log
    },
    async told(transaction_ids, attempts = 1) {
      test.deps.notifier.nudge()
      const areTold = async () =>
        (await world.rowsOf(transaction_ids)).every(
          (row) => row.attempts >= attempts && row.claimed_until === null,
        )
      await until(areTold)
    },
    async outcomeAt(notify_url) {
      const transaction_id = await world.payOne(notify_url)
      await world.told([transaction_id])
      const [attempt] = await world.attemptsOf(transaction_id)
      return attempt!
    },
    async everybodyElseIsTold() {
      await world.told([await world.payOne(`${receiver.url}/everybody-else`)])
    },
    requestsTo: (path) => receiver.received.filter((request) => request.path === path),
    async close() {
      await test.close()
      await Promise.all([receiver.close(), dns.close()])
    },
  }
  return world
}
