/**
 * What people see of notifications and do about them: the merchant and administrators in full, the buyer whether the
 * shop was told. A redelivery begins the schedule anew, whatever has become of the earlier one. decisions.md 8.1.
 */
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { recordAudit } from '../../audit.ts'
import type { Db } from '../../database/connection.ts'
import type { NotificationStatus, Tables } from '../../database/tables.ts'
import type { Deps } from '../../deps.ts'
import { AppError } from '../../errors.ts'

/** A buyer's impatience is not a merchant's load. */
const PAYER_PAUSE_SECONDS = 60
const REDELIVERIES_MAX = 10_000
const ATTEMPTS_SHOWN_MAX = 20
const HOSTS_SHOWN_MAX = 20

/** In whose name somebody looks or acts: it decides which notifications there are for them. */
export type Standing = { role: 'owner' | 'payer'; user_id: bigint } | { role: 'administrator' }

type Actor = Standing & { actor_id: bigint; ip: string }

type Joined = Pick<Tables, 'notifications' | 'orders' | 'payment_apps'>

/** The notifications that are there for somebody, joined to their orders and applications. */
function notificationsFor(db: Db, standing: Standing) {
  return db
    .selectFrom('notifications')
    .innerJoin('orders', 'orders.id', 'notifications.order_id')
    .innerJoin('payment_apps', 'payment_apps.id', 'notifications.app_id')
    .where((eb) => isThereFor(eb, standing))
}

function isThereFor(eb: ExpressionBuilder<Joined, keyof Joined>, standing: Standing) {
  if (standing.role === 'administrator') return sql<SqlBool>`true`
  const column = standing.role === 'owner' ? 'payment_apps.applicant_id' : 'orders.payer_id'
  return eb(column, '=', standing.user_id)
}

export type NotificationFilter = {
  payment_id?: string | undefined
  transaction_id?: string | undefined
  status?: NotificationStatus | undefined
  /** Only those older than the one with this id. */
  before?: bigint | undefined
}

/** Notifications, the newest first, each with its latest attempts. The URLs among them are signed. */
export async function readNotifications(
  db: Db,
  standing: Standing,
  { payment_id, transaction_id, status, before }: NotificationFilter,
  limit: number,
) {
  let query = notificationsFor(db, standing)
    .orderBy('notifications.id', 'desc')
    .limit(limit)
    .select([
      'notifications.id',
      'notifications.status',
      'notifications.attempts',
      'notifications.next_attempt_at',
      'notifications.claimed_until',
      'notifications.host',
      'orders.paid_at',
      'orders.transaction_id',
      'orders.order_id',
      'orders.trade_no',
      'payment_apps.payment_id',
      'payment_apps.name as app_name',
    ])
  if (payment_id !== undefined) query = query.where('payment_apps.payment_id', '=', payment_id)
  if (transaction_id !== undefined) query = query.where('orders.transaction_id', '=', transaction_id)
  if (status !== undefined) query = query.where('notifications.status', '=', status)
  if (before !== undefined) query = query.where('notifications.id', '<', before)
  const rows = await query.execute()
  const attempts = await attemptsOf(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({ ...row, log: attempts.filter((each) => each.notification_id === row.id) }))
}

/** The latest attempts of each, in the order they were made. */
async function attemptsOf(db: Db, notification_ids: bigint[]) {
  if (notification_ids.length === 0) return []
  return db
    .selectFrom('notifications')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('notification_attempts as attempt')
          .whereRef('attempt.notification_id', '=', 'notifications.id')
          .orderBy('attempt.claim', 'desc')
          .limit(ATTEMPTS_SHOWN_MAX)
          .selectAll('attempt')
          .as('latest'),
      (join) => join.onTrue(),
    )
    .where('notifications.id', 'in', notification_ids)
    .orderBy('latest.notification_id')
    .orderBy('latest.claim')
    .selectAll('latest')
    .execute()
}

/**
 * Tells the merchant again, at once. Throws not_found, conflict while an attempt is under way, and, to a buyer who
 * asks again within a minute of the last attempt, too_many_attempts.
 */
