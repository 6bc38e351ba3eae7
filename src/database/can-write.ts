/**
 * Checks that the database takes writes: it is no standby, not read only, and its disk has room. Inserting a row would
 * prove nothing, because the row may fit into an existing page. So the probe makes a list that is too long for its memory.
 * Postgres writes the list to a temporary file beside the tables and removes it.
 */
import { sql } from 'kysely'
import pg from 'pg'
import type { Db } from './connection.ts'

/** How long a result is reused, so that frequent probes of a balancer cost nothing. */
const FRESH_MS = 5_000
/** A list of about a megabyte. */
const NUMBERS = 50_000
/** disk_full and io_error. Postgres reports a disk that is mounted read only as io_error. */
const NO_ROOM = ['53100', '58030']

/** Makes a cached `canWrite`. It throws the error of a database that does not answer. */
export function makeCanWrite(db: Db): () => Promise<boolean> {
  let found: { canWrite: Promise<boolean>; until: number } | undefined
  return () => {
    const now = performance.now()
    if (found === undefined || found.until <= now) {
      found = { canWrite: canWrite(db), until: now + FRESH_MS }
      found.canWrite.catch(() => {
        found = undefined
      })
    }
    return found.canWrite
  }
}

/** Whether the database takes writes and has room. Throws the error of a database that does not answer. */
export async function canWrite(db: Db): Promise<boolean> {
  const { rows } = await sql<{ is_closed: boolean }>`
    select current_setting('transaction_read_only') = 'on' or pg_is_in_recovery() as is_closed`.execute(db)
  return !rows[0]!.is_closed && (await hasRoom(db))
}

/** Whether Postgres can write a megabyte beside the tables. Throws the error of a database that does not answer. */
export async function hasRoom(db: Db): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`set local work_mem = '64kB'`.execute(tx)
      await sql`select count(*) from generate_series(1, ${sql.lit(NUMBERS)})`.execute(tx)
    })
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && NO_ROOM.includes(error.code ?? '')) return false
    throw error
  }
}
