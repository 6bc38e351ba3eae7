/**
 * The outbox of notifications. Payments write its rows; any number of processes claim them and settle their outcomes.
 * Each notification is sent at least once. The claims and settlements are database functions; the schedule is here.
 * spec/payment-api 5.3.
 */
import { type Selectable, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { named } from '../../database/named-statements.ts'
import type { NotificationsTable } from '../../database/tables/notifications.ts'
import { type EventToSend, findEvents } from '../events/webhook.ts'
import type { PaidOrder } from '../orders/return.ts'
import type { Attempt } from './delivery.ts'

/** The delay after the end of each failed attempt except the last. */
export const RETRY_MINUTES = [1, 5, 30, 120, 720]
export const ATTEMPTS_MAX = RETRY_MINUTES.length + 1
/** Longer than an attempt and its settlement. After it, another process may claim the notification. */
const LEASE_SECONDS = 60
const HOST_CLAIMS_MAX = 16
const APP_CLAIMS_MAX = 32

/** A notification that this process has claimed: the type claimed_notification. */
export type Claimed = Pick<
  Selectable<NotificationsTable>,
  'id' | 'order_id' | 'kind' | 'attempts' | 'claims' | 'interruptions'
> & {
  /** What the gateway's notification tells. Absent for an event, and when the order was refunded. */
  paid_order?: PaidOrder | undefined
}

/** The outcome of an attempt, for settle_notifications; `id` is the notification's. */
export type Settlement = {
  id: string
  claim: number
  order_id: string | undefined
  url: string | null
  started_at: Date
  ended_at: Date
  duration_ms: number
  next_attempt_at: Date | null
} & Attempt

/** The time of the next attempt after one that failed at `now`, or null after the last. */
export function nextAttemptAt(attempts_before: number, now: Date): Date | null {
  const minutes = RETRY_MINUTES[attempts_before]
  return minutes === undefined ? null : new Date(now.getTime() + minutes * 60_000)
}

/**
 * Settles the ended attempts of this process and claims up to `room` due notifications, in one commit. A repeat is safe if
 * the commit's outcome is unknown: after the lease, lost claims are claimed again.
 */
export async function claimAndSettle(
  db: Db,
  { settled, room, now }: { settled: readonly Settlement[]; room: number; now: Date },
): Promise<Claimed[]> {
  const { rows } = await sql<ClaimedRow>`
    select ${named} (claimed).id as notification_id, (claimed).order_id as notified_order_id, (claimed).kind,
      (claimed).attempts, (claimed).claims, (claimed).interruptions, (paid_order).*
    from notified_orders(
      settle_and_claim_notifications(
        ${JSON.stringify(settled)}::jsonb, ${now}::timestamptz, make_interval(secs => ${LEASE_SECONDS}),
        ${room}::integer, ${HOST_CLAIMS_MAX}::integer, ${APP_CLAIMS_MAX}::integer
      ), ${now}::timestamptz
    )`.execute(db)
  return rows.map(
    ({ notification_id, notified_order_id, kind, attempts, claims, interruptions, ...order }) => ({
      ...{ id: notification_id, order_id: notified_order_id, kind, attempts, claims, interruptions },
      paid_order: order.id === null ? undefined : order,
    }),
  )
}

type ClaimedRow = Omit<Claimed, 'id' | 'order_id' | 'paid_order'> & {
  notification_id: bigint
  notified_order_id: bigint | null
} & (PaidOrder | { id: null })

/** Whether an attempt for this order is due or under way at any process. */
export async function hasOpenAttempt(db: Db, order_id: bigint, now: Date): Promise<boolean> {
  const open = await db
    .selectFrom('notifications')
    .where('order_id', '=', order_id)
    .where('status', '=', 'due')
    .where((eb) => eb.or([eb('claimed_until', 'is not', null), eb('next_attempt_at', '<=', now)]))
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return open !== undefined
}

/** The content of a notification: a paid order of the gateway, or an event of the HMAC API. */
export type Content = { order: PaidOrder } | { event: EventToSend }

/**
 * Finds the contents of claimed notifications by their ids. Leaves out refunded orders, and events of applications that switched
 * events off.
 */
export async function findContents(
  deps: Pick<Core, 'db' | 'secrets' | 'clock'>,
  claimed: readonly Claimed[],
): Promise<Map<bigint, Content>> {
  const contents = new Map<bigint, Content>()
  for (const { id, paid_order: order } of claimed) if (order !== undefined) contents.set(id, { order })
  const events = claimed.filter(({ kind }) => kind !== 'gateway')
  for (const [id, event] of await findEvents(deps, events)) contents.set(id, { event })
  return contents
}
