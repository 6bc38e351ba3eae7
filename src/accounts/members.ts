/**
 * Administrators find, inspect, suspend, ban and reinstate members. Each act is recorded with its reason and mailed to the
 * member. It takes effect at the member's next request. spec/accounts 1.3.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Db, Tx } from '../database/connection.ts'
import { type Counts, countEach } from '../database/counts.ts'
import { containing } from '../database/paging.ts'
import { AppError } from '../platform/errors.ts'
import { isBannedOrSuspended, lockUser, userColumns } from './people/users.ts'
import { findSecondFactor } from './security/second-factor.ts'
import { recordSecurityEvent } from './security/security-events.ts'
import { queueLogoutsOf } from './session/ended-sessions.ts'

const DAY_MS = 86_400_000
const EVENTS_MAX = 50
const SESSIONS_MAX = 50

export type MemberStatus = 'barred' | 'admins' | 'service'

export type MemberSearch = {
  text: string
  status: MemberStatus | 'all'
  /** The order of all members. A search and a status begin with the newest. */
  sort?: MemberSort
  /** Only members after this one, in the order. */
  before: bigint | undefined
}

export type MemberSort = 'newest' | 'oldest' | 'name'

/**
 * Finds members by a part of the username, of the name or of the address before its @, by the whole address, or by their id or
 * forum id. A text of one or two letters is the beginning of a username. The newest members come first. Without a text, accounts
 * of programs are on their own list only, and all members are in the order of their joining, or in another one.
 */
export async function searchMembers(
  db: Db,
  { text, status, sort, before }: MemberSearch,
  now: Date,
  limit: number,
) {
  let members = db
    .selectFrom('users')
    .select(userColumns)
    .select(['forum_id', 'is_service', 'created_at'])
    .limit(limit)
  if (text !== '') {
    const id = numberIn(text)
    members = members.where((eb) =>
      eb.or([isCalled(text), isAt(text), eb('id', '=', id), eb('forum_id', '=', id)]),
    )
  }
  if (status !== 'all') members = members.where(hasStatus(status, now))
  else if (text === '') members = members.where('is_service', '=', false)
  const isWhole = text === '' && status === 'all'
  // Two values and not one row of them, because Postgres then begins in the index.
  const joined = sql`((select created_at from users where id = ${before ?? null}), ${before ?? null}::bigint)`
  if (isWhole && sort === 'oldest') {
    if (before !== undefined) members = members.where(sql<boolean>`(created_at, id) > ${joined}`)
    return members.orderBy('created_at').orderBy('id').execute()
  }
  if (isWhole && sort === 'name') {
    // Usernames are unique in any case, so the name of the last row is its place.
    const name = sql`(select lower(username) from users where id = ${before ?? null})`
    if (before !== undefined) members = members.where(sql<boolean>`lower(username) > ${name}`)
    return members.orderBy(sql`lower(username)`).execute()
  }
  if (isWhole) {
    if (before !== undefined) members = members.where(sql<boolean>`(created_at, id) < ${joined}`)
    return members.orderBy('created_at', 'desc').orderBy('id', 'desc').execute()
  }
  if (before !== undefined) members = members.where('id', '<', before)
  return members.orderBy('id', 'desc').execute()
}

/** How many members with a part of a name are ranked. A part that more members share says little about which one is meant. */
const RANKED_MAX = 200

