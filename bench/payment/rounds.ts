/** Runs interleaved rounds of measurements, and prints their table. */
import { type Measured, measure } from '../driver.ts'
import type { ServerProcess } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import type { Work } from './acts.ts'

export type SideName = 'ours' | 'in process' | 'unbatched' | 'bare' | 'two' | 'empty' | 'full'
export type Side = (work: Work, callers: number) => Promise<Measured>
export type Case = {
  name: string
  callers: number
  count: number
  sides: Partial<Record<SideName, (count: number) => Promise<Work> | Work>>
}

/** A target: the ratio of two sides, measured in each round. */
export type Target = {
  name: string
  of: [numerator: string, denominator: string]
  figure: 'per_second' | 'p99_ms'
  least?: number
  most?: number
}

export type Results = Map<string, Measured[]>
export type Rounds = {
  cases: Case[]
  sides: Partial<Record<SideName, Side>>
  rounds: number
  /** Requests per round, as a share of the usual number. */
  scale: number
  /** Runs only measurements whose name, such as `query | ours`, contains this text. */
  only: string
  /** Runs after each case of the last round. */
  prove: () => Promise<void>
}

export const keyOf = (name: string, side: SideName) => `${name} | ${side}`

/** Number of first calls that are not counted: idle connections were closed, and new ones must plan their statements. */
export const warmUp = (count: number) => Math.floor(count / 5)

/** A side that sends requests to these servers. The connections are distributed over them in turn. */
export function over(postmaster: number, ...servers: ServerProcess[]): Side {
  return ({ requests, status }, callers) =>
    measure({
      servers,
      connections: callers,
      count: requests.length,
      uncounted: warmUp(requests.length),
      postmaster,
      status,
      request: (_, n) => requests[n]!,
    })
}

/** Runs all cases in rounds. Round 0 is a warm-up and is not counted. */
export async function runRounds({ cases, sides, rounds, scale, only, prove }: Rounds): Promise<Results> {
  const results: Results = new Map()
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, callers, count, sides: prepare } of cases) {
      const names = (Object.keys(prepare) as SideName[]).filter((side) => keyOf(name, side).includes(only))
      for (const side of round % 2 === 0 ? names : names.reverse()) {
        const work = await prepare[side]!(Math.ceil(count * scale))
        const measured = await sides[side]!(work, callers)
        if (round === 0) continue
        const key = keyOf(name, side)
        results.set(key, [...(results.get(key) ?? []), measured])
      }
      if (round === rounds && names.length > 0) await prove()
    }
  }
  return results
}

/** Prints every measurement, and then each target with its value. */
export function print(results: Results, targets: Target[]): void {
  console.log('\n| | requests/s | p99 ms | CPU µs: process | Postgres |\n|---|---|---|---|---|')
  for (const [key, rounds] of results) {
    const column = (figure: keyof Measured, digits: number) =>
      spread(
        rounds.map((each) => each[figure]),
        digits,
      )
    console.log(
      `| ${key.replace(' | ', ': ')} | ${column('per_second', 0)} | ${column('p99_ms', 1)} | ${column('cpu_us', 0)} | ${column('postgres_us', 0)} |`,
    )
  }
  console.log('\n| | ratio | target | met |\n|---|---|---|---|')
  for (const { name, of, figure, least, most } of targets) {
    const [a, b] = of.map((key) => results.get(key)) as [Measured[], Measured[]]
    if (a === undefined || b === undefined) continue
    const ratios = a.map((each, round) => each[figure] / b[round]![figure])
    const isMet = median(ratios) >= (least ?? 0) && median(ratios) <= (most ?? Number.POSITIVE_INFINITY)
    const target = least === undefined ? `≤ ${most}` : `≥ ${least}`
    console.log(`| ${name} | ${spread(ratios, 2)} | ${target} | ${isMet ? 'yes' : 'no'} |`)
  }
}
