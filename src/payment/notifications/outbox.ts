/**
 * The outbox of notifications: rows that paying has written, claimed by any number of processes, settled with how it
 * went. Each is told at least once. The claims and what follows from an attempt are database functions; the schedule
 * stands here. decisions.md 8.
 */
import { type Selectable, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { NotificationsTable } from '../../database/tables/notifications.ts'
import { type EventToTell, findEvents } from '../events/webhook.ts'
import { type PaidTrade, paidTrades } from '../gateway/messages.ts'
import type { Attempt } from './delivery.ts'

/** After the end of each failed attempt but the last. */
export const RETRY_MINUTES = [1, 5, 30, 120, 720]
export const ATTEMPTS_MAX = RETRY_MINUTES.length + 1
/** Longer than an attempt and its settling may take; a process silent for so long is taken for dead. */
const LEASE_SECONDS = 60
const HOST_CLAIMS_MAX = 16
const APP_CLAIMS_MAX = 32

/** A notification that this process has the lease of. */
export type Claimed = Pick<
  Selectable<NotificationsTable>,
  'id' | 'order_id' | 'kind' | 'attempts' | 'claims' | 'interruptions'
>

/** How an attempt went, for settle_notifications; `id` is the notification's. */
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

/** When the next attempt is due after one that failed at `now`, or null when it was the last. */
export function nextAttemptAt(attempts_before: number, now: Date): Date | null {
  const minutes = RETRY_MINUTES[attempts_before]
  return minutes === undefined ? null : new Date(now.getTime() + minutes * 60_000)
}

/**
 * Settles what this process has done and claims up to `room` of what is due, under one commit. Safe to repeat when
 * the commit's outcome is unknown; what was claimed then is claimed again after the lease.
 */
export async function takeTurn(
  db: Db,
  { settled, room, now }: { settled: readonly Settlement[]; room: number; now: Date },
): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    select id, order_id, kind, attempts, claims, interruptions
    from turn_notifications(
      ${JSON.stringify(settled)}::jsonb, ${now}::timestamptz, make_interval(secs => ${LEASE_SECONDS}),
      ${room}::integer, ${HOST_CLAIMS_MAX}::integer, ${APP_CLAIMS_MAX}::integer
    )`.execute(db)
  return rows
}

/** What a notification tells of: a trade of the gateway, or an event of the HMAC API. */
export type ToTell = { trade: PaidTrade } | { event: EventToTell }

/**
 * What these tell of, by their ids. Without what is not to be told any more: a trade that was given back, events that
 * nobody wants now. A statement of its own: one that also claims would not see what was paid while it waited to.
 */
export async function findToTell(
  deps: Pick<Core, 'db' | 'secrets' | 'clock'>,
  claimed: readonly Claimed[],
): Promise<Map<bigint, ToTell>> {
  const [notifies, others] = [true, false].map((isGateway) =>
    claimed.filter(({ kind }) => (kind === 'gateway') === isGateway),
  ) as [Claimed[], Claimed[]]
  const [trades, events] = await Promise.all([
    findTrades(deps.db, notifies),
    findEvents(
      deps,
      others.map(({ id }) => id),
    ),
  ])
  return new Map<bigint, ToTell>([
    ...trades,
    ...[...events].map(([id, event]): [bigint, ToTell] => [id, { event }]),
  ])
}

async function findTrades(db: Db, notifies: readonly Claimed[]): Promise<[bigint, ToTell][]> {
  if (notifies.length === 0) return []
  const byOrder = new Map(notifies.map(({ id, order_id }) => [order_id!, id]))
  const trades = await paidTrades(db)
    .where('orders.id', 'in', [...byOrder.keys()])
    .execute()
  return trades.map((trade) => [byOrder.get(trade.id)!, { trade }])
}
