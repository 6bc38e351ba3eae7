/**
 * How pages say when something happens, near times in words and others with their dates, and how they sign amounts.
 * spec/pages 2.3.
 */
import { describe, expect, it } from 'vitest'
import { LANGUAGES, makeLocale, makeTimes, type Times } from '../../src/web/languages.ts'

const SHANGHAI = { en: makeTimes('en-GB', 'Asia/Shanghai'), zh: makeTimes('zh-CN', 'Asia/Shanghai') }
const at = (text: string) => new Date(text)
/** Spaces at which no line breaks, as others. */
const plainly = (text: string) => text.replaceAll('\u00A0', ' ')
/** 20:02 on a Tuesday in Shanghai. */
const NOW = at('2026-11-24T20:02:31+08:00')

describe('a near time', () => {
  it.each([
    ['2026-11-24T20:02:00+08:00', 'today 20:02', '今天 20:02'],
    ['2026-11-23T08:15:00+08:00', 'yesterday 08:15', '昨天 08:15'],
    ['2026-11-25T00:00:00+08:00', 'tomorrow 00:00', '明天 00:00'],
    ['2026-11-22T23:59:59+08:00', '22 Nov 23:59', '11 月 22 日 23:59'],
    ['2026-11-26T00:00:00+08:00', '26 Nov 00:00', '11 月 26 日 00:00'],
    ['2026-01-01T00:00:00+08:00', '1 Jan 00:00', '1 月 1 日 00:00'],
    ['2025-12-31T23:59:59+08:00', '31 Dec 2025, 23:59', '2025 年 12 月 31 日 23:59'],
    ['2027-01-01T00:00:00+08:00', '1 Jan 2027, 00:00', '2027 年 1 月 1 日 00:00'],
  ])('%s is %s', (moment, en, zh) => {
    expect(plainly(SHANGHAI.en.near(at(moment), NOW))).toBe(en)
    expect(plainly(SHANGHAI.zh.near(at(moment), NOW))).toBe(zh)
  })

  it('changes its day at midnight of the zone', () => {
    const moment = at('2026-11-24T15:59:00Z')
    const near = (now: string) => plainly(SHANGHAI.en.near(moment, at(now)))
    expect(near('2026-11-24T15:59:59Z')).toBe('today 23:59')
    expect(near('2026-11-24T16:00:00Z')).toBe('yesterday 23:59')
    expect(near('2026-11-25T16:00:00Z')).toBe('24 Nov 23:59')
  })

  it('is yesterday across the new year', () => {
    expect(SHANGHAI.en.near(at('2026-12-31T23:50:00+08:00'), at('2027-01-01T00:10:00+08:00'))).toBe(
      'yesterday 23:50',
    )
  })

  it('counts days of 23 and 25 hours', () => {
    const { near } = makeTimes('en-GB', 'America/New_York')
    expect(near(at('2026-03-08T00:30:00-05:00'), at('2026-03-09T00:10:00-04:00'))).toBe('yesterday 00:30')
    expect(near(at('2026-11-01T00:30:00-04:00'), at('2026-11-02T00:40:00-05:00'))).toBe('yesterday 00:30')
    expect(plainly(near(at('2026-10-31T23:30:00-04:00'), at('2026-11-02T00:10:00-05:00')))).toBe(
      '31 Oct 23:30',
    )
  })
})

describe('the heading of a day', () => {
  it.each([
    ['2026-11-24T00:00:00+08:00', 'Today', '今天'],
    ['2026-11-23T23:59:59+08:00', 'Yesterday', '昨天'],
    ['2026-11-22T08:15:00+08:00', '22 Nov', '11 月 22 日'],
    ['2025-12-31T08:15:00+08:00', '31 Dec 2025', '2025 年 12 月 31 日'],
  ])('of %s is %s', (moment, en, zh) => {
    expect(plainly(SHANGHAI.en.dayNamed(at(moment), NOW))).toBe(en)
    expect(plainly(SHANGHAI.zh.dayNamed(at(moment), NOW))).toBe(zh)
    expect(SHANGHAI.en.calendarDay(at(moment))).toBe(moment.slice(0, 10))
    expect(SHANGHAI.en.clock(at(moment))).toBe(moment.slice(11, 16))
  })
})

describe('the heading of a day or a month', () => {
  it.each([
    ['2026-11-24T00:00:00+08:00', 'Today', '今天'],
    ['2026-11-18T00:00:00+08:00', '18 Nov', '11 月 18 日'],
    ['2026-11-17T23:59:59+08:00', 'November', '11 月'],
    ['2025-12-31T08:15:00+08:00', 'December 2025', '2025 年 12 月'],
  ])('of %s is %s', (moment, en, zh) => {
    const headingIn = ({ dayNamed, monthNamed }: Times) =>
      plainly(monthNamed(at(moment), NOW) ?? dayNamed(at(moment), NOW))
    expect(headingIn(SHANGHAI.en)).toBe(en)
    expect(headingIn(SHANGHAI.zh)).toBe(zh)
  })
})

