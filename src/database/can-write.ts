/**
 * Whether the database takes writes: it is no standby, not read only, and has room on its disk. A row more would not tell,
 * because it fits into a page that is there already. So the probe asks for new room: a list that is too long for its
 * memory, which Postgres keeps in a temporary file beside the tables. It leaves nothing behind.
 */
import { sql } from 'kysely'
import pg from 'pg'
import type { Db } from './connection.ts'

/** How long a finding holds, so that probes cost nothing however often a balancer asks. */
const HOLDS_MS = 5_000
/** A list of about a megabyte. */
const NUMBERS = 50_000
/** No room on the disk, and an error of the disk: also of one that is mounted read only. */
const NO_ROOM = ['53100', '58030']

/** Makes the question of this process. It throws what keeps the database from answering at all. */
export function makeCanWrite(db: Db): () => Promise<boolean> {
  let found: { canWrite: Promise<boolean>; until: number } | undefined
  return () => {
    const now = performance.now()
    if (found === undefined || found.until <= now) {
      found = { canWrite: canWrite(db), until: now + HOLDS_MS }
      found.canWrite.catch(() => {
        found = undefined
      })
    }
    return found.canWrite
  }
}

export async function canWrite(db: Db): Promise<boolean> {
  const { rows } = await sql<{ is_closed: boolean }>`
    select current_setting('transaction_read_only') = 'on' or pg_is_in_recovery() as is_closed`.execute(db)
  return !rows[0]!.is_closed && (await hasRoom(db))
}

/** Whether a megabyte can be written where the tables are. */
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
