/** Rows of orders, refunds and transfers. */
import type { ColumnType, Generated } from 'kysely'
import type { Book, CreatedAt, Identity, Nullable } from './columns.ts'

export type OrderStatus = 'unpaid' | 'paid' | 'expired' | 'closed' | 'refunded'

/** A fault that a tester asks for: the first notification is refused, slow, or sent twice. */
export type ForcedFault = 'notify_refused' | 'notify_slow' | 'notify_twice'

export type OrdersTable = {
  id: Identity
  app_id: bigint
  book: Generated<Book>
  door: 'hmac' | 'gateway' | 'link' | 'tip'
  order_id: string
  transaction_id: string
  description: string
  /** Whole points. */
  amount: bigint
  status: Generated<OrderStatus>
  expires_at: Date
  trade_no: Nullable<string>
  protocol: Nullable<'v1' | 'v2'>
  pid_sent: Nullable<string>
  money: Nullable<string>
  rate: Nullable<string>
  type: Nullable<string>
  param: Nullable<string>
  notify_url: Nullable<string>
  /** The token that signed the request of an order of the HMAC API. */
  token_id: Nullable<bigint>
  return_url: Nullable<string>
  /** The fault that a payment of this order causes, in the test book only. */
  forced: Nullable<ForcedFault>
  payer_id: Nullable<bigint>
  /** The payee: the application's owner at the moment of the payment, or the author of a tip. */
  payee_id: Nullable<bigint>
  fee: Nullable<bigint>
  merchant_points: Nullable<bigint>
  paid_at: Nullable<Date>
  journal_id: Nullable<bigint>
  /** Whole points refunded so far. */
  refunded_amount: Generated<bigint>
  /** All three, or none: a frozen order cannot be paid. */
  frozen_at: Nullable<Date>
  frozen_by: Nullable<bigint>
  frozen_reason: Nullable<string>
  /** Of a charge: its mandate, the first day of its period, the sum of the period including it, and the caps of then. */
  mandate_id: Nullable<bigint>
  mandate_period: Nullable<string>
  mandate_spent: Nullable<bigint>
  mandate_charge_max: Nullable<bigint>
  mandate_period_max: Nullable<bigint>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

/** A request as its application may see it, with secrets hidden. */
export type ReceivedRequest = {
  method: string
  /** Without the query, which is among the parameters. */
  path: string
  ip: string
  /** In the order of the request; null for a hidden value. */
  parameters: [name: string, value: string | null][]
  /** How many more parameters there were. */
  left_out: number
}

/** The database function receive_orders writes it; it never changes. */
type OrderRequestsTable = {
  order_id: bigint
  request: ColumnType<ReceivedRequest, string, never>
  received_at: Date
  created_at: CreatedAt
}

type OrderViewsTable = {
  user_id: bigint
  order_id: bigint
  viewed_at: Date
  created_at: CreatedAt
}

export type RefundsTable = {
  id: Identity
  order_id: bigint
  book: Book
  amount: bigint
  fee_part: bigint
  reason: string
  actor_id: bigint
  refunded_at: Date
  journal_id: bigint
  request_id: Nullable<bigint>
  created_at: CreatedAt
}

export type ProposalsTable = {
  id: Identity
  kind: 'refund' | 'reversal' | 'points' | 'setting' | 'terms'
  /** What of it belongs to the kind: see admin/proposals/acts.ts. */
  act: ColumnType<unknown, string, never>
  reason: string
  key: string
  proposed_by: bigint
  proposed_at: Date
  expires_at: Date
  decision: Nullable<'approved' | 'declined' | 'withdrawn' | 'expired'>
  decided_by: Nullable<bigint>
  decided_at: Nullable<Date>
  created_at: CreatedAt
}

export type RefundRequestStatus = 'open' | 'accepted' | 'declined' | 'withdrawn'

type RefundRequestsTable = {
  id: Identity
  order_id: bigint
  amount: bigint
  reason: string
  status: Generated<RefundRequestStatus>
  asked_by: bigint
  asked_at: Date
  answer: Nullable<string>
  decided_by: Nullable<bigint>
  decided_at: Nullable<Date>
  created_at: CreatedAt
}

/** Who gives a tip, and whom its order pays. The database function place_tip writes it; it never changes. */
type TipsTable = {
  order_id: bigint
  /** Null for a tip that was placed before the column was there. */
  from_user_id: Nullable<bigint>
  to_user_id: bigint
  post_path: Nullable<string>
  created_at: CreatedAt
}

/** The tips of a member on a day, which pay_orders counts. */
type TipDaysTable = {
  user_id: bigint
  day: string
  given_points: Generated<bigint>
  received_points: Generated<bigint>
  created_at: CreatedAt
}

/** The tips between two members on a day. */
type TipPairsTable = { low_id: bigint; high_id: bigint; day: string; tips: number; created_at: CreatedAt }

/** The database function post_transfers and an administrator's reversal write it. */
type TransfersTable = {
  id: Identity
  app_id: bigint
  book: Generated<Book>
  order_id: string
  transaction_id: string
  status: Generated<'completed' | 'reversed'>
  /** Whole points that the recipient received; the sender paid the fee on top. */
  amount: bigint
  fee: bigint
  from_user_id: bigint
  from_username: string
  to_user_id: bigint
  to_username: string
  paid_at: Date
  journal_id: bigint
  reversal_journal_id: Nullable<bigint>
  created_at: CreatedAt
  updated_at: Generated<Date>
  /** The day of the daily limit, and the sender's points of that day, including this transfer. */
  day: string
  day_points: string
}

export interface PaymentsTables {
  orders: OrdersTable
  order_views: OrderViewsTable
  order_requests: OrderRequestsTable
  refunds: RefundsTable
  refund_requests: RefundRequestsTable
  proposals: ProposalsTable
  transfers: TransfersTable
  tips: TipsTable
  tip_days: TipDaysTable
  tip_pairs: TipPairsTable
}
