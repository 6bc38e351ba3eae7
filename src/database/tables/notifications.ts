/** Rows of notifications, events, alerts and refused requests. */
import type { Generated, JSONColumnType } from 'kysely'
import type { CreatedAt, Identity, Nullable } from './columns.ts'

export type AlertKind =
  | 'reviewed'
  | 'notifications_failing'
  | 'key_expiring'
  | 'balance_low'
  | 'invited'
  | 'offered'
  | 'received'
  | 'given_away'
  | 'events_gone'
  | 'app_registered'
  | 'new_browser'
  | 'payout_halted'
  | 'payout_finished'
  | 'link_low'
  | 'link_sold_out'
  | 'link_stopped'
  | 'link_reported'
  | 'link_sold'
  | 'tipped'
  | MandateAlertKind

/** The alerts to members about their mandates. */
export type MandateAlertKind =
  | 'mandate_accepted'
  | 'mandate_more'
  | 'mandate_charged'
  | 'mandate_digest'
  | 'mandate_renews'
  | 'mandate_ending'
  | 'mandate_refused'
  | 'mandate_owner'
  | 'mandate_ended'

type AlertsTable = {
  id: Identity
  user_id: bigint
  /** The payment application of the alert. Either this or `oauth_app_id` is set, and neither for `new_browser`. */
  app_id: Nullable<bigint>
  oauth_app_id: Nullable<bigint>
  kind: AlertKind
  /** A member gets one alert for one cause. */
  cause: string
  facts: JSONColumnType<Record<string, string>>
  raised_at: Date
  read_at: Nullable<Date>
  created_at: CreatedAt
}

export type NotificationStatus = 'due' | 'delivered' | 'failed'

/** The gateway's notification, or an event of the HMAC API. */
export type NotificationKind =
  | 'gateway'
  | 'order.paid'
  | 'order.expired'
  | 'order.refunded'
  | 'transfer.completed'
  | 'charge.completed'
  | 'charge.failed'
  | 'mandate.created'
  | 'mandate.changed'
  | 'mandate.revoked'
  | 'payout.finished'
  | 'payout.halted'
  | 'link.sold'
  | 'link.refunded'

/** The database fills in `app_id` and `host`. */
export type NotificationsTable = {
  id: Identity
  /** The subject: exactly one of an order, a transfer, a mandate and a payout. */
  order_id: Nullable<bigint>
  transfer_id: Nullable<bigint>
  mandate_id: Nullable<bigint>
  payout_id: Nullable<bigint>
  kind: Generated<NotificationKind>
  /** Set for events only. */
  event_id: Nullable<string>
  occurred_at: Nullable<Date>
  app_id: Generated<bigint>
  host: Generated<string>
  status: Generated<NotificationStatus>
  /** Attempts of the current schedule; a redelivery starts a new one. */
  attempts: Generated<number>
  next_attempt_at: Nullable<Date>
  claimed_until: Nullable<Date>
  claims: Generated<number>
  interruptions: Generated<number>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

/** How an attempt ended. All but `delivered` are failures. */
export type AttemptOutcome =
  | 'delivered'
  | 'wrong_body'
  | 'too_large'
  | 'bad_status'
  | 'redirect'
  | 'bad_address'
  | 'blocked'
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'cut'
  | 'malformed'
  | 'withdrawn'
  | 'internal'
  | 'interrupted'

type PausedHostsTable = {
  host: string
  reason: string
  paused_by: bigint
  paused_at: Date
  created_at: CreatedAt
}

type NotificationAttemptsTable = {
  id: Identity
  notification_id: bigint
  /** The number of the claim that made the attempt. */
  claim: number
  /** As sent, with its signature. The merchant and administrators may see it; logs may not. */
  url: string | null
  started_at: Date
  duration_ms: number | null
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  response_body: string | null
  /** How long each step took, in milliseconds. Attempts before this column have none. */
  step_ms: JSONColumnType<{ dns?: number; connect?: number; tls?: number; answer?: number }> | null
  created_at: CreatedAt
}

type RefusedRequestsTable = {
  id: Identity
  app_id: bigint
  door: 'hmac' | 'gateway'
  path: string
  address: string
  network: string
  code: string
  message: string
  fields_encrypted: Buffer
  at: Date
  created_at: CreatedAt
}

export interface NotificationsTables {
  alerts: AlertsTable
  refused_requests: RefusedRequestsTable
  notifications: NotificationsTable
  notification_attempts: NotificationAttemptsTable
  paused_hosts: PausedHostsTable
}
