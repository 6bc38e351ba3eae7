/**
 * Chooses the language of a page: spec/pages 2.1. Formats numbers in it, and moments in the time zone of the site: as people
 * say them, and exactly, without line breaks within a day: spec/pages 2.3.
 */
import { type SiteWords, withWords } from './site-words.ts'
import { markName, markNames, withNameSpaces } from './spacing.ts'

const DAY_MS = 86_400_000
/** A space at which no line breaks. */
const NO_BREAK = '\u00A0'
/** A place of no width at which a line may break. */
const MAY_BREAK = '\u200B'
/** From this amount on, a number may be wider than its place on a phone. */
const LONG_FROM = 1_000_000_000

export const LANGUAGE_COOKIE = 'language'

/** The languages of the pages, as tags of RFC 5646. */
export const LANGUAGES = ['en', 'zh-CN'] as const

export type Language = (typeof LANGUAGES)[number]

/** A text in both languages. */
export type Text = { en: string; zh: string }

/** The texts of a room. A function makes texts from its arguments, and a group holds texts under names. */
export type Texts = { [name: string]: Text | Text[] | Texts | ((...args: never[]) => Text | Texts) }

/** Texts reduced to one language. */
export type Translated<T> = T extends Text
  ? string
  : T extends (...args: infer Args) => infer Result
    ? (...args: Args) => Translated<Result>
    : { [Name in keyof T]: Translated<T[Name]> }

/** Every text of every page, in one language. Each area adds its own: see its texts.ts. */
// biome-ignore lint/suspicious/noEmptyInterface: the areas extend it.
export interface Messages {}

export type Locale = {
  language: Language
  t: Messages
  /** Whole points with thousands separators, after which the line of a long number may break. */
  points(amount: bigint | number): string
  /** The class of an amount in large figures. A long one steps down in size. */
  figure(amount: bigint): 'amount' | 'amount long'
  /** Points with the sign of their direction; none before zero. */
  signed(amount: bigint): string
  /** A day, `yyyy-mm-dd`, without its year. */
  day(day: string): string
  /** A day, `yyyy-mm-dd`, with its year. */
  dayOfYear(day: string): string
  /** The days from one, `yyyy-mm-dd`, to another, in full: `1 – 28 November 2026`. */
  dayRange(from: string, until: string): string
  /** The day of a moment in full, with its weekday and year. */
  date(moment: Date): string
  /** A moment in the site's time zone, to the minute, within a sentence. */
  time(moment: Date): string
  /** A moment to the minute without its year, where the page names that. */
  timeInYear(moment: Date): string
  /** A moment as people say it at the time `now`, as an HTML `time` element that has the exact time as its title. */
  when(moment: Date, now: Date): string
  /** The day of a moment, with its year unless it is that of `now`, as an HTML `time` element that has the exact time as its title. */
  dayOf(moment: Date, now: Date): string
  /** The heading of a day's rows: `Today`, `Yesterday`, or its day, as an HTML `time` element that has the whole day as its title. */
  dayNamed(moment: Date, now: Date): string
  /** The heading of rows in a long list: as `dayNamed` for a week back, and then the month, as an HTML `time` element. */
  dayOrMonth(moment: Date, now: Date): string
  /** The time of day of a row below such a heading, as an HTML `time` element that has the exact time as its title. */
  clock(moment: Date): string
  /** A moment to the second with its zone, as an HTML `time` element. Records show it, which are read and printed years later. */
  exactly(moment: Date): string
}

/** The part of a locale that the site's settings decide. */
export type LocaleOptions = { words: SiteWords; timeZone: string }

/** Returns the tag of a language whose dates and numbers we write. */
export const dateTag = (language: Language) => (language === 'en' ? 'en-GB' : language)

/** Returns the name of a language in `Text`. */
export const textKey = (language: Language): keyof Text => (language === 'en' ? 'en' : 'zh')

/** Reduces a table of texts to one language, in the words of the site. */
export function translate<T extends object>(texts: T, language: Language, words: SiteWords): Translated<T> {
  return inLanguage(texts, textKey(language), words) as Translated<T>
}

