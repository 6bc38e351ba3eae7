/** The times that a list can be limited to, in days of the site's time zone. */
import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'

export const PERIODS = ['today', 'week', 'days30', 'month', 'lastMonth', 'year'] as const
export type Period = (typeof PERIODS)[number]

/** The parameters of a time in the address of a list. Invalid ones are ignored, as in src/web/lists.ts. */
export const PeriodAsked = z.object({
  period: z.enum(PERIODS).optional().catch(undefined),
  from: z.iso.date().optional().catch(undefined),
  until: z.iso.date().optional().catch(undefined),
})
export type PeriodAsked = z.output<typeof PeriodAsked>

export type Span = { from: RawBuilder<Date> | undefined; until: RawBuilder<Date> | undefined }

/** Returns the moments in which a time begins and ends. Days that the member chose come before a named time. */
export function spanOf(
  { period, from, until }: PeriodAsked,
  { now, zone }: { now: Date; zone: string },
): Span {
  const local = sql`(${now}::timestamptz at time zone ${zone})`
  const at = (moment: RawBuilder<unknown>) => sql<Date>`((${moment}) at time zone ${zone})`
  const midnight = (day: string) => sql`${day}::date::timestamp`
  if (from !== undefined || until !== undefined) {
    return {
      from: from === undefined ? undefined : at(midnight(from)),
      until: until === undefined ? undefined : at(sql`${midnight(until)} + interval '1 day'`),
    }
  }
  const today = sql`date_trunc('day', ${local})`
  const month = sql`date_trunc('month', ${local})`
  switch (period) {
    case 'today':
      return { from: at(today), until: undefined }
    case 'week':
      return { from: at(sql`${today} - interval '6 days'`), until: undefined }
    case 'days30':
      return { from: at(sql`${today} - interval '29 days'`), until: undefined }
    case 'month':
      return { from: at(month), until: undefined }
    case 'lastMonth':
      return { from: at(sql`${month} - interval '1 month'`), until: at(month) }
    case 'year':
      return { from: at(sql`date_trunc('year', ${local})`), until: undefined }
    default:
      return { from: undefined, until: undefined }
  }
}
