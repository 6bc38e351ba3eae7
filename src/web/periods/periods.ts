/** The time that a list is limited to: a named one, or days that the reader chose. Days begin at midnight in the site's time zone. */
import { z } from 'zod'
import { dayIn, daysLater, startOfDay } from './days.ts'

export const PERIODS = ['today', 'week', 'days30', 'days90', 'month', 'lastMonth', 'year'] as const
export type Period = (typeof PERIODS)[number]

const orEmpty = <Value extends z.ZodType>(value: Value) =>
  z.union([z.literal('').transform(() => undefined), value]).optional()
const named = orEmpty(z.enum(PERIODS))
const day = orEmpty(z.iso.date().regex(/^[12]/))

/** The parameters of a time in the address of a list. */
export const StrictPeriodAsked = z.object({ period: named, from: day, until: day })
/** The same. Invalid ones are ignored, as in src/web/lists.ts. */
export const PeriodAsked = z.object({
  period: named.catch(undefined),
  from: day.catch(undefined),
  until: day.catch(undefined),
})
export type PeriodAsked = z.output<typeof PeriodAsked>

/** From this moment (inclusive) until that one (exclusive). */
export type Span = { from?: Date | undefined; until?: Date | undefined }

/** Returns the moments in which a time begins and ends. Days that the reader chose come before a named time. */
export function spanOf(asked: PeriodAsked, { now, zone }: { now: Date; zone: string }): Span {
  const { from, until } = daysOf(asked, { now, zone })
  return {
    from: from === undefined ? undefined : startOfDay(from, zone),
    until: until === undefined ? undefined : startOfDay(daysLater(until, 1), zone),
  }
}

/** Returns the first and the last day of a time, both included. A time without bounds has neither. */
export function daysOf(
  asked: PeriodAsked,
  { now, zone }: { now: Date; zone: string },
): { from?: string | undefined; until?: string | undefined } {
  return isOwnDays(asked) ? asked : namedDays(asked.period, dayIn(zone, now))
}

/** Whether the reader chose days. */
function isOwnDays({ from, until }: PeriodAsked): boolean {
  return from !== undefined || until !== undefined
}

/** The first and the last day of a named time, both included. A time that goes on has no last day. */
function namedDays(period: Period | undefined, today: string): { from?: string; until?: string } {
  const month = `${today.slice(0, 7)}-01`
  switch (period) {
    case 'today':
      return { from: today }
    case 'week':
      return { from: daysLater(today, -6) }
    case 'days30':
      return { from: daysLater(today, -29) }
    case 'days90':
      return { from: daysLater(today, -89) }
    case 'month':
      return { from: month }
    case 'lastMonth': {
      const last = daysLater(month, -1)
      return { from: `${last.slice(0, 7)}-01`, until: last }
    }
    case 'year':
      return { from: `${today.slice(0, 4)}-01-01` }
    default:
      return {}
  }
}
