/**
 * How long every table keeps its rows, and the worker's round that deletes what has had its time. What moves points,
 * and who did what, is kept for ever: the database refuses to delete it.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Tables } from '../database/tables.ts'

const DAY_MS = 86_400_000
/** Rows of one statement, so that none holds locks for long. */
export const BATCH = 1_000

type Age = {
  /** Whole days after the moment in the column, or expression, `since`, on which there is an index. */
  days: number
  since: string
  /** Where that moment is found, if not in the table itself, and what must hold besides. */
  from?: string
  and?: string
}

/**
 * - `record`: the books, what explains them, and who did what: never deleted.
 * - `bounded`: as many as there are members, applications, keys and settings; a row ends with what it is about.
 * - an age: deleted so many days after its moment. Nothing that is deleted could be used again, and what a replay is
 *   recognised by stays a day longer than it could be used.
 */
type Keeping = 'record' | 'bounded' | Age

/** Those that another one's rows stand on come after it. */
export const RETENTION = {
  journal: 'record',
  entries: 'record',
  journal_seals: 'record',
  ledger_accounts: 'record',
  books_days: 'record',
  orders: 'record',
  order_requests: 'record',
  refunds: 'record',
  refund_requests: 'record',
  transfers: 'record',
  notifications: 'record',
  correction_proposals: 'record',
  audit_log: 'record',
  site_settings_history: 'record',
  users: 'record',
  former_usernames: 'record',
  payment_apps: 'record',

  schema_migrations: 'bounded',
  schema_functions: 'bounded',
  journal_sealing: 'bounded',
  retired_seal_keys: 'bounded',
  // The last hundred.
  books_proofs: 'bounded',
  books_schedule: 'bounded',
  site_settings: 'bounded',
  signing_keys: 'bounded',
  user_groups: 'bounded',
  second_factors: 'bounded',
  recovery_codes: 'bounded',
  oauth_apps: 'bounded',
  consents: 'bounded',
  payment_app_members: 'bounded',
  payment_app_offers: 'bounded',
  paused_hosts: 'bounded',
  forum_members: 'bounded',
  forum_groups: 'bounded',
  forum_api: 'bounded',
  forum_scores: 'bounded',

  limit_counters: { days: 0, since: 'ends_at' },
  access_tokens: { days: 1, since: 'expires_at' },
  // A used one shows a replay for as long as its family lives. A refresh deletes all but the newest 200 of its family.
  refresh_tokens: {
    days: 1,
    since: 'grants.expires_at',
    from: 'grants join refresh_tokens on grant_id = grants.id',
  },
  grants: {
    days: 1,
    since: 'expires_at',
    and: 'not exists (select from refresh_tokens where grant_id = grants.id)',
  },
  authorization_codes: { days: 1, since: 'expires_at' },
  sessions: { days: 1, since: 'expires_at' },
  pending_sign_ins: { days: 1, since: 'expires_at' },
  sign_in_attempts: { days: 1, since: 'attempted_at' },
  account_links: { days: 1, since: 'expires_at' },
  recovery_requests: { days: 1, since: 'requested_at' },
  forum_nonces: { days: 1, since: 'expires_at' },
  // The forum sends an event again for two and a half hours.
  forum_events: { days: 3, since: 'received_at' },
  // Only a cache of the day's sums.
  payment_app_days: { days: 7, since: 'day' },
  outgoing_mails: { days: 30, since: 'coalesce(sent_at, given_up_at)' },
  refused_requests: { days: 30, since: 'at' },
  security_events: { days: 90, since: 'at' },
  // Longer than the refused requests that they may explain.
  payment_app_keys: { days: 90, since: 'valid_to' },
  app_secrets: { days: 90, since: 'expires_at' },
  notification_attempts: { days: 180, since: 'started_at' },
  alerts: { days: 365, since: 'raised_at' },
  order_views: { days: 365, since: 'viewed_at' },
} as const satisfies Record<Exclude<keyof Tables, 'payment_app_roles'>, Keeping>

/** The tables that have an age, with it. */
export const SWEPT = Object.entries(RETENTION).flatMap(([table, keeping]: [string, Keeping]) =>
  typeof keeping === 'string' ? [] : [{ table, ...keeping }],
)

/**
 * Deletes what has had its time, in batches by turns, until nothing is left or the process is to stop: each batch is a
 * transaction of its own. Safe in any number of processes, which skip each other's rows.
 */
export async function forgetWhatIsOver(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const now = clock().getTime()
  let due = SWEPT
  while (due.length > 0) {
    const full = new Set<string>()
    for (const rule of due) {
      if (isStopped()) return
      const { numAffectedRows } = await deleteBatch(rule, new Date(now - rule.days * DAY_MS)).execute(db)
      if (numAffectedRows === BigInt(BATCH)) full.add(rule.table)
    }
    due = due.filter(({ table }) => full.has(table))
  }
}

/** By place, since every table has another key: a row that is locked does not move. */
export function deleteBatch(
  { table, since, from = table, and = 'true' }: (typeof SWEPT)[number],
  before: Date,
) {
  const [moment, rows, condition] = [sql.raw(since), sql.raw(from), sql.raw(and)]
  return sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ${sql.ref(`${table}.ctid`)} from ${rows} where ${moment} < ${before}::timestamptz and ${condition}
      order by ${moment} limit ${BATCH} for update of ${sql.table(table)} skip locked
    ))`
}
