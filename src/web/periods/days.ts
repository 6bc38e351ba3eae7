// This room: days and months in the site’s time zone, and the period that a list is limited to.
// Verbs: dayIn, startOfDay, spanOf.
/** Days as `yyyy-mm-dd`, and minutes, in a time zone. Pure. */

const DAY_MS = 86_400_000

/** Returns the day of a moment. */
export function dayIn(zone: string, moment: Date): string {
  return new Date(moment.getTime() + offsetAt(moment, zone)).toISOString().slice(0, 10)
}

/** Returns the day so many days later, or earlier for a negative number. */
export function daysLater(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

/** Counts the days from one day to another, both included. */
export function daysBetween(from: string, until: string): number {
  return Math.round((Date.parse(until) - Date.parse(from)) / DAY_MS) + 1
}

/** Returns the minute of a moment, as `yyyy-mm-ddThh:mm`. */
export function minuteIn(zone: string, moment: Date): string {
  return new Date(moment.getTime() + offsetAt(moment, zone)).toISOString().slice(0, 16)
}

/** Returns the moment at which a day begins. */
export function startOfDay(day: string, zone: string): Date {
  return startOfMinute(`${day}T00:00`, zone)
}

/** The moment at which the last days of a zone begin, today included. */
export function startOfLastDays(zone: string, now: Date, days: number): Date {
  return startOfDay(daysLater(dayIn(zone, now), 1 - days), zone)
}

/** Returns the moment at which a minute begins, given as `yyyy-mm-ddThh:mm`. */
export function startOfMinute(minute: string, zone: string): Date {
  const asUtc = Date.parse(`${minute}Z`)
  // When the clocks change, the offset at that time may differ from the one at the first guess.
  const guess = new Date(asUtc - offsetAt(new Date(asUtc), zone))
  return new Date(asUtc - offsetAt(guess, zone))
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
function offsetAt(moment: Date, zone: string): number {
  const parts = Object.fromEntries(
    clockOf(zone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>
  const shown = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second)
  return shown - Math.floor(moment.getTime() / 1000) * 1000
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** Formatters are expensive, and a site has one zone. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known !== undefined) return known
  const numeric = 'numeric' as const
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  })
  clocks.set(timeZone, made)
  return made
}
