/**
 * Points out of nothing and back into it: grants, and an administrator's adjustments, against the issuance account.
 * The act is the database function adjust_points.
 */
import { sql } from 'kysely'
import { type Db, violatedConstraint } from '../database/connection.ts'
import { AppError } from '../errors.ts'

export type Posting = {
  user_id: bigint
  /** Whole points: what a grant gives is at least 1, an adjustment may take. */
  amount: bigint
  /** Names this act: a second one of the same name does nothing. */
  reference: string
  reason: string
  actor_id: bigint | null
  now: Date
}

/**
 * Gives a member points. Answers whether they moved now, or had before. Throws not_found for no such member, and
 * conflict beyond 2^53 − 1 in all.
 */
export async function grantPoints(db: Db, grant: Posting): Promise<boolean> {
  return adjust(db, 'grant', grant)
}

/** Corrects a balance either way. Throws conflict when the member does not have what is to be taken. */
export async function adjustPoints(db: Db, adjustment: Posting): Promise<boolean> {
  return adjust(db, 'adjustment', adjustment)
}

async function adjust(
  db: Db,
  kind: 'grant' | 'adjustment',
  { user_id, amount, reference, reason, actor_id, now }: Posting,
): Promise<boolean> {
  const { rows } = await sql<{ outcome: 'posted' | 'repeated' | 'not_found' | 'insufficient' }>`
    select adjust_points(
      ${kind}, ${user_id}::bigint, ${amount}::bigint, ${reference}, ${reason}, ${actor_id}::bigint, ${now}::timestamptz
    ) as outcome`
    .execute(db)
    .catch((error: unknown) => {
      if (violatedConstraint(error) !== 'ledger_accounts_balance_bound') throw error
      throw new AppError('conflict', 'That is more points than can be counted', { cause: error })
    })
  const { outcome } = rows[0]!
  if (outcome === 'not_found') throw new AppError('not_found', 'There is no such member')
  if (outcome === 'insufficient') throw new AppError('conflict', 'The member does not have that many points')
  return outcome === 'posted'
}
