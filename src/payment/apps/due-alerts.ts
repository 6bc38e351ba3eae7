/** Raises the alerts that depend on time: failing notifications, keys that expire soon, low balances. */
import { type RawBuilder, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { type Alert, raiseAlert } from '../alerts/alerts.ts'
import { rolesWith } from '../rights/rights.ts'

const HOUR_MS = 3_600_000

/** Raises all due alerts. Several processes may run it at once. */
export async function raiseDueAlerts(deps: Core): Promise<void> {
  const { alert_failed_attempts, alert_key_hours } = await deps.settings.read()
  await alertFailing(deps, alert_failed_attempts)
  await alertExpiringKeys(deps, alert_key_hours)
  await alertExpiringAccessKeys(deps, alert_key_hours)
  await alertLowBalances(deps)
}

/** Alerts at most once a day for each application with failing notifications. A day begins at midnight in Asia/Shanghai. */
async function alertFailing(deps: Core, attempts: number): Promise<void> {
  const now = deps.clock()
  const { rows } = await sql<{ app_id: bigint; day: string; count: number }>`
    select app_id, today.day::text, count(*)::integer as count
    from (select (${now}::timestamptz at time zone 'Asia/Shanghai')::date as day) as today
    join notifications on updated_at >= today.day::timestamp at time zone 'Asia/Shanghai'
      and status <> 'delivered' and attempts >= ${attempts}
    where not exists (
      select from alerts
      where alerts.app_id = notifications.app_id and kind = 'notifications_failing' and cause = today.day::text
    )
    group by app_id, today.day`.execute(deps.db)
  for (const { app_id, day, count } of rows)
    await raise(deps, {
      app_id,
      kind: 'notifications_failing',
      cause: day,
      facts: { count: String(count) },
      to: { roles: rolesWith('settings.edit') },
    })
}

/** Whether no alert names this cause yet, so that each key has one alert. */
function isUntold(cause: RawBuilder<unknown>) {
  return sql<boolean>`not exists (
    select from alerts where app_id = key.app_id and kind = 'key_expiring' and cause = ${cause}
  )`
}

/** Alerts before a replaced key expires, because the shop may still use it. */
async function alertExpiringKeys(deps: Core, hours: number): Promise<void> {
  const now = deps.clock()
  const keys = await deps.db
    .selectFrom('payment_app_keys as key')
    .where('key.valid_to', '>', now)
    .where('key.valid_to', '<=', new Date(now.getTime() + hours * HOUR_MS))
    .where(isUntold(sql`key.id::text`))
    .select(['key.id', 'key.app_id', 'key.valid_to'])
    .execute()
  for (const { id, app_id, valid_to } of keys)
    await raise(deps, {
      app_id,
      kind: 'key_expiring',
      cause: String(id),
      facts: { until: untilText(valid_to!) },
      to: { roles: rolesWith('keys.manage') },
    })
}

/** Alerts before an access key expires, because its program stops then. spec/access-keys 1.3. */
async function alertExpiringAccessKeys(deps: Core, hours: number): Promise<void> {
  const now = deps.clock()
  const keys = await deps.db
    .selectFrom('access_keys as key')
    .where('key.revoked_at', 'is', null)
    .where('key.expires_at', '>', now)
    .where('key.expires_at', '<=', new Date(now.getTime() + hours * HOUR_MS))
    .where(isUntold(sql`key.public_id`))
    .select(['key.public_id', 'key.name', 'key.app_id', 'key.expires_at'])
    .execute()
  for (const { public_id, name, app_id, expires_at } of keys)
    await raise(deps, {
      app_id,
      kind: 'key_expiring',
      cause: public_id,
      facts: { until: untilText(expires_at), access_key: name },
      to: { roles: rolesWith('keys.manage') },
    })
}

const untilText = (moment: Date) => `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Alerts once when the owner's wallet falls below the chosen balance. It must reach that balance before the next alert. */
async function alertLowBalances(deps: Core): Promise<void> {
  const now = deps.clock()
  const balance = sql`coalesce((
    select balance from ledger_accounts where user_id = applicant_id and book = 'live' and kind = 'wallet'
  ), 0)`
  await sql`
    update payment_apps set low_balance_at = null
    where low_balance_points is not null and low_balance_at is not null and ${balance} >= low_balance_points
  `.execute(deps.db)
  await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: bigint; applicant_id: bigint; points: string }>`
      update payment_apps set low_balance_at = ${now}
      where low_balance_points is not null and low_balance_at is null and ${balance} < low_balance_points
      returning id, applicant_id, low_balance_points::text as points`.execute(tx)
    for (const { id: app_id, applicant_id, points } of rows)
      await raiseAlert(tx, deps, {
        app_id,
        kind: 'balance_low',
        cause: now.toISOString(),
        facts: { points },
        to: { user_id: applicant_id },
      })
  })
}

async function raise(deps: Core, alert: Alert): Promise<void> {
  await deps.db.transaction().execute(async (tx) => raiseAlert(tx, deps, alert))
}
