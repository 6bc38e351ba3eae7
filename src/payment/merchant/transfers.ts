/** The merchant's search in the transfers of one application. Read only. */
import { type SqlBool, sql } from 'kysely'
import { BIGGEST_ID, type Db } from '../../database/connection.ts'
import { containing, type Looked, PAGE_LINES, type Page, pageOf, rowsWithin } from '../../database/paging.ts'
import { lowestIdAfter, lowestIdSince } from '../orders/lowest-id.ts'
import type { Transfer } from '../orders/transfers.ts'

/** The rows that a search looks at, about 2 µs each. */
const READ_THROUGH_MAX = 10_000

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
  const isSearch = [text, from, until].some((value) => value !== undefined)
  const within = rowsWithin(isSearch, READ_THROUGH_MAX)
  const low = from === undefined ? sql`0` : lowestIdSince(app_id, from, 'transfers')
  const end = until === undefined ? sql`${BIGGEST_ID}` : lowestIdAfter(app_id, until, 'transfers')
  const lane =
    numbered === undefined
      ? sql`(t.app_id, t.id) >= (${app_id}::bigint, ${low})
          and (t.app_id, t.id) < (${app_id}::bigint, least(${end}::bigint, ${before}::bigint))`
      : sql`t.id = ${numbered} and t.id < ${before}::bigint`
  const fits = [sql<SqlBool>`true`]
  if (text !== undefined && numbered === undefined)
    // The name is that of name_now, whose call costs more than the rest of the search.
    fits.push(sql`concat_ws(' ', t.order_id, coalesce(
      (select username from users where id = t.to_user_id and anonymised_at is not null), t.to_username
    )) ilike ${containing(text)}`)
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

async function withNumber(db: Db, app_id: bigint, number: string): Promise<bigint | undefined> {
  const { rows } = await sql<{ id: bigint }>`
    select id from transfers where transaction_id = ${number} and app_id = ${app_id}
    union select id from transfers where app_id = ${app_id} and order_id = ${number}
    limit 1`.execute(db)
  return rows[0]?.id
}
