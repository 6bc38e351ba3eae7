/**
 * The ways in which a signed text can be read. A signed text joins its values unescaped, so the texts of two sets of
 * parameters can be equal: a value may hold what looks like the next parameter. Pure. gateway.md 6.1.
 */
import { compareBytes } from '../signing/canonical.ts'

/** Who reads a text: the fields that a reading must have, and the values that it may have in a field. */
export type Reader = {
  needs: readonly string[]
  /** A field without a rule takes any value. */
  takes: Readonly<Record<string, (value: string) => boolean>>
  /** What a name may be; by default anything, since shops differ. */
  isName?: (name: string) => boolean
}

export type Reading = Readonly<Record<string, string>>

/** More places at which a parameter could begin are not looked into. */
export const STARTS_MAX = 256

/** Names that shops and gateways of this protocol send. */
const KNOWN = new Set(
  `act addtime api_trade_no auth_code bookid buyer channel_id cid clientip code device endtime key limit method money
  name notify_url offset openid out_biz_no out_refund_no out_trade_no page param pay_type pid refund_no return_url
  sitename status sub_appid sub_openid timestamp trade_no trade_status type version`.split(/\s+/),
)
const ADDRESSES = ['notify_url', 'return_url']

type Start = { at: number; name: string; value_at: number; rank: number }

/** Where a parameter could begin: at the front, and behind each `&` that a name and `=` follow. */
function startsOf(text: string, isName: (name: string) => boolean): Start[] {
  const starts = [...text.matchAll(/(?<=^|&)([^&=]*)=/g)]
    .map(({ index, 0: head, 1: name }) => ({
      at: index,
      name: name!,
      value_at: index + head.length,
      rank: 0,
    }))
    .filter(({ name }) => name !== 'sign' && name !== 'sign_type' && isName(name))
  const names = [...new Set(starts.map(({ name }) => name))].sort(compareBytes)
  const ranks = new Map(names.map((name, rank) => [name, rank]))
  return starts.map((start) => ({ ...start, rank: ranks.get(start.name)! }))
}

/** Whether a text has more starts than `readings` looks into. */
export function hasTooManyStarts(text: string): boolean {
  return startsOf(text, () => true).length > STARTS_MAX
}

/**
 * The sets of parameters that spell this text and that the reader takes: names in ascending byte order, no value empty.
 * The first one is how we read a text ourselves: it ends a value at every `&name=` where it can, except that an address
 * with a query keeps a name that the protocol does not know.
 */
export function* readings(text: string, { needs, takes, isName = () => true }: Reader): Generator<Reading> {
  const starts = startsOf(text, isName)
  const end = starts.length
  const valueBetween = (from: number, to: number) =>
    text.slice(starts[from]!.value_at, to === end ? undefined : starts[to]!.at - 1)

  /** Whether no needed name sorts between two neighbours; beyond the first and the last, all names count. */
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

  function* endsInOrder(from: number): Generator<number> {
    const isAddress = ADDRESSES.includes(starts[from]!.name)
    const kept: number[] = []
    for (let to = from + 1; to <= end; to += 1) {
      if (!canEnd(from, to)) continue
      const isKept =
        isAddress && to !== end && !KNOWN.has(starts[to]!.name) && /[?#]/.test(valueBetween(from, to))
      if (isKept) kept.push(to)
      else yield to
    }
    yield* kept.reverse()
  }

  const dead = new Set<number>()
  function* readFrom(from: number): Generator<[string, string][]> {
    if (from === end) yield []
    if (from === end || dead.has(from)) return
    let isDead = true
    for (const to of endsInOrder(from)) {
      for (const rest of readFrom(to)) {
        isDead = false
        yield [[starts[from]!.name, valueBetween(from, to)], ...rest]
      }
    }
    if (isDead) dead.add(from)
  }

  if (starts[0]?.at !== 0 || !leavesOutNothing(-1, 0)) return
  for (const reading of readFrom(0)) yield Object.assign(Object.create(null), Object.fromEntries(reading))
}
