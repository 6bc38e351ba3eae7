/** Shows operators how far the stored data of the forum's members is behind the forum. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { type Counts, countEach } from '../../database/counts.ts'
import { readLater } from './sweep.ts'

const GROUPS_SHOWN_MAX = 200
const FAILURES_SHOWN_MAX = 20
const LAPSED_SHOWN_MAX = 20
const SOURCES_SHOWN_MAX = 60
/** A list is late whose last whole pass is older than so many of its intervals. */
const INTERVALS_MAX = 3
/** After so many answers in a row without claims the forum's settings leave them out. */
const ANSWERS_WITHOUT_CLAIMS = 20
/** Fewer events in an hour say nothing of the webhook's settings. */
const EVENTS_JUDGED_MIN = 20
const USELESS_PERCENT_MAX = 90
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A list of the forum, and its last pass. */
export type ListState = {
  name: string
  /** The custom group of the list. */
  group_id: bigint | null
  group_name: string | null
  every_minutes: number
  finished_at: Date | null
  /** Whole seconds. */
  last_seconds: number | null
  pages: number
  accounts: number
  differences: number
  failure: string | null
  isRunning: boolean
  isLate: boolean
}

export type ForumState = {
  lists: ListState[]
  /**
   * The longest that a suspension at the forum stays unknown without a webhook, in minutes, by the last day. Undefined before the
   * first pass, and while the list is late.
   */
  suspension_minutes: number | undefined
  warnings: {
    /** The forum refuses a list to the API key. */
    isRefused: boolean
    /** The forum answered 429 in the last hour, so another program uses up its 60 requests a minute. */
    isLimited: boolean
    /** Of the webhooks of an hour, so many of a hundred changed nothing here. Null while they are few. */
    uselessPercent: number | null
  }
  /** The last new webhook event. */
  last_event: { event: string; received_at: Date } | undefined
  /** When the forum last answered about any member, and since when the oldest check is due. */
  last_checked_at: Date | null
  oldest_due_at: Date | null
  /**
   * All members; those whom the API has never answered about, whose next check is due, who wait for their check because of a hint,
   * whose last check failed, and about whom the last answers could not be used.
   */
  members: Counts<'total' | 'unchecked' | 'due' | 'hinted' | 'failing' | 'unusable'>
  /** All processes send no requests until then, because the forum did not answer. */
  paused_until: Date | null
  failures: { username: string; failure: string | null; retry_at: Date | null }[]
  /** Members whose rights of staff ended because the forum has not confirmed them since. */
  lapsed: { username: string; staff_confirmed_at: Date | null }[]
  /** Groups by their id at the forum, with the number of their members in Tessera. */
  groups: { id: bigint; name: string; members: number }[]
}

/** Reads the state of the forum bridge. */
export async function forumState(db: Db, now: Date): Promise<ForumState> {
  const later_ms = await readLater(db, now)
  const due = new Date(now.getTime() - later_ms)
  const [warnings, lists, events, members, times, api, failures, lapsed, groups] = await Promise.all([
    readWarnings(db, now),
    readLists(db, now),
    db
      .selectFrom('forum_events')
      .orderBy('received_at', 'desc')
      .limit(1)
      .select(['event', 'received_at'])
      .execute(),
    countEach(db, {
      total: sql`select from forum_members`,
      unchecked: sql`select from forum_members where checked_at is null`,
      due: sql`select from forum_members where next_check_at <= ${due} order by next_check_at`,
      hinted: sql`select from forum_members where hinted_at is not null order by hint_is_urgent desc, hinted_at`,
      failing: sql`select from forum_members where failure is not null order by retry_at`,
      unusable: sql`select from forum_members where failure is not null and failures > 0 order by retry_at`,
    }),
    sql<Pick<ForumState, 'last_checked_at' | 'oldest_due_at'>>`
      select (select checked_at from forum_members where checked_at is not null order by checked_at desc limit 1) as last_checked_at,
        (select next_check_at from forum_members where next_check_at <= ${due} order by next_check_at limit 1) as oldest_due_at`.execute(
      db,
    ),
    db.selectFrom('forum_api').select('paused_until').executeTakeFirst(),
    db
      .selectFrom('forum_members')
      .where('failure', 'is not', null)
      .orderBy('retry_at')
      .limit(FAILURES_SHOWN_MAX)
      .select(['username', 'failure', 'retry_at'])
      .execute(),
    db
      .selectFrom('forum_members')
      .where('staff_lapsed_at', 'is not', null)
      .orderBy('staff_lapsed_at', 'desc')
      .limit(LAPSED_SHOWN_MAX)
      .select(['username', 'staff_confirmed_at'])
      .execute(),
    sql<ForumState['groups'][number]>`
      select g.id, g.name, (select count(*) from user_groups where forum_group_id = g.id)::integer as members
      from forum_groups as g order by g.id limit ${GROUPS_SHOWN_MAX}`.execute(db),
  ])
  const paused_until = api?.paused_until ?? null
  const { last_checked_at, oldest_due_at } = times.rows[0]!
  return {
    lists,
    suspension_minutes: await suspensionMinutes(db, now, lists),
    warnings,
    last_event: events[0],
    last_checked_at,
    oldest_due_at: oldest_due_at && new Date(oldest_due_at.getTime() + later_ms),
    members,
    paused_until: paused_until !== null && paused_until > now ? paused_until : null,
    failures,
    lapsed,
    groups: groups.rows,
  }
}