/** Finds the members that a text most likely means: equal names first, then names that begin with it, then names that contain it. */
export async function findMembers(db: Db, text: string, limit: number) {
  const name = nameIn(text)
  const id = numberIn(/^user:(\d+)$/.exec(text)?.[1] ?? text)
  const beginning = containing(name).slice(1)
  return db
    .selectFrom('users')
    .where(
      'id',
      '=',
      // An array, because Postgres may read all members for a join.
      sql<bigint>`any(array(
        select id from users where id = ${id} or forum_id = ${id}
        union (select id from users where ${isAt(text)} limit ${RANKED_MAX})
        union (select id from users where lower(username) like lower(${beginning}) limit ${RANKED_MAX})
        union (select id from users where ${isCalled(text)} limit ${RANKED_MAX})
      ))`,
    )
    .select(['id', 'username', 'name', 'avatar_url', 'trust_level'])
    .orderBy(sql`lower(username) = lower(${name})`, 'desc')
    .orderBy(sql`username ilike ${beginning} or name ilike ${beginning}`, 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Without the mark of a username, and without the host of an address. */
const nameIn = (text: string) => text.replace(/^@/, '').split('@')[0]!
const numberIn = (text: string) => (/^\d{1,18}$/.test(text) ? BigInt(text) : null)

/** The text is a part of what the member is called. Its pieces are in an index; a text without any begins the username. */
export function isCalled(text: string): RawBuilder<boolean> {
  const name = nameIn(text)
  return HAS_PIECES.test(name)
    ? sql`(text_pieces(member_words(username, name, email)) @> text_pieces(${name})
        and member_words(username, name, email) ilike ${containing(name)})`
    : sql`lower(username) like lower(${containing(name).slice(1)})`
}

/** The text is the member's whole address. */
const isAt = (text: string): RawBuilder<boolean> => sql`lower(email) = lower(${text})`

/** Three characters, or one of Chinese: as `text_pieces`. */
const HAS_PIECES = /...|[\u2e80-\u9fff]/u

/** Counts the members of each status. */
export async function countMembers(db: Db, now: Date): Promise<Counts<MemberStatus>> {
  return countEach(db, {
    all: sql`select from users where not is_service order by id`,
    barred: sql`select from users where ${hasStatus('barred', now)} order by id`,
    admins: sql`select from users where ${hasStatus('admins', now)} order by id`,
    service: sql`select from users where ${hasStatus('service', now)} order by id`,
  })
}

/** Each status has an index. */
function hasStatus(status: MemberStatus, now: Date): RawBuilder<boolean> {
  if (status === 'admins') return sql`is_admin`
  if (status === 'service') return sql`is_service`
  return sql`(is_banned or suspended_till is not null) and is_banned_or_suspended(is_banned, suspended_till, ${now})`
}

/** Returns a member for the administrator's page, with the forum's data if the member comes from there. Throws not_found. */
export async function getMember(db: Db, user_id: bigint) {
  const member = await db
    .selectFrom('users')
    .leftJoin('forum_members as forum', 'forum.user_id', 'users.id')
    .where('users.id', '=', user_id)
    .select(userColumns)
    .select(['users.forum_id', 'users.created_at', 'users.must_change_password', 'users.anonymised_at'])
    .select('users.is_service')
    .select(['forum.username as forum_username', 'forum.checked_at', 'forum.failure'])
    .select(sql<boolean>`users.password_hash is not null`.as('has_password'))
    .executeTakeFirst()
  if (member === undefined) throw noSuchMember()
  return member
}

/** Returns a member's live sessions, the last used first, the second factor, and the number of passkeys. */
export async function accessOf({ db, clock }: Core, user_id: bigint) {
  const [sessions, factor, { passkeys }] = await Promise.all([
    db
      .selectFrom('sessions')
      .where('user_id', '=', user_id)
      .where('expires_at', '>', clock())
      .select(['ip', 'agent', 'amr', 'auth_time'])
      .select((eb) => eb.fn.coalesce('last_seen_at', 'auth_time').as('last_seen_at'))
      .orderBy('last_seen_at', 'desc')
      .limit(SESSIONS_MAX)
      .execute(),
    findSecondFactor(db, user_id),
    db
      .selectFrom('passkeys')
      .where('user_id', '=', user_id)
      .select((eb) => eb.fn.countAll<bigint>().as('passkeys'))
      .executeTakeFirstOrThrow(),
  ])
  return { sessions, factor, passkeys }
}

export type MemberEvent = {
  what: string
  at: Date
  ip: string | null
  /** The username of the actor; null for the service, and for refusals. */
  actor: string | null
  reason: string | null
}

/** Returns the acts on an account and its refusals, newest first. */
export async function recentEvents(db: Db, user_id: bigint): Promise<MemberEvent[]> {
  const { rows } = await sql<MemberEvent>`
    select what, at, ip, actor, reason from (
      (select entry.action as what, entry.created_at as at, entry.ip, actor.username as actor,
        entry.detail ->> 'reason' as reason
      from audit_log as entry left join users as actor on actor.id = entry.actor_id
      where entry.subject = ${`user:${user_id}`}
      order by entry.id desc limit ${sql.lit(EVENTS_MAX)})
      union all
      (select kind, at, address, null, null from security_events
      where user_id = ${user_id} order by at desc limit ${sql.lit(EVENTS_MAX)})
    ) as event order by at desc limit ${sql.lit(EVENTS_MAX)}
  `.execute(db)
  return rows
}

/** An administrator's act on a member. */
export type MemberAct = { user_id: bigint; actor_id: bigint; reason: string; ip: string }

/** Suspends a member for whole days from now, and tells the applications that the member uses. Throws not_found, forbidden, and conflict for a banned member. */
export async function suspendMember(
  deps: Core,
  { days, ...act }: MemberAct & { days: number },
): Promise<void> {
  const now = deps.clock()
  await exclude(deps, act, 'suspended', async (tx) => {
    const suspended_till = suspensionEnd(now, days)
    const suspended = await tx
      .updateTable('users')
      .set({ suspended_till, updated_at: now })
      .where('id', '=', act.user_id)
      .where('is_banned', '=', false)
      .executeTakeFirst()
    if (suspended.numUpdatedRows !== 1n) throw new AppError('conflict', 'This member is banned')
    return { suspended_till }
  })
}

/** Returns when a suspension of whole days ends that starts now. */
export function suspensionEnd(now: Date, days: number): Date {
  return new Date(now.getTime() + days * DAY_MS)
}

/**
 * Bans a member until an administrator reinstates them, and tells the applications that the member uses. Throws not_found,
 * forbidden, and conflict for a banned member.
 */
export async function banMember(deps: Core, act: MemberAct): Promise<void> {
  await exclude(deps, act, 'banned', async (tx) => {
    const banned = await tx
      .updateTable('users')
      .set({ is_banned: true, updated_at: deps.clock() })
      .where('id', '=', act.user_id)
      .where('is_banned', '=', false)
      .executeTakeFirst()
    if (banned.numUpdatedRows !== 1n) throw new AppError('conflict', 'This member is banned already')
    return {}
  })
}

/**
 * Ends a suspension or a ban. Throws not_found, and conflict when there is none, when the account is anonymised, or when
 * the forum has suspended the member.
 */
export async function reinstateMember(
  deps: Core,
  { user_id, actor_id, reason, ip }: MemberAct,
): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const member = await lockUser(tx, user_id)
    if (!isBannedOrSuspended(member, now))
      throw new AppError('conflict', 'This member is neither suspended nor banned')
    if (member.anonymised_at !== null) throw new AppError('conflict', 'This account is anonymised for good')
    const forum = await tx
      .selectFrom('forum_members')
      .where('user_id', '=', user_id)
      .select(['suspended_till', 'is_banned'])
      .executeTakeFirst()
    if (forum !== undefined && isBannedOrSuspended(forum, now))
      throw new AppError('conflict', 'The forum has suspended this member: reinstate them there')
    await tx
      .updateTable('users')
      .set({ suspended_till: null, is_banned: false, updated_at: now })
      .where('id', '=', user_id)
      .execute()
    await recordSecurityEvent(tx, deps, { event: 'reinstated', user_id, actor_id, ip, detail: { reason } })
  })
}

