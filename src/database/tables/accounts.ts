/** Rows of members, their sign-ins and their security. */
import type { Generated, JSONColumnType } from 'kysely'
import type { CreatedAt, Identity, Nullable } from './columns.ts'

export type UsersTable = {
  id: Identity
  username: string
  name: Nullable<string>
  email: Nullable<string>
  email_verified: Generated<boolean>
  avatar_url: Nullable<string>
  trust_level: Generated<number>
  is_admin: Generated<boolean>
  is_moderator: Generated<boolean>
  suspended_till: Nullable<Date>
  is_banned: Generated<boolean>
  /** The account of a program, which lists of members leave out. */
  is_service: Generated<boolean>
  password_hash: Nullable<string>
  must_change_password: Generated<boolean>
  /** False until the first sign-in, which is from no new browser. */
  has_signed_in: Generated<boolean>
  forum_id: Nullable<bigint>
  language: Nullable<'en' | 'zh-CN'>
  language_chosen: Generated<boolean>
  /** Whether the forum's pages may show the wallet, while the setting forum_wallet is on. */
  shows_wallet_at_forum: Generated<boolean>
  /** Whether other members may give tips, while the setting tips is on. */
  accepts_tips: Generated<boolean>
  /** Whether purchases through payment links bring a receipt by email. */
  mails_receipts: Generated<boolean>
  /** The user handle of the member's passkeys, 32 random bytes. */
  passkey_handle: Nullable<Buffer>
  /** When the account was anonymised, which cannot be undone. */
  anonymised_at: Nullable<Date>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

/** Hashes of the former names of anonymised accounts. */
type FormerUsernamesTable = { name_hash: Buffer; created_at: CreatedAt }

type UserGroupsTable = {
  user_id: bigint
  name: string
  from_forum: Generated<boolean>
  forum_group_id: Nullable<bigint>
  /** Null for a group of the forum. */
  local_group_id: Nullable<bigint>
  created_at: CreatedAt
}

/** The groups that administrators make here. Their members are rows of user_groups with the same name. */
type LocalGroupsTable = { id: Identity; name: string; description: Generated<string>; created_at: CreatedAt }

type SessionsTable = {
  id: Identity
  token_hash: Buffer
  user_id: bigint
  auth_time: Date
  amr: string[]
  ip: string
  agent: string
  created_at: CreatedAt
  expires_at: Date
  /** Accurate to minutes; null until the first use a few minutes after the sign-in. */
  last_seen_at: Nullable<Date>
  /** Its public id, the claim `sid`. It gives no access. */
  sid: string
  /** How often the member signed in again in this session. */
  renewals: Generated<number>
}

type SignInAttemptsTable = {
  id: Identity
  account: string
  address: string
  attempted_at: Date
  succeeded: Generated<boolean>
  undecided_until: Nullable<Date>
  created_at: CreatedAt
}

type SecurityEventsTable = {
  id: Identity
  kind: string
  user_id: Nullable<bigint>
  client_id: Nullable<string>
  address: string
  /** The address, or the /64 of an IPv6 address. */
  network: string
  detail: JSONColumnType<Record<string, string>>
  at: Date
  created_at: CreatedAt
}

type Facts = Record<string, unknown>

/** What an act changed, its reason, and further facts of its kind. */
export type AuditDetail = { before?: Facts | null; after?: Facts | null; reason?: string | null } & Facts

type AuditLogTable = {
  id: Identity
  actor_id: Nullable<bigint>
  action: string
  subject: string
  detail: JSONColumnType<AuditDetail>
  ip: Nullable<string>
  created_at: CreatedAt
}

/** A TOTP secret, and the 30 s step of the last code accepted. Without a secret, passkeys are the second factor. */
type SecondFactorsTable = {
  user_id: bigint
  secret_encrypted: Nullable<Buffer>
  last_step: Generated<bigint>
  created_at: CreatedAt
}

/** A public key of a member, and what its authenticator told about it. */
type PasskeysTable = {
  id: Identity
  user_id: bigint
  credential_id: Buffer
  public_key: Buffer
  sign_count: bigint
  transports: string[]
  rp_id: string
  is_backup_eligible: boolean
  is_backed_up: boolean
  is_user_verified: boolean
  is_discoverable: Nullable<boolean>
  name: string
  created_at: Date
  last_used_at: Nullable<Date>
}

type SpentChallengesTable = { challenge_hash: Buffer; spent_at: Date }

type RecoveryCodesTable = {
  id: Identity
  user_id: bigint
  code_hash: Buffer
  used_at: Nullable<Date>
  created_at: CreatedAt
}

type PendingSignInsTable = {
  id: Identity
  token_hash: Buffer
  user_id: bigint
  amr: string[]
  return_to: string
  expires_at: Date
  created_at: CreatedAt
}

type AccountLinksTable = {
  id: Identity
  token_hash: Buffer
  user_id: bigint
  purpose: 'recover_password' | 'confirm_email' | 'sign_in' | 'not_me'
  /** The recipient of the link. */
  email: string
  expires_at: Date
  used_at: Nullable<Date>
  /** The path to which a link of `recover_password` leads on. */
  return_to: Generated<string>
  /** The notice that a link of `not_me` denies. */
  event: Nullable<string>
  created_at: CreatedAt
}

type RecoveryRequestsTable = {
  id: Identity
  name: string
  language: 'en' | 'zh-CN'
  ip: string
  agent: Generated<string>
  return_to: Generated<string>
  requested_at: Date
  created_at: CreatedAt
}

/** Exactly one of next_attempt_at, sent_at and given_up_at is set. The text is kept until the mail is sent or given up. */
type OutgoingMailsTable = {
  id: Identity
  user_id: Nullable<bigint>
  recipient: string
  kind: string
  subject: string
  text_encrypted: Nullable<Buffer>
  useless_at: Nullable<Date>
  attempts: Generated<number>
  next_attempt_at: Nullable<Date>
  sent_at: Nullable<Date>
  given_up_at: Nullable<Date>
  last_error: Nullable<string>
  created_at: CreatedAt
}

export interface AccountsTables {
  users: UsersTable
  former_usernames: FormerUsernamesTable
  local_groups: LocalGroupsTable
  user_groups: UserGroupsTable
  sessions: SessionsTable
  sign_in_attempts: SignInAttemptsTable
  security_events: SecurityEventsTable
  audit_log: AuditLogTable
  second_factors: SecondFactorsTable
  recovery_codes: RecoveryCodesTable
  passkeys: PasskeysTable
  spent_challenges: SpentChallengesTable
  pending_sign_ins: PendingSignInsTable
  account_links: AccountLinksTable
  recovery_requests: RecoveryRequestsTable
  outgoing_mails: OutgoingMailsTable
}
