/** What can grant nothing any more is forgotten: codes and tokens past their time, and families that have ended. */
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'

const DAY_MS = 86_400_000
/** Rows of one statement, so that no round holds locks for long. */
const BATCH = 5_000

/**
 * One batch of each a round; safe in any number of processes. A spent code is kept for a day, so that its replay is
 * recognised, and a used refresh token for as long as its family lives.
 */
export async function forgetSpentCredentials({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock().getTime() - DAY_MS)
  for (const table of ['access_tokens', 'grants', 'authorization_codes'] as const) {
    await sql`
      delete from ${sql.table(table)} where id in (
        select id from ${sql.table(table)} where expires_at < ${before} order by expires_at limit ${BATCH} for update skip locked
      )`.execute(db)
  }
}
