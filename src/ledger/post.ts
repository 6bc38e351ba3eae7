/**
 * The acts that move points outside payments. Each posts one journal through the database function
 * post_journal, the only writer of the ledger.
 */
import { sql } from 'kysely'
import { type Db, violatedConstraint } from '../database/connection.ts'
import type { Book } from '../database/tables.ts'

/** Whole points travel as JSON integers, so none may exceed 2^53 − 1 (decisions.md 2.5). */
export const POINTS_MAX = 9_007_199_254_740_991n

export type Grant = {
  user_id: bigint
  /** Whole points, at least 1. */
  amount: bigint
  /** Names this grant: a second one of the same name does nothing. */
  reference: string
  reason: string
  actor_id: bigint | null
  now: Date
  book?: Book
}

/** Gives a member points out of the issuance account. Answers whether they moved now, or had before. */
export async function grantPoints(
  db: Db,
  { user_id, amount, reference, reason, actor_id, now, book = 'live' }: Grant,
): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      await tx
        .insertInto('ledger_accounts')
        .values({ book, kind: 'wallet', user_id, balance: 0n })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      // Locked in id order, like every writer, so that no two can wait for each other in a circle.
      const accounts = await tx
        .selectFrom('ledger_accounts')
        .where('book', '=', book)
        .where((eb) => eb.or([eb('kind', '=', 'issuance'), eb('user_id', '=', user_id)]))
        .orderBy('id')
        .select(['id', 'kind'])
        .forUpdate()
        .execute()
      const ids = accounts.map((account) => account.id)
      const amounts = accounts.map((account) => (account.kind === 'issuance' ? -amount : amount))
      await sql`select post_journal(${book}, 'grant', ${reference}, ${actor_id}, ${reason}, ${now}, ${ids}, ${amounts})`.execute(
        tx,
      )
    })
    return true
  } catch (error) {
    if (violatedConstraint(error) === 'journal_reference_key') return false
    throw error
  }
}
