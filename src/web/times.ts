/**
 * Says moments in the time zone of the site: as people say them, and exactly. No line breaks within a day. Pure.
 * spec/pages 2.3.
 */

export type Times = {
  /** A moment to the minute, with its year: `24 Nov 2026, 20:02`. */
  plain(moment: Date): string
  /** A moment to the second, with its year and its offset from UTC: `24 Nov 2026, 20:02:31 GMT+8`. */
  exact(moment: Date): string
  /** A moment as people say it at the time `now`: `today 20:02`, `24 Nov 20:02` in the same year, or else as `plain`. */
  near(moment: Date, now: Date): string
  /** A calendar day, `yyyy-mm-dd`, without its year: `24 Nov`. */
  day(day: string): string
  /** A calendar day, `yyyy-mm-dd`, with its year: `24 Nov 2026`. */
  dayOfYear(day: string): string
  /** The calendar day of a moment in full: `Tuesday, 24 November 2026`. */
  date(moment: Date): string
}

const DAY_MS = 86_400_000
/** A space at which no line breaks. */
const NO_BREAK = '\u00A0'

/** Makes the formats of a language, as a tag of RFC 5646, and a time zone. Callers keep them, because Intl formatters are expensive. */
export function makeTimes(tag: string, timeZone: string): Times {
  const format = (options: Intl.DateTimeFormatOptions, zone = timeZone) => {
    const made = new Intl.DateTimeFormat(tag, { ...options, timeZone: zone })
    return (moment: Date) => unbroken(made.format(moment))
  }
  const clock = format({ timeStyle: 'short' })
  const plain = format({ dateStyle: 'medium', timeStyle: 'short' })
  const seconds = format({ dateStyle: 'medium', timeStyle: 'medium' })
  const dayAndMonth = { month: 'short', day: 'numeric' } as const
  const dayThisYear = format(dayAndMonth)
  const bareDay = format(dayAndMonth, 'UTC')
  const bareDayOfYear = format({ dateStyle: 'medium' }, 'UTC')
  const offsets = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' })
  const offset = (moment: Date) =>
    offsets.formatToParts(moment).find(({ type }) => type === 'timeZoneName')!.value
  // The calendar of Sweden writes yyyy-mm-dd.
  const calendar = new Intl.DateTimeFormat('sv-SE', { timeZone })
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })

  function near(moment: Date, now: Date): string {
    const [day, today] = [calendar.format(moment), calendar.format(now)]
    const days = (Date.parse(day) - Date.parse(today)) / DAY_MS
    if (Math.abs(days) <= 1) return `${relative.format(days, 'day')} ${clock(moment)}`
    if (day.slice(0, 4) === today.slice(0, 4)) return `${dayThisYear(moment)} ${clock(moment)}`
    return plain(moment)
  }

  return {
    plain,
    exact: (moment) => `${seconds(moment)}${NO_BREAK}${offset(moment)}`,
    near,
    day: (day) => bareDay(new Date(day)),
    dayOfYear: (day) => bareDayOfYear(new Date(day)),
    date: format({ dateStyle: 'full' }),
  }
}

/** Sets spaces between digits and Chinese words, as the texts do, and keeps the words of a day on one line. */
function unbroken(text: string): string {
  return text
    .replaceAll(/(?<=\d) (?=[A-Za-z])|(?<=[A-Za-z]) (?=\d)/g, NO_BREAK)
    .replaceAll(/(?<=\d)(?=[年月日])|(?<=[年月])(?=\d)|(?<=日)(?=星期)/g, NO_BREAK)
}
