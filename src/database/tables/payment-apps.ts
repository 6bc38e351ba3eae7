/** Rows of payment applications, their teams, keys and alerts. */
import type { ColumnType, Generated } from 'kysely'
import type { Book, CreatedAt, Identity, Nullable } from './columns.ts'

export type PaymentAppStatus = 'pending' | 'approved' | 'rejected' | 'suspended'

export type MandateRight = 'none' | 'asked' | 'granted' | 'refused' | 'withdrawn'

type PaymentAppsTable = {
  id: Identity
  payment_id: string
  pid: Generated<bigint>
  applicant_id: bigint
  name: string
  description: Generated<string>
  callback_url: string
  /** An application of the test book uses play points only; `live_app_id` is the application it was made for. */
  book: Generated<Book>
  live_app_id: Nullable<bigint>
  /** Whether its orders are the tips of the site. One application at most. */
  is_tips: Generated<boolean>
  status: Generated<PaymentAppStatus>
  review_reason: Nullable<string>
  reviewed_by: Nullable<bigint>
  reviewed_at: Nullable<Date>
  /** When the owner last changed a reviewed field; null after the review. Two changes never have the same moment. */
  unreviewed_change_at: Nullable<Date>
  /** What the staff approved last, by column, while a change of it waits for a review. A trigger fills it in. */
  reviewed_values: ColumnType<Record<string, unknown> | null, never, null>
  /** Decimal text: points per unit of the merchant's currency. */
  exchange_rate: Generated<string>
  /** Decimal text, 0 to 1. */
  fee_rate: Nullable<string>
  homepage: Nullable<string>
  logo_url: Nullable<string>
  /** Addresses and ranges that may call the API; empty means any. */
  allowed_addresses: Generated<string[]>
  /** How long orders can be paid; null, or more than the site's order_expiry_minutes, is as long as the site sets. */
  order_minutes: Nullable<number>
  /** Where the gateway notifies of paid orders without a notify_url of their own; null notifies nobody of them. */
  notify_url: Nullable<string>
  /** Where events of the HMAC API are sent; null sends none. */
  events_url: Nullable<string>
  /** When the address of events answered 410 Gone. */
  events_gone_at: Nullable<Date>
  /** The owner's switches for the gateway's versions. */
  v1_enabled: Generated<boolean>
  v2_enabled: Generated<boolean>
  /** Most points of payments to the application, and of transfers from it, in a day; null is no limit. */
  daily_payments_max: Nullable<bigint>
  daily_transfers_max: Nullable<bigint>
  /** Below this balance the owner gets an alert; null never alerts. And when that was, until the balance recovers. */
  low_balance_points: Nullable<bigint>
  low_balance_at: Nullable<Date>
  /** The right to hold mandates: what for, and who decided last, why and when. */
  mandate_right: Generated<MandateRight>
  mandate_right_purpose: Nullable<string>
  mandate_right_by: Nullable<bigint>
  mandate_right_reason: Nullable<string>
  mandate_right_at: Nullable<Date>
  /** Most points of all charges in a day. */
  mandate_daily_max: Nullable<bigint>
  /** The client_id of the sign-in application whose tokens may come with charges. */
  oauth_client_id: Nullable<string>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type TeamRole = 'manager' | 'operator' | 'viewer'

type PaymentAppMembersTable = {
  app_id: bigint
  user_id: bigint
  role: TeamRole
  invited_by: bigint
  invited_at: Date
  /** Null until the invited member accepts. */
  accepted_at: Nullable<Date>
  created_at: CreatedAt
}

type PaymentAppOffersTable = {
  app_id: bigint
  from_user_id: bigint
  to_user_id: bigint
  offered_at: Date
  expires_at: Date
  created_at: CreatedAt
}

/** A view: the owner, and the members who have accepted an invitation. */
type PaymentAppRolesView = {
  app_id: ColumnType<bigint, never, never>
  user_id: ColumnType<bigint, never, never>
  role: ColumnType<'owner' | TeamRole, never, never>
}

/** Only the database functions that keep daily limits use it. A row may be deleted at any time. */
type PaymentAppDaysTable = {
  app_id: bigint
  book: Book
  act: 'payments' | 'transfers' | 'charges'
  /** `yyyy-mm-dd`, in Asia/Shanghai. */
  day: string
  points: bigint
  created_at: CreatedAt
}

/** Only src/payment/orders/takings.ts uses it. Rows are never changed. */
type PaymentAppTakingsTable = {
  app_id: bigint
  until: Date
  payments: bigint
  points: string
  merchant_points: string
  created_at: CreatedAt
}

/** One row. Only src/payment/orders/sales.ts writes it and the next three tables, and it may delete and count them again. */
type SalesCountedTable = {
  is_only: Generated<boolean>
  zone: string
  until: Date
  orders_from: bigint
}

type PaymentAppSalesTable = {
  app_id: bigint
  /** `yyyy-mm-dd`, in the zone of sales_counted. */
  day: string
  orders: bigint
  paid: bigint
  points: string
  merchant_points: string
  refunds: bigint
  refunded: string
}

type PaymentAppProductsTable = {
  id: Identity
  app_id: bigint
  description: string
  last_day: string
}

type PaymentAppProductSalesTable = {
  product_id: bigint
  day: string
  paid: bigint
  points: string
  merchant_points: string
  refunded: string
}

export type PaymentAppKeyKind =
  | 'token'
  | 'merchant_key'
  | 'platform_private_key'
  | 'merchant_public_key'
  | 'event_secret'

type PaymentAppKeysTable = {
  id: Identity
  app_id: bigint
  book: Generated<Book>
  kind: PaymentAppKeyKind
  value_encrypted: Buffer
  valid_from: Generated<Date>
  valid_to: Nullable<Date>
  last_used_at: Nullable<Date>
  /** A token from before the application changed hands. */
  is_former_owners: Generated<boolean>
  /** When the application first changed hands after this key was made. */
  former_since: Nullable<Date>
  created_at: CreatedAt
}

export interface PaymentAppTables {
  payment_apps: PaymentAppsTable
  payment_app_days: PaymentAppDaysTable
  payment_app_keys: PaymentAppKeysTable
  payment_app_members: PaymentAppMembersTable
  payment_app_offers: PaymentAppOffersTable
  payment_app_product_sales: PaymentAppProductSalesTable
  payment_app_products: PaymentAppProductsTable
  payment_app_roles: PaymentAppRolesView
  payment_app_sales: PaymentAppSalesTable
  payment_app_takings: PaymentAppTakingsTable
  sales_counted: SalesCountedTable
}
