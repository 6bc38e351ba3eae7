/** Balances and statements of members. Read only. spec/points 1.2 and 3.5. */
import { type RawBuilder, sql } from 'kysely'
import { BIGGEST_ID, type Db } from '../database/connection.ts'
import { type Counts, countNewest } from '../database/counts.ts'
import {
  amountIn,
  containing,
  type Looked,
  PAGE_LINES,
  type Page,
  pageOf,
  rowsWithin,
} from '../database/paging.ts'
import type { Book } from '../database/tables/columns.ts'
import type { JournalKind } from '../database/tables/ledger.ts'

/** The balance of an old page is the balance now without all newer movements, which are added up to this number. */
const NEWER_MAX = 10_000
/** The movements of a month that are added up. */
const SUMMED_MAX = 5_000
const CHUNK_LINES = 1_000
/** The clocks of processes differ by less than this. */
const MARGIN = sql`interval '5 minutes'`

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

/**
 * The balance of a member's wallet after a journal that moved its points. Undefined for a journal that moved none of them, and
 * where too many newer movements would have to be added up.
 */
export async function balanceAfter(
  db: Db,
  { user_id, book }: { user_id: bigint; book: Book },
  journal_id: bigint,
): Promise<bigint | undefined> {
  const { rows } = await sql<{ balance: bigint | null }>`
    with ${walletRow(user_id, book)},
    moved as materialized (
      select max(id) as id from entries where journal_id = ${journal_id} and account_id = (select id from wallet)
    ),
    later as (
      select amount from entries as e
      where (e.account_id, e.id) > ((select id from wallet), (select id from moved))
        and (e.account_id, e.id) < ((select id from wallet), ${BIGGEST_ID}::bigint)
      order by account_id, id limit ${NEWER_MAX + 1}
    )
    select case when count(*) <= ${NEWER_MAX} and (select id from moved) is not null
      then ((select balance from wallet) - coalesce(sum(amount), 0))::bigint end as balance
    from later`.execute(db)
  return rows[0]?.balance ?? undefined
}

/** What came into a wallet and went out of it, since midnight and since the first of the month. Both are not negative. */
export type Moved = { dayIn: bigint; dayOut: bigint; monthIn: bigint; monthOut: bigint }

/**
 * Adds up the movements of this month. Returns undefined for a wallet with too many of them to add up for a page.
 * @param zone the time zone in which days and months begin.
 */
export async function movedThisMonth(
  db: Db,
  user_id: bigint,
  { now, zone, book = 'live' }: { now: Date; zone: string; book?: Book },
): Promise<Moved | undefined> {
  const begins = (unit: 'day' | 'month') =>
    sql`(date_trunc(${sql.lit(unit)}, ${now}::timestamptz at time zone ${zone}) at time zone ${zone})`
  const sum = (sign: string, unit: 'day' | 'month') =>
    sql`coalesce(sum(abs(amount)) filter (where amount ${sql.raw(sign)} 0 and posted_at >= ${begins(unit)}), 0)::bigint`
  const { rows } = await sql<Moved & { seen: bigint }>`
    with ${walletRow(user_id, book)},
    entry as (
      select amount, (select posted_at from journal where id = e.journal_id) as posted_at
      from entries as e
      where ${inWallet({ from: begins('month') })}
      order by account_id desc, id desc limit ${SUMMED_MAX + 1}
    )
    select count(*) as seen, ${sum('>', 'day')} as "dayIn", ${sum('<', 'day')} as "dayOut",
      ${sum('>', 'month')} as "monthIn", ${sum('<', 'month')} as "monthOut"
    from entry`.execute(db)
  const { seen, ...moved } = rows[0]!
  return seen > SUMMED_MAX ? undefined : moved
}

