/** The audit log: who did what to whom or what, and how things stood before and after. The database lets nobody rewrite it. */
import { sql } from 'kysely'
import type { Db, Tx } from '../database/connection.ts'

export type AuditEntry = {
  /** Null for what the service did by itself. */
  actor_id: bigint | null
  /** What was done, as `area.act`. */
  action: string
  /** To what: a public identifier, or `user:` and an id. */
  subject: string
  /** Never a secret, nor anything that one could be found from. */
  detail: Record<string, unknown>
  ip: string | null
}

/** Inside the transaction of the act itself: there is no act without its entry, and no entry without its act. */
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
  /** Who acted, by username in any case. */
  actor?: string | undefined
  /** From this moment on, and before that one. */
  from?: Date | undefined
  to?: Date | undefined
  /** Only entries older than this one. */
  before?: bigint | undefined
}

/** The newest entries first, with the names of those who acted. */
export async function readAudit(
  db: Db,
  { subject, action, actor, from, to, before }: AuditFilter,
  limit: number,
) {
  let entries = db
    .selectFrom('audit_log as entry')
    .leftJoin('users as actor', 'actor.id', 'entry.actor_id')
    .orderBy('entry.id', 'desc')
    .limit(limit)
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
    // Looked up first: knowing who it is, Postgres knows how many entries to expect.
    const acting = await db
      .selectFrom('users')
      .where(sql`lower(username)`, '=', sql`lower(${actor})`)
      .select('id')
      .executeTakeFirst()
    if (acting === undefined) return []
    entries = entries.where('entry.actor_id', '=', acting.id)
  }
  if (from !== undefined) entries = entries.where('entry.created_at', '>=', from)
  if (to !== undefined) entries = entries.where('entry.created_at', '<', to)
  if (before !== undefined) entries = entries.where('entry.id', '<', before)
  if (action !== undefined) {
    // `.` is followed by `/` in byte order: everything that begins with the area and a dot.
    entries = entries.where((eb) =>
      eb.or([
        eb('entry.action', '=', action),
        eb.and([eb('entry.action', '>', `${action}.`), eb('entry.action', '<', `${action}/`)]),
      ]),
    )
  }
  return entries.execute()
}
