/** Which language a page speaks, and how it writes numbers and times. */
import { en } from './messages/en.ts'
import { zhCN } from './messages/zh-cn.ts'

export const LANGUAGE_COOKIE = 'language'

/** Every text of every page. The English catalogue is the shape the others must have. */
export type Messages = typeof en

export type Language = 'en' | 'zh-CN'

export type Locale = {
  language: Language
  t: Messages
  /** Whole points with thousands separators. */
  points(amount: bigint | number): string
  /** A day, `yyyy-mm-dd`, without its year. */
  day(day: string): string
  /** A moment in UTC, to the minute; scripts turn it into the reader's own time zone. */
  time(moment: Date): string
  /** The same as an element, ready to stand in a page. */
  when(moment: Date): string
}

const locales: Record<Language, Locale> = {
  en: makeLocale('en', 'en-GB', en),
  'zh-CN': makeLocale('zh-CN', 'zh-CN', zhCN),
}

function makeLocale(language: Language, tag: string, t: Messages): Locale {
  const numbers = new Intl.NumberFormat(tag)
  const times = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const days = new Intl.DateTimeFormat(tag, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const time = (moment: Date) => `${times.format(moment)} UTC`
  return {
    language,
    t,
    points: (amount) => numbers.format(amount),
    day: (day) => days.format(new Date(day)),
    time,
    when: (moment) => `<time datetime="${moment.toISOString()}">${time(moment)}</time>`,
  }
}

export function isLanguage(text: unknown): text is Language {
  return text === 'en' || text === 'zh-CN'
}

/** The chosen language if there is one, else the best of Accept-Language, else English. */
export function chooseLocale(chosen: string | undefined, acceptLanguage: string | undefined): Locale {
  if (isLanguage(chosen)) return locales[chosen]
  const wishes = (acceptLanguage ?? '')
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
  for (const { tag } of wishes) {
    if (tag === 'zh' || tag.startsWith('zh-')) return locales['zh-CN']
    if (tag === 'en' || tag.startsWith('en-')) return locales.en
  }
  return locales.en
}
