/**
 * Says how long every table keeps its rows, and deletes older rows in a round of the worker. The books and the audit
 * log are kept for ever: the database refuses to delete them. spec/points 3.6.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Tables } from '../database/tables.ts'

const DAY_MS = 86_400_000
/** Rows of one statement. Small batches hold locks for a short time. */
export const BATCH = 1_000

type Age = {
  /** Whole days after the moment in the column or expression `since`, which has an index. */
  days: number
  since: string
  /** The tables to read instead of the table itself, and one more condition. */
  from?: string
  and?: string
}

/**
 * - `record`: never deleted. These are the books, their explanations and the audit log.
 * - `bounded`: limited by the number of members, applications, keys or settings. A row ends with its subject.
 * - an age, or one for each kind of row: deleted that many days after its moment. A deleted row could not be used any more. Rows that recognise a
 *   replay stay a day longer than they can be used.
 */
type Keeping = 'record' | 'bounded' | Age | readonly Age[]

/** Whether no member has allowed an application. */
const UNUSED = '(select app_id from consents where app_id = oauth_apps.id limit 1) is null'

/** Whether no row has an uploaded logo in a column. The second condition is that of the column's index. */
const UNSHOWN_BY = (table: string, logo_url = 'logo_url') =>
  `not exists (select from ${table} where ${logo_url} = '/brand/app.' || app_logos.name || '.png' and ${logo_url} like '/brand/%')`

