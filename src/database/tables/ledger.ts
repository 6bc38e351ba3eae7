/** Rows of the ledger: accounts, journals, entries, seals and proofs. */
import type { Generated, JSONColumnType } from 'kysely'
import type { Book, CreatedAt, Identity, Nullable } from './columns.ts'

type LedgerAccountsTable = {
  id: Identity
  book: Book
  kind: 'wallet' | 'fee' | 'issuance'
  user_id: Nullable<bigint>
  /** Whole points; null for the fee account, whose balance is the sum of its entries. */
  balance: Nullable<bigint>
  /** All three, or none: nothing can be spent from a frozen wallet. */
  frozen_at: Nullable<Date>
  frozen_by: Nullable<bigint>
  frozen_reason: Nullable<string>
  /** Set for the wallet of an anonymised account, which stays empty. */
  closed_at: Nullable<Date>
  created_at: CreatedAt
}

export type JournalKind = 'grant' | 'payment' | 'transfer' | 'refund' | 'reversal' | 'adjustment'

/** Only the database function post_journals writes it. */
type JournalTable = {
  id: Identity
  book: Book
  kind: JournalKind
  reference: string
  actor_id: Nullable<bigint>
  reason: Nullable<string>
  posted_at: Date
  created_at: CreatedAt
}

/** Only the database function post_journals writes it. */
type EntriesTable = {
  id: Identity
  journal_id: bigint
  account_id: bigint
  book: Book
  amount: bigint
}

/** The sealing job of the worker writes it. */
type JournalSealsTable = {
  journal_id: bigint
  previous_id: Nullable<bigint>
  hash: Buffer
  mac: Buffer
  key_id: Buffer
  created_at: CreatedAt
}

/** A seal key of an APP_SECRET that is no longer in use, and the last journal it may have sealed. */
type RetiredSealKeysTable = {
  id: Identity
  key_id: Buffer
  last_journal_id: bigint
  key_encrypted: Buffer
  created_at: CreatedAt
}

type JournalSealingTable = {
  is_only: Generated<boolean>
  sealed_to: Generated<bigint>
  seen_to: Nullable<bigint>
  /** A transaction's 64-bit number, as text. */
  seen_before: Nullable<string>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

type BooksProofsTable = {
  id: Identity
  started_at: Date
  finished_at: Date
  is_sound: boolean
  proof: JSONColumnType<Record<string, unknown>>
  created_at: CreatedAt
}

type BooksScheduleTable = {
  is_only: Generated<boolean>
  next_at: Generated<Date>
  /** A process makes the proof until then, unless it renews this. */
  claimed_until: Date | null
  created_at: CreatedAt
}

type BooksDaysTable = {
  /** A day as text, `yyyy-mm-dd`. */
  day: string
  closed_at: Date
  journals: bigint
  paid: bigint
  transferred: bigint
  given_back: bigint
  fees: bigint
  issued: bigint
  created_at: CreatedAt
}

export interface LedgerTables {
  ledger_accounts: LedgerAccountsTable
  journal: JournalTable
  entries: EntriesTable
  journal_seals: JournalSealsTable
  journal_sealing: JournalSealingTable
  retired_seal_keys: RetiredSealKeysTable
  books_proofs: BooksProofsTable
  books_schedule: BooksScheduleTable
  books_days: BooksDaysTable
}
