/** Words for suspicious patterns: who they are of, why they are listed, and which list deserves a look first. */
import type { Locale } from '../../web/languages.ts'
import type { Cluster, Found, Ring } from './patterns.ts'

/** One row: who it is about, why, and how much. */
export type Suspect = {
  /** Names the pattern, and the members or the address. */
  finding: string
  /** The figure by which it grows: points, or accounts of an address. Positive. */
  size: bigint
  /** Members in the order of the ring, or the one member, each with their page. */
  members: { username: string; href: string }[]
  isRing: boolean
  /** In place of a member. */
  address?: string
  why: string
  /** New accounts of the row. */
  accounts: { username: string; href: string }[]
  points?: bigint
  movements?: number
  /** Whether the pattern is most of what these members did. */
  isStrong: boolean
}

export type Pattern = { name: PatternName; suspects: Suspect[]; strength: number }

export type PatternName = 'rings' | 'movers' | 'byRecipient' | 'byAddress' | 'byTips'

/** From this part on, a pattern is most of what its members did. */
const STRONG_PERCENT = 50
/** Accounts that one person opens for a purpose come within a day. */
const STRONG_HOURS = 24

/** Returns the patterns that were found, the one with the strongest first row first. */
export function showPatterns(found: Found, { t, points }: Locale): Pattern[] {
  const { why } = t.console.abuse
  const clusterOf =
    (name: PatternName, words: (accounts: string, percent: number) => string) => (cluster: Cluster) =>
      suspect(cluster.percent, {
        finding: `${name}:${cluster.shared_id}`,
        size: cluster.points,
        members: [byName(cluster.shared)],
        why: words(points(cluster.members), cluster.percent),
        accounts: cluster.usernames.map(byName),
        points: cluster.points,
      })
  const patterns: Pattern[] = [
    patternOf('rings', apart(found.rings), ({ usernames, user_ids, percent, ...ring }) =>
      suspect(percent, {
        ...ring,
        finding: `rings:${user_ids.join()}`,
        size: ring.points,
        // Each leads to what moved between the member and the next one.
        members: usernames.map((username, i) => ({
          username,
          href: `${walletOf(user_ids[i]!)}?with=${user_ids[(i + 1) % user_ids.length]!}`,
        })),
        isRing: true,
        why: why.rings(percent),
      }),
    ),
    patternOf('byRecipient', found.byRecipient, clusterOf('byRecipient', why.byRecipient)),
    patternOf('byTips', found.byTips, clusterOf('byTips', why.byTips)),
    patternOf('byAddress', found.byAddress, ({ shared, members, usernames, hours }) =>
      suspect(hours <= STRONG_HOURS ? 100 : 0, {
        finding: `byAddress:${shared}`,
        size: BigInt(members),
        address: shared,
        why: why.byAddress(points(members), hours),
        accounts: usernames.map(byName),
      }),
    ),
    patternOf('movers', found.movers, (mover) => {
      const { username, user_id, trust_level, sent, received, movements, payouts, paid_out } = mover
      const payout = payouts === 0 ? '' : why.payouts(points(payouts), points(paid_out))
      // A payout of a merchant is announced and recorded as one, so it makes no pattern strong.
      return suspect(percentOf(sent - paid_out, received), {
        finding: `movers:${user_id}`,
        size: sent < received ? sent : received,
        members: [{ username, href: walletOf(user_id) }],
        why: why.movers(t.common.trustLevel(trust_level), points(received), points(sent), payout),
        movements,
      })
    }),
  ]
  return patterns
    .filter(({ suspects }) => suspects.length > 0)
    .toSorted((one, other) => other.strength - one.strength)
}

/** Leaves out a ring that shares two members with one before it: the same points went round in both. */
function apart(rings: Ring[]): Ring[] {
  const kept: Ring[] = []
  for (const ring of rings) {
    const isSame = ({ user_ids }: Ring) => user_ids.filter((id) => ring.user_ids.includes(id)).length > 1
    if (!kept.some(isSame)) kept.push(ring)
  }
  return kept
}

function patternOf<Row>(
  name: PatternName,
  rows: Row[],
  show: (row: Row) => Suspect & { strength: number },
): Pattern {
  const suspects = rows.map(show)
  return { name, suspects, strength: suspects[0]?.strength ?? 0 }
}

type Told = Partial<Suspect> & Pick<Suspect, 'finding' | 'size' | 'why'>

function suspect(strength: number, row: Told): Suspect & { strength: number } {
  return { members: [], isRing: false, accounts: [], ...row, isStrong: strength >= STRONG_PERCENT, strength }
}

/** The members or the address of a row in one line. */
export function whoOf({ members, isRing, address }: Suspect): string {
  const names = members.map(({ username }) => `@${username}`)
  return address ?? [...names, ...(isRing ? names.slice(0, 1) : [])].join(' → ')
}

/** How much of one amount the other one is, whichever is larger. */
function percentOf(one: bigint, other: bigint): number {
  const [less, more] = one < other ? [one, other] : [other, one]
  return more === 0n ? 0 : Number((less * 100n) / more)
}

const walletOf = (id: bigint) => `/admin/wallets/${id}`
const byName = (username: string) => ({
  username,
  href: `/admin/find?q=${encodeURIComponent(`@${username}`)}`,
})
