/** The lines that the page of a payout shows: those that fail, and those that are paid, with their recipients. spec/payouts 3.2. */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { LineRefusal, LineStatus } from '../../database/tables/payouts.ts'
import { type JudgedLine, type JudgedPayout, judgePayout } from './judge.ts'
import { linesOfPayout, type Payout, type PayoutLineResult } from './payouts.ts'

/** Failing lines, and others, that a page shows. The file has all. */
const FAULTY_SHOWN = 50
const OTHERS_SHOWN = 25
/** Members with several lines that a page names. */
const TWICE_SHOWN = 5

export type ShownLine = Pick<PayoutLineResult, 'line_id' | 'amount' | 'memo'> & {
  status: LineStatus
  outcome: LineRefusal | null
  transaction_id: string | null
  /** The member, or what the file calls one that does not exist. */
  recipient: { username: string; avatar_url: string | null }
  /** The bound that a line of a draft breaks, in whole points. */
  bound: bigint | null
  /** Whether another line of the draft pays the same member. */
  is_twice: boolean
  /** Where the name and the id of a line do not fit: who has the id. */
  has_id: string | undefined
}

/** Some lines, and how many there are in all. */
export type ShownLines = { lines: ShownLine[]; count: number }

export type ShownPayout = {
  /** Of a draft: what its lines would do now. */
  check: JudgedPayout | undefined
  faulty: ShownLines
  /** Of a draft the lines that can be paid; of others the paid ones, and while it is open those that wait. */
  others: ShownLines
  /** Members whom a draft would pay, and the names of some that it would pay more than once. */
  members: number
  twice: string[]
}

type Line = Omit<ShownLine, 'recipient' | 'has_id' | 'bound' | 'is_twice'> &
  Partial<Pick<ShownLine, 'bound'>> &
  Pick<PayoutLineResult, 'to_user_id' | 'to_username'>

/** Judges a draft. */
export async function checkDraft(deps: Core, payout: Payout): Promise<ShownPayout> {
  const asked = await linesOfPayout(deps.db, payout.id)
  const check = await judgePayout(deps, payout, { reference: payout.reference, lines: asked })
  const lines = check.lines.map((line) => ({ ...line, transaction_id: null }))
  const toPay = check.lines.filter(({ status }) => status === 'pending')
  const isFaulty = ({ outcome }: Pick<JudgedLine, 'outcome'>) => outcome !== null
  const faulty = lines.filter(isFaulty)
  const payable = lines.filter((line) => !isFaulty(line))
  const ids = toPay.map(({ to_user_id }) => to_user_id)
  const twice = new Set(ids.filter((id, i) => ids.indexOf(id) < i))
  const named = [...twice].slice(0, TWICE_SHOWN)
  const recipients = await recipientsWith(deps.db, [
    ...[...faulty.slice(0, FAULTY_SHOWN), ...payable.slice(0, OTHERS_SHOWN)].map(
      ({ to_user_id }) => to_user_id,
    ),
    ...named,
  ])
  return {
    check,
    faulty: shown(faulty, FAULTY_SHOWN, recipients),
    others: shown(payable, OTHERS_SHOWN, recipients, twice),
    members: new Set(ids).size,
    twice: named.flatMap((id) => recipients.get(id)?.username ?? []),
  }
}

/**
 * Reads the results of a payout that is no draft. Before its first line is paid, it also says which lines cannot be paid, as its
 * draft did.
 */
export async function readResults(deps: Core, payout: Payout): Promise<ShownPayout> {
  if (payout.status === 'waiting' && payout.pending === payout.count)
    return { ...(await checkDraft(deps, payout)), check: undefined }
  const { db } = deps
  const { id, refused, paid, pending, finished_at } = payout
  const cancelled = payout.status === 'cancelled' ? payout.cancelled : 0
  const [faulty, others] = await Promise.all([
    refused + cancelled === 0
      ? []
      : linesOfPayout(db, id, { limit: FAULTY_SHOWN, status: refused > 0 ? 'refused' : 'cancelled' }),
    linesOfPayout(db, id, {
      limit: OTHERS_SHOWN,
      status: finished_at === null ? ['paid', 'pending'] : 'paid',
    }),
  ])
  const recipients = await recipientsWith(
    db,
    [...faulty, ...others].map(({ to_user_id }) => to_user_id),
  )
  return {
    check: undefined,
    faulty: { ...shown(faulty, FAULTY_SHOWN, recipients), count: refused + cancelled },
    others: {
      ...shown(others, OTHERS_SHOWN, recipients),
      count: paid + (finished_at === null ? pending : 0),
    },
    members: 0,
    twice: [],
  }
}

type Recipients = ReadonlyMap<bigint, ShownLine['recipient']>

function shown(
  lines: Line[],
  limit: number,
  recipients: Recipients,
  twice: ReadonlySet<bigint> = new Set(),
): ShownLines {
  const some = lines.slice(0, limit).map(({ to_user_id, to_username, ...line }) => {
    const member = recipients.get(to_user_id)
    const isOther = line.outcome === 'mismatch'
    return {
      ...line,
      bound: line.bound ?? null,
      is_twice: twice.has(to_user_id),
      recipient: member === undefined || isOther ? { username: to_username, avatar_url: null } : member,
      has_id: isOther ? member?.username : undefined,
    }
  })
  return { lines: some, count: lines.length }
}

/** The members with these ids, by id. */
async function recipientsWith(db: Db, ids: bigint[]): Promise<Recipients> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('users')
    .where('id', 'in', [...new Set(ids)])
    .select(['id', 'username', 'avatar_url'])
    .execute()
  return new Map(rows.map(({ id, ...recipient }) => [id, recipient]))
}
