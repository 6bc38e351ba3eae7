/**
 * Points out of nothing and back into it: grants, and an administrator's adjustments, against the issuance account.
 * The rule is the database functions judge_points and post_points, functions/ledger/points.sql.
 */
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'

/** What is posted as one: all of it, or nothing. */
export type Posting = {
  lines: PostingLine[]
  reason: string
  actor_id: bigint | null
  now: Date
}

export type PostingLine = {
  user_id: bigint
  /** Whole points, not 0; what is negative is taken. */
  amount: bigint
  /** Names this line: a second one of the same name does nothing. Null where it is only judged. */
  reference: string | null
}

/** `changed`: the reference stands for another member, amount or reason. `too_many`: more than 2^53 − 1. */
export type Outcome = 'posted' | 'repeated' | 'changed' | 'not_found' | 'too_many' | 'insufficient'

const REFUSALS = {
  changed: ['conflict', 'This key was used for something else'],
  not_found: ['not_found', 'There is no such member'],
  too_many: ['conflict', 'That is more points than can be counted'],
  insufficient: ['conflict', 'The member does not have that many points'],
} as const

/** Posts the lines if each of them can be. Answers with an outcome for each; nothing moved unless all are `posted`. */
export async function postPoints(db: Db, { lines, reason, actor_id, now }: Posting): Promise<Outcome[]> {
  const { rows } = await sql<{ outcome: Outcome }>`
    select outcome from post_points(${columnsOf(lines)}, ${reason}, ${actor_id}::bigint, ${now}::timestamptz)
    order by item`.execute(db)
  return rows.map(({ outcome }) => outcome)
}

/** What would become of the lines now, under any reason if none is given. Nothing is locked, and nothing moves. */
export async function judgePoints(
  db: Db,
  lines: PostingLine[],
  reason: string | undefined,
): Promise<Outcome[]> {
  const { rows } = await sql<{ outcome: Outcome }>`
    select outcome from judge_points(${columnsOf(lines)}, ${reason ?? null}) order by item`.execute(db)
  return rows.map(({ outcome }) => outcome)
}

function columnsOf(lines: PostingLine[]) {
  const user_ids = lines.map(({ user_id }) => user_id)
  const amounts = lines.map(({ amount }) => amount)
  const references = lines.map(({ reference }) => reference)
  return sql`${user_ids}::bigint[], ${amounts}::bigint[], ${references}::text[]`
}

/** Why a line is refused; undefined for one that was posted, now or before. */
export function refusalOf(outcome: Outcome): AppError | undefined {
  if (outcome === 'posted' || outcome === 'repeated') return undefined
  const [code, message] = REFUSALS[outcome]
  return new AppError(code, message)
}

type Single = Omit<Posting, 'lines'> & Omit<PostingLine, 'reference'> & { reference: string }

/**
 * Gives a member points. Answers whether they moved now; a second grant of one reference does nothing, whatever it would
 * give. Throws not_found for no such member, and conflict beyond 2^53 − 1 in all.
 */
export async function grantPoints(db: Db, grant: Single): Promise<boolean> {
  return postOne(db, grant)
}

/** Takes a member's points: the amount is negative. Throws conflict when the member does not have so many. */
export async function adjustPoints(db: Db, adjustment: Single): Promise<boolean> {
  return postOne(db, adjustment)
}

async function postOne(db: Db, { user_id, amount, reference, ...act }: Single): Promise<boolean> {
  const [outcome] = await postPoints(db, { ...act, lines: [{ user_id, amount, reference }] })
  const refusal = outcome === 'changed' ? undefined : refusalOf(outcome!)
  if (refusal !== undefined) throw refusal
  return outcome === 'posted'
}
