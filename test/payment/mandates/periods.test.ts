/**
 * Both counts of a mandate's periods, in Postgres and in TypeScript, agree and cover every day once.
 * spec/mandates 1.1.
 */
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../src/database/connection.ts'
import {
  beginningOf,
  dayOf,
  daysAfter,
  nextPeriod,
  PERIODS,
  type Period,
  periodOf,
} from '../../../src/payment/mandates/periods.ts'
import { createDatabase } from '../../harness/harness.ts'
import { makeRandom } from '../../harness/random.ts'
import { times } from '../../harness/thoroughness.ts'

const CASES = times(200_000, 10_000)
const CASES_AT_ONCE = 50_000
const FIRST_DAY = '2023-01-01'
/** Two leap years, and the century that is none. */
const DAYS = [1_500, 28_000] as const

type Case = { starts_on: string; period: Period; day: string }
type Counted = { period: string; next: string }

const database = await createDatabase()
const db = openDatabase(database.url, { max: 1, onBroken: () => {} })
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

async function countedInPostgres(cases: Case[]): Promise<Counted[]> {
  const { rows } = await sql<Counted>`
    select held.period::text, next_mandate_period(asked.starts_on, asked.period, held.period)::text as next
    from unnest(
      ${cases.map(({ starts_on }) => starts_on)}::date[], ${cases.map(({ period }) => period)}::text[],
      ${cases.map(({ day }) => day)}::date[]
    ) with ordinality as asked (starts_on, period, day, item)
    cross join lateral (select mandate_period(asked.starts_on, asked.period, asked.day) as period) as held
    order by asked.item`.execute(db)
  return rows
}

const countedHere = ({ starts_on, period, day }: Case): Counted => {
  const held = periodOf(starts_on, period, day)
  return { period: held, next: nextPeriod(starts_on, period, held) }
}

describe('a period', () => {
  it(`holds its day, and the next begins where it ends, in ${CASES} cases`, async () => {
    const { below } = makeRandom(4)
    for (let done = 0; done < CASES; done += CASES_AT_ONCE) {
      const cases = Array.from({ length: Math.min(CASES_AT_ONCE, CASES - done) }, (): Case => {
        // Most mandates begin in these years. The others reach the year 2100.
        const starts_on = daysAfter(FIRST_DAY, below(DAYS[below(4) === 0 ? 1 : 0]))
        return { starts_on, period: PERIODS[below(3)]!, day: daysAfter(starts_on, below(800)) }
      })
      const counted = await countedInPostgres(cases)
      for (const [index, each] of cases.entries()) {
        const { period, next } = counted[index]!
        const here = countedHere(each)
        if (here.period !== period || here.next !== next)
          expect({ each, here }).toEqual({ each, here: counted[index] })
        const { starts_on, period: unit, day } = each
        const isSound =
          starts_on <= period &&
          period <= day &&
          day < next &&
          periodOf(starts_on, unit, period) === period &&
          periodOf(starts_on, unit, daysAfter(next, -1)) === period &&
          periodOf(starts_on, unit, next) === next
        if (!isSound) throw new Error(`No period of ${JSON.stringify(each)}: ${period} to ${next}`)
      }
    }
  })

  it.each([
    // A short month ends a period early, and moves no later one.
    ['2026-01-31', ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']],
    ['2028-02-29', ['2028-02-29', '2028-03-29', '2028-04-29']],
    ['2027-12-30', ['2027-12-30', '2028-01-30', '2028-02-29', '2028-03-30']],
  ])('of a month from %s begins on %j', async (starts_on, firsts) => {
    const cases = firsts.map((day): Case => ({ starts_on, period: 'month', day }))
    const counted = await countedInPostgres(cases)
    expect(counted.map(({ period }) => period)).toEqual(firsts)
    expect(counted.map(({ next }) => next).slice(0, -1)).toEqual(firsts.slice(1))
    expect(cases.map(countedHere)).toEqual(counted)
  })

  it('of a month from 29 February ends a year later on the 27th', async () => {
    const counted = await countedInPostgres([
      { starts_on: '2028-02-29', period: 'month', day: '2029-02-27' },
      { starts_on: '2028-02-29', period: 'month', day: '2029-02-28' },
    ])
    expect(counted).toEqual([
      { period: '2029-01-29', next: '2029-02-28' },
      { period: '2029-02-28', next: '2029-03-29' },
    ])
  })
})

describe('a day', () => {
  it('begins at midnight in China', () => {
    expect(dayOf(new Date('2026-01-31T15:59:59.999Z'))).toBe('2026-01-31')
    expect(dayOf(new Date('2026-01-31T16:00:00Z'))).toBe('2026-02-01')
    expect(beginningOf('2026-02-01')).toEqual(new Date('2026-01-31T16:00:00Z'))
  })
})
