/**
 * Grants, and adjustments by an administrator, against the issuance account. The database functions judge_points and
 * post_points decide and post them (functions/ledger/points.sql).
 */
import { sql } from 'kysely'
import { columnsOf } from '../database/batcher.ts'
import type { Db } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'

/** Lines that are posted together or not at all. */
export type Posting = {
  lines: PostingLine[]
  reason: string
  actor_id: bigint | null
  now: Date
}

export type PostingLine = {
  user_id: bigint
  /** Whole points, not 0. A negative amount is taken from the member. */
  amount: bigint
  /** The idempotency key of the line; a second line with it does nothing. Null for a line that is only judged. */
  reference: string | null
}

const LINE = { user_id: 'bigint', amount: 'bigint', reference: 'text' } as const

/** `changed`: the reference belongs to another member, amount or reason. `too_many`: more than 2^53 − 1. */
export type Outcome = 'posted' | 'repeated' | 'changed' | 'not_found' | 'too_many' | 'insufficient'

const REFUSALS = {
  changed: ['conflict', 'This key was used for something else'],
  not_found: ['not_found', 'There is no such member'],
  too_many: ['conflict', 'That is more points than can be counted'],
  insufficient: ['conflict', 'The member does not have that many points'],
} as const

/** Posts all lines or none. Returns an outcome for each line; points move only if all are `posted`. */
export async function postPoints(db: Db, { lines, reason, actor_id, now }: Posting): Promise<Outcome[]> {
  const { rows } = await sql<{ outcome: Outcome }>`
    select outcome from post_points(${columnsOf(lines, LINE)}, ${reason}, ${actor_id}::bigint, ${now}::timestamptz)
    order by item`.execute(db)
  return rows.map(({ outcome }) => outcome)
}

/** Predicts the outcomes of the lines without locks. An undefined reason matches every reason. */
export async function judgePoints(
  db: Db,
  lines: PostingLine[],
  reason: string | undefined,
): Promise<Outcome[]> {
  const { rows } = await sql<{ outcome: Outcome }>`
    select outcome from judge_points(${columnsOf(lines, LINE)}, ${reason ?? null}) order by item`.execute(db)
  return rows.map(({ outcome }) => outcome)
}

/** The refusal of a line. Undefined for a line that is posted now or was posted before. */
export function refusalOf(outcome: Outcome): AppError | undefined {
  if (outcome === 'posted' || outcome === 'repeated') return undefined
  const [code, message] = REFUSALS[outcome]
  return new AppError(code, message)
}

type Single = Omit<Posting, 'lines'> & Omit<PostingLine, 'reference'> & { reference: string }

/**
 * Grants points to a member. Returns whether they moved now; a second grant with the same reference does nothing. Throws
 * not_found for an unknown member, and conflict beyond 2^53 − 1 points.
 */
export async function grantPoints(db: Db, grant: Single): Promise<boolean> {
  return postOne(db, grant)
}

/** Takes points from a member; the amount is negative. Throws not_found, and conflict if the balance is too low. */
export async function adjustPoints(db: Db, adjustment: Single): Promise<boolean> {
  return postOne(db, adjustment)
}

async function postOne(db: Db, { user_id, amount, reference, ...act }: Single): Promise<boolean> {
  const [outcome] = await postPoints(db, { ...act, lines: [{ user_id, amount, reference }] })
  const refusal = outcome === 'changed' ? undefined : refusalOf(outcome!)
  if (refusal !== undefined) throw refusal
  return outcome === 'posted'
}
