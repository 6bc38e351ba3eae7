/** Rows of the forum bridge. */
import type { Generated } from 'kysely'
import type { CreatedAt, Nullable } from './columns.ts'

type ForumNoncesTable = {
  nonce_hash: Buffer
  browser_hash: Buffer
  return_to: string
  expires_at: Date
  used_at: Nullable<Date>
  created_at: CreatedAt
}

/** The source of a suspension: a single read, a list, or a signed webhook. */
export type SuspendedBy = 'api' | 'list' | 'webhook'

type ForumMembersTable = {
  user_id: bigint
  username: string
  silenced_till: Nullable<Date>
  suspended_till: Nullable<Date>
  is_banned: Generated<boolean>
  suspended_by: Nullable<SuspendedBy>
  staff_confirmed_at: Nullable<Date>
  staff_lapsed_at: Nullable<Date>
  checked_at: Nullable<Date>
  deleted_at: Nullable<Date>
  failure: Nullable<string>
  failures: Generated<number>
  retry_at: Nullable<Date>
  hinted_at: Nullable<Date>
  hint_is_urgent: Generated<boolean>
  next_check_at: Date
  claimed_until: Nullable<Date>
  score_due_at: Date
  score_tries: Generated<number>
  created_at: CreatedAt
}

type ForumGroupsTable = {
  id: bigint
  name: string
  created_at: CreatedAt
  updated_at: Generated<Date>
}

type ForumEventsTable = { event_id: string; event: string; received_at: Date; created_at: CreatedAt }

type ForumApiTable = {
  is_only: Generated<boolean>
  requests: Generated<Date[]>
  sign_in_requests: Generated<Date[]>
  paused_until: Nullable<Date>
  pause_seconds: Generated<number>
  answers_without_claims: Generated<number>
  limited_at: Nullable<Date>
  created_at: CreatedAt
}

type ForumScoresTable = {
  user_id: bigint
  score: bigint
  debt: Generated<bigint>
  /** A day as text, `yyyy-mm-dd`. */
  imported_on: string
  pending_amount: Nullable<bigint>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

type ForumSourcesTable = {
  name: string
  group_id: Nullable<bigint>
  group_name: Nullable<string>
  every_minutes: number
  pass: Generated<number>
  next_page: Generated<number>
  pages: Generated<number>
  rows: Generated<number>
  accounts: Generated<number>
  differences: Generated<number>
  absent: Generated<number>
  started_at: Nullable<Date>
  finished_at: Nullable<Date>
  last_seconds: Nullable<number>
  claimed_until: Nullable<Date>
  retry_at: Nullable<Date>
  tries: Generated<number>
  failure: Nullable<string>
  created_at: CreatedAt
}

type ForumSourcePagesTable = {
  source: string
  page: number
  pass: number
  user_ids: bigint[]
  created_at: CreatedAt
}

/** The ways on which the forum comes here. */
type ForumContactsTable = { kind: 'sign_in' | 'webhook' | 'wallet'; seen_at: Date }

type ForumEventHoursTable = {
  hour: Date
  noted: Generated<number>
  ignored: Generated<number>
  created_at: CreatedAt
}

type ForumSuspensionPassesTable = { finished_at: Date; started_at: Date; created_at: CreatedAt }

export interface ForumTables {
  forum_contacts: ForumContactsTable
  forum_event_hours: ForumEventHoursTable
  forum_suspension_passes: ForumSuspensionPassesTable
  forum_sources: ForumSourcesTable
  forum_source_pages: ForumSourcePagesTable
  forum_nonces: ForumNoncesTable
  forum_members: ForumMembersTable
  forum_groups: ForumGroupsTable
  forum_events: ForumEventsTable
  forum_api: ForumApiTable
  forum_scores: ForumScoresTable
}
