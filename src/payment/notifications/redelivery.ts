/**
 * Reads and redelivers notifications, for the merchant's team, for administrators, and for the payer of an order. A
 * redelivery restarts the schedule from its first attempt. spec/payment-api 5.3.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import { BIGGEST_ID, type Db } from '../../database/connection.ts'
import { type Counts, countEach, countNewest } from '../../database/counts.ts'
import { type Looked, PAGE_LINES, type Page, pageOf, rowsOfApp, rowsWithin } from '../../database/paging.ts'
import type { NotificationStatus } from '../../database/tables/notifications.ts'
import { AppError } from '../../platform/errors.ts'
import { permits, type Right } from '../rights/rights.ts'
import type { PaymentDeps } from './worker.ts'

/** The pause between a payer's redeliveries, which protects the shop from impatient payers. */
const PAYER_PAUSE_SECONDS = 60
const REDELIVERIES_MAX = 10_000
const ATTEMPTS_SHOWN_MAX = 20
const HOSTS_SHOWN_MAX = 20

/** The role of the reader or actor, which decides the notifications that they can see. */
export type Reader = { role: 'team' | 'payer'; user_id: bigint } | { role: 'administrator' }

type Actor = Reader & { actor_id: bigint; ip: string }

/** The notifications of a payment. The payer sees only these. */
export const PAYMENT_KINDS = ['gateway', 'order.paid'] as const

/** The notifications for a role with this right, joined to their orders, transfers, mandates, payouts and applications. */
function notificationsFor(db: Db, reader: Reader, right: Right) {
  const all = db
    .selectFrom('notifications')
    .leftJoin('orders', 'orders.id', 'notifications.order_id')
    .leftJoin('transfers', 'transfers.id', 'notifications.transfer_id')
    .leftJoin('mandates', 'mandates.id', 'notifications.mandate_id')
    .leftJoin('payouts', 'payouts.id', 'notifications.payout_id')
    .innerJoin('payment_apps', 'payment_apps.id', 'notifications.app_id')
  if (reader.role === 'administrator') return all
  if (reader.role === 'team') return all.where(permits(reader.user_id, right))
  return all.where('orders.payer_id', '=', reader.user_id).where('notifications.kind', 'in', PAYMENT_KINDS)
}

/** How lists of notifications name a payout, whose reference is unique within its application alone. */
export const PAYOUT_ID = '^payout-([1-9][0-9]{0,17})$'

const idOf = (payment_id: string) =>
  sql<bigint>`(select id from payment_apps where payment_id = ${payment_id})`

/** Whether the notification belongs to this order, transfer, mandate or payout. Each part uses its own index. */
function belongsTo(transaction_id: string) {
  return sql<SqlBool>`(
    notifications.order_id = (select id from orders where transaction_id = ${transaction_id})
    or notifications.transfer_id = (select id from transfers where transaction_id = ${transaction_id})
    or notifications.mandate_id = (select id from mandates where mandate_id = ${transaction_id})
    or notifications.payout_id = substring(${transaction_id} from ${PAYOUT_ID})::bigint
  )`
}

const payoutId = sql<string | null>`'payout-' || payouts.id`

/** Whether the notification can be sent: events need an application that has events switched on. */
const isWanted = sql<SqlBool>`(notifications.kind = 'gateway' or payment_apps.events_url is not null)`

/** Whether an address of a gateway order has its own query, which is not signed. */
function hasOwnQuery(address: 'notify_url' | 'return_url') {
  return sql<boolean>`(notifications.kind = 'gateway' and coalesce(${sql.ref(`orders.${address}`)} like '%?%', false))`
}

export type NotificationFilter = {
  payment_id?: string | undefined
  /** The transaction ID of an order or a transfer, a mandate_id, or `payout-` and the id of a payout. */
  transaction_id?: string | undefined
  status?: NotificationStatus | undefined
  /** Only notifications older than the one with this id. */
  before?: bigint | undefined
}

/** A notification with its latest attempts. Their URLs are signed. */
export type Notification = Awaited<ReturnType<typeof readEach>>[number]

/**
 * Reads a page of notifications, the newest first. A team names its application or a transaction. A search for a status looks at a
 * bounded number of rows; the failed ones of all applications have an index.
 */