/** A table comes after the tables that refer to it. */
export const RETENTION = {
  journal: 'record',
  entries: 'record',
  journal_seals: 'record',
  ledger_accounts: 'record',
  books_days: 'record',
  payment_app_takings: 'record',
  link_orders: 'record',
  tips: 'record',
  orders: 'record',
  order_requests: 'record',
  refunds: 'record',
  refund_requests: 'record',
  transfers: 'record',
  notifications: 'record',
  proposals: 'record',
  audit_log: 'record',
  site_settings_history: 'record',
  users: 'record',
  former_usernames: 'record',
  payment_apps: 'record',
  access_keys: 'record',

  schema_migrations: 'bounded',
  schema_functions: 'bounded',
  journal_sealing: 'bounded',
  retired_seal_keys: 'bounded',
  // Only the last hundred are kept.
  books_proofs: 'bounded',
  books_schedule: 'bounded',
  // Derived from orders. The worker deletes them and counts again after a change of the time zone.
  payment_app_product_sales: 'bounded',
  payment_app_products: 'bounded',
  payment_app_sales: 'bounded',
  sales_counted: 'bounded',
  last_backup: 'bounded',
  update_notice: 'bounded',
  // One is in force; an upload deletes former ones after a day.
  site_logos: 'bounded',
  site_settings: 'bounded',
  signing_keys: 'bounded',
  user_groups: 'bounded',
  // At most 200.
  local_groups: 'bounded',
  second_factors: 'bounded',
  recovery_codes: 'bounded',
  passkeys: 'bounded',
  consents: 'bounded',
  payment_app_members: 'bounded',
  payment_app_offers: 'bounded',
  // What a link has sold stays with its sales, which are records.
  link_codes: 'bounded',
  link_deliveries: 'bounded',
  // One of each kind.
  link_pictures: 'bounded',
  links: 'bounded',
  // A line goes with the draft of its payout. Other payouts are records.
  payout_lines: 'bounded',
  // It ends with either application.
  shop_links: 'bounded',
  paused_hosts: 'bounded',
  // The notice to the member deletes the row.
  charge_notices: 'bounded',
  receipt_notices: 'bounded',
  forum_members: 'bounded',
  forum_groups: 'bounded',
  forum_api: 'bounded',
  // One of each kind.
  forum_contacts: 'bounded',
  forum_scores: 'bounded',
  forum_sources: 'bounded',
  forum_source_pages: 'bounded',

  limit_counters: { days: 0, since: 'ends_at' },
  kept_forms: { days: 0, since: 'expires_at' },
  access_tokens: { days: 1, since: 'expires_at' },
  // A used token shows a replay while its family lives. A refresh deletes all but the newest 200 of its family.
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
  access_key_tokens: { days: 1, since: 'expires_at' },
  authorization_codes: { days: 1, since: 'expires_at' },
  device_codes: { days: 1, since: 'expires_at' },
  sessions: { days: 1, since: 'expires_at' },
  spent_challenges: { days: 1, since: 'spent_at' },
  pending_sign_ins: { days: 1, since: 'expires_at' },
  sign_in_attempts: { days: 1, since: 'attempted_at' },
  account_links: { days: 1, since: 'expires_at' },
  recovery_requests: { days: 1, since: 'requested_at' },
  forum_nonces: { days: 1, since: 'expires_at' },
  // The forum repeats an event for two and a half hours, and an operator may send one again by hand.
  forum_events: { days: 7, since: 'received_at' },
  forum_event_hours: { days: 2, since: 'hour' },
  forum_suspension_passes: { days: 2, since: 'finished_at' },
  // These rows cache the sums of a day.
  payment_app_days: { days: 7, since: 'day' },
  // The limit of a pair looks back on seven days.
  tip_days: { days: 30, since: 'day' },
  tip_pairs: { days: 30, since: 'day' },
  logout_deliveries: { days: 30, since: 'ended_at' },
  outgoing_mails: { days: 30, since: 'coalesce(sent_at, given_up_at)' },
  refused_requests: { days: 30, since: 'at' },
  mandate_refusals: { days: 365, since: 'last_at' },
  // Only drafts, which their owner may pay for a day.
  payouts: { days: 2, since: 'created_at', and: "status = 'draft'" },
  // Only offers that no member accepted. An accepted mandate is a record, and the database refuses to delete it.
  mandates: { days: 30, since: 'coalesce(ended_at, offer_expires_at)', and: 'accepted_at is null' },
  security_events: { days: 90, since: 'at' },
  // Keys stay longer than the refused requests that they explain.
  payment_app_keys: { days: 90, since: 'valid_to' },
  app_secrets: { days: 90, since: 'expires_at' },
  notification_attempts: { days: 180, since: 'started_at' },
  alerts: { days: 365, since: 'raised_at' },
  link_reports: { days: 365, since: 'created_at' },
  // After these days a finding shows again, whatever was seen of it.
  looked_findings: { days: 30, since: 'looked_at' },
  // Only those that no member uses, and that another application registered without the owner's confirmation, or that were known by
  // their documents. A suspended one of these stays, so that it stays suspended.
  oauth_apps: [
    { days: 30, since: 'created_at', and: `confirmed_at is null and ${UNUSED}` },
    {
      days: 90,
      since: 'fetched_at',
      and: `document_url is not null and suspended_at is null and ${UNUSED}`,
    },
  ],
  // Only those that no application shows, may get back from a link, or showed at its last review.
  app_logos: {
    days: 1,
    since: 'created_at',
    and: [
      UNSHOWN_BY('oauth_apps'),
      UNSHOWN_BY('payment_apps'),
      UNSHOWN_BY('oauth_apps', "reviewed_values ->> 'logo_url'"),
      UNSHOWN_BY('payment_apps', "reviewed_values ->> 'logo_url'"),
      UNSHOWN_BY('shop_links', "oauth_app_before ->> 'logo_url'"),
      UNSHOWN_BY('shop_links', "payment_app_before ->> 'logo_url'"),
    ].join(' and '),
  },
  order_views: { days: 365, since: 'viewed_at' },
} as const satisfies Record<Exclude<keyof Tables, 'payment_app_roles'>, Keeping>

/** The tables with an age. */
export const SWEPT = Object.entries(RETENTION).flatMap(([table, keeping]: [string, Keeping]) =>
  typeof keeping === 'string' ? [] : [keeping].flat().map((age: Age) => ({ table, ...age })),
)

/**
 * Deletes all rows past their age, in batches, table by table in turns. Each batch is a transaction of its own. It ends
 * when no such row is left or `isStopped` says so. Several processes may run it at once: they skip each other's rows.
 */
export async function deleteExpiredRows(
  { db, databaseTime }: Pick<Core, 'db' | 'databaseTime'>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const now = (await databaseTime()).getTime()
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

/** Builds the statement for one batch. It deletes by ctid, because the tables have different keys; a locked row keeps its ctid. */
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
