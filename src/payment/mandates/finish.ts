/** Ends mandates whose last day is over by the database's time. The clock refuses their charges before that. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'

const SWEEP_MAX = 500

/** Ends at most SWEEP_MAX mandates; several processes share the work. Returns the count. */
export async function finishMandates({
  db,
  databaseTime,
}: Pick<Core, 'db' | 'databaseTime'>): Promise<number> {
  const now = await databaseTime()
  const { rows } = await sql<{ count: number }>`
    select finish_mandates(${now}::timestamptz, ${SWEEP_MAX}::integer) as count`.execute(db)
  return rows[0]!.count
}
