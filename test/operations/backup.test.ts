/**
 * The operators' scripts for backups: a dump under load is restored into an empty database. Its books pass, and it
 * holds every payment that was acknowledged before the dump.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { ensureSigningKeys } from '../../src/identity/keys/rotation.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePlaceOrder } from '../../src/payment/orders/place.ts'
import { openApplication } from '../harness/application.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { START } from '../harness/global-setup.ts'
import type { TestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { POSTGRES_15, startPostgres15 } from '../harness/postgres-15.ts'
import { longTimeouts } from '../harness/role-timeouts.ts'
import { rowOf } from '../harness/rows.ts'
import { ROOT } from '../harness/server-process.ts'
import { until } from '../harness/waiting.ts'

const AT_ONCE = 4
const execute = promisify(execFile)

describe.skipIf(POSTGRES_15 === undefined)('a backup', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres15>>
  let test: TestApp
  let folder: string
  let merchant: Merchant
  let buyer: Person
  let orders = 0

  beforeAll(async () => {
    postgres = await startPostgres15(POSTGRES_15!)
    folder = await mkdtemp(join(tmpdir(), 'tessera-backup-'))
    await createDatabases('tessera', 'restored')
    test = await openTestApp(urlOf('tessera'))
    merchant = await makeMerchant(test)
    buyer = await makePerson(test, { points: 10_000_000n })
  })
  afterAll(async () => {
    await test.close()
    await postgres.stop()
    await rm(folder, { recursive: true })
  })

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

  function script(name: string, words: string[], env: Record<string, string> = {}) {
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
  }

  /** Pays orders, several at a time, until it is told to stop; `paid` are those that were acknowledged. */
  async function startPaying() {
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

  let dump: string

  it('runs beside payments, is named when whole, and ends the oldest', async () => {
    const old = join(folder, 'tessera-20200101T000000Z.dump')
    await writeFile(old, 'old')
    await utimes(old, 1_577_836_800, 1_577_836_800)
    await expect(script('backup.sh', ['once'], { PGDATABASE: 'none' })).rejects.toMatchObject({ code: 1 })
    expect(await readdir(folder)).toEqual(['tessera-20200101T000000Z.dump'])

    const { paid, stop } = await startPaying()
    await until(() => paid.length >= 40)
    const before = [...paid]
    const began = Math.floor(Date.now() / 1_000) * 1_000
    const { stdout } = await script('backup.sh', ['once'])
    await stop()
    expect(paid.length).toBeGreaterThan(before.length)
    dump = stdout.trim()
    expect(await readdir(folder)).toEqual([dump.slice(folder.length + 1)])
    const { mode, size } = await stat(dump)
    expect(mode & 0o777).toBe(0o600)
    const told = await rowOf(test, 'last_backup', {}, ['finished_at', 'bytes'])
    expect(told.bytes).toBe(BigInt(size))
    expect(told.finished_at.getTime()).toBeGreaterThanOrEqual(began)
    expect(told.finished_at.getTime()).toBeLessThanOrEqual(Date.now())

    await script('restore.sh', [dump], { PGDATABASE: 'restored' })
    const db = openDatabase(urlOf('restored'), { max: 2, onBroken: () => {} })
    await expectSoundBooks(db)
    const kept = await db.selectFrom('orders').where('status', '=', 'paid').select('transaction_id').execute()
    const known = new Set(kept.map(({ transaction_id }) => transaction_id))
    expect(before.filter((transaction_id) => !known.has(transaction_id))).toEqual([])
    await db.destroy()
  })

  it('serves: the service starts on the restored database, and takes payments', async () => {
    const restored = await openTestApp(urlOf('restored'))
    expect((await restored.app.inject('/readyz')).statusCode).toBe(200)
    const client = await makePerson(restored, { points: 1n })
    expect((await (await client.signIn()).get('/account')).status).toBe(200)
    await restored.close()
  })

  it('is whole where no dashboard can be told', async () => {
    await createDatabases('older')
    const { stdout, stderr } = await script('backup.sh', ['once'], { PGDATABASE: 'older' })
    expect(stderr).toContain('the dashboard does not know')
    await rm(stdout.trim())
  })

  it('is never restored over what is there', async () => {
    const refused = script('restore.sh', [dump], { PGDATABASE: 'restored' })
    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('is not empty') })
  })
})