/** One movement of a member's wallet. A positive amount is a credit. */
export type StatementLine = {
  id: bigint
  kind: JournalKind
  reason: string | null
  amount: bigint
  /** The balance after the movement; null where too many newer movements would have to be added up. */
  balance: bigint | null
  posted_at: Date
  /** For payments and refunds: the order, its description, its amount, and whether this member paid it. */
  transaction_id: string | null
  /** The transaction ID of the order or the transfer, by which staff finds it. */
  transaction: string | null
  description: string | null
  order_amount: bigint | null
  is_payer: boolean
  /** The points whose refund waits for an administrator, on the payment of its payer. */
  refund_asked: bigint | null
  /** The application of a payment or transfer. */
  app_name: string | null
  app_logo_url: string | null
  /** Set for the owner of the application only. */
  payment_id: string | null
  /** Whether the order is a tip. Then its payer and its author have the names of today. */
  is_tip: boolean
  /** For transfers: the usernames at that time, or the neutral name for an anonymised member. */
  from_username: string | null
  to_username: string | null
}

export type StatementFilter = {
  /** Words in descriptions, names, reasons and numbers; digits also match the amount. */
  text?: string | undefined
  kind?: JournalKind | undefined
  /** Only movements from this moment on, and before the other one. */
  from?: Date | undefined
  until?: Date | undefined
  /** Only movements older than this one. */
  before?: bigint | undefined
}

/** A page of the movements of a member's wallet, the newest first. */
export async function statementOf(
  db: Db,
  user_id: bigint,
  filter: StatementFilter = {},
  { book = 'live', lines = PAGE_LINES }: { book?: Book | undefined; lines?: number } = {},
): Promise<Page<StatementLine>> {
  const isSearch = filter.text !== undefined || filter.kind !== undefined
  const within = isSearch ? rowsWithin(true) : lines + 1
  const { page } = await look(db, { user_id, book }, filter, { within, lines })
  return page
}

/** Movements of a wallet, the oldest first, and its balance before and after them. A balance is null as in StatementLine. */
export type StatementSheet = {
  lines: StatementLine[]
  opening: bigint | null
  closing: bigint | null
  /** Earlier movements of the time are before this one. Undefined when there are none. */
  earlier: bigint | undefined
}

/** The newest movements of a time, with the balances between which they lie. */
export async function sheetOf(
  db: Db,
  wallet: { user_id: bigint; book: Book },
  time: Pick<StatementFilter, 'from' | 'until' | 'before'>,
  lines: number,
): Promise<StatementSheet> {
  const found = await newestMovements(db, wallet, time, lines + 1)
  const shown = found.slice(0, lines)
  const [newest, oldest] = [shown[0], shown.at(-1)]
  if (newest === undefined || oldest === undefined) {
    const [last] = time.from === undefined ? [] : await newestMovements(db, wallet, { until: time.from }, 1)
    const balance = last === undefined ? 0n : last.balance
    return { lines: [], opening: balance, closing: balance, earlier: undefined }
  }
  return {
    lines: shown.reverse(),
    opening: oldest.balance === null ? null : oldest.balance - oldest.amount,
    closing: newest.balance,
    earlier: found.length > lines ? oldest.id : undefined,
  }
}

async function newestMovements(
  db: Db,
  wallet: { user_id: bigint; book: Book },
  filter: StatementFilter,
  max: number,
): Promise<StatementLine[]> {
  const found: StatementLine[] = []
  for await (const part of eachMovement(db, wallet, filter, max)) found.push(...part)
  return found
}

/** Counts the newest matching movements by kind. The kind and the page of the filter do not matter. */
export async function countKinds<Kind extends JournalKind>(
  db: Db,
  { user_id, book }: { user_id: bigint; book: Book },
  { text, from, until }: StatementFilter,
  kinds: readonly Kind[],
): Promise<Counts<Kind>> {
  const fits = sql`${isWithin({ from, until })} and ${text === undefined ? sql`true` : mentions(text, sql`e.amount`)}`
  return countNewest(
    db,
    kinds,
    sql`
      with ${walletRow(user_id, book)}
      select (
        select j.kind from (select * from journal where id = e.journal_id limit 1) as j
        ${text === undefined ? sql`` : ITS_FACTS} where ${fits}
      ) as filter
      from entries as e where ${inWallet({ from, until })} order by e.account_id desc, e.id desc`,
  )
}

