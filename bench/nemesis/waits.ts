/** How long clients waited: those that no fault touched, and the first after a fault. Pure. */
import { type Act, grouped } from './history.ts'

/** Whom a fault touches: everybody, the callers of one process, or those who deal with the shops of one server. */
export type Touch = { everybody: true } | { process: string } | { shops: ReadonlySet<string> }

/** A fault that was made. Times as in a history. */
export type Made = { name: string; kind: string; from: number; to: number; touch: Touch; round: number }

export type Waits = {
  /** In ms: with no fault at all, and beside a fault that touches others. */
  quiet: Measured
  beside: Measured
}
type Measured = { count: number; p99: number; longest: number; acts: Act[] }

/** What a fault has caused is over by then, however slow the machine. */
const AFTERMATH_MS = 10_000

/** Sorts what clients wanted, from the first attempt to the answer, by whether a fault could touch it. */
export function waitsOf(acts: readonly Act[], made: readonly Made[]): Waits {
  const quiet: Act[][] = []
  const beside: Act[][] = []
  const wanted = grouped(acts, ({ kind, client, subject, asked }) =>
    kind === 'notice' || kind === 'line' ? undefined : `${client} ${kind} ${subject} ${asked.since}`,
  )
  for (const attempts of wanted.values()) {
    const [from, to] = [attempts[0]!.from, attempts.at(-1)!.to]
    if (attempts.at(-1)!.outcome === 'unknown') continue
    const near = made.filter((fault) => fault.from < to && fault.to + AFTERMATH_MS > from)
    if (near.length === 0) quiet.push(attempts)
    else if (!near.some(({ touch }) => attempts.some((act) => touches(touch, act)))) beside.push(attempts)
  }
  return { quiet: measure(quiet), beside: measure(beside) }
}

function touches(touch: Touch, { process, asked }: Act): boolean {
  if ('process' in touch) return process === touch.process || process === ''
  if ('shops' in touch) return touch.shops.has(String(asked.shop))
  return true
}

function measure(wanted: Act[][]): Measured {
  const sorted = wanted.toSorted((a, b) => waitOf(a) - waitOf(b))
  const at = (share: number) => {
    const attempts = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
    return attempts === undefined ? 0 : waitOf(attempts)
  }
  return { count: sorted.length, p99: at(0.99), longest: at(1), acts: sorted.at(-1) ?? [] }
}

const waitOf = (attempts: Act[]) => attempts.at(-1)!.to - attempts[0]!.from

export type Recovery = { name: string; kind: string; round: number; ms: number }

/** The time from the end of each round of faults to the first act that it had touched and that is done. */
export function recoveriesOf(acts: readonly Act[], made: readonly Made[]): Recovery[] {
  const rounds = Map.groupBy(made, ({ round }) => round)
  return made.flatMap((fault) => {
    const { name, kind, round, touch } = fault
    if ('shops' in touch || kind === 'clock') return []
    const end = Math.max(...rounds.get(round)!.map(({ to }) => to))
    const next = Math.min(...made.filter((other) => other.round > round).map(({ from }) => from), Infinity)
    const first = acts
      .filter(
        ({ kind, outcome, from, to }) =>
          kind !== 'notice' && kind !== 'line' && outcome === 'done' && from >= end && to < next,
      )
      .filter(({ process }) => !('process' in touch) || process === touch.process)
      .reduce((least, { to }) => Math.min(least, to), Infinity)
    return first === Infinity ? [] : [{ name, kind, round, ms: first - end }]
  })
}
