/** The times that a list can be limited to, in the site's time zone. */
import { describe, expect, it } from 'vitest'
import { PERIODS, PeriodAsked, StrictPeriodAsked, spanOf } from '../../src/web/periods/periods.ts'

/** 00:30 on 1 March 2026 in Shanghai, a day earlier in UTC. */
const NOW = new Date('2026-02-28T16:30:00Z')
const inZone = (asked: unknown, zone = 'Asia/Shanghai', now = NOW) => {
  const { from, until } = spanOf(PeriodAsked.parse(asked), { now, zone })
  return [from?.toISOString(), until?.toISOString()]
}

describe('a named time', () => {
  it.each([
    ['today', '2026-02-28T16:00:00.000Z', undefined],
    ['week', '2026-02-22T16:00:00.000Z', undefined],
    ['days30', '2026-01-30T16:00:00.000Z', undefined],
    ['days90', '2025-12-01T16:00:00.000Z', undefined],
    ['month', '2026-02-28T16:00:00.000Z', undefined],
    ['lastMonth', '2026-01-31T16:00:00.000Z', '2026-02-28T16:00:00.000Z'],
    ['year', '2025-12-31T16:00:00.000Z', undefined],
    ['ever', undefined, undefined],
  ])('%s begins at a midnight of the zone', (period, from, until) => {
    expect(inZone({ period })).toEqual([from, until])
  })

  it('of last month reaches across the new year', () => {
    expect(inZone({ period: 'lastMonth' }, 'UTC', new Date('2026-01-31T12:00:00Z'))).toEqual([
      '2025-12-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
    ])
  })

  it('counts days of 23 hours', () => {
    const now = new Date('2026-03-29T20:00:00Z')
    expect(inZone({ from: '2026-03-29', until: '2026-03-29' }, 'Europe/Berlin', now)).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
  })
})

describe('chosen days', () => {
  it('come before a named time, and include the last day', () => {
    expect(inZone({ period: 'today', until: '2026-01-31' })).toEqual([undefined, '2026-01-31T16:00:00.000Z'])
    expect(inZone({ from: '2026-01-31' })).toEqual(['2026-01-30T16:00:00.000Z', undefined])
  })

  it('that are invalid are ignored, or refused where a filter must not list everything', () => {
    for (const wrong of ['2026-02-31', '31.12.2026', '0001-01-01', '9999-12-31']) {
      expect(inZone({ from: wrong, until: wrong })).toEqual([undefined, undefined])
      expect(StrictPeriodAsked.safeParse({ from: wrong }).success).toBe(false)
    }
    expect(StrictPeriodAsked.safeParse({ period: 'ever' }).success).toBe(false)
    expect(StrictPeriodAsked.parse({ period: '', from: '', until: '' })).toEqual({})
    for (const period of PERIODS) expect(StrictPeriodAsked.parse({ period })).toEqual({ period })
  })
})
