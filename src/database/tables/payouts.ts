/** Rows of payouts: many transfers of one application under one reference. */
import type { ColumnType, Generated } from 'kysely'
import type { Book, Identity, Nullable } from './columns.ts'

export type PayoutMode = 'each' | 'all'
export type PayoutStatus = 'draft' | 'waiting' | 'running' | 'halted' | 'finished' | 'refused' | 'cancelled'
/** Why a payout halted. */
export type PayoutHalt = 'insufficient' | 'daily_limit' | 'wallet_frozen' | 'unusable' | 'transfers_off'
/** Why a payout was cancelled. */
export type PayoutCancellation = 'merchant' | 'halted_too_long' | 'owner_changed' | 'account_closed'
export type LineStatus = 'pending' | 'paid' | 'refused' | 'cancelled'
/** The outcomes of post_transfers that refuse a line. With the mode `all`, those that halt one with `each` refuse it, too. */
export type LineRefusal =
  | 'changed'
  | 'reversed'
  | 'unusable'
  | 'mismatch'
  | 'to_self'
  | 'below_minimum'
  | 'above_maximum'
  | 'too_large'
  | 'daily_limit'
  | 'wallet_frozen'
  | 'insufficient'

/** A value that never changes. */
type Fixed<T> = ColumnType<T, T, never>

type PayoutsTable = {
  id: Identity
  app_id: Fixed<bigint>
  book: Fixed<Book>
  reference: Fixed<string>
  mode: Fixed<PayoutMode>
  status: PayoutStatus
  reason: Nullable<PayoutHalt | PayoutCancellation | 'lines_refused'>
  /** The owner at the creation, whose points move. */
  owner_id: Fixed<bigint>
  fingerprint: Fixed<Buffer>
  created_at: Fixed<Date>
  updated_at: Date
  halted_at: Nullable<Date>
  finished_at: Nullable<Date>
}

type PayoutLinesTable = {
  payout_id: Fixed<bigint>
  n: Fixed<number>
  line_id: Fixed<string>
  to_user_id: Fixed<bigint>
  to_username: Fixed<string>
  /** Whole points. */
  amount: Fixed<bigint>
  memo: string
  status: Generated<LineStatus>
  outcome: Nullable<LineRefusal>
  bound: Nullable<bigint>
  have: Nullable<bigint>
  /** The fee of its transfer; before that, by the rates of the creation. */
  fee: bigint
  transfer_id: Nullable<bigint>
}

export interface PayoutsTables {
  payouts: PayoutsTable
  payout_lines: PayoutLinesTable
}
