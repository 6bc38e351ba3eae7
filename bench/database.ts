/** Starts the Postgres of a bench: the embedded one with its defaults and fsync on. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../src/database/connection.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/database/embedded/embedded.ts'

/** @param kept a data folder that stays. Without it, a temporary folder is removed at the end. */
export async function startPostgres(kept?: string): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  if (kept !== undefined) await mkdir(kept, { recursive: true })
  const dataDir = kept ?? (await mkdtemp(join(tmpdir(), 'tessera-bench-')))
  // A bench run as root starts Postgres as another user, who must be able to enter the folder.
  await chmod(dataDir, 0o755)
  const { url, stop } = await startEmbedded({ dataDir })
  return {
    url,
    async stop() {
      await stop()
      if (kept === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The pid of the first process of Postgres, whose children are all others. */
export async function postmasterOf(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: string }>`select pg_read_file('postmaster.pid') as pid`.execute(db)
  return Number.parseInt(rows[0]!.pid, 10)
}