function inLanguage(value: unknown, key: keyof Text, words: SiteWords): unknown {
  if (typeof value === 'function') {
    const named = (args: unknown[]) => (key === 'zh' ? args.map(markNames) : args)
    return (...args: unknown[]) => inLanguage(value(...named(args)), key, words)
  }
  if (Array.isArray(value)) return value.map((item) => inLanguage(item, key, words))
  const table = value as Record<string, unknown>
  if (typeof table[key] === 'string') return inWords(table[key], key, words)
  return Object.fromEntries(
    Object.entries(table).map(([name, inner]) => [name, inLanguage(inner, key, words)]),
  )
}

/** Writes the words of the site into a text, and in Chinese the spaces beside them and beside marked names. */
export const inWords = (text: string, key: keyof Text, words: SiteWords) =>
  key === 'zh' ? withNameSpaces(withWords(text, words, markName)) : withWords(text, words)

/** Makes the locale of one language. Callers keep it, because Intl formatters are expensive. */
export function makeLocale(language: Language, texts: object, { words, timeZone }: LocaleOptions): Locale {
  const tag = dateTag(language)
  const numbers = new Intl.NumberFormat(tag)
  const points = (amount: bigint | number) => {
    const written = numbers.format(amount)
    return isLong(amount) ? written.replaceAll(',', `,${MAY_BREAK}`) : written
  }
  const times = makeTimes(tag, timeZone)
  const { plain, exact, near, day, dayOfYear, dayRange, date, dayOf, inYear } = times
  const element = (moment: Date, text: string) =>
    `<time datetime="${moment.toISOString()}" title="${exact(moment)}">${text}</time>`
  return {
    language,
    t: translate(texts, language, words) as Messages,
    points,
    figure: (amount) => (isLong(amount) ? 'amount long' : 'amount'),
    signed: (amount) =>
      `${amount > 0n ? '+' : amount < 0n ? '−' : ''}${points(amount < 0n ? -amount : amount)}`,
    day,
    dayOfYear,
    dayRange,
    date,
    time: plain,
    timeInYear: inYear,
    when: (moment, now) => element(moment, near(moment, now)),
    dayOf: (moment, now) => element(moment, dayOf(moment, now)),
    dayNamed: (moment, now) => {
      const whole = times.calendarDay(moment)
      return `<time datetime="${whole}" title="${dayOfYear(whole)}">${times.dayNamed(moment, now)}</time>`
    },
    dayOrMonth(moment, now) {
      const month = times.monthNamed(moment, now)
      if (month === undefined) return this.dayNamed(moment, now)
      return `<time datetime="${times.calendarDay(moment).slice(0, 'yyyy-mm'.length)}">${month}</time>`
    },
    clock: (moment) => element(moment, times.clock(moment)),
    exactly: (moment) => `<time datetime="${moment.toISOString()}">${exact(moment)}</time>`,
  }
}

function isLong(amount: bigint | number): boolean {
  return amount >= LONG_FROM || amount <= -LONG_FROM
}

/** Whether a value is a language of this site. */
export function isLanguage(text: unknown): text is Language {
  return LANGUAGES.some((language) => language === text)
}

