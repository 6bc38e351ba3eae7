/**
 * Measures our service as it sends notifications, all due at once, to a local receiver. A bare loop of the same HTTP
 * client with as many concurrent calls is the comparison. The receiver measures both.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createUser } from '../../src/accounts/people/users.ts'
import type { Core } from '../../src/core/core.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { applyForPaymentApp } from '../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePlaceOrder } from '../../src/payment/orders/place.ts'
import { cpuSeconds } from '../driver.ts'
import type { ServerProcess } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import type { Calls } from './bare-notifier.ts'

/** A script for `startServer`. */
export const BARE_NOTIFIER = join(import.meta.dirname, 'bare-notifier.ts')
const COUNT = 4_000
/** The concurrent attempts that one host may have. */
const CALLERS = 16
const AMOUNT = 100n
const DAY_MS = 86_400_000
const TARGET = 0.25

type Told = { per_second: number; cpu_us: number }

/** Starts the receiver. It does not count the first fifth of the arrivals. */
async function makeReceiver() {
  let arrived = 0
  let onArrival = () => {}
  const server = createServer((_, response) => {
    response.end('success')
    arrived += 1
    onArrival()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const arrival = (n: number) =>
    new Promise<void>((resolve) => {
      onArrival = () => {
        if (arrived >= n) resolve()
      }
      onArrival()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notify`,
    async measure({ pid }: ServerProcess, count: number, begin: () => unknown): Promise<Told> {
      arrived = 0
      await begin()
      await arrival(Math.floor(count / 5))
      const [start, before, counted] = [performance.now(), await cpuSeconds([pid]), count - arrived]
      await arrival(count)
      const seconds = (performance.now() - start) / 1000
      const cpu_us = (((await cpuSeconds([pid])) - before) * 1e6) / counted
      return { per_second: counted / seconds, cpu_us }
    },
    close: () => server.close(),
  }
}

async function makeShop(deps: Core) {
  const [payer, owner] = await Promise.all(
    ['notify-payer', 'notify-owner'].map((username) =>
      createUser(deps.db, { username, password_hash: 'none', trust_level: 2 }),
    ),
  )
  await grantPoints(deps.db, {
    user_id: payer!,
    amount: 1_000_000_000n,
    reference: 'notify',
    reason: 'bench',
    actor_id: null,
    now: deps.clock(),
  })
  const app = await applyForPaymentApp(deps, {
    applicant_id: owner!,
    name: 'Shop that is told',
    description: '',
    callback_url: 'https://shop.example/paid',
  })
  const { payment_id } = app
  await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: owner! })
  return { app, payer: payer! }
}

type Shop = Awaited<ReturnType<typeof makeShop>>

/** Pays orders of V1, whose notifications are due tomorrow. Returns a function that makes them due now. */
async function payOrders(deps: Core, { app, payer }: Shop, notify_url: string, count: number) {
  const later: Core = { ...deps, clock: () => new Date(Date.now() + DAY_MS) }
  const pay = makePayOrder(later)
  let made = 0
  const placeOrder = makePlaceOrder(later)
  const caller = async () => {
    while (made++ < count) {
      const { transaction_id } = await placeOrder({
        app_id: app.id,
        order_id: crypto.randomUUID(),
        description: 'Something of the shop',
        amount: AMOUNT,
        gateway: {
          trade_no: String(process.hrtime.bigint()),
          protocol: 'v1',
          pid_sent: String(app.pid),
          money: '1.00',
          rate: '100',
          type: 'alipay',
          param: null,
          notify_url,
          return_url: null,
        },
      })
      const outcome = await pay({ transaction_id, payer_id: payer, expected_amount: AMOUNT })
      if (outcome !== 'paid') throw new Error(`A payment ended as ${outcome}`)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return () =>
    deps.db
      .updateTable('notifications')
      .set({ next_attempt_at: new Date() })
      .where('status', '=', 'due')
      .execute()
}

type Options = { deps: Core; ours: ServerProcess; bare: ServerProcess; rounds: number; scale: number }

/** Runs the rounds and prints their medians. The settings must allow the service to call loopback. */
export async function compareNotifications({ deps, ours, bare, rounds, scale }: Options): Promise<void> {
  const shop = await makeShop(deps)
  const receiver = await makeReceiver()
  const count = Math.ceil(COUNT * scale)
  const told: { ours: Told[]; bare: Told[] } = { ours: [], bare: [] }
  // Round 0 is a warm-up and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const begin = await payOrders(deps, shop, receiver.url, count)
    const sides = {
      ours: () => receiver.measure(ours, count, begin),
      bare: () => {
        const calls: Calls = { url: receiver.url, callers: CALLERS, count }
        return receiver.measure(bare, count, () => bare.process.send(calls))
      },
    }
    for (const side of (['ours', 'bare'] as const).toSorted(() => (round % 2 === 0 ? 1 : -1))) {
      const measured = await sides[side]()
      if (round > 0) told[side].push(measured)
    }
  }
  receiver.close()
  print(told)
}

function print({ ours, bare }: { ours: Told[]; bare: Told[] }): void {
  console.log('\n| | notifications/s | CPU µs of the process |\n|---|---|---|')
  for (const [name, side] of [
    ['notify', ours],
    ['bare loop of its HTTP client', bare],
  ] as const) {
    const rate = spread(side.map(({ per_second }) => per_second))
    console.log(`| ${name} | ${rate} | ${spread(side.map(({ cpu_us }) => cpu_us))} |`)
  }
  const ratios = ours.map(({ per_second }, round) => per_second / bare[round]!.per_second)
  const isMet = median(ratios) >= TARGET
  console.log('\n| | ratio | target | met |\n|---|---|---|---|')
  console.log(
    `| notifications/s, notify ÷ bare loop | ${spread(ratios, 2)} | ≥ ${TARGET} | ${isMet ? 'yes' : 'no'} |`,
  )
}
