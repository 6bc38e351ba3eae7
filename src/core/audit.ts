// This room: what every area needs of the site: settings, limits, audit log, metrics, overload, health.
// Verbs: openSettings, openLimits, recordAudit, recordRefusal, measureRequests, healthRoutes.
// Tables: site_settings, limit_counters, audit_log, security_events, site_logos.
// Clauses: spec/limits 1.3, 2.1–2.3, 3.3, 4.1.
/** The audit log: the actor, the act, its subject, and the values before and after. The database refuses changes of it. */
import { sql } from 'kysely'
import type { Db, Tx } from '../database/connection.ts'
import { COUNTED_MAX, type Count } from '../database/counts.ts'

export type AuditEntry = {
  /** Null for an act of the service or of the operator. */
  actor_id: bigint | null
  /** The act, as `area.act`. */
  action: string
  /** A public identifier, or `user:` and an id. */
  subject: string
  /** Never a secret, nor a value that reveals one. */
  detail: Record<string, unknown>
  ip: string | null
}

/** Records an act inside the act's own transaction, so that both are stored or neither. */
export async function recordAudit(tx: Tx, { detail, ...entry }: AuditEntry): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({ ...entry, detail: JSON.stringify(detail) })
    .execute()
}

export type AuditFilter = {
  subject?: string | undefined
  /** A whole action, or its beginning up to a dot. */
  action?: string | undefined
  /** The username of the actor, in any case. */
  actor?: string | undefined
  /** Includes entries from `from` on and before `until`. */
  from?: Date | undefined
  until?: Date | undefined
  /** Only entries older than this one. */
  before?: bigint | undefined
}

/** Reads at most `limit` entries, newest first, with the usernames of their actors. */
export async function readAudit(db: Db, filter: AuditFilter, limit: number) {
  const entries = await entriesOf(db, filter)
  return entries === undefined ? [] : entries.limit(limit).execute()
}

/** Counts the matching entries, up to COUNTED_MAX. */
export async function countAudit(db: Db, filter: AuditFilter): Promise<Count> {
  const entries = await entriesOf(db, filter)
  if (entries === undefined) return { rows: 0, isMore: false }
  const counted = entries.clearSelect().select('entry.id').limit(COUNTED_MAX).as('counted')
  const { rows } = await db
    .selectFrom(counted)
    .select(sql<number>`count(*)::integer`.as('rows'))
    .executeTakeFirstOrThrow()
  return { rows, isMore: rows >= COUNTED_MAX }
}

/** The query for the matching entries, newest first. Returns undefined when there is no such member or action. */
async function entriesOf(db: Db, { subject, action, actor, from, until, before }: AuditFilter) {
  let entries = db
    .selectFrom('audit_log as entry')
    .leftJoin('users as actor', 'actor.id', 'entry.actor_id')
    .orderBy('entry.id', 'desc')
    .select([
      'entry.id',
      'entry.action',
      'entry.subject',
      'entry.detail',
      'entry.ip',
      'entry.created_at',
      'actor.username as actor',
    ])
  if (subject !== undefined) entries = entries.where('entry.subject', '=', subject)
  if (actor !== undefined) {
    // With the id of the actor, Postgres estimates the number of entries correctly.
    const acting = await db
      .selectFrom('users')
      .where(sql`lower(username)`, '=', sql`lower(${actor})`)
      .select('id')
      .executeTakeFirst()
    if (acting === undefined) return undefined
    entries = entries.where('entry.actor_id', '=', acting.id)
  }
  if (from !== undefined) entries = entries.where('entry.created_at', '>=', from)
  if (until !== undefined) entries = entries.where('entry.created_at', '<', until)
  if (before !== undefined) entries = entries.where('entry.id', '<', before)
  if (action !== undefined) {
    const actions = await actionsOf(db, action)
    if (actions.length === 0) return undefined
    // One action comes from its index in the order of the entries.
    entries =
      actions.length === 1
        ? entries.where('entry.action', '=', actions[0]!)
        : entries.where('entry.action', 'in', actions)
  }
  return entries
}

/** The actions that a whole action or an area names, by one look at the index for each: entries are many, and actions few. */
async function actionsOf(db: Db, action: string): Promise<string[]> {
  // `/` follows `.` in byte order, so the range contains every action that begins with the area and a dot.
  const { rows } = await sql<{ action: string }>`
    with recursive found as (
      select (select min(action) from audit_log where action >= ${action} and action < ${`${action}/`}) as action
      union all
      select (select min(action) from audit_log where action > found.action and action < ${`${action}/`}) from found
      where found.action is not null
    )
    select action from found where action = ${action} or starts_with(action, ${`${action}.`})`.execute(db)
  return rows.map(({ action }) => action)
}
