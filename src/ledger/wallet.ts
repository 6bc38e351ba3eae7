/** Balances and statements of members. Read only. */
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import {
  amountIn,
  containing,
  type Looked,
  PAGE_LINES,
  type Page,
  pageOf,
  rowsWithin,
} from '../database/looking-back.ts'
import type { Book } from '../database/tables/columns.ts'
import type { JournalKind } from '../database/tables/ledger.ts'

/** A member's wallet in whole points. `frozen_reason` is set while the wallet is frozen. */
export type Wallet = { balance: bigint; frozen_reason: string | null; isOpened: boolean }

/** Reads a wallet. The balance is 0 before the wallet is opened. */
export async function walletOf(db: Db, user_id: bigint, book: Book = 'live'): Promise<Wallet> {
  const wallet = await db
    .selectFrom('ledger_accounts')
    .where('user_id', '=', user_id)
    .where('book', '=', book)
    .where('kind', '=', 'wallet')
    .select(['balance', 'frozen_reason'])
    .executeTakeFirst()
  return {
    balance: wallet?.balance ?? 0n,
    frozen_reason: wallet?.frozen_reason ?? null,
    isOpened: wallet !== undefined,
  }
}

/** The balance of a member's wallet. */
export async function balanceOf(db: Db, user_id: bigint, book: Book = 'live'): Promise<bigint> {
  return (await walletOf(db, user_id, book)).balance
}

/** One movement of a member's wallet. A positive amount is a credit. */
export type StatementLine = {
  id: bigint
  kind: JournalKind
  reason: string | null
  amount: bigint
  posted_at: Date
  /** For payments and refunds: the order, its description, and whether this member paid it. */
  transaction_id: string | null
  description: string | null
  is_payer: boolean
  /** The application of a payment or transfer. */
  app_name: string | null
  /** For transfers: the usernames at that time, or the neutral name for an anonymised member. */
  from_username: string | null
  to_username: string | null
}

export type StatementFilter = {
  /** Words in descriptions, names, reasons and numbers; digits also match the amount. */
  text?: string | undefined
  kind?: JournalKind | undefined
  /** Only movements older than this one. */
  before?: bigint | undefined
}

/**
 * A page of the movements of a member's wallet, the newest first. Lateral joins look up the facts of each movement, because
 * Postgres would otherwise read whole tables for a thousand rows.
 */
export async function statementOf(
  db: Db,
  user_id: bigint,
  { text, kind, before }: StatementFilter = {},
  book: Book = 'live',
): Promise<Page<StatementLine>> {
  const within = rowsWithin(text !== undefined || kind !== undefined)
  const { rows } = await sql<(StatementLine | { id: null }) & Looked>`
    with entry as materialized (
      select id, journal_id, amount from entries
      where account_id = (
          select id from ledger_accounts where user_id = ${user_id} and book = ${book} and kind = 'wallet'
        )
        and ${before === undefined ? sql`true` : sql`id < ${before}`}
      order by id desc limit ${within}
    ),
    line as (
      select entry.id, entry.amount, j.kind, j.reason, j.posted_at, o.transaction_id, o.description,
        coalesce(o.payer_id = ${user_id}, false) as is_payer, app.name as app_name,
        name_now(t.from_user_id, t.from_username) as from_username, name_now(t.to_user_id, t.to_username) as to_username
      from entry
      cross join lateral (select * from journal where id = entry.journal_id limit 1) as j
      left join lateral (
        select * from orders where j.kind in ('payment', 'refund') and transaction_id = split_part(j.reference, ':', 1) limit 1
      ) as o on true
      left join lateral (
        select * from transfers where j.kind in ('transfer', 'reversal') and transaction_id = j.reference limit 1
      ) as t on true
      left join lateral (select * from payment_apps where id = coalesce(o.app_id, t.app_id) limit 1) as app on true
      where ${kind === undefined ? sql`true` : sql`j.kind = ${kind}`}
        and ${text === undefined ? sql`true` : mentions(text)}
      order by entry.id desc limit ${PAGE_LINES + 1}
    )
    select line.*, looked.*,
      (select j.posted_at from entry join journal as j on j.id = entry.journal_id where entry.id = looked.oldest) as oldest_at
    from (select count(*) as seen, min(id) as oldest from entry) as looked
    left join line on true
    order by line.id desc`.execute(db)
  return pageOf<StatementLine>(rows, within)
}

/** Whether any shown value of a line contains the text. */
function mentions(text: string) {
  return sql`(
    concat_ws(' ', o.description, app.name, o.order_id, t.order_id, j.reference, j.reason,
      name_now(t.from_user_id, t.from_username), name_now(t.to_user_id, t.to_username))
      ilike ${containing(text)}
    or abs(entry.amount) = ${amountIn(text)}::bigint
  )`
}
