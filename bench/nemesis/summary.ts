/** The result of a run, as text and as JSON. */
import type { Finding } from './checker.ts'
import { type Act, lineOf } from './history.ts'
import { type Made, type Recovery, recoveriesOf, waitsOf } from './waits.ts'

/** What is to hold: clients that no fault touches wait so long at most, and so long after a fault is all well again. */
const BESIDE_MS_MAX = 1_000
const RECOVERY_MS_MAX = 5_000
const PROMOTION_MS_MAX = 10_000

export type Summary = {
  seed: number
  minutes: number
  clients: number
  processes: number
  /** Faults by kind, and how many rounds had two. */
  faults: Record<string, number>
  rounds: number
  pairs: number
  /** Acts by kind and outcome. */
  acts: Record<string, Record<string, number>>
  /** In ms. */
  waits: Record<'quiet' | 'beside', { count: number; p99: number; longest: number }>
  recoveries: Record<string, { count: number; median: number; longest: number }>
  /** Waits beyond what is to hold. */
  slow: string[]
  findings: { rule: string; subject: string; history: string[] }[]
}

export function summarise(
  { seed, minutes, clients, processes }: Pick<Summary, 'seed' | 'minutes' | 'clients' | 'processes'>,
  { acts, made, findings }: { acts: readonly Act[]; made: readonly Made[]; findings: Finding[] },
): Summary {
  const rounds = Map.groupBy(made, ({ round }) => round)
  const { quiet, beside } = waitsOf(acts, made)
  const recoveries = recoveriesOf(acts, made)
  const slow = [
    ...(beside.longest > BESIDE_MS_MAX
      ? [
          `a client that no fault touched waited ${Math.round(beside.longest)} ms: ${beside.acts.map(lineOf).join('; ')}`,
        ]
      : []),
    ...recoveries
      .filter(({ kind, ms }) => ms > (isPromotion(kind) ? PROMOTION_MS_MAX : RECOVERY_MS_MAX))
      .map(({ name, ms }) => `the first success came ${Math.round(ms)} ms after: ${name}`),
  ]
  return {
    seed,
    minutes,
    clients,
    processes,
    faults: countBy(made, ({ kind }) => kind),
    rounds: rounds.size,
    pairs: [...rounds.values()].filter(({ length }) => length > 1).length,
    acts: Object.fromEntries(
      [...Map.groupBy(acts, ({ kind }) => kind)].map(([kind, its]) => [
        kind,
        countBy(its, ({ outcome }) => outcome),
      ]),
    ),
    waits: {
      quiet: { count: quiet.count, p99: Math.round(quiet.p99), longest: Math.round(quiet.longest) },
      beside: { count: beside.count, p99: Math.round(beside.p99), longest: Math.round(beside.longest) },
    },
    recoveries: recoveriesByKind(recoveries),
    slow,
    findings: findings.map(({ rule, subject, acts }) => ({ rule, subject, history: acts.map(lineOf) })),
  }
}

const isPromotion = (kind: string) => kind === 'switchover' || kind === 'failover'

function recoveriesByKind(recoveries: Recovery[]): Summary['recoveries'] {
  return Object.fromEntries(
    [...Map.groupBy(recoveries, ({ kind }) => kind)].map(([kind, its]) => {
      const sorted = its.map(({ ms }) => Math.round(ms)).toSorted((a, b) => a - b)
      return [kind, { count: sorted.length, median: sorted[sorted.length >> 1]!, longest: sorted.at(-1)! }]
    }),
  )
}

function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1
  return Object.fromEntries(Object.entries(counts).toSorted())
}

export function asText(summary: Summary & { driver_delay_ms?: number }): string {
  const {
    seed,
    minutes,
    clients,
    processes,
    faults,
    rounds,
    pairs,
    acts,
    waits,
    recoveries,
    slow,
    findings,
  } = summary
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')
  const wait = ({ count, p99, longest }: Summary['waits']['quiet']) =>
    `${count} acts, p99 ${p99} ms, longest ${longest} ms`
  return [
    `seed ${seed}: ${minutes} minutes, ${clients} clients, ${processes} processes`,
    `${rounds} rounds of faults, ${pairs} of them with two: ${list(faults)}`,
    ...Object.entries(acts).map(([kind, outcomes]) => `  ${kind}: ${list(outcomes)}`),
    `waits without a fault: ${wait(waits.quiet)}`,
    `waits beside a fault that touched others: ${wait(waits.beside)}`,
    ...Object.entries(recoveries).map(
      ([kind, { count, median, longest }]) =>
        `  after ${kind}: first success in ${median} ms, ${longest} ms at the longest (${count} times)`,
    ),
    ...(summary.driver_delay_ms === undefined
      ? []
      : [`the clients' own process was late by ${summary.driver_delay_ms} ms at the longest`]),
    ...slow.map((line) => `slow: ${line}`),
    ...findings.flatMap(({ rule, subject, history }) => [
      `FINDING (seed ${seed}): ${rule}: ${subject}`,
      ...history.map((line) => `  ${line}`),
    ]),
    findings.length === 0 ? 'No finding.' : `${findings.length} findings.`,
  ].join('\n')
}
