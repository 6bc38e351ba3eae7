/** The faults of a run, drawn from a seed. Pure. */

export const KINDS = [
  'stop process',
  'kill process',
  'stop pgbouncer',
  'kill pgbouncer',
  'stop postgres',
  'kill postgres',
  'stop standby',
  'kill standby',
  'cut front',
  'cut process',
  'cut database',
  'cut standby',
  'cut etcd',
  'delay process',
  'delay database',
  'clock',
  'disk full',
  'read only',
  'merchant hangs',
  'merchant lies',
  'merchant floods',
  'switchover',
  'failover',
] as const
export type FaultKind = (typeof KINDS)[number]

export type Planned = {
  kind: FaultKind
  /** Which process, where there are several. */
  process: number
  /** How long it lasts, in ms. */
  ms: number
  /** Of a cut: whether connections end, or fall silent. */
  isLoud: boolean
  /** Of the clock: by how much it is off, in seconds. Of a delay: ms. */
  amount: number
}

/** The pause before, and one fault or two at once. */
export type Round = { pause: number; faults: Planned[] }

export type Random = {
  next(): number
  below(n: number): number
  pick<T>(list: readonly T[]): T
  chance(part: number): boolean
}

/** mulberry32. The same seed draws the same numbers. */
export function makeRandom(seed: number): Random {
  // Neighbouring seeds would begin alike.
  let state = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return { next, below, pick: (list) => list[below(list.length)]!, chance: (part) => next() < part }
}

const PAUSE_MS = [5_000, 20_000] as const
const LENGTH_MS = [500, 8_000] as const
const PAIRS = 0.3
const CLOCK_SECONDS_MAX = 600
const DELAY_MS_MAX = 400

/** Faults that replace or end one program: two of them at once would be one after the other. */
const OF_THE_PRIMARY: readonly FaultKind[] = [
  'switchover',
  'failover',
  'kill postgres',
  'kill standby',
  'disk full',
  'cut etcd',
]

/** Rounds without end. The same seed and kinds give the same rounds. */
export function* plan(
  seed: number,
  {
    kinds,
    processes,
    pause = PAUSE_MS,
  }: { kinds: readonly FaultKind[]; processes: number; pause?: readonly [number, number] },
): Generator<Round, never> {
  const random = makeRandom(seed)
  const between = ([low, high]: readonly [number, number]) => low + random.below(high - low)
  const draw = (): Planned => {
    const kind = random.pick(kinds)
    const seconds = Math.ceil(CLOCK_SECONDS_MAX ** random.next())
    return {
      kind,
      process: random.below(processes),
      ms: between(LENGTH_MS),
      isLoud: random.chance(0.5),
      amount: kind === 'clock' ? seconds * (random.chance(0.5) ? 1 : -1) : 20 + random.below(DELAY_MS_MAX),
    }
  }
  for (;;) {
    const first = draw()
    const second = random.chance(PAIRS) ? draw() : undefined
    const faults = second !== undefined && mayMeet(first, second) ? [first, second] : [first]
    yield { pause: between(pause), faults }
  }
}

function mayMeet(first: Planned, second: Planned): boolean {
  const bothOfOne = [first, second].every(({ kind }) => OF_THE_PRIMARY.includes(kind))
  return first.kind !== second.kind && !bothOfOne
}

/** The name of a fault, with what it struck. */
export function nameOf({ kind, process, ms, isLoud, amount }: Planned): string {
  const length = `${(ms / 1000).toFixed(1)} s`
  if (kind === 'clock')
    return `clock of process ${process + 1} ${amount > 0 ? '+' : ''}${amount} s, ${length}`
  if (kind.startsWith('cut')) {
    const where = kind === 'cut front' || kind === 'cut process' ? ` ${process + 1}` : ''
    return `${kind}${where} ${isLoud ? 'loudly' : 'silently'}, ${length}`
  }
  if (kind === 'delay process') return `${kind} ${process + 1} by ${amount} ms, ${length}`
  if (kind === 'delay database') return `${kind} by ${amount} ms, ${length}`
  return kind.endsWith('process') ? `${kind} ${process + 1}, ${length}` : `${kind}, ${length}`
}