/** Yields the movements that fit a filter, the newest first, `max` at most. */
export async function* eachMovement(
  db: Db,
  { user_id, book }: { user_id: bigint; book: Book },
  filter: StatementFilter,
  max: number,
): AsyncGenerator<StatementLine[]> {
  let { before } = filter
  let known: bigint | undefined
  for (let left = max; left > 0; ) {
    const lines = Math.min(left, CHUNK_LINES)
    const bounds = { within: CHUNK_LINES + 1, lines, known }
    const { page, balance } = await look(db, { user_id, book }, { ...filter, before }, bounds)
    if (page.rows.length > 0) yield page.rows
    if (page.next === undefined) return
    before = page.next
    known = balance
    left -= page.rows.length
  }
}

type Bounds = {
  /** How many movements the statement looks at, and how many it returns. */
  within: number
  lines: number
  /** The balance before the movement `before`, if it is known. */
  known?: bigint | undefined
}

type Line = StatementLine & Looked & { left: bigint | null }

/**
 * Looks at a bounded number of movements. Lateral joins look up the facts of each movement, because Postgres would
 * otherwise read whole tables for a thousand rows. `balance` is the balance before the movement where the page ends.
 */
async function look(
  db: Db,
  { user_id, book }: { user_id: bigint; book: Book },
  { text, kind, from, until, before }: StatementFilter,
  { within, lines, known }: Bounds,
): Promise<{ page: Page<StatementLine>; balance: bigint | undefined }> {
  const { rows } = await sql<Line | ({ id: null; left: bigint | null } & Looked)>`
    with ${walletRow(user_id, book)},
    start as materialized (${balanceAt({ before, until, known })}),
    entry as materialized (
      select e.id, e.journal_id, e.amount,
        ((select balance from start) - coalesce(sum(e.amount) over newer, 0))::bigint as balance
      from (
        select id, journal_id, amount from entries as e
        where ${inWallet({ from, until, before })}
        order by account_id desc, id desc limit ${within}
      ) as e
      window newer as (order by e.id desc rows between unbounded preceding and 1 preceding)
    ),
    line as (
      select entry.id, entry.amount, entry.balance, j.kind, coalesce(j.reason, ${memo}) as reason, j.posted_at, o.transaction_id,
        coalesce(o.transaction_id, t.transaction_id) as transaction, o.description,
        o.amount as order_amount, coalesce(o.payer_id = ${user_id}, false) as is_payer,
        case when j.kind = 'payment' and o.payer_id = ${user_id} then ${refundAsked(sql`o.id`)} end as refund_asked,
        app.name as app_name, app.logo_url as app_logo_url,
        case when app.applicant_id = ${user_id} then app.payment_id end as payment_id,
        coalesce(o.door = 'tip', false) as is_tip, ${partner('from')} as from_username, ${partner('to')} as to_username
      from entry
      cross join lateral (select * from journal where id = entry.journal_id limit 1) as j
      ${ITS_FACTS}
      where ${kind === undefined ? sql`true` : sql`j.kind = ${kind}`}
        and ${isWithin({ from, until })}
        and ${text === undefined ? sql`true` : mentions(text)}
      order by entry.id desc limit ${lines + 1}
    )
    select line.*, looked.*,
      (select j.posted_at from entry join journal as j on j.id = entry.journal_id where entry.id = looked.oldest) as oldest_at,
      (select balance - amount from entry where entry.id = looked.oldest) as "left"
    from (select count(*) as seen, min(id) as oldest from entry) as looked
    left join line on true
    order by line.id desc`.execute(db)
  const page = pageOf<StatementLine>(rows, within, lines)
  const last = page.rows.at(-1)
  const isAtLast = last !== undefined && page.next === last.id
  const balance = isAtLast ? (last.balance === null ? null : last.balance - last.amount) : rows[0]!.left
  return { page, balance: balance ?? undefined }
}

