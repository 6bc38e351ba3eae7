/**
 * A backup goes to an S3-compatible server over TLS, encrypted, and comes back on a second Postgres with all that was
 * acknowledged. A part of .ci/run runs this file with BUCKET, and installs restic and s3rver (`npm ci` in the folder `bucket`).
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/connection.ts'
import { certificateOf } from '../harness/certificate.ts'
import { freePort } from '../harness/free-port.ts'
import { APP_SECRET } from '../harness/global-setup.ts'
import { POSTGRES_15, startPostgres15 } from '../harness/postgres-15.ts'
import { rowOf } from '../harness/rows.ts'
import { ROOT } from '../harness/server-process.ts'
import { until } from '../harness/waiting.ts'
import { type BackupWorld, startBackupWorld } from './backup-world.ts'

const S3RVER = join(import.meta.dirname, 'bucket/node_modules/s3rver/bin/s3rver.js')
const isMissing = !existsSync(S3RVER) || spawnSync('restic', ['version']).error !== undefined
const isLeft = process.env.BUCKET !== 'true' || (isMissing && process.env.CI !== 'true')

describe.skipIf(isLeft)('a backup in a bucket (BUCKET=true, with restic and s3rver)', () => {
  let world: BackupWorld
  let server: ChildProcess
  let bucket: Record<string, string>
  let dumps: string[]

  beforeAll(async () => {
    world = await startBackupWorld()
    dumps = []
    const { folder } = world
    const port = await freePort()
    const { key, cert } = certificateOf('127.0.0.1')
    const at = (name: string) => join(folder, name)
    await mkdir(at('s3'))
    await Promise.all([writeFile(at('key.pem'), key), writeFile(at('cert.pem'), cert)])
    server = spawn(process.execPath, [
      ...[
        S3RVER,
        '--directory',
        at('s3'),
        '--address',
        '127.0.0.1',
        '--port',
        String(port),
        '--no-vhost-buckets',
      ],
      ...['--key', at('key.pem'), '--cert', at('cert.pem'), '--configure-bucket', 'backups'],
    ])
    let said = ''
    server.stdout!.on('data', (chunk) => (said += chunk))
    await until(() => said.includes('listening'))
    bucket = {
      RESTIC_REPOSITORY: `s3:https://127.0.0.1:${port}/backups/site`,
      RESTIC_PASSWORD: 'a password that the bucket does not hold',
      RESTIC_CACHE_DIR: at('cache'),
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      SSL_CERT_FILE: at('cert.pem'),
      TESSERA: `${process.execPath} ${join(ROOT, 'src/cli/tessera.js')}`,
      APP_SECRET,
    }
  })
  afterAll(async () => {
    server.kill()
    await once(server, 'exit')
    await world.close()
  })

  const restic = (words: string[], options: { input?: string } = {}) =>
    execFileSync('restic', words, { env: { ...bucket, PATH: process.env.PATH }, ...options })

  const lastBackup = () =>
    rowOf(world.test, 'last_backup', {}, ['finished_at', 'has_bucket', 'sent_at', 'proven_at'])

  async function pay(count: number): Promise<string[]> {
    const { paid, stop } = await world.startPaying()
    await until(() => paid.length >= count)
    await stop()
    return paid
  }

  it('is sent encrypted, and rotates by days', async () => {
    const none = world.script('backup.sh', ['once'], { ...bucket, RESTIC_PASSWORD: '' })
    await expect(none).rejects.toMatchObject({ stderr: expect.stringContaining('Set RESTIC_PASSWORD') })
    await pay(20)
    dumps.push((await world.script('backup.sh', ['once'], bucket)).stdout.split('\n').find(isDump)!)
    const { finished_at, has_bucket, sent_at } = await lastBackup()
    expect({ has_bucket, sent_at }).toEqual({ has_bucket: true, sent_at: finished_at })

    const stored = await readdir(join(world.folder, 's3'), { recursive: true, withFileTypes: true })
    const files = stored.filter((entry) => entry.isFile())
    const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))
    expect((await readFile(dumps[0]!, 'latin1')).startsWith('PGDMP')).toBe(true)
    expect(texts.filter((text) => /PGDMP|a password that/.test(text))).toEqual([])

    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    for (const time of [`${day(20)} 03:00:00`, `${day(10)} 03:00:00`, `${day(10)} 09:00:00`])
      restic(['backup', '--host=tessera', `--time=${time}`, '--stdin', '--stdin-filename=tessera.dump'], {
        input: time,
      })
    await pay(20)
    const { stdout } = await world.script('backup.sh', ['once'], { ...bucket, BACKUP_SENT_DAYS: '15' })
    dumps.push(stdout.split('\n').find(isDump)!)
    const kept = JSON.parse(String(restic(['snapshots', '--json']))) as { time: string; tags?: string[] }[]
    expect(kept.map(({ time, tags }) => tags?.[0] ?? time.slice(0, 16).replace('T', ' '))).toEqual([
      `${day(10)} 09:00`,
      ...dumps.map((dump) => dump.slice(world.folder.length + 1)),
    ])
  })

  it('restores on a second server in one command, the newest or a named one', async () => {
    const second = await startPostgres15(POSTGRES_15!)
    const restored = async (PGDATABASE: string, words: string[]) => {
      await world.script('restore.sh', words, { ...bucket, PGPORT: String(second.port), PGDATABASE })
      const url = `postgres://tessera@127.0.0.1:${second.port}/${PGDATABASE}`
      const db = openDatabase(url, { max: 1, onBroken: () => {} })
      const { rows } = await sql<{
        count: bigint
      }>`select count(*) from orders where status = 'paid'`.execute(db)
      await db.destroy()
      return rows[0]!.count
    }
    const { rows } = await sql<{ count: bigint }>`select count(*) from orders where status = 'paid'`.execute(
      world.test.db,
    )
    const newest = rows[0]!.count
    expect(newest).toBeGreaterThanOrEqual(40n)
    expect(await restored('tessera', ['bucket'])).toBe(newest)
    const first = await restored('first', ['bucket', dumps[0]!.slice(world.folder.length + 1)])
    expect(first).toBeGreaterThanOrEqual(20n)
    expect(first).toBeLessThan(newest)
    await expect(restored('tessera', ['bucket'])).rejects.toMatchObject({
      stderr: expect.stringContaining('is not empty'),
    })
    await expect(restored('none', ['bucket', 'tessera-20200101T000000Z.dump'])).rejects.toMatchObject({
      code: 1,
    })
    await second.stop()
  })

  it('proves its books in a database that is dropped again, and says when it does not', async () => {
    const { test } = world
    const databases = async () => {
      const { rows } = await sql<{ datname: string }>`select datname from pg_database`.execute(test.db)
      return rows.map(({ datname }) => datname)
    }
    const { stdout } = await world.script('backup.sh', ['check'], bucket)
    expect(stdout).toContain('The books pass.')
    const { proven_at } = await lastBackup()
    expect(proven_at).not.toBeNull()
    expect(await databases()).not.toContain('tessera_check')

    await test.db.connection().execute(async (one) => {
      await sql`set session_replication_role = replica`.execute(one)
      await sql`update entries set amount = amount + 1 where id = (select max(id) from entries)`.execute(one)
      await sql`set session_replication_role = origin`.execute(one)
    })
    await world.script('backup.sh', ['once'], bucket)
    await expect(world.script('backup.sh', ['check'], bucket)).rejects.toMatchObject({
      stdout: expect.stringContaining('The books do NOT pass.'),
      stderr: expect.stringContaining('does NOT prove itself'),
    })
    expect((await lastBackup()).proven_at).toEqual(proven_at)
  })

  it('stays whole on the machine when the bucket refuses it', async () => {
    const before = await lastBackup()
    const failed = await world
      .script('backup.sh', ['once'], { ...bucket, RESTIC_PASSWORD: 'another' })
      .catch((error) => error)
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('the bucket did not take it') })
    const after = await lastBackup()
    expect(after.sent_at).toEqual(before.sent_at)
    expect(after.finished_at.getTime()).toBeGreaterThan(before.finished_at.getTime())
    await rm(failed.stdout.trim())
  })
})

const isDump = (line: string) => line.endsWith('.dump')