export async function readNotifications(
  db: Db,
  reader: Reader,
  filter: NotificationFilter,
  lines: number = PAGE_LINES,
): Promise<Page<Notification>> {
  const { payment_id, transaction_id, status } = filter
  const hasIndex = status === 'failed' && payment_id === undefined
  const isSearch = transaction_id !== undefined || (status !== undefined && !hasIndex)
  const within = isSearch ? rowsWithin(true) : lines + 1
  const { rows } = await sql<({ id: bigint } | { id: null }) & Looked>`
    with newest as materialized (
      select id, status, kind, created_at from (${newestFirst(filter)}) as newest
      where ${hasIndex ? sql`status = 'failed'` : sql`true`} limit ${within}
    ),
    looked as (select count(*) as seen, min(id) as oldest, min(created_at) as oldest_at from newest),
    line as (
      select id from newest
      where ${status === undefined ? sql`true` : sql`status = ${status}`}
        and ${reader.role === 'payer' ? sql`kind in (${sql.join(PAYMENT_KINDS)})` : sql`true`}
      order by id desc limit ${lines + 1}
    )
    select line.id, looked.* from looked left join line on true order by line.id desc`.execute(db)
  const page = pageOf(rows, within, lines)
  return {
    ...page,
    rows: await readEach(
      db,
      reader,
      page.rows.map(({ id }) => id),
    ),
  }
}

/**
 * Selects notifications in the order of an index, before anything is joined to them. Otherwise Postgres may join a million rows, and
 * then cut them to a page.
 */
function newestFirst({
  payment_id,
  transaction_id,
  before = BIGGEST_ID,
}: NotificationFilter): RawBuilder<unknown> {
  if (transaction_id !== undefined)
    return sql`
      select * from notifications
      where ${belongsTo(transaction_id)} and id < ${before}::bigint
        ${payment_id === undefined ? sql`` : sql`and app_id + 0 = ${idOf(payment_id)}`}
      order by id + 0 desc`
  return payment_id === undefined
    ? sql`select * from notifications where id < ${before}::bigint order by id desc`
    : sql`
      select * from notifications where ${rowsOfApp('notifications', idOf(payment_id), { before })} order by app_id desc, id desc`
}

/** Reads the notifications with these ids that the reader may see, the newest first. */
async function readEach(db: Db, reader: Reader, ids: bigint[]) {
  if (ids.length === 0) return []
  const rows = await notificationsFor(db, reader, 'orders.read')
    .where('notifications.id', '=', sql<bigint>`any(${ids}::bigint[])`)
    .orderBy('notifications.id', 'desc')
    .select([
      'notifications.id',
      'notifications.status',
      'notifications.attempts',
      'notifications.next_attempt_at',
      'notifications.claimed_until',
      'notifications.host',
      'notifications.kind',
      'notifications.event_id',
      'orders.trade_no',
      'orders.description',
      'orders.amount',
      'payment_apps.payment_id',
      'payment_apps.name as app_name',
    ])
    .select((eb) => [
      eb.fn.coalesce('notifications.occurred_at', 'orders.paid_at').as('occurred_at'),
      eb.fn
        .coalesce('orders.transaction_id', 'transfers.transaction_id', 'mandates.mandate_id', payoutId)
        .$notNull()
        .as('transaction_id'),
      eb.fn
        .coalesce('orders.order_id', 'transfers.order_id', 'mandates.reference', 'payouts.reference')
        .$notNull()
        .as('order_id'),
      eb('notifications.mandate_id', 'is not', null).as('isOfMandate'),
      eb('notifications.payout_id', 'is not', null).as('isOfPayout'),
      eb('notifications.kind', 'in', PAYMENT_KINDS).as('isOfPayment'),
      sql<string | null>`name_now(transfers.to_user_id, transfers.to_username)`.as('to_username'),
      hasOwnQuery('notify_url').as('notifyHasQuery'),
      hasOwnQuery('return_url').as('returnHasQuery'),
    ])
    .execute()
  const attempts = await attemptsOf(db, ids)
  return rows.map((row) => ({ ...row, log: attempts.filter((each) => each.notification_id === row.id) }))
}

/**
 * Counts the notifications of one application, or of all, by status. Confirmed ones of all applications have no index, and
 * so no count.
 */
export async function countNotifications(
  db: Db,
  payment_id: string | undefined,
): Promise<Counts<NotificationStatus>> {
  if (payment_id === undefined)
    return countEach(db, {
      all: sql`select from notifications`,
      due: sql`select from notifications where status = 'due' order by host, app_id, next_attempt_at`,
      failed: sql`select from notifications where status = 'failed' order by id`,
    })
  return countNewest(
    db,
    ['due', 'failed', 'delivered'],
    sql`
      select status as filter from notifications
      where ${rowsOfApp('notifications', idOf(payment_id))} order by app_id desc, id desc`,
  )
}

/** The latest attempts of each notification, the oldest first. */
async function attemptsOf(db: Db, notification_ids: bigint[]) {
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
    .where('notifications.id', '=', sql<bigint>`any(${notification_ids}::bigint[])`)
    .orderBy('latest.notification_id')
    .orderBy('latest.claim')
    .selectAll('latest')
    .execute()
}

/**
 * Redelivers the notification with this id, or the latest one of an order, transfer, mandate or payout, at once. Throws not_found, conflict
 * while an attempt is under way or if the application has switched events off, and too_many_attempts to a payer within
 * PAYER_PAUSE_SECONDS of the last attempt. Returns the ids of the notification and of its order.
 */
