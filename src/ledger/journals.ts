/**
 * Journals with their entries, and the movements of one account, for administrators. Read only.
 * spec/points 1.1.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/connection.ts'

/** The owner of an entry's account: a member, or the platform. */
type Party = { account_kind: 'wallet' | 'fee' | 'issuance'; user_id: bigint | null; username: string | null }

/** An entry in signed whole points. A positive amount is a credit. */
export type Entry = Party & { amount: bigint }

export type Journal = Awaited<ReturnType<typeof selectJournals>>[number] & { entries: Entry[] }

/** Reads journals by their ids, the oldest first, each with its entries. */
export async function readJournals(db: Db, ids: bigint[]): Promise<Journal[]> {
  if (ids.length === 0) return []
  const [journals, entries] = await Promise.all([
    selectJournals(db, ids),
    db
      .selectFrom('entries')
      .innerJoin('ledger_accounts as account', 'account.id', 'entries.account_id')
      .leftJoin('users', 'users.id', 'account.user_id')
      .where('entries.journal_id', 'in', ids)
      .orderBy('entries.id')
      .select(['entries.journal_id', 'entries.amount', 'account.kind as account_kind'])
      .select(['account.user_id', 'users.username'])
      .execute(),
  ])
  return journals.map((journal) => ({
    ...journal,
    entries: entries.filter((entry) => entry.journal_id === journal.id),
  }))
}

function selectJournals(db: Db, ids: bigint[]) {
  return db
    .selectFrom('journal')
    .leftJoin('users as actor', 'actor.id', 'journal.actor_id')
    .where('journal.id', 'in', ids)
    .orderBy('journal.id')
    .select(['journal.id', 'journal.book', 'journal.kind', 'journal.reference', 'journal.reason'])
    .select(['journal.posted_at', 'actor.username as actor'])
    .execute()
}

/** The clocks of processes differ by less than this. */
const MARGIN = sql`interval '5 minutes'`

export type MovementFilter = {
  /** Posted from this moment (inclusive) until that one (exclusive). */
  from?: Date | undefined
  until?: Date | undefined
  /** Only movements older than this entry. */
  before?: bigint | undefined
}

/** The newest movements of an account. */
export async function movementsOf(
  db: Db,
  account_id: bigint,
  { from, until, before }: MovementFilter,
  limit: number,
) {
  let movements = db
    .selectFrom('entries')
    .innerJoin('journal', 'journal.id', 'entries.journal_id')
    .where('entries.account_id', '=', account_id)
    .orderBy('entries.id', 'desc')
    .limit(limit)
    .select(['entries.id', 'entries.amount', 'entries.journal_id'])
    .select(['journal.kind', 'journal.reference', 'journal.reason', 'journal.posted_at'])
  // The first entries of a time are found by halving, because entries have no index of times.
  const firstSince = (moment: RawBuilder<unknown>) =>
    sql<bigint>`(select first_entry_since(${account_id}, ${moment}))`
  if (from !== undefined)
    movements = movements
      .where('journal.posted_at', '>=', from)
      .where('entries.id', '>=', firstSince(sql`${from}::timestamptz - ${MARGIN}`))
  if (until !== undefined)
    movements = movements
      .where('journal.posted_at', '<', until)
      .where('entries.id', '<', firstSince(sql`${until}::timestamptz + ${MARGIN}`))
  if (before !== undefined) movements = movements.where('entries.id', '<', before)
  return movements.execute()
}
