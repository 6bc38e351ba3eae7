/**
 * Finds the readings of a signed text. The text joins its values unescaped, so two sets of parameters can have the same
 * text: a value may contain what looks like the next parameter. Pure. spec/gateway 1.5.
 */
import { compareBytes } from '../signing/canonical.ts'

/** The rules of a reader: the fields that a reading must have, and the values that each field may have. */
export type Reader = {
  needs: readonly string[]
  /** A field without a rule takes any value. */
  takes: Readonly<Record<string, (value: string) => boolean>>
  /** Whether a name is allowed; by default every name, because shops differ. */
  isName?: (name: string) => boolean
}

export type Reading = Readonly<Record<string, string>>

/** The maximum number of positions at which a parameter may begin. */
export const STARTS_MAX = 256

/** The names of the protocol in creates and notifications. */
const KNOWN = new Set(
  `addtime api_trade_no auth_code buyer channel_id cid clientip device endtime method money name notify_url openid
  out_trade_no param pid return_url sitename sub_appid sub_openid timestamp trade_no trade_status type`.split(
    /\s+/,
  ),
)
const ADDRESSES = ['notify_url', 'return_url']
const TEXTS = ['name', 'param']

/** Whether a parameter behind this value belongs to the value: its name is unknown, and the value can hold it. spec/gateway 1.5. */
function holds(name: string, value: string, next: string): boolean {
  return !KNOWN.has(next) && (TEXTS.includes(name) || (ADDRESSES.includes(name) && /[?#]/.test(value)))
}

/**
 * Whether a text can be read in one way by the rule for requests, seen without a search: no value holds an `&`, so each parameter
 * ends at the next one, and the protocol knows each name, so none belongs to the value before it.
 * @param values the values of the text. Blank ones may be missing.
 */
export function isPlain(text: string, values: readonly string[]): boolean {
  if (values.some((value) => value.includes('&'))) return false
  return text.split('&').every((part) => KNOWN.has(part.slice(0, part.indexOf('='))))
}

/** The reading with the parameters that belong to the value before them. A reading has its names in the order of the text. */
export function withHeld(reading: Reading): Reading {
  const whole: Record<string, string> = Object.create(null)
  let last = ''
  for (const [name, value] of Object.entries(reading)) {
    if (last !== '' && holds(last, whole[last]!, name)) whole[last] += `&${name}=${value}`
    else {
      whole[name] = value
      last = name
    }
  }
  return whole
}

type Start = { at: number; name: string; value_at: number; rank: number }

/** The positions where a parameter may begin: the front, and after each `&` that a name and `=` follow. */
function startsOf(text: string, isName: (name: string) => boolean): Start[] {
  const starts: Start[] = []
  for (let at = 0, next = 0; next !== -1; at = next + 1) {
    next = text.indexOf('&', at)
    const equals = text.indexOf('=', at)
    if (equals === -1 || (next !== -1 && next < equals)) continue
    const name = text.slice(at, equals)
    if (name !== 'sign' && name !== 'sign_type' && isName(name))
      starts.push({ at, name, value_at: equals + 1, rank: 0 })
  }
  const names = [...new Set(starts.map(({ name }) => name))].sort(compareBytes)
  const ranks = new Map(names.map((name, rank) => [name, rank]))
  for (const start of starts) start.rank = ranks.get(start.name)!
  return starts
}

/** Whether a text has more than STARTS_MAX starts. */
export function hasTooManyStarts(text: string): boolean {
  // Each start but the first follows an `&`. Nearly every text has few of them.
  if (text.split('&').length <= STARTS_MAX) return false
  return startsOf(text, () => true).length > STARTS_MAX
}

/**
 * Finds the first wanted set of parameters that has this text and that the reader accepts. Names are in ascending byte order,
 * and no value is empty. The very first one is our own reading: it ends a value at every possible `&name=`, except that
 * `name`, `param` and an address with a query hold names that the protocol does not know.
 */
export function findReading(
  text: string,
  { needs, takes, isName = () => true }: Reader,
  isWanted: (reading: Reading) => boolean = () => true,
): Reading | undefined {
  // Saves the search in most texts: every start follows an `&` or is the first.
  if (!needs.every((name) => `&${text}`.includes(`&${name}=`))) return undefined
  const starts = startsOf(text, isName)
  const end = starts.length
  const valueBetween = (from: number, to: number) =>
    text.slice(starts[from]!.value_at, to === end ? undefined : starts[to]!.at - 1)

  /** Whether no needed name sorts between two neighbouring starts. The ends of the text bound nothing. */
  function leavesOutNothing(from: number, to: number): boolean {
    const [after, before] = [starts[from]?.name, starts[to]?.name]
    return !needs.some(
      (name) => (after === undefined || after < name) && (before === undefined || name < before),
    )
  }

  function canEnd(from: number, to: number): boolean {
    const { name, rank, value_at } = starts[from]!
    const isNext =
      to === end ? value_at < text.length : starts[to]!.rank > rank && value_at < starts[to]!.at - 1
    return (
      isNext &&
      leavesOutNothing(from, to) &&
      (!Object.hasOwn(takes, name) || takes[name]!(valueBetween(from, to)))
    )
  }

  const path: [string, string][] = []
  /** Starts after which no reading reaches the end. */
  const dead = new Set<number>()
  let reached = 0

  function through(from: number, to: number): Reading | undefined {
    path.push([starts[from]!.name, valueBetween(from, to)])
    const found = readFrom(to)
    path.pop()
    return found
  }

  function readFrom(from: number): Reading | undefined {
    if (from === end) {
      reached += 1
      const reading = Object.assign(Object.create(null), Object.fromEntries(path))
      return isWanted(reading) ? reading : undefined
    }
    if (dead.has(from)) return undefined
    const before = reached
    const kept: number[] = []
    for (let to = from + 1; to <= end; to += 1) {
      if (!canEnd(from, to)) continue
      const isKept = to !== end && holds(starts[from]!.name, valueBetween(from, to), starts[to]!.name)
      if (isKept) kept.push(to)
      const found = isKept ? undefined : through(from, to)
      if (found !== undefined) return found
    }
    for (const to of kept.reverse()) {
      const found = through(from, to)
      if (found !== undefined) return found
    }
    if (reached === before) dead.add(from)
    return undefined
  }

  return starts[0]?.at === 0 && leavesOutNothing(-1, 0) ? readFrom(0) : undefined
}
