/**
 * Two Postgres 15 on loopback: a primary that acknowledges a commit once the standby has it on disk too, and that standby.
 */
import { chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../../src/database/connection.ts'
import { startServer } from '../../src/database/embedded/server.ts'
import { run, serverUser } from '../../src/database/embedded/user.ts'
import { ask, postmaster } from '../../test/faults/world.ts'
import { makeScratchFolder } from '../../test/harness/scratch.ts'
import { until } from '../../test/harness/waiting.ts'

export type Replicated = {
  /** The database on the server that is the primary now. */
  url(): string
  /** Kills the primary, makes the standby the primary, and gives it no standby of its own. */
  failOver(): Promise<void>
  close(): Promise<void>
}

export async function startReplicated(bin: string): Promise<Replicated> {
  const folder = await makeScratchFolder()
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  const user = await serverUser(folder)
  for (const data of [first, second]) {
    await mkdir(data, { mode: 0o700 })
    if (user !== undefined) await chown(data, user.uid, user.gid)
  }
  const options = ['--username=tessera', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8']
  await run(join(bin, 'initdb'), ['-D', first, ...options], { user })
  const settings = { wal_level: 'replica', hot_standby: 'on' }
  const primary = await startServer({ data: first, bin, user }, { settings })
  const urlAt = (port: number) => `postgres://tessera@127.0.0.1:${port}/postgres`
  let url = urlAt(primary.port)

  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'tessera']
  await run(join(bin, 'pg_basebackup'), [...from, '-D', second, '-R', '-X', 'stream', '-c', 'fast'], { user })
  const standby = await startServer({ data: second, bin, user }, { settings })
  // Only now: before there is a standby, no commit would end.
  await ask(url, async (db) => {
    await sql`alter system set synchronous_standby_names = '*'`.execute(db)
    await sql`select pg_reload_conf()`.execute(db)
    await until(() => hasSynchronousStandby(db))
  })
  return {
    url: () => url,
    async failOver() {
      process.kill(await ask(url, postmaster), 'SIGKILL')
      url = urlAt(standby.port)
      await ask(url, (db) => sql`select pg_promote(wait => true)`.execute(db))
    },
    async close() {
      await standby.stop()
      await primary.stop()
      await rm(folder, { recursive: true })
    },
  }
}

async function hasSynchronousStandby(db: Db): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_replication where sync_state = 'sync'`.execute(db)
  return rows.length === 1
}
