/** Rows of mandates and of their refused charges. Days are `yyyy-mm-dd`, in Asia/Shanghai. */
import type { Generated } from 'kysely'
import type { Book, CreatedAt, Identity, Nullable } from './columns.ts'

export type MandateKind = 'fixed' | 'up_to'
export type MandatePeriod = 'day' | 'week' | 'month'
/** When the member hears of a charge: each time, or once a day. */
export type MandateNotice = 'each' | 'daily'
export type MandateEnd =
  | 'declined'
  | 'member'
  | 'merchant'
  | 'staff'
  | 'replaced'
  | 'finished'
  | 'account_closed'

type MandatesTable = {
  id: Identity
  /** `mdt_` and 24 characters. */
  mandate_id: string
  app_id: bigint
  book: Book
  reference: string
  kind: MandateKind
  purpose: string
  period: MandatePeriod
  /** Whole points, and days, as offered. They never change. */
  asked_charge_max: bigint
  asked_period_max: bigint
  asked_starts_on: Nullable<string>
  asked_ends_on: Nullable<string>
  only_user_id: Nullable<bigint>
  with_token: boolean
  replaces: Nullable<bigint>
  /** What the member permits: as offered or less. */
  charge_max: bigint
  period_max: bigint
  starts_on: Nullable<string>
  ends_on: Nullable<string>
  agreed_on: Nullable<string>
  user_id: Nullable<bigint>
  /** The owner of the application whom the member agreed to. */
  payee_id: Nullable<bigint>
  oauth_app_id: Nullable<bigint>
  /** As stored. The clock decides what it means: the database function mandate_status. */
  status: Generated<'offered' | 'active' | 'paused' | 'ended'>
  ended_reason: Nullable<MandateEnd>
  accepted_at: Nullable<Date>
  ended_at: Nullable<Date>
  offer_expires_at: Date
  notice: MandateNotice
  notice_on: Nullable<string>
  /** In the test book: days by which the mandate is ahead of the calendar. */
  test_days: Generated<number>
  version: Generated<number>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

/** The refusals of charges that are kept, and told to the member and the merchant. */
export type RefusalOutcome = 'charge_limit' | 'period_limit' | 'insufficient' | 'inactive'

/** Only the database function charge_mandates writes it. */
type MandateRefusalsTable = {
  mandate_id: bigint
  period: string
  outcome: RefusalOutcome
  times: number
  last_amount: bigint
  last_order_id: string
  first_at: Date
  last_at: Date
  created_at: CreatedAt
}

type ChargeNoticesTable = {
  order_id: bigint
  due_at: Date
  created_at: CreatedAt
}

export interface MandatesTables {
  mandates: MandatesTable
  mandate_refusals: MandateRefusalsTable
  charge_notices: ChargeNoticesTable
}
