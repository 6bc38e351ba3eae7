/**
 * The figures of the dashboard. Today's figures read at most NEWEST_MAX of the newest rows by their primary keys. Earlier
 * days come from the daily closes, so no figure depends on the size of the ledger.
 */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

/** How many of the newest journals, sessions or members one figure reads. */
export const NEWEST_MAX = 20_000
/** Members are counted up to here. Above, the number is an estimate of Postgres. */
export const MEMBERS_COUNTED_MAX = 10_000

export type Today = {
  /** Midnight in the site's time zone. */
  since: Date
  /** Whether more journals of the day exist than one figure reads, so its figures are lower bounds. */
  is_partial: boolean
  payments: number
  paid: bigint
  transferred: bigint
  /** By refunds and reversals. */
  given_back: bigint
  /** The net change of the fee account. */
  fees: bigint
  /** Grants and adjustments, net. */
  issued: bigint
  /** The same of yesterday, until this time of the day. Null if the newest journals do not reach so far back. */
  paid_before: bigint | null
  fees_before: bigint | null
}

/** Reads what the live book has moved since midnight in a time zone, and what it had moved a day ago. */
export async function readToday(db: Db, { now, zone }: { now: Date; zone: string }): Promise<Today> {
  const sum = (amount: string, which: string) =>
    sql.raw(`coalesce(sum(${amount}) filter (where ${which}), 0)::bigint`)
  const spent = `kind = 'payment' and account = 'wallet' and amount < 0`
  const { rows } = await sql<Today>`
    with day as (
      select date_trunc('day', time) at time zone ${zone} as since,
        (date_trunc('day', time) - interval '1 day') at time zone ${zone} as yesterday,
        (time - interval '1 day') at time zone ${zone} as a_day_ago
      from (select ${now}::timestamptz at time zone ${zone} as time) as clock
    ), newest as materialized (
      select id, book, kind, posted_at from journal order by id desc limit ${NEWEST_MAX}
    ), unread as (
      select (
        select posted_at from journal where id < (select min(id) from newest) order by id desc limit 1
      ) as until
    ), posted as materialized (
      select newest.id, newest.kind, newest.posted_at >= day.since as of_today from newest, day
      where newest.book = 'live' and newest.posted_at >= day.yesterday
        and (newest.posted_at >= day.since or newest.posted_at < day.a_day_ago)
    ), moved as (
      -- Lateral, so that Postgres looks up the entries of each journal and never reads a whole table.
      select posted.kind, posted.of_today, a.kind as account, e.amount
      from posted
      cross join lateral (select account_id, amount from entries where journal_id = posted.id offset 0) as e
      cross join lateral (select kind from ledger_accounts where id = e.account_id limit 1) as a
    ), total as (
      select ${sum('-amount', `of_today and ${spent}`)} as paid,
        ${sum('amount', `of_today and kind = 'transfer' and account = 'wallet' and amount > 0`)} as transferred,
        ${sum('amount', `of_today and kind in ('refund', 'reversal') and account = 'wallet' and amount > 0`)} as given_back,
        ${sum('amount', `of_today and account = 'fee'`)} as fees,
        ${sum('-amount', `of_today and account = 'issuance'`)} as issued,
        ${sum('-amount', `not of_today and ${spent}`)} as paid_before,
        ${sum('amount', `not of_today and account = 'fee'`)} as fees_before
      from moved
    )
    select since, coalesce(unread.until >= since, false) as is_partial,
      (select count(*) from posted where of_today and kind = 'payment')::integer as payments,
      paid, transferred, given_back, fees, issued,
      case when unread.until >= yesterday then null else paid_before end as paid_before,
      case when unread.until >= yesterday then null else fees_before end as fees_before
    from day, unread, total`.execute(db)
  return rows[0]!
}

export type MemberFigures = {
  /** Members with a session that began today. */
  signed_in: number
  /** Accounts made today. */
  joined: number
  total: number
  /** Whether `total` is an estimate. */
  is_estimate: boolean
  /** Accounts made on each of the last days, the oldest first. */
  joined_by_day: number[]
}

/** Counts members since midnight in a time zone, and the new ones of the last days. */
export async function readMembers(
  db: Db,
  { since, zone, days }: { since: Date; zone: string; days: number },
): Promise<MemberFigures> {
  const { rows } = await sql<MemberFigures>`
    with joined as materialized (
      select (created_at at time zone ${zone})::date as day
      from (select * from users order by id desc limit ${NEWEST_MAX}) as newest
      where not is_service and created_at >= ${since}::timestamptz - make_interval(days => ${days - 1}::integer)
    ), total as materialized (
      -- Inlined, it would count once for each use of the number.
      select (select count(*) from (select from users where not is_service limit ${MEMBERS_COUNTED_MAX + 1}) as counted)::integer as counted,
        (select reltuples from pg_class where oid = 'users'::regclass)::integer as estimated
    )
    select
      (select count(distinct user_id) from sessions
        where id > (select max(id) from sessions) - ${NEWEST_MAX}::bigint and auth_time >= ${since})::integer as signed_in,
      (select count(*) from joined where day = (${since}::timestamptz at time zone ${zone})::date)::integer as joined,
      greatest(counted, case when counted > ${MEMBERS_COUNTED_MAX} then estimated else 0 end) as total,
      counted > ${MEMBERS_COUNTED_MAX} as is_estimate,
      (select array_agg(count order by each) from (
        select each, (select count(*) from joined where day = (${since}::timestamptz at time zone ${zone})::date - each)::integer as count
        from generate_series(${days - 1}::integer, 0, -1) as each
      ) as by_day)::integer[] as joined_by_day
    from total`.execute(db)
  const [figures] = rows
  return { ...figures!, joined_by_day: figures!.joined_by_day.toReversed() }
}
