/**
 * Notifications that are due all at once, told by our service to a local receiver, beside a bare loop of the same HTTP
 * client with as many calls under way. Both are measured where they arrive. `npm run bench:gateway -- --only notify`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createUser } from '../../src/accounts/users.ts'
import type { Deps } from '../../src/deps.ts'
import { grantPoints } from '../../src/ledger/post.ts'
import { applyForPaymentApp, reviewPaymentApp } from '../../src/payment/applications.ts'
import { cpuSeconds } from '../driver.ts'
import type { ServerProcess } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import type { Calls } from './bare-notifier.ts'

export const BARE_NOTIFIER = join(import.meta.dirname, 'bare-notifier.ts')
const COUNT = 4_000
/** As many attempts as one host may have under way. */
const CALLERS = 16
const AMOUNT = 100
const TARGET = 0.25

type Told = { per_second: number; cpu_us: number }

/** Measures from after a first fifth to the end of what arrives. */
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
      onArrival = () => arrived >= n && resolve()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notify`,
    async measure({ pid }: ServerProcess, count: number, begin: () => Promise<unknown>): Promise<Told> {
      arrived = 0
      const uncounted = Math.floor(count / 5)
      const first = arrival(uncounted)
      await begin()
      await first
      const [start, before] = [performance.now(), await cpuSeconds(pid)]
      const counted = count - arrived
      await arrival(count)
      const seconds = (performance.now() - start) / 1000
      const cpu_us = (((await cpuSeconds(pid)) - before) * 1e6) / counted
      return { per_second: counted / seconds, cpu_us }
    },
    close: () => server.close(),
  }
}

async function makeParties(deps: Deps) {
  const [buyer, owner] = await Promise.all(
    ['notified buyer', 'notified owner'].map((username) =>
      createUser(deps.db, { username: username.replace(' ', '-'), password_hash: 'none', trust_level: 2 }),
    ),
  )
  const now = deps.clock()
  const grant = { amount: 1_000_000_000n, reference: 'notify', reason: 'bench', actor_id: null, now }
  await grantPoints(deps.db, { ...grant, user_id: buyer! })
  const callback_url = 'https://shop.example/paid'
  const app = await applyForPaymentApp(deps, {
    applicant_id: owner!,
    name: 'Shop',
    description: '',
    callback_url,
  })
  const { payment_id } = app
  await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: owner! })
  return { app, buyer: buyer! }
}

/** Orders that are paid, and told of once `begin` is called. */
async function payOrders(
  { db }: Deps,
  { app, buyer }: Awaited<ReturnType<typeof makeParties>>,
  notify_url: string,
  count: number,
): Promise<() => Promise<unknown>> {
  const later = new Date(Date.now() + 86_400_000)
  await sql`
    with made as (
      insert into orders (
        app_id, door, order_id, transaction_id, description, amount, expires_at, trade_no, protocol, pid_sent, money,
        rate, notify_url
      )
      select ${app.id}::bigint, 'gateway', gen_random_uuid(), 'txn_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 24),
        'Tea', ${AMOUNT}::bigint, ${later}::timestamptz + interval '1 hour', floor(random() * 1e19)::numeric(20)::text,
        'v1', ${String(app.pid)}, '1.00', 100, ${notify_url}
      from generate_series(1, ${count}::integer)
      returning transaction_id
    )
    select transaction_id into temporary made_orders from made`.execute(db)
  return async () => undefined
}