/** The order `o`, the transfer `t` and the application `app` of a journal `j`. */
export const ITS_FACTS = sql`
  left join lateral (
    select * from orders where j.kind in ('payment', 'refund') and transaction_id = split_part(j.reference, ':', 1) limit 1
  ) as o on true
  left join lateral (
    select * from transfers where j.kind in ('transfer', 'reversal') and transaction_id = j.reference limit 1
  ) as t on true
  left join lateral (select * from payment_apps where id = coalesce(o.app_id, t.app_id) limit 1) as app on true`

/** The name of who gave or who got the points of a transfer or a tip. */
export function partner(side: 'from' | 'to') {
  const member = sql.ref(side === 'from' ? 'o.payer_id' : 'o.payee_id')
  return sql`case
    when o.door = 'tip' then (select username from users where id = ${member})
    else name_now(${sql.ref(`t.${side}_user_id`)}, ${sql.ref(`t.${side}_username`)})
  end`
}

/** The points of an order whose refund its shop has asked for. Null without an open request. */
export function refundAsked(order_id: RawBuilder<unknown>) {
  return sql<
    bigint | null
  >`(select amount from refund_requests where order_id = ${order_id} and status = 'open')`
}

function isWithin({ from, until }: Pick<StatementFilter, 'from' | 'until'>) {
  const begun = from === undefined ? sql`true` : sql`j.posted_at >= ${from}`
  return until === undefined ? begun : sql`(${begun} and j.posted_at < ${until})`
}

function walletRow(user_id: bigint, book: Book) {
  return sql`wallet as materialized (
    select id, balance from ledger_accounts where user_id = ${user_id} and book = ${book} and kind = 'wallet'
  )`
}

/**
 * The entries `e` of the wallet in a time and before one of them. A range of pairs makes Postgres use the index of these
 * pairs. Times find only the neighbourhood of the first and the last entry.
 */
function inWallet({ from, until, before }: Pick<StatementFilter, 'until' | 'before'> & { from?: unknown }) {
  const low =
    from === undefined
      ? sql`0`
      : sql`(select first_entry_since(id, ${from}::timestamptz - ${MARGIN}) from wallet)`
  return sql`(e.account_id, e.id) >= ((select id from wallet), ${low}) and
    (e.account_id, e.id) < ((select id from wallet), ${ceiling({ until, before })})`
}

function ceiling({ until, before = BIGGEST_ID }: Pick<StatementFilter, 'until' | 'before'>) {
  if (until === undefined) return sql`${before}::bigint`
  return sql`least(${before}::bigint, (select first_entry_since(id, ${until}::timestamptz + ${MARGIN}) from wallet))`
}

/** The balance before the newest entry of a page: the balance now without the entries that are newer than the page. */
function balanceAt({
  before,
  until,
  known,
}: Pick<StatementFilter, 'until' | 'before'> & { known: bigint | undefined }) {
  if (known !== undefined) return sql`select ${known}::bigint as balance`
  if (before === undefined && until === undefined) return sql`select balance from wallet`
  return sql`
    select case when count(*) <= ${NEWER_MAX} then ((select balance from wallet) - coalesce(sum(amount), 0))::bigint end as balance
    from (
      select amount from entries as e
      where (e.account_id, e.id) >= ((select id from wallet), ${ceiling({ until, before })})
        and (e.account_id, e.id) < ((select id from wallet), ${BIGGEST_ID}::bigint)
      order by account_id, id limit ${NEWER_MAX + 1}
    ) as later`
}

/** What a payout wrote to the recipient of its transfer. Null without it. */
export const memo = sql`(select nullif(memo, '') from payout_lines where transfer_id = t.id)`

/** Whether any shown value of a line contains the text. */
function mentions(text: string, amount = sql`entry.amount`) {
  return sql`(
    concat_ws(' ', o.description, app.name, o.order_id, o.trade_no, t.order_id, j.reference, j.reason, ${memo},
      case when t.id is not null or o.door = 'tip' then concat_ws(' ', ${partner('from')}, ${partner('to')}) end) ilike ${containing(text)}
    or abs(${amount}) = ${amountIn(text)}::bigint
  )`
}