describe('a day', () => {
  it.each([
    ['2026-01-01T00:00:00+08:00', '1 Jan', '1 月 1 日'],
    ['2025-12-31T23:59:59+08:00', '31 Dec 2025', '2025 年 12 月 31 日'],
  ])('%s is %s', (moment, en, zh) => {
    expect(plainly(SHANGHAI.en.dayOf(at(moment), NOW))).toBe(en)
    expect(plainly(SHANGHAI.zh.dayOf(at(moment), NOW))).toBe(zh)
  })
})

it.each([
  ['2026-11-01', '2026-11-28', '1 – 28 November 2026', '2026 年 11 月 1 日 – 28 日'],
  ['2026-10-30', '2026-11-02', '30 October – 2 November 2026', '2026 年 10 月 30 日 – 11 月 2 日'],
  ['2025-10-01', '2026-01-31', '1 October 2025 – 31 January 2026', '2025 年 10 月 1 日 – 2026 年 1 月 31 日'],
])('the days from %s to %s repeat no month or year', (from, until, en, zh) => {
  expect(plainly(SHANGHAI.en.dayRange(from, until))).toBe(en)
  expect(plainly(SHANGHAI.zh.dayRange(from, until))).toBe(zh)
})

describe('an exact time', () => {
  it('has its seconds, its year and its zone', () => {
    expect(plainly(SHANGHAI.en.exact(NOW))).toBe('24 Nov 2026, 20:02:31 GMT+8')
    expect(plainly(SHANGHAI.zh.exact(NOW))).toBe('2026 年 11 月 24 日 20:02:31 GMT+8')
  })

  it('has the offset of its own day', () => {
    const { exact } = makeTimes('en-GB', 'America/New_York')
    expect(plainly(exact(at('2026-11-01T01:30:00-04:00')))).toBe('1 Nov 2026, 01:30:00 GMT-4')
    expect(plainly(exact(at('2026-11-01T01:30:00-05:00')))).toBe('1 Nov 2026, 01:30:00 GMT-5')
  })
})

it('a day has no zone', () => {
  const { day, dayOfYear, date } = makeTimes('zh-CN', 'America/New_York')
  expect(plainly(day('2026-11-24'))).toBe('11 月 24 日')
  expect(plainly(dayOfYear('2026-11-24'))).toBe('2026 年 11 月 24 日')
  expect(plainly(date(NOW))).toBe('2026 年 11 月 24 日 星期二')
})

it('no line breaks within a day, but one may before the time', () => {
  const { en, zh } = SHANGHAI
  expect(en.dayOfYear('2026-11-24')).toBe('24\u00A0Nov\u00A02026')
  expect(en.exact(NOW)).toBe('24\u00A0Nov\u00A02026, 20:02:31\u00A0GMT+8')
  expect(zh.plain(NOW)).toBe('2026\u00A0年\u00A011\u00A0月\u00A024\u00A0日 20:02')
})

it.each(LANGUAGES)('a near time carries the exact one: %s', (language) => {
  const words = { site: 'Site', point: 'point', points: 'points' }
  const locale = makeLocale(language, {}, { words, timeZone: 'UTC' })
  const { exact } = makeTimes(language === 'en' ? 'en-GB' : language, 'UTC')
  const near = locale.when(NOW, NOW)
  expect(near).toContain('datetime="2026-11-24T12:02:31.000Z"')
  expect(near).toContain(`title="${exact(NOW)}"`)
  expect(locale.exactly(NOW)).toBe(`<time datetime="2026-11-24T12:02:31.000Z">${exact(NOW)}</time>`)
})

it.each(LANGUAGES)('an amount shows its direction, and zero has none: %s', (language) => {
  const words = { site: 'Site', point: 'point', points: 'points' }
  const { signed } = makeLocale(language, {}, { words, timeZone: 'UTC' })
  expect([signed(1_234n), signed(-1_234n), signed(0n)]).toEqual(['+1,234', '−1,234', '0'])
})

it.each(LANGUAGES)('a long amount may break after its commas, and steps down in size: %s', (language) => {
  const words = { site: 'Site', point: 'point', points: 'points' }
  const { points, signed, figure } = makeLocale(language, {}, { words, timeZone: 'UTC' })
  expect([points(999_999_999n), figure(999_999_999n)]).toEqual(['999,999,999', 'amount'])
  expect([points(1_000_000_000n), figure(1_000_000_000n)]).toEqual([
    '1,\u200B000,\u200B000,\u200B000',
    'amount long',
  ])
  expect(signed(-(2n ** 53n - 1n))).toBe('−9,\u200B007,\u200B199,\u200B254,\u200B740,\u200B991')
})