async function exclude(
  deps: Core,
  { user_id, actor_id, reason, ip }: MemberAct,
  event: 'suspended' | 'banned',
  change: (tx: Tx) => Promise<Record<string, unknown>>,
): Promise<void> {
  if (user_id === actor_id) throw new AppError('forbidden', 'Administrators cannot suspend or ban themselves')
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    await lockActingAdmin(tx, { user_id, actor_id }, now)
    const detail = { reason, ...(await change(tx)) }
    await queueLogoutsOf(tx, { user_id, now })
    await recordSecurityEvent(tx, deps, { event, user_id, actor_id, ip, detail })
  })
}

/** Locks both rows in the order of ids, so when two administrators ban each other at once, one of them stays. */
async function lockActingAdmin(
  tx: Tx,
  { user_id, actor_id }: Pick<MemberAct, 'user_id' | 'actor_id'>,
  now: Date,
): Promise<void> {
  const rows = await tx
    .selectFrom('users')
    .where('id', 'in', [user_id, actor_id])
    .orderBy('id')
    .select(['id', 'is_admin', 'is_banned', 'suspended_till'])
    .forNoKeyUpdate()
    .execute()
  const actor = rows.find(({ id }) => id === actor_id)
  if (actor === undefined || !actor.is_admin || isBannedOrSuspended(actor, now))
    throw new AppError('forbidden', 'Only administrators may do this')
  if (!rows.some(({ id }) => id === user_id)) throw noSuchMember()
}

/**
 * Locks the row of a member who may stop being an administrator. If the member is one, it locks the rows of all
 * administrators in the order of ids. So when two leave at once, the second one sees that it is the last.
 */
export async function lockWithAdministrators(tx: Tx, user_id: bigint): Promise<void> {
  await tx
    .selectFrom('users')
    .where((eb) =>
      eb.or([
        eb('id', '=', user_id),
        eb.and([
          eb('is_admin', '=', true),
          eb.exists(
            eb
              .selectFrom('users as leaving')
              .where('leaving.id', '=', user_id)
              .where('leaving.is_admin', '=', true)
              .select('leaving.id'),
          ),
        ]),
      ]),
    )
    .orderBy('id')
    .select('id')
    .forNoKeyUpdate()
    .execute()
}

/** Whether the member is an administrator, and all others are suspended or banned. */
export function isLastAdministrator(user_id: bigint, now: Date): RawBuilder<boolean> {
  return sql<boolean>`
    (select is_admin from users where id = ${user_id}) and not exists (
      select from users where is_admin and id <> ${user_id} and not is_banned_or_suspended(is_banned, suspended_till, ${now})
    )`
}

function noSuchMember(): AppError {
  return new AppError('not_found', 'There is no such member')
}
