/** What a member owns and how it came about: balances and statements, read only. */
import type { Db } from '../database/connection.ts'
import type { Book, JournalKind } from '../database/tables.ts'

/** A member's balance in whole points; 0 for one who never had any. */
export async function balanceOf(db: Db, user_id: bigint, book: Book = 'live'): Promise<bigint> {
  const wallet = await db
    .selectFrom('ledger_accounts')
    .where('user_id', '=', user_id)
    .where('book', '=', book)
    .where('kind', '=', 'wallet')
    .select('balance')
    .executeTakeFirst()
  return wallet?.balance ?? 0n
}

/** One movement of a member's wallet. `amount` is signed: what came in is positive. */
export type StatementLine = {
  id: bigint
  kind: JournalKind
  reference: string
  reason: string | null
  amount: bigint
  posted_at: Date
  /** For payments: what was bought. */
  description: string | null
  /** The application a payment or transfer went through. */
  app_name: string | null
  /** For transfers: the two members, as they were called then. */
  from_username: string | null
  to_username: string | null
}

/** The newest movements of a member's live wallet, newest first. */
export async function statementOf(db: Db, user_id: bigint, limit: number): Promise<StatementLine[]> {
  return db
    .selectFrom('ledger_accounts as account')
    .innerJoin('entries', 'entries.account_id', 'account.id')
    .innerJoin('journal', 'journal.id', 'entries.journal_id')
    .leftJoin('orders', 'orders.journal_id', 'journal.id')
    .leftJoin('transfers', 'transfers.journal_id', 'journal.id')
    .leftJoin('payment_apps', (join) =>
      join.on((eb) => eb('payment_apps.id', '=', eb.fn.coalesce('orders.app_id', 'transfers.app_id'))),
    )
    .where('account.user_id', '=', user_id)
    .where('account.book', '=', 'live')
    .orderBy('entries.id', 'desc')
    .limit(limit)
    .select([
      'entries.id',
      'entries.amount',
      'journal.kind',
      'journal.reference',
      'journal.reason',
      'journal.posted_at',
      'orders.description',
      'payment_apps.name as app_name',
      'transfers.from_username',
      'transfers.to_username',
    ])
    .execute()
}