/** Reads the lists: first those that every forum has, then the custom groups. */
async function readLists(db: Db, now: Date): Promise<ListState[]> {
  const { rows } = await sql<ListState>`
    select name, group_id, group_name, every_minutes, finished_at, last_seconds, pages, accounts, differences, failure,
      next_page > 0 as "isRunning",
      coalesce(finished_at, created_at)
        < ${now}::timestamptz - greatest(every_minutes * interval '1 minute', coalesce(last_seconds, 0) * interval '3 seconds')
          * ${INTERVALS_MAX} as "isLate"
    from forum_sources order by group_id nulls first, every_minutes, name limit ${SOURCES_SHOWN_MAX}`.execute(
    db,
  )
  return rows
}

/**
 * Returns the longest that a suspension of the last day stayed unknown. One just after the beginning of a pass is seen by the next
 * pass, at its end at the latest. Before the second pass the interval is what it will take.
 */
async function suspensionMinutes(db: Db, now: Date, lists: ListState[]): Promise<number | undefined> {
  const list = lists.find(({ name }) => name === 'suspended')
  if (list === undefined || list.finished_at === null || list.isLate) return undefined
  const { rows } = await sql<{ seconds: number | null }>`
    select max(extract(epoch from coalesce(next_at, ${now}::timestamptz) - started_at))::float8 as seconds
    from (
      select started_at, lead(finished_at) over (order by finished_at) as next_at
      from forum_suspension_passes where finished_at > ${new Date(now.getTime() - DAY_MS)}
    ) as passes`.execute(db)
  const next = list.every_minutes + (list.last_seconds ?? 0) / 60
  return Math.ceil(Math.max((rows[0]?.seconds ?? 0) / 60, next))
}

/** What an administrator should mend, or know, of the last hour. */
async function readWarnings(db: Db, now: Date): Promise<ForumState['warnings']> {
  const since = new Date(now.getTime() - HOUR_MS)
  const { rows } = await sql<ForumState['warnings']>`
    select exists (select from forum_sources where failure = 'refused' or failure = 'not_found' and name <> 'scores') as "isRefused",
      coalesce((select limited_at >= ${since} from forum_api), false) as "isLimited",
      (
        select max(ignored * 100 / (noted + ignored)) from forum_event_hours
        where hour > ${new Date(now.getTime() - 2 * HOUR_MS)} and noted + ignored >= ${EVENTS_JUDGED_MIN}
          and ignored * 100 > (noted + ignored) * ${USELESS_PERCENT_MAX}
      ) as "uselessPercent"`.execute(db)
  return rows[0]!
}

/** Whether the forum's answers at sign-in have long stated neither rights nor groups. */
export async function lacksClaims(db: Db): Promise<boolean> {
  const { answers_without_claims } = await db
    .selectFrom('forum_api')
    .select('answers_without_claims')
    .executeTakeFirstOrThrow()
  return answers_without_claims >= ANSWERS_WITHOUT_CLAIMS
}

/** Returns when the forum last confirmed the rights of this member, if they have lapsed since. */
export async function rightsUnconfirmedSince(db: Db, user_id: bigint): Promise<Date | null> {
  const row = await db
    .selectFrom('forum_members')
    .where('user_id', '=', user_id)
    .where('staff_lapsed_at', 'is not', null)
    .select('staff_confirmed_at')
    .executeTakeFirst()
  return row?.staff_confirmed_at ?? null
}