export async function redeliver(deps: Deps, transaction_id: string, actor: Actor): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const found = await notificationsFor(tx, actor)
      .where('orders.transaction_id', '=', transaction_id)
      .select(['notifications.id', 'notifications.claimed_until', 'notifications.updated_at'])
      .forUpdate('notifications')
      .executeTakeFirst()
    if (found === undefined) throw new AppError('not_found', 'There is no such notification')
    if (found.claimed_until !== null && found.claimed_until > now)
      throw new AppError('conflict', 'An attempt is under way at this moment')
    const elapsed_seconds = (now.getTime() - found.updated_at.getTime()) / 1000
    if (actor.role === 'payer' && elapsed_seconds < PAYER_PAUSE_SECONDS) {
      const retry_after_seconds = Math.ceil(PAYER_PAUSE_SECONDS - elapsed_seconds)
      throw new AppError('too_many_attempts', 'The shop was told a moment ago', { retry_after_seconds })
    }
    await beginAnew(tx, [found.id], now)
    const { actor_id, ip, role } = actor
    await recordAudit(tx, {
      actor_id,
      action: 'notification.redeliver',
      subject: transaction_id,
      detail: { role },
      ip,
    })
  })
  deps.notifier.nudge()
}

/** Redelivers what has failed for good since a moment, of one application or of all. Answers how many. */
export async function redeliverFailed(
  deps: Deps,
  { payment_id, since }: { payment_id?: string | undefined; since: Date },
  actor: Actor,
): Promise<number> {
  const now = deps.clock()
  const count = await deps.db.transaction().execute(async (tx) => {
    let failed = notificationsFor(tx, actor)
      .where('notifications.status', '=', 'failed')
      .where('notifications.updated_at', '>=', since)
    if (payment_id !== undefined) failed = failed.where('payment_apps.payment_id', '=', payment_id)
    const rows = await failed
      .orderBy('notifications.id')
      .limit(REDELIVERIES_MAX)
      .select('notifications.id')
      .forUpdate('notifications')
      .skipLocked()
      .execute()
    if (rows.length === 0) return 0
    await beginAnew(
      tx,
      rows.map(({ id }) => id),
      now,
    )
    const { actor_id, ip, role } = actor
    await recordAudit(tx, {
      actor_id,
      action: 'notification.redeliver_failed',
      subject: payment_id ?? 'all',
      detail: { role, since: since.toISOString(), count: rows.length },
      ip,
    })
    return rows.length
  })
  if (count > 0) deps.notifier.nudge()
  return count
}

async function beginAnew(tx: Db, notification_ids: bigint[], now: Date): Promise<void> {
  await tx
    .updateTable('notifications')
    .set({
      status: 'due',
      attempts: 0,
      next_attempt_at: now,
      claimed_until: null,
      interruptions: 0,
      updated_at: now,
    })
    .where('id', '=', sql<bigint>`any(${notification_ids}::bigint[])`)
    .execute()
}

/** How the outbox stands, for those who watch it. Counts of rows; `oldest_due_at` is of what nobody has taken up yet. */
export async function outboxFigures(db: Db, now: Date) {
  const { rows } = await sql<{
    due: number
    oldest_due_at: Date | null
    under_way: number
    retrying: number
  }>`
    select
      count(*) filter (where next_attempt_at <= ${now})::integer as due,
      min(next_attempt_at) filter (where next_attempt_at <= ${now} and claimed_until is null) as oldest_due_at,
      count(*) filter (where claimed_until > ${now})::integer as under_way,
      count(*) filter (where attempts > 0)::integer as retrying
    from notifications where status = 'due'`.execute(db)
  const failing_hosts = await db
    .selectFrom('notifications')
    .where('status', '=', 'due')
    .where('attempts', '>', 0)
    .groupBy('host')
    .select((eb) => [
      'host',
      eb.cast<number>(eb.fn.countAll(), 'integer').as('waiting'),
      eb.fn.min('next_attempt_at').as('next_attempt_at'),
    ])
    .orderBy('waiting', 'desc')
    .orderBy('host')
    .limit(HOSTS_SHOWN_MAX)
    .execute()
  return { ...rows[0]!, failing_hosts }
}
