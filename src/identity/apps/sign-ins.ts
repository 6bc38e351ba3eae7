/** Counts the sign-ins of an application for its owner. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { dayIn, daysLater, startOfLastDays } from '../../web/periods/days.ts'

/** The longest life of the tokens of a sign-in, in days. Its grant is kept for as long, so the days before are unknown. */
export const SIGN_IN_DAYS = 30

const LIFE = sql`make_interval(days => ${SIGN_IN_DAYS}::integer)`

export type SignIns = {
  /** Each of the last 30 days in the time zone of the site, the oldest first. */
  days: { day: string; count: number }[]
  total: number
  last: Date | undefined
}

/** Counts the sign-ins for which the application got tokens: by a code, and on a device. spec/registry 3.1. */
export async function signInsOf(
  db: Db,
  app_id: bigint,
  { zone, now }: { zone: string; now: Date },
): Promise<SignIns> {
  const start = startOfLastDays(zone, now, SIGN_IN_DAYS)
  const moment = sql<Date>`(expires_at - ${LIFE})`
  const rows = await db
    .selectFrom('grants')
    .select([
      sql<string>`to_char(${moment} at time zone ${zone}, 'YYYY-MM-DD')`.as('day'),
      sql<number>`count(*)::integer`.as('count'),
      sql<Date>`max(${moment})`.as('last'),
    ])
    .where('app_id', '=', app_id)
    .where('expires_at', '>=', sql<Date>`${start}::timestamptz + ${LIFE}`)
    .groupBy(sql`1`)
    .execute()
  const counts = new Map(rows.map(({ day, count }) => [day, count]))
  const first = dayIn(zone, start)
  const days = Array.from({ length: SIGN_IN_DAYS }, (_, i) => daysLater(first, i))
  return {
    days: days.map((day) => ({ day, count: counts.get(day) ?? 0 })),
    total: rows.reduce((sum, { count }) => sum + count, 0),
    last: rows.reduce<Date | undefined>(
      (latest, { last }) => (latest && latest > last ? latest : last),
      undefined,
    ),
  }
}
