/**
 * The outbox of notifications: rows that paying has written, claimed by any number of processes, settled with how it
 * went. Each is told at least once. The claims and what follows from an attempt are database functions; the schedule
 * stands here. decisions.md 8.
 */
import { type Selectable, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import type { NotificationsTable } from '../../database/tables.ts'
import { type PaidTrade, paidTrades } from '../gateway/messages.ts'
import type { Attempt } from './delivery.ts'

/** After the end of each failed attempt but the last. */
const RETRY_MINUTES = [1, 5, 30, 120, 720]
export const ATTEMPTS_MAX = RETRY_MINUTES.length + 1
/** Longer than an attempt and its settling may take; a process silent for so long is taken for dead. */
export const LEASE_SECONDS = 60
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
  order_id: string
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

/**
 * What these tell of, by order id, as it is now. Without what is not so any more, as of an order that was given back.
 * A statement of its own: one that also claims would not see what was paid while it waited to.
 */
export async function findTrades(db: Db, claimed: readonly Claimed[]): Promise<Map<bigint, PaidTrade>> {
  const orders = claimed.map(({ order_id }) => order_id)
  const trades = await paidTrades(db).where('orders.id', 'in', orders).execute()
  return new Map(trades.map((trade) => [trade.id, trade]))
}
