/** The merchant's search in the transfers of one application. Read only. */
import { type SqlBool, sql } from 'kysely'
import { BIGGEST_ID, type Db } from '../../database/connection.ts'
import {
  containing,
  type Looked,
  PAGE_LINES,
  type Page,
  pageOf,
  rowsOfApp,
  rowsWithin,
} from '../../database/paging.ts'
import type { Transfer } from '../orders/transfers.ts'

/** The rows that a search looks at, about 2 µs each. */
const READ_THROUGH_MAX = 10_000

/** How much the clocks of two processes may differ. */
const CLOCKS_DIFFER_MS = 600_000

export type ListedTransfer = Transfer & { id: bigint }

export type TransferFilter = {
  /** A number, ours or the merchant's. If no transfer has it, words in the merchant's number and the recipient's name. */
  text?: string | undefined
  /** Sent from this moment (inclusive) until that one (exclusive). */
  from?: Date | undefined
  until?: Date | undefined
  /** Only transfers older than this one. */
  before?: bigint | undefined
}

/** A page of an application's transfers, the newest first. */
export async function transfersOfApp(
  db: Db,
  app_id: bigint,
  { text, from, until, before = BIGGEST_ID }: TransferFilter,
): Promise<Page<ListedTransfer>> {
  const numbered = text === undefined ? undefined : await withNumber(db, app_id, text)
  const { after, end } = await idsWithin(db, app_id, { from, until })
  const isSearch = [text, from, until].some((value) => value !== undefined)
  const within = rowsWithin(isSearch, READ_THROUGH_MAX)
  const lane =
    numbered === undefined
      ? rowsOfApp('t', app_id, { after, before: end < before ? end : before })
      : sql<SqlBool>`t.id = ${numbered} and t.id < ${before}::bigint`
  const fits = [sql<SqlBool>`true`]
  if (text !== undefined && numbered === undefined)
    fits.push(
      sql`concat_ws(' ', t.order_id, name_now(t.to_user_id, t.to_username)) ilike ${containing(text)}`,
    )
  if (from !== undefined) fits.push(sql`t.paid_at >= ${from}`)
  if (until !== undefined) fits.push(sql`t.paid_at < ${until}`)
  const newestFirst = sql`order by t.app_id desc, t.id desc`
  const { rows } = await sql<(ListedTransfer | { id: null }) & Looked>`
    with line as (
      select t.id, t.transaction_id, t.order_id, t.status, t.amount, t.fee, t.from_user_id, t.from_username,
        t.to_user_id, name_now(t.to_user_id, t.to_username) as to_username, t.paid_at
      from (select * from transfers as t where ${lane} ${newestFirst} limit ${within}) as t
      where ${sql.join(fits, sql` and `)}
      ${newestFirst} limit ${PAGE_LINES + 1}
    )
    select line.*, looked.*, (select paid_at from transfers where transfers.id = looked.oldest) as oldest_at
    from (
      select count(*) as seen, min(id) as oldest
      from (select t.id from transfers as t where ${lane} ${newestFirst} limit ${within}) as seen
    ) as looked
    left join line on true
    order by line.id desc`.execute(db)
  return pageOf<ListedTransfer>(rows, within)
}

/**
 * The ids between which the transfers of a time are, both excluded. Ids follow the times, except for the difference of the
 * clocks of processes. Each id is one row of the index of times.
 */
async function idsWithin(
  db: Db,
  app_id: bigint,
  { from, until }: Pick<TransferFilter, 'from' | 'until'>,
): Promise<{ after: bigint; end: bigint }> {
  const beside = (moment: Date | undefined, margin_ms: number, isLower: boolean) => {
    if (moment === undefined) return sql`null::bigint`
    const at = new Date(moment.getTime() + margin_ms)
    return isLower
      ? sql`(select id from transfers where app_id = ${app_id} and paid_at < ${at} order by app_id desc, paid_at desc limit 1)`
      : sql`(select id from transfers where app_id = ${app_id} and paid_at >= ${at} order by app_id, paid_at limit 1)`
  }
  if (from === undefined && until === undefined) return { after: 0n, end: BIGGEST_ID }
  const { rows } = await sql<{ after: bigint | null; end: bigint | null }>`
    select ${beside(from, -CLOCKS_DIFFER_MS, true)} as after, ${beside(until, CLOCKS_DIFFER_MS, false)} as "end"`.execute(
    db,
  )
  return { after: rows[0]!.after ?? 0n, end: rows[0]!.end ?? BIGGEST_ID }
}

async function withNumber(db: Db, app_id: bigint, number: string): Promise<bigint | undefined> {
  const { rows } = await sql<{ id: bigint }>`
    select id from transfers where transaction_id = ${number} and app_id = ${app_id}
    union select id from transfers where app_id = ${app_id} and order_id = ${number}
    limit 1`.execute(db)
  return rows[0]?.id
}
