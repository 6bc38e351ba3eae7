/**
 * The operators' scripts for backups: a dump under load is restored into an empty database. Its books pass, and it
 * holds every payment that was acknowledged before the dump.
 */
import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/connection.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { POSTGRES_15 } from '../harness/postgres-15.ts'
import { rowOf } from '../harness/rows.ts'
import { until } from '../harness/waiting.ts'
import { type BackupWorld, startBackupWorld } from './backup-world.ts'

describe.skipIf(POSTGRES_15 === undefined)('a backup', () => {
  let world: BackupWorld

  beforeAll(async () => {
    world = await startBackupWorld()
  })
  afterAll(() => world.close())

  let dump: string

  it('runs beside payments, is named when whole, and ends the oldest', async () => {
    const { test, folder, script, startPaying, urlOf } = world
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
    const restored = await world.openTestApp(world.urlOf('restored'))
    expect((await restored.app.inject('/readyz')).statusCode).toBe(200)
    const client = await makePerson(restored, { points: 1n })
    expect((await (await client.signIn()).get('/account')).status).toBe(200)
    await restored.close()
  })

  it('is whole where no dashboard can be told', async () => {
    await world.createDatabases('older')
    const dumped = world.script('backup.sh', ['once'], { PGDATABASE: 'older' })
    await expect(dumped).rejects.toMatchObject({ code: 1, stderr: 'The database is empty\n' })
    const older = openDatabase(world.urlOf('older'), { max: 1, onBroken: () => {} })
    await sql`create table journal ()`.execute(older)
    await older.destroy()
    const { stdout, stderr } = await world.script('backup.sh', ['once'], { PGDATABASE: 'older' })
    expect(stderr).toContain('The dashboard does not know')
    await rm(stdout.trim())
  })

  it('is never restored over what is there', async () => {
    const refused = world.script('restore.sh', [dump], { PGDATABASE: 'restored' })
    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('is not empty') })
  })
})
