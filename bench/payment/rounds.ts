/** Interleaved rounds of measurements, and the table that comes of them. */
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

/** One part of the targets: the measured ratio of two sides, round by round. */
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
  /** Requests a round, as a share of the usual number. */
  scale: number
  /** Only the measurements whose name, such as `query | ours`, holds this. */
  only: string
  /** Run after each case of the last round. */
  prove: () => Promise<void>
}

export const keyOf = (name: string, side: SideName) => `${name} | ${side}`

/** The beginning of each measurement, because connections that were idle are closed, and new ones have plans to make. */
export const warmUp = (count: number) => Math.floor(count / 5)

/** The side that asks these servers, connections dealt out to them in turn. */
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

/** Round 0 warms everything up and is not counted. */
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

/** Every measurement, then each target beside its value. */
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
