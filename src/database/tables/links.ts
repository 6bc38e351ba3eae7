/** Rows of payment links: what they sell, deliver and have sold. */
import type { Generated } from 'kysely'
import type { Book, CreatedAt, Identity, Nullable } from './columns.ts'

export type LinkState = 'draft' | 'on_sale' | 'paused' | 'ended' | 'stopped'
export type MessageState = 'waiting' | 'shown' | 'hidden'
export type DeliveryKind = 'none' | 'text' | 'url' | 'codes'

export type LinksTable = {
  id: Identity
  app_id: bigint
  book: Book
  slug: string
  state: Generated<LinkState>
  title: string
  description: string
  thanks: string
  /** Whole points: the price of a unit. Null when the buyer chooses between amount_min and amount_max. */
  amount: Nullable<bigint>
  amount_min: Nullable<bigint>
  amount_max: Nullable<bigint>
  suggestions: bigint[]
  quantity_max: number
  /** Units ever sold, in all and to one member; null without a limit. */
  stock: Nullable<number>
  member_max: Nullable<number>
  sells_from: Nullable<Date>
  sells_until: Nullable<Date>
  min_level: number
  allow_groups: string[]
  delivery: DeliveryKind
  shows_stock: boolean
  /** Whether buyers may leave a message, and who reads it. */
  messages: Generated<'off' | 'private' | 'public'>
  /** Units left from which the link counts as low. */
  low_stock: Generated<number>
  /** What the team was last alerted of. */
  stock_alerted: Nullable<'low' | 'sold_out'>
  /** Of which sales the team gets alerts, and the sold_total of the last sale that it was alerted of. */
  sale_alerts: Generated<'off' | 'each' | 'daily'>
  sales_alerted: Generated<bigint>
  /** All three, or none: an administrator stopped the link. */
  stopped_at: Nullable<Date>
  stopped_by: Nullable<bigint>
  stopped_reason: Nullable<string>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

type LinkDeliveriesTable = {
  id: Identity
  link_id: bigint
  kind: 'text' | 'url'
  value_encrypted: Buffer
  created_at: CreatedAt
}

/** The database functions place_link_order and take_units write it. */
type LinkOrdersTable = {
  order_id: bigint
  link_id: bigint
  for_user_id: bigint
  units: number
  unit_amount: bigint
  /** The rest is of the payment: what it sold, the limits of then, and the running sums. */
  delivery_id: Nullable<bigint>
  stock_max: Nullable<number>
  member_max: Nullable<number>
  sold_total: Nullable<bigint>
  member_total: Nullable<bigint>
  /** Numeric. */
  taken_total: Nullable<string>
  sold_at: Nullable<Date>
  /** All three, or none. An empty name is anonymous. */
  name: Nullable<string>
  message: Nullable<string>
  message_state: Nullable<MessageState>
  created_at: CreatedAt
}

type LinkCodesTable = {
  id: Identity
  link_id: bigint
  value_encrypted: Buffer
  fingerprint: Buffer
  order_id: Nullable<bigint>
  unit: Nullable<number>
  taken_at: Nullable<Date>
  withdrawn_at: Nullable<Date>
  created_at: CreatedAt
}

type LinkPicturesTable = {
  link_id: bigint
  kind: 'picture' | 'preview'
  name: string
  picture: Buffer
  drawn_of: Nullable<string>
  created_at: Generated<Date>
}

type LinkReportsTable = {
  id: Identity
  link_id: bigint
  user_id: bigint
  text: string
  /** Both, once an administrator has judged the report. */
  settled_at: Nullable<Date>
  settled_by: Nullable<bigint>
  created_at: Generated<Date>
}

/** Sales whose receipt goes out by email. The mail deletes the row. */
type ReceiptNoticesTable = { order_id: bigint; created_at: CreatedAt }

export interface LinksTables {
  links: LinksTable
  link_deliveries: LinkDeliveriesTable
  link_orders: LinkOrdersTable
  link_codes: LinkCodesTable
  link_pictures: LinkPicturesTable
  link_reports: LinkReportsTable
  receipt_notices: ReceiptNoticesTable
}
