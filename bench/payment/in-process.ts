/**
 * The upper limit of the database: it calls the batch functions as the server does, with as many callers, but without
 * HTTP, signatures, sessions or pages. It is a process of its own, and takes its work from the channel.
 */

import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { makePayOrder, type Payment } from '../../src/payment/orders/pay.ts'
import { makePostTransfer, type TransferRequest } from '../../src/payment/orders/transfers.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { type Measured, measureCalls } from '../driver.ts'

export type Acts = { act: 'pay'; items: Payment[] } | { act: 'transfer'; items: TransferRequest[] }
export type Task = { callers: number; uncounted: number; postmaster: number; acts: Acts }

const config = loadConfig()
const db = openDatabase(config.DATABASE_URL!, { max: config.DATABASE_POOL_MAX, onBroken: () => {} })
const deps = { config, db, clock: () => new Date(), settings: openSettings(db) } as Core
const payOrder = makePayOrder(deps)
const postTransfer = makePostTransfer(deps)

process.on('message', async (task: Task) => {
  process.send!(await measure(task))
})
process.stdout.write('ready\n')
// A regular exit writes the profile. The process also ends when the bench ends.
for (const end of ['SIGTERM', 'disconnect']) process.on(end, () => process.exit(0))

function measure({ acts, ...how }: Task): Promise<Measured> {
  if (acts.act === 'transfer') return drive(acts.items, how, postTransfer)
  return drive(acts.items, how, async (payment) => {
    const outcome = await payOrder(payment)
    if (outcome !== 'paid') throw new Error(`A payment ended as ${outcome}`)
  })
}

function drive<Item>(
  items: Item[],
  how: Omit<Task, 'acts'>,
  act: (item: Item) => Promise<unknown>,
): Promise<Measured> {
  const count = items.length
  return measureCalls({ ...how, count, pids: [process.pid], call: (_, n) => act(items[n]!) })
}