export async function redeliver(
  deps: PaymentDeps,
  transaction_id: string,
  actor: Actor,
  notification_id?: bigint,
): Promise<{ id: bigint; order_id: bigint | null }> {
  const now = deps.clock()
  const restarted = await deps.db.transaction().execute(async (tx) => {
    const found = await notificationsFor(tx, actor, 'notifications.redeliver')
      .where(belongsTo(transaction_id))
      .$if(notification_id !== undefined, (query) => query.where('notifications.id', '=', notification_id!))
      .orderBy('notifications.id', 'desc')
      .limit(1)
      .select(['notifications.id', 'notifications.claimed_until', 'notifications.updated_at'])
      .select('notifications.order_id')
      .select(isWanted.as('is_wanted'))
      .forUpdate('notifications')
      .executeTakeFirst()
    if (found === undefined) throw new AppError('not_found', 'There is no such notification')
    if (!found.is_wanted) throw new AppError('conflict', 'Events are switched off for this application')
    if (found.claimed_until !== null && found.claimed_until > now)
      throw new AppError('conflict', 'An attempt is under way at this moment')
    const elapsed_seconds = (now.getTime() - found.updated_at.getTime()) / 1000
    if (actor.role === 'payer' && elapsed_seconds < PAYER_PAUSE_SECONDS) {
      const retry_after_seconds = Math.ceil(PAYER_PAUSE_SECONDS - elapsed_seconds)
      throw new AppError('too_many_attempts', 'The shop was notified a moment ago', { retry_after_seconds })
    }
    await restart(tx, [found.id], now)
    if (found.order_id !== null) deps.notifier.expect(found.order_id)
    const { actor_id, ip, role } = actor
    await recordAudit(tx, {
      actor_id,
      action: 'notification.redeliver',
      subject: transaction_id,
      detail: { role },
      ip,
    })
    return { id: found.id, order_id: found.order_id }
  })
  deps.notifier.nudge()
  return restarted
}

/** The outcome of a redelivery so far: its latest attempt since then, if there was one. */
export async function outcomeOf(db: Db, notification_id: bigint) {
  return (
    db
      .selectFrom('notifications')
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('notification_attempts as attempt')
            .whereRef('attempt.notification_id', '=', 'notifications.id')
            .orderBy('attempt.claim', 'desc')
            .limit(1)
            .select(['attempt.outcome', 'attempt.response_status'])
            .as('latest'),
        (join) => join.onTrue(),
      )
      .where('notifications.id', '=', notification_id)
      // A restarted notification has no attempts, until one ends.
      .where('notifications.attempts', '>', 0)
      .select(['notifications.status', 'latest.outcome', 'latest.response_status'])
      .executeTakeFirst()
  )
}

/** Redelivers the finally failed notifications since a moment, of one application or of all. Returns the count. */
export async function redeliverFailed(
  deps: PaymentDeps,
  { payment_id, since }: { payment_id?: string | undefined; since: Date },
  actor: Actor,
): Promise<number> {
  const now = deps.clock()
  const count = await deps.db.transaction().execute(async (tx) => {
    let failed = notificationsFor(tx, actor, 'notifications.redeliver')
      .where('notifications.status', '=', 'failed')
      .where('notifications.updated_at', '>=', since)
      .where(isWanted)
    if (payment_id !== undefined) failed = failed.where('payment_apps.payment_id', '=', payment_id)
    const rows = await failed
      .orderBy('notifications.id')
      .limit(REDELIVERIES_MAX)
      .select('notifications.id')
      .forUpdate('notifications')
      .skipLocked()
      .execute()
    if (rows.length === 0) return 0
    await restart(
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

async function restart(tx: Db, notification_ids: bigint[], now: Date): Promise<void> {
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

/** The state of the outbox for monitoring, as counts of rows. `oldest_due_at` is the oldest due row without a claim. */
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
  return { ...rows[0]!, hosts: await hostsWaiting(db, now) }
}

/** The paused hosts first, then the hosts with pending notifications, the most pending first. */
async function hostsWaiting(db: Db, now: Date) {
  const { rows } = await sql<{
    host: string
    waiting: number
    failing: number
    oldest_due_at: Date | null
    next_attempt_at: Date | null
    paused_at: Date | null
    paused_reason: string | null
  }>`
    select host, coalesce(waiting, 0) as waiting, coalesce(failing, 0) as failing, oldest_due_at, next_attempt_at,
      paused.paused_at, paused.reason as paused_reason
    from (
      select host, count(*)::integer as waiting, count(*) filter (where attempts > 0)::integer as failing,
        min(next_attempt_at) filter (where next_attempt_at <= ${now}) as oldest_due_at, min(next_attempt_at) as next_attempt_at
      from notifications where status = 'due' group by host
    ) as waiting full join paused_hosts as paused using (host)
    order by paused.paused_at is null, waiting desc, host limit ${HOSTS_SHOWN_MAX}`.execute(db)
  return rows
}
