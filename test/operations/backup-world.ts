/** A site on the oldest supported Postgres, for the operators' scripts of backup and restore. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { expect } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { ensureSigningKeys } from '../../src/identity/keys/rotation.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePlaceOrder } from '../../src/payment/orders/place.ts'
import { openApplication } from '../harness/application.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { START } from '../harness/global-setup.ts'
import type { TestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { POSTGRES_15, startPostgres15 } from '../harness/postgres-15.ts'
import { longTimeouts } from '../harness/role-timeouts.ts'
import { rowOf } from '../harness/rows.ts'
import { ROOT } from '../harness/server-process.ts'

const AT_ONCE = 4
const execute = promisify(execFile)

export type BackupWorld = Awaited<ReturnType<typeof startBackupWorld>>

/** Starts a Postgres with the databases `tessera`, which a site uses, and `restored`, which is empty. */
export async function startBackupWorld() {
  const postgres = await startPostgres15(POSTGRES_15!)
  const folder = await mkdtemp(join(tmpdir(), 'tessera-backup-'))
  const urlOf = (database: string) => `postgres://tessera@127.0.0.1:${postgres.port}/${database}`

  async function createDatabases(...names: string[]): Promise<void> {
    const admin = new pg.Client({ connectionString: urlOf('postgres') })
    await admin.connect()
    for (const name of names)
      for (const statement of [`create database ${name} template template0`, ...longTimeouts(name)])
        await admin.query(statement)
    await admin.end()
  }

  async function openTestApp(url: string): Promise<TestApp> {
    await migrate(url)
    const clock = { now: () => START, advance: () => {} }
    const env = { DATA_DIR: folder, DATABASE_POOL_MAX: '8' }
    const { app, deps, close } = await openApplication(url, { env, clock: clock.now })
    await ensureSigningKeys(deps)
    return { app, deps, db: deps.db, url, clock, startNotifier: () => deps.notifier.start(app.log), close }
  }

  await createDatabases('tessera', 'restored')
  const test = await openTestApp(urlOf('tessera'))

  return {
    test,
    folder,
    urlOf,
    createDatabases,
    openTestApp,
    startPaying: makePaying(test, await makeMerchant(test), await makePerson(test, { points: 10_000_000n })),
    /** Runs a script of docs/operations with these words. It gets nothing of the environment but the database and `env`. */
    script(name: string, words: string[], env: Record<string, string> = {}) {
      return execute('/bin/sh', [join(ROOT, 'docs/operations', name), ...words], {
        env: {
          PATH: `${POSTGRES_15}:/usr/bin:/bin`,
          PGHOST: '127.0.0.1',
          PGPORT: String(postgres.port),
          PGUSER: 'tessera',
          PGDATABASE: 'tessera',
          BACKUP_DIR: folder,
          ...env,
        },
      })
    },
    async close() {
      await test.close()
      await postgres.stop()
      await rm(folder, { recursive: true })
    },
  }
}

function makePaying(test: TestApp, merchant: Merchant, buyer: Person) {
  let orders = 0
  /** Pays orders, several at a time, until it is stopped; `paid` are the acknowledged ones. */
  return async () => {
    const { id: app_id } = await rowOf(test, 'payment_apps', { payment_id: merchant.payment_id }, ['id'])
    const [place, pay] = [makePlaceOrder(test.deps), makePayOrder(test.deps)]
    const paid: string[] = []
    let isOver = false
    const loop = async () => {
      while (!isOver) {
        orders += 1
        const order = { app_id, order_id: `order-${orders}`, description: 'Tea', amount: 10n }
        const { transaction_id } = await place(order)
        expect(await pay({ transaction_id, payer_id: buyer.id, expected_amount: 10n })).toBe('paid')
        paid.push(transaction_id)
      }
    }
    const loops = Promise.all(Array.from({ length: AT_ONCE }, loop))
    const stop = () => {
      isOver = true
      return loops
    }
    return { paid, stop }
  }
}
