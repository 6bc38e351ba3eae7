/** Journals with their entries, and the movements of one account, for administrators. Read only. */
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

/** The newest movements of an account, optionally only those older than the entry `before`. */
export async function movementsOf(db: Db, account_id: bigint, before: bigint | undefined, limit: number) {
  let movements = db
    .selectFrom('entries')
    .innerJoin('journal', 'journal.id', 'entries.journal_id')
    .where('entries.account_id', '=', account_id)
    .orderBy('entries.id', 'desc')
    .limit(limit)
    .select(['entries.id', 'entries.amount', 'entries.journal_id'])
    .select(['journal.kind', 'journal.reference', 'journal.reason', 'journal.posted_at'])
  if (before !== undefined) movements = movements.where('entries.id', '<', before)
  return movements.execute()
}
