/** Ends mandates whose last day is over. The clock refuses their charges before that. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

const SWEEP_MAX = 500

/** Ends at most SWEEP_MAX mandates; several processes share the work. Returns the count. */
export async function finishMandates(db: Db, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select finish_mandates(${now}::timestamptz, ${SWEEP_MAX}::integer) as count`.execute(db)
  return rows[0]!.count
}
