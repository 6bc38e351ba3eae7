/**
 * Journals with their entries, and the movements of one account, for administrators. Read only.
 * spec/points 1.1.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import type { JournalKind } from '../database/tables/ledger.ts'
import { ITS_FACTS, memo, partner } from './wallet.ts'

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
  /** Only payments, refunds and transfers with this member, among the newest LOOKED_THROUGH_MAX movements. */
  partner_id?: bigint | undefined
}

/** A search for the movements with one member looks through so many. */
export const LOOKED_THROUGH_MAX = 2_000

/** A movement of an account, in signed whole points, with the order or the transfer that caused it. */
export type AccountMovement = {
  id: bigint
  journal_id: bigint
  kind: JournalKind
  reference: string
  reason: string | null
  amount: bigint
  posted_at: Date
  /** Of the order or of the transfer. */
  transaction_id: string | null
  /** Set for payments and refunds. */
  description: string | null
  order_amount: bigint | null
  is_tip: boolean
  payment_id: string | null
  app_name: string | null
  app_logo_url: string | null
  /** Who paid, and who was paid. */
  from_user_id: bigint | null
  to_user_id: bigint | null
  /** Names of the members of a transfer or a tip, and of an order. */
  from_username: string | null
  to_username: string | null
}

/** The newest movements of an account. */
export async function movementsOf(
  db: Db,
  account_id: bigint,
  { from, until, before, partner_id }: MovementFilter,
  limit: number,
): Promise<AccountMovement[]> {
  // The first entries of a time are found by halving, because entries have no index of times.
  const firstSince = (moment: RawBuilder<unknown>) =>
    sql`(select first_entry_since(${account_id}, ${moment}))`
  const within = [
    sql`e.account_id = ${account_id}`,
    ...(from === undefined
      ? []
      : [sql`j.posted_at >= ${from} and e.id >= ${firstSince(sql`${from}::timestamptz - ${MARGIN}`)}`]),
    ...(until === undefined
      ? []
      : [sql`j.posted_at < ${until} and e.id < ${firstSince(sql`${until}::timestamptz + ${MARGIN}`)}`]),
    ...(before === undefined ? [] : [sql`e.id < ${before}`]),
  ]
  const { rows } = await sql<AccountMovement>`
    with j as materialized (
      select e.id as entry_id, e.amount, j.*
      from entries as e join journal as j on j.id = e.journal_id
      where ${sql.join(within, sql` and `)} order by e.id desc limit ${partner_id === undefined ? limit : LOOKED_THROUGH_MAX}
    )
    select j.entry_id as id, j.id as journal_id, j.kind, j.reference, coalesce(j.reason, ${memo}) as reason, j.amount, j.posted_at,
      coalesce(o.transaction_id, t.transaction_id) as transaction_id, o.description, o.amount as order_amount,
      coalesce(o.door = 'tip', false) as is_tip, app.payment_id, app.name as app_name, app.logo_url as app_logo_url,
      coalesce(o.payer_id, t.from_user_id) as from_user_id, coalesce(o.payee_id, t.to_user_id) as to_user_id,
      coalesce(${partner('from')}, (select username from users where id = o.payer_id)) as from_username,
      coalesce(${partner('to')}, (select username from users where id = o.payee_id)) as to_username
    from j ${ITS_FACTS}
    where ${partner_id === undefined ? sql`true` : sql`${partner_id}::bigint in (o.payer_id, o.payee_id, t.from_user_id, t.to_user_id)`}
    order by j.entry_id desc limit ${limit}`.execute(db)
  return rows
}