/** Returns the chosen language, or else the first known one of `ui_locales`, the best one of Accept-Language, or English. */
export function chooseLanguageOf(
  chosen: string | undefined,
  {
    uiLocales = '',
    acceptLanguage = '',
  }: { uiLocales?: string | undefined; acceptLanguage?: string | undefined },
): Language {
  if (isLanguage(chosen)) return chosen
  const asked = uiLocales
    .split(' ')
    .map(languageOf)
    .find((language) => language !== undefined)
  if (asked !== undefined) return asked
  const wishes = acceptLanguage
    .split(',')
    .map((part, index) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';')
      const quality = parameters
        .map((p) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(p)?.[1])
        .find((q) => q !== undefined)
      return { tag, index, quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter((wish) => wish.quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
  return wishes.map(({ tag }) => languageOf(tag)).find((language) => language !== undefined) ?? 'en'
}

/** Returns the language of a tag (RFC 5646), if the pages have it. */
function languageOf(tag: string): Language | undefined {
  const [primary = ''] = tag.toLowerCase().split('-')
  return primary === 'zh' ? 'zh-CN' : primary === 'en' ? 'en' : undefined
}

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
  /** Two calendar days and those between them: `1 – 28 November 2026`. */
  dayRange(from: string, until: string): string
  /** A moment to the minute without its year: `24 Nov 20:02`. */
  inYear(moment: Date): string
  /** The calendar day of a moment: `24 Nov` in the year of `now`, or else with its year. */
  dayOf(moment: Date, now: Date): string
  /** The calendar day of a moment at the head of its rows: `Today`, `Yesterday`, or else as `dayOf`. */
  dayNamed(moment: Date, now: Date): string
  /** The month of a moment more than six days before `now`: `October`, or with its year. Undefined for every other moment. */
  monthNamed(moment: Date, now: Date): string | undefined
  /** The time of day of a moment: `20:02`. */
  clock(moment: Date): string
  /** The calendar day of a moment, `yyyy-mm-dd`. */
  calendarDay(moment: Date): string
  /** The calendar day of a moment in full: `Tuesday, 24 November 2026`. */
  date(moment: Date): string
}

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
  const dayAndYear = format({ dateStyle: 'medium' })
  // The long month of Chinese is a word, and its days are figures.
  const monthOnly = { month: tag === 'zh-CN' ? 'short' : 'long' } as const
  const month = format(monthOnly)
  const monthAndYear = format({ ...monthOnly, year: 'numeric' })
  const bareDay = format(dayAndMonth, 'UTC')
  const bareDayOfYear = format({ dateStyle: 'medium' }, 'UTC')
  const ranges = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' })
  const inYear = (moment: Date) => `${dayThisYear(moment)} ${clock(moment)}`
  const offsets = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' })
  const offset = (moment: Date) =>
    offsets.formatToParts(moment).find(({ type }) => type === 'timeZoneName')!.value
  // The calendar of Sweden writes yyyy-mm-dd.
  const calendar = new Intl.DateTimeFormat('sv-SE', { timeZone })
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })

  const daysFrom = (now: Date, moment: Date) =>
    (Date.parse(calendar.format(moment)) - Date.parse(calendar.format(now))) / DAY_MS
  const isThisYear = (moment: Date, now: Date) => {
    const years = [moment, now].map((each) => calendar.format(each).slice(0, 4))
    return years[0] === years[1]
  }
  const dayOf = (moment: Date, now: Date) =>
    isThisYear(moment, now) ? dayThisYear(moment) : dayAndYear(moment)

  function near(moment: Date, now: Date): string {
    const [day, today] = [calendar.format(moment), calendar.format(now)]
    const days = daysFrom(now, moment)
    if (Math.abs(days) <= 1) return `${relative.format(days, 'day')} ${clock(moment)}`
    if (day.slice(0, 4) === today.slice(0, 4)) return inYear(moment)
    return plain(moment)
  }

  return {
    plain,
    exact: (moment) => `${seconds(moment)}${NO_BREAK}${offset(moment)}`,
    near,
    day: (day) => bareDay(new Date(day)),
    dayOfYear: (day) => bareDayOfYear(new Date(day)),
    dayRange: (from, until) => {
      const [first, last] = [new Date(from), new Date(until)]
      // The range of Chinese is written in figures only.
      if (tag !== 'zh-CN') return unbroken(ranges.formatRange(first, last).replaceAll('\u2009', ' '))
      const isOne = (length: number) => from.slice(0, length) === until.slice(0, length)
      const end = isOne('yyyy-mm'.length)
        ? bareDay(last).split('月')[1]!
        : isOne(4)
          ? bareDay(last)
          : bareDayOfYear(last)
      return `${bareDayOfYear(first)} – ${end.trim()}`
    },
    inYear,
    dayOf,
    dayNamed: (moment, now) => {
      const days = daysFrom(now, moment)
      return Math.abs(days) <= 1 ? capitalised(relative.format(days, 'day')) : dayOf(moment, now)
    },
    monthNamed: (moment, now) => {
      if (daysFrom(now, moment) > -7) return undefined
      return isThisYear(moment, now) ? month(moment) : monthAndYear(moment)
    },
    clock,
    calendarDay: (moment) => calendar.format(moment),
    date: format({ dateStyle: 'full' }),
  }
}

/** Returns a text with its first letter in upper case. */
export const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Sets spaces between digits and Chinese words, as the texts do, and keeps the words of a day on one line. */
function unbroken(text: string): string {
  return text
    .replaceAll(/(?<=\d) (?=[A-Za-z])|(?<=[A-Za-z]) (?=\d)/g, NO_BREAK)
    .replaceAll(/(?<=\d)(?=[年月日])|(?<=[年月])(?=\d)|(?<=日)(?=星期)/g, NO_BREAK)
}
