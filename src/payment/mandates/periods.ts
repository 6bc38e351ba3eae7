/**
 * The days and periods of mandates. A day is `YYYY-MM-DD` in Asia/Shanghai, a zone without summer time. The database
 * functions mandate_period and next_mandate_period are the twins of periodOf and nextPeriod. Pure. spec/mandates 1.1.
 */
export const PERIODS = ['day', 'week', 'month'] as const
export type Period = (typeof PERIODS)[number]

const DAY_MS = 86_400_000
const WEEK_DAYS = 7
/** How far the day in China is ahead of UTC. */
const AHEAD_MS = 8 * 3_600_000

/** The day of a moment. */
export function dayOf(moment: Date): string {
  return asDay(moment.getTime() + AHEAD_MS)
}

/** The moment at which a day begins. */
export function beginningOf(day: string): Date {
  return new Date(asTime(day) - AHEAD_MS)
}

/** The day that many days after another. */
export function daysAfter(day: string, days: number): string {
  return asDay(asTime(day) + days * DAY_MS)
}

/** The first day of the period that holds a day. It counts from the mandate's first day, never from the period before. */
export function periodOf(starts_on: string, period: Period, day: string): string {
  if (period === 'day') return day
  if (period === 'week') {
    const days = (asTime(day) - asTime(starts_on)) / DAY_MS
    return daysAfter(starts_on, Math.floor(days / WEEK_DAYS) * WEEK_DAYS)
  }
  const months = monthsBetween(starts_on, day)
  const begun = monthsAfter(starts_on, months)
  return begun <= day ? begun : monthsAfter(starts_on, months - 1)
}

/** The first day of the period after the one that begins on `from`. */
export function nextPeriod(starts_on: string, period: Period, from: string): string {
  if (period === 'month') return monthsAfter(starts_on, monthsBetween(starts_on, from) + 1)
  return daysAfter(from, period === 'week' ? WEEK_DAYS : 1)
}

/** How many periods begin between the first day and the last one, inclusive. */
export function periodsUntil(starts_on: string, period: Period, ends_on: string): number {
  let count = 0
  for (let from = starts_on; from <= ends_on; from = nextPeriod(starts_on, period, from)) count += 1
  return count
}

/** The last day of a year that begins on a day. */
export function lastDayOfYear(from: string): string {
  return daysAfter(monthsAfter(from, 12), -1)
}

/** The day that many months after another; a short month ends it early. */
function monthsAfter(day: string, months: number): string {
  const [year, month, of_month] = partsOf(day)
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  return asDay(Date.UTC(year, month - 1 + months, Math.min(of_month, last)))
}

function monthsBetween(from: string, to: string): number {
  const [from_year, from_month] = partsOf(from)
  const [to_year, to_month] = partsOf(to)
  return (to_year - from_year) * 12 + to_month - from_month
}

function partsOf(day: string): [year: number, month: number, day: number] {
  return day.split('-').map(Number) as [number, number, number]
}

function asTime(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}

function asDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
