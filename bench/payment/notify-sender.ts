/**
 * The process that sends the notifications of `npm run bench:notify`. It runs the program of the checkout that its argument names,
 * so two versions can be compared. It takes its work from the channel.
 */
import { join } from 'node:path'
import { sql } from 'kysely'

/** What the process does next: pay an order for each of these, send what is due, or stop sending. */
export type Work = { orders: { shop: number; notify_url: string }[] } | 'start' | 'stop'

/** Fewer than the payments that may wait for a batch. */
const PAID_AT_ONCE = 500

const root = process.argv[2]!
const load = async <Module>(path: string) => (await import(join(root, path))) as Module

const { loadConfig } = await load<typeof import('../../src/platform/config.ts')>('src/platform/config.ts')
const { openDatabase } = await load<typeof import('../../src/database/connection.ts')>(
  'src/database/connection.ts',
)
const { migrate } = await load<typeof import('../../src/database/migrate.ts')>('src/database/migrate.ts')
const { openParts } = await load<typeof import('../../src/parts.ts')>('src/parts.ts')
const { makeSecrets } = await load<typeof import('../../src/platform/secrets.ts')>('src/platform/secrets.ts')
const { makePayOrder } =
  await load<typeof import('../../src/payment/orders/pay.ts')>('src/payment/orders/pay.ts')
const { openNotifier } = await load<typeof import('../../src/payment/notifications/worker.ts')>(
  'src/payment/notifications/worker.ts',
)
const { makeWorld } = await load<typeof import('./world.ts')>('bench/payment/world.ts')

const config = loadConfig()
await migrate(config.DATABASE_URL!)
const db = openDatabase(config.DATABASE_URL!, {
  max: config.DATABASE_POOL_MAX,
  onBroken: () => {},
  naming: { isOn: true, onRefused: () => {} },
})
const parts = openParts({ config, db, clock: () => new Date(), secrets: makeSecrets(config.APP_SECRET!) })
const { shops, members } = await makeWorld(parts)
const payOrder = makePayOrder(parts)
const log = { error: console.error } as Parameters<typeof parts.notifier.start>[0]
let { notifier } = parts

/** Makes paid orders of the gateway. Their notifications are due. */
async function pay(orders: Exclude<Work, string>['orders']): Promise<void> {
  const now = new Date()
  const rows = orders.map(({ shop, notify_url }, n) => {
    const { app_id, pid } = shops[shop]!
    const number = `${now.getTime()}${String(n).padStart(6, '0')}`
    return {
      ...({
        app_id,
        door: 'gateway',
        protocol: 'v1',
        pid_sent: String(pid),
        money: '1.00',
        rate: '100',
      } as const),
      ...{ order_id: number, trade_no: number, transaction_id: `txn_${number.padStart(24, '0')}` },
      ...{ description: 'Something of the shop', amount: 100n, notify_url },
      ...{ created_at: now, updated_at: now, expires_at: new Date(now.getTime() + 3_600_000) },
    }
  })
  while (rows.length > 0) {
    const batch = rows.splice(0, PAID_AT_ONCE)
    await db.insertInto('orders').values(batch).execute()
    await Promise.all(
      batch.map(async ({ transaction_id }, n) => {
        // The first members own the shops.
        const payer_id = members.at(-1 - n)!.id
        const outcome = await payOrder({ transaction_id, payer_id, expected_amount: 100n })
        if (outcome !== 'paid') throw new Error(`A payment ended as ${outcome}`)
      }),
    )
  }
  // A plan that was made over an empty table would stay.
  await sql`vacuum analyze`.execute(db)
}

async function work(next: Work): Promise<void> {
  if (next === 'stop') return notifier.stop()
  if (next !== 'start') return pay(next.orders)
  notifier = openNotifier(parts)
  notifier.start(log)
}

process.on('message', async (next: Work) => {
  await work(next)
  const undelivered = await db
    .selectFrom('notifications')
    .where('status', '<>', 'delivered')
    .select('id')
    .execute()
  process.send!(undelivered.length)
})
process.stdout.write('ready\n')
// A regular exit writes the profile. The process also ends when the bench ends.
for (const end of ['SIGTERM', 'disconnect']) process.on(end, () => process.exit(0))
