/**
 * The forum's events. An event marks its member for a check by the worker. What its signed body takes away acts at once;
 * it gives nothing, because an event may arrive late. spec/accounts 5.4.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { type Account, findKnown, lockAccount } from './account.ts'
import { endOf, flagOf, idOf } from './facts.ts'
import { hintOneMember } from './groups.ts'
import { endDeniedRights } from './staff.ts'
import { outlasts, saveSuspension, suspensionUntil } from './suspension.ts'

/** How long a member who waits after an unusable answer still waits at most after a hint. */
const HINT_WAIT_MS = 60_000
const HOUR_MS = 3_600_000

/** The events that change a member, by type, with the field that has the member's id. All other events are ignored. */
const MEMBER_EVENTS: ReadonlyMap<string, { id: string; names: readonly string[] }> = new Map([
  [
    'user',
    {
      id: 'id',
      names: [
        'user_updated',
        'user_approved',
        'user_suspended',
        'user_unsuspended',
        'user_destroyed',
        'user_anonymized',
      ],
    },
  ],
  ['user_promoted', { id: 'id', names: ['user_promoted'] }],
  ['group_user', { id: 'user_id', names: ['user_added_to_group', 'user_removed_from_group'] }],
])
const GROUP_EVENTS = ['group_updated', 'group_destroyed']
const URGENT = ['user_suspended', 'user_unsuspended', 'user_destroyed']

/** The types that Discourse sends and that change no member. */
const OTHER_TYPES = ['post', 'topic', 'notification', 'user_badge', 'like', 'chat_message', 'ping']
const COUNTED_TYPES = [...MEMBER_EVENTS.keys(), 'group', ...OTHER_TYPES]

export type ForumEvent = {
  event_id: string
  type: string
  name: string
  /** What the body says of the event's subject. */
  subject: Record<string, unknown>
}

type Outcome = 'noted' | 'ignored' | 'duplicate'

/** Receives an event. An event that concerns nobody here is counted and not stored. */
export async function receiveEvent(deps: Core, event: ForumEvent): Promise<Outcome> {
  const outcome = await act(deps, event)
  const type = COUNTED_TYPES.includes(event.type) ? event.type : 'other'
  deps.metrics?.forumEvents.inc({ type, outcome })
  await countInHour(deps, outcome)
  return outcome
}

/** Counts an event by the hour, so that the administrators' page can say how many are useless. A repeated one counts once. */
async function countInHour({ db, clock }: Core, outcome: Outcome): Promise<void> {
  if (outcome === 'duplicate') return
  const hour = new Date(Math.floor(clock().getTime() / HOUR_MS) * HOUR_MS)
  await db
    .insertInto('forum_event_hours')
    .values({ hour, [outcome]: 1 })
    .onConflict((conflict) =>
      conflict.column('hour').doUpdateSet({ [outcome]: sql`forum_event_hours.${sql.ref(outcome)} + 1` }),
    )
    .execute()
}

async function act(deps: Core, event: ForumEvent): Promise<Outcome> {
  const { type, name, subject } = event
  if (type === 'group' && GROUP_EVENTS.includes(name)) {
    const group_id = idOf(subject.id)
    return group_id === undefined ? 'ignored' : receiveGroupEvent(deps, event, group_id)
  }
  const member = MEMBER_EVENTS.get(type)
  const forum_id = member?.names.includes(name) ? idOf(subject[member.id]) : undefined
  return forum_id === undefined ? 'ignored' : receiveMemberEvent(deps, event, forum_id)
}

/** Stores the event with all that it does in one transaction, so that an event repeated after a crash finds all or nothing. */
async function receiveMemberEvent(deps: Core, event: ForumEvent, forum_id: bigint): Promise<Outcome> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    // A member of the forum without an account is read at the first sign-in.
    const own = await lockAccount(tx, forum_id)
    if (own === undefined) return 'ignored'
    if (!(await storeEvent(tx, event, now))) return 'duplicate'
    if (event.type === 'user') await takeAway(tx, own, event, deps, now)
    const isUrgent = URGENT.includes(event.name)
    await tx
      .updateTable('forum_members')
      .set({
        hinted_at: now,
        hint_is_urgent: sql<boolean>`hint_is_urgent or ${isUrgent}`,
        retry_at: isUrgent
          ? null
          : // least() leaves a null out.
            sql<Date | null>`case when retry_at is not null
              then least(retry_at, ${new Date(now.getTime() + HINT_WAIT_MS)}::timestamptz) end`,
      })
      .where('user_id', '=', own.id)
      .execute()
    return 'noted'
  })
}

async function takeAway(
  tx: Tx,
  own: Account,
  { name, subject }: ForumEvent,
  { config }: Core,
  now: Date,
): Promise<void> {
  const known = await findKnown(tx, own.id)
  if (known === undefined) return
  const forum = suspensionUntil(endOf(subject.suspended_till) ?? null, now)
  // With an API key the single read lifts a suspension.
  const isLifted =
    name === 'user_unsuspended' &&
    config.DISCOURSE_API_KEY === undefined &&
    known.suspended_by === 'webhook' &&
    outlasts(known, forum)
  if (isLifted || outlasts(forum, known)) await saveSuspension(tx, own, known, forum, 'webhook', now)
  const stated = { is_admin: flagOf(subject.admin), is_moderator: flagOf(subject.moderator) }
  await endDeniedRights(tx, own, stated, now)
}

async function receiveGroupEvent(deps: Core, event: ForumEvent, group_id: bigint): Promise<Outcome> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    if (!(await storeEvent(tx, event, now))) return 'duplicate'
    return (await hintGroup(tx, group_id, event.name, now)) ? 'noted' : 'ignored'
  })
}

/** Returns false for an event that was stored before. */
async function storeEvent(tx: Tx, { event_id, name }: ForumEvent, now: Date): Promise<boolean> {
  const stored = await tx
    .insertInto('forum_events')
    .values({ event_id, event: name, received_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return stored.numInsertedOrUpdatedRows === 1n
}

/** Marks one member of a renamed group for a check. After a deletion, all its members. */
async function hintGroup(tx: Tx, group_id: bigint, name: string, now: Date): Promise<boolean> {
  if (name !== 'group_destroyed') {
    await hintOneMember(tx, group_id, now)
    return true
  }
  const due = await tx
    .updateTable('forum_members')
    .set({ hinted_at: now })
    .where('user_id', 'in', (eb) =>
      eb.selectFrom('user_groups').where('forum_group_id', '=', group_id).select('user_id'),
    )
    .executeTakeFirst()
  return due.numUpdatedRows > 0n
}
