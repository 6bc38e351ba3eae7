/** Row types, one per table, in the order of the migrations. The only place where rows are typed. */
import type { ColumnType, Generated, JSONColumnType } from 'kysely'

/** Set by the database at insert and never again. */
type Identity = ColumnType<bigint, never, never>
type CreatedAt = ColumnType<Date, never, never>
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>
export type Book = 'live' | 'test'

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
  password_hash: Nullable<string>
  must_change_password: Generated<boolean>
  forum_id: Nullable<bigint>
  language: Nullable<'en' | 'zh-CN'>
  language_chosen: Generated<boolean>
  /** Since when nobody is behind it; for good. */
  anonymised_at: Nullable<Date>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

/** Names that anonymised accounts had. */
export type FormerUsernamesTable = { name_hash: Buffer; created_at: CreatedAt }

export type UserGroupsTable = {
  user_id: bigint
  name: string
  from_forum: Generated<boolean>
  forum_group_id: Nullable<bigint>
  created_at: CreatedAt
}

export type SessionsTable = {
  id: Identity
  token_hash: Buffer
  user_id: bigint
  auth_time: Date
  amr: string[]
  ip: string
  agent: string
  created_at: CreatedAt
  expires_at: Date
  /** To within minutes; null until the first use after that long. */
  last_seen_at: Nullable<Date>
}

export type SignInAttemptsTable = {
  id: Identity
  account: string
  address: string
  attempted_at: Date
  succeeded: Generated<boolean>
  undecided_until: Nullable<Date>
  created_at: CreatedAt
}

export type LimitCountersTable = {
  scope: string
  key: string
  ends_at: Date
  count: bigint
  created_at: CreatedAt
}

export type SecurityEventsTable = {
  id: Identity
  kind: string
  user_id: Nullable<bigint>
  client_id: Nullable<string>
  address: string
  /** Whom the address stands for. */
  network: string
  detail: JSONColumnType<Record<string, string>>
  at: Date
  created_at: CreatedAt
}

export type AuditLogTable = {
  id: Identity
  actor_id: Nullable<bigint>
  action: string
  subject: string
  detail: JSONColumnType<Record<string, unknown>>
  ip: Nullable<string>
  created_at: CreatedAt
}

export type OauthAppsTable = {
  id: Identity
  client_id: string
  owner_id: bigint
  name: string
  description: Generated<string>
  redirect_uris: string[]
  allow_groups: string[]
  deny_groups: string[]
  homepage: Nullable<string>
  logo_url: Nullable<string>
  suspended_at: Nullable<Date>
  suspended_by: Nullable<bigint>
  suspended_reason: Nullable<string>
  reviewed_at: Nullable<Date>
  reviewed_by: Nullable<bigint>
  post_logout_redirect_uris: Generated<string[]>
  id_token_signed_response_alg: Generated<'RS256' | 'ES256'>
  token_endpoint_auth_method: Generated<'client_secret_basic' | 'client_secret_post' | 'none'>
  created_at: Generated<Date>
}

export type AppSecretsTable = {
  id: Identity
  app_id: bigint
  secret_hash: Buffer
  created_at: CreatedAt
  last_used_at: Nullable<Date>
  expires_at: Nullable<Date>
}

export type ConsentsTable = {
  user_id: bigint
  app_id: bigint
  scopes: string[]
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type AuthorizationCodesTable = {
  id: Identity
  code_hash: Buffer
  app_id: bigint
  user_id: bigint
  session_id: Nullable<bigint>
  redirect_uri: string
  redirect_uri_sent: boolean
  scopes: string[]
  nonce: Nullable<string>
  code_challenge: Nullable<string>
  auth_time: Date
  amr: string[]
  expires_at: Date
  used_at: Nullable<Date>
  created_at: CreatedAt
}

export type GrantsTable = {
  id: Identity
  code_id: Nullable<bigint>
  app_id: bigint
  user_id: bigint
  session_id: Nullable<bigint>
  scopes: string[]
  auth_time: Date
  amr: string[]
  expires_at: Date
  revoked_at: Nullable<Date>
  created_at: CreatedAt
}

export type AccessTokensTable = {
  id: Identity
  token_hash: Buffer
  grant_id: bigint
  scopes: string[]
  expires_at: Date
  created_at: CreatedAt
}

export type RefreshTokensTable = {
  id: Identity
  token_hash: Buffer
  grant_id: bigint
  /** Its place in the family: 0 is the one that came with the code. */
  generation: Generated<number>
  expires_at: Date
  used_at: Nullable<Date>
  created_at: CreatedAt
}

export type SigningKeysTable = {
  id: Identity
  kid: string
  alg: 'RS256' | 'ES256'
  public_jwk: JSONColumnType<Record<string, string>>
  /** Null once the key is retired or withdrawn. */
  private_encrypted: Nullable<Buffer>
  signs_from: Date
  published_until: Nullable<Date>
  withdrawn_at: Nullable<Date>
  created_at: CreatedAt
}

export type LedgerAccountsTable = {
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
  /** The wallet of an anonymised account: empty for good. */
  closed_at: Nullable<Date>
  created_at: CreatedAt
}

export type JournalKind = 'grant' | 'payment' | 'transfer' | 'refund' | 'reversal' | 'adjustment'

/** Written by the database function post_journals only. */
export type JournalTable = {
  id: Identity
  book: Book
  kind: JournalKind
  reference: string
  actor_id: Nullable<bigint>
  reason: Nullable<string>
  posted_at: Date
  created_at: CreatedAt
}

/** Written by the database function post_journals only. */
export type EntriesTable = {
  id: Identity
  journal_id: bigint
  account_id: bigint
  book: Book
  amount: bigint
}

/** Written by the worker that seals. */
export type JournalSealsTable = {
  journal_id: bigint
  previous_id: Nullable<bigint>
  hash: Buffer
  mac: Buffer
  key_id: Buffer
  created_at: CreatedAt
}

/** A key of seals made under an APP_SECRET that is no longer in use, and the last journal it may have sealed. */
export type RetiredSealKeysTable = {
  id: Identity
  key_id: Buffer
  last_journal_id: bigint
  key_encrypted: Buffer
  created_at: CreatedAt
}

export type JournalSealingTable = {
  is_only: Generated<boolean>
  sealed_to: Generated<bigint>
  seen_to: Nullable<bigint>
  /** A transaction's 64-bit number, as text. */
  seen_before: Nullable<string>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type BooksProofsTable = {
  id: Identity
  started_at: Date
  finished_at: Date
  is_sound: boolean
  proof: JSONColumnType<Record<string, unknown>>
  created_at: CreatedAt
}

export type BooksScheduleTable = {
  is_only: Generated<boolean>
  next_at: Generated<Date>
  created_at: CreatedAt
}

export type SiteSettingsTable = {
  name: string
  value: string
  updated_by: Nullable<bigint>
  updated_at: Generated<Date>
  created_at: CreatedAt
}

export type SiteSettingsHistoryTable = {
  id: Identity
  name: string
  value: string
  changed_by: Nullable<bigint>
  created_at: Generated<Date>
}

export type PaymentAppStatus = 'pending' | 'approved' | 'rejected' | 'suspended'

export type PaymentAppsTable = {
  id: Identity
  payment_id: string
  pid: Generated<bigint>
  applicant_id: bigint
  name: string
  description: Generated<string>
  callback_url: string
  /** An application of the test book has play points only; `live_app_id` is the one it tries things out for. */
  book: Generated<Book>
  live_app_id: Nullable<bigint>
  status: Generated<PaymentAppStatus>
  review_reason: Nullable<string>
  reviewed_by: Nullable<bigint>
  reviewed_at: Nullable<Date>
  /** When what the staff approves of it was last changed, until they approve it as it is; no two changes have one moment. */
  unreviewed_change_at: Nullable<Date>
  /** Decimal text: points per unit of the merchant's currency. */
  exchange_rate: Generated<string>
  /** Decimal text, 0 to 1. */
  fee_rate: Nullable<string>
  homepage: Nullable<string>
  logo_url: Nullable<string>
  /** Addresses and ranges that may call the API; empty means any. */
  allowed_addresses: Generated<string[]>
  /** Where events of the HMAC API are sent; null is nowhere. */
  events_url: Nullable<string>
  /** When the address there was answered 410 Gone. */
  events_gone_at: Nullable<Date>
  /** The owner's switches for the gateway's versions. */
  v1_enabled: Generated<boolean>
  v2_enabled: Generated<boolean>
  /** Most points that may be paid to it, and that it may transfer out, in a day; null is no limit. */
  daily_payments_max: Nullable<bigint>
  daily_transfers_max: Nullable<bigint>
  /** Below so many points in the wallet its owner is told; null is never. And when that was, until it has recovered. */
  low_balance_points: Nullable<bigint>
  low_balance_at: Nullable<Date>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type TeamRole = 'manager' | 'operator' | 'viewer'

export type PaymentAppMembersTable = {
  app_id: bigint
  user_id: bigint
  role: TeamRole
  invited_by: bigint
  invited_at: Date
  /** Null until the invited member accepts. */
  accepted_at: Nullable<Date>
  created_at: CreatedAt
}

export type PaymentAppOffersTable = {
  app_id: bigint
  from_user_id: bigint
  to_user_id: bigint
  offered_at: Date
  expires_at: Date
  created_at: CreatedAt
}

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

export type AlertsTable = {
  id: Identity
  user_id: bigint
  app_id: bigint
  kind: AlertKind
  /** One cause is told to one member once. */
  cause: string
  facts: JSONColumnType<Record<string, string>>
  raised_at: Date
  read_at: Nullable<Date>
  created_at: CreatedAt
}

/** A view: the owner and those who have accepted an invitation. */
export type PaymentAppRolesView = {
  app_id: ColumnType<bigint, never, never>
  user_id: ColumnType<bigint, never, never>
  role: ColumnType<'owner' | TeamRole, never, never>
}

/** Used by the database function count_for_day only; a row may be deleted at any time. */
export type PaymentAppDaysTable = {
  app_id: bigint
  book: Book
  act: 'payments' | 'transfers'
  /** `yyyy-mm-dd`, in Asia/Shanghai. */
  day: string
  points: bigint
  created_at: CreatedAt
}

export type PaymentAppKeyKind =
  | 'token'
  | 'merchant_key'
  | 'platform_private_key'
  | 'merchant_public_key'
  | 'event_secret'

export type PaymentAppKeysTable = {
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
  /** When it first changed hands after this key was made. */
  former_since: Nullable<Date>
  created_at: CreatedAt
}

export type OrderStatus = 'unpaid' | 'paid' | 'expired' | 'closed' | 'refunded'

/** What a tester may ask to go wrong: the first notification is not taken, comes late, or comes twice. */
export type ForcedFault = 'notify_refused' | 'notify_slow' | 'notify_twice'

export type OrdersTable = {
  id: Identity
  app_id: bigint
  book: Generated<Book>
  door: 'hmac' | 'gateway'
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
  return_url: Nullable<string>
  /** Of the test book: what is to go wrong when it is paid. */
  forced: Nullable<ForcedFault>
  payer_id: Nullable<bigint>
  /** The application's owner at that moment, who was paid. */
  payee_id: Nullable<bigint>
  fee: Nullable<bigint>
  merchant_points: Nullable<bigint>
  paid_at: Nullable<Date>
  journal_id: Nullable<bigint>
  /** Whole points given back so far. */
  refunded_amount: Generated<bigint>
  /** All three, or none: a frozen order cannot be paid. */
  frozen_at: Nullable<Date>
  frozen_by: Nullable<bigint>
  frozen_reason: Nullable<string>
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

export type NotificationStatus = 'due' | 'delivered' | 'failed'

/** `app_id` and `host` are filled in by the database. */
/** The gateway's notify, or an event of the HMAC API. */
export type NotificationKind =
  | 'gateway'
  | 'order.paid'
  | 'order.expired'
  | 'order.refunded'
  | 'transfer.completed'

export type NotificationsTable = {
  id: Identity
  /** What it tells of: an order, or else a transfer. */
  order_id: Nullable<bigint>
  transfer_id: Nullable<bigint>
  kind: Generated<NotificationKind>
  /** Of events alone. */
  event_id: Nullable<string>
  occurred_at: Nullable<Date>
  app_id: Generated<bigint>
  host: Generated<string>
  status: Generated<NotificationStatus>
  /** Attempts of the present schedule; a redelivery begins a new one. */
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

export type PausedHostsTable = {
  host: string
  reason: string
  paused_by: bigint
  paused_at: Date
  created_at: CreatedAt
}

export type NotificationAttemptsTable = {
  id: Identity
  notification_id: bigint
  /** The number of the claim under which it was made. */
  claim: number
  /** As sent, with its signature: for the merchant and administrators, and no log. */
  url: string | null
  started_at: Date
  duration_ms: number | null
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  response_body: string | null
  created_at: CreatedAt
}

export type ForumNoncesTable = {
  nonce_hash: Buffer
  browser_hash: Buffer
  return_to: string
  expires_at: Date
  used_at: Nullable<Date>
  created_at: CreatedAt
}

export type ForumMembersTable = {
  user_id: bigint
  username: string
  silenced_till: Nullable<Date>
  suspended_till: Nullable<Date>
  is_banned: Generated<boolean>
  checked_at: Nullable<Date>
  failure: Nullable<string>
  retry_at: Nullable<Date>
  hinted_at: Nullable<Date>
  next_check_at: Date
  claimed_until: Nullable<Date>
  score_due_at: Date
  created_at: CreatedAt
}

export type ForumGroupsTable = {
  id: bigint
  name: string
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type ForumEventsTable = { event_id: string; event: string; received_at: Date; created_at: CreatedAt }

export type ForumApiTable = {
  is_only: Generated<boolean>
  requests: Generated<Date[]>
  sign_in_requests: Generated<Date[]>
  paused_until: Nullable<Date>
  created_at: CreatedAt
}

export type ForumScoresTable = {
  user_id: bigint
  score: bigint
  debt: Generated<bigint>
  /** A day as text, `yyyy-mm-dd`. */
  imported_on: string
  pending_amount: Nullable<bigint>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

/** A TOTP secret, and the 30 s step of the last code accepted. */
export type SecondFactorsTable = {
  user_id: bigint
  secret_encrypted: Buffer
  last_step: bigint
  created_at: CreatedAt
}

export type RecoveryCodesTable = {
  id: Identity
  user_id: bigint
  code_hash: Buffer
  used_at: Nullable<Date>
  created_at: CreatedAt
}

export type PendingSignInsTable = {
  id: Identity
  token_hash: Buffer
  user_id: bigint
  amr: string[]
  return_to: string
  expires_at: Date
  created_at: CreatedAt
}

export type AccountLinksTable = {
  id: Identity
  token_hash: Buffer
  user_id: bigint
  purpose: 'recover_password' | 'confirm_email' | 'sign_in'
  /** Where it was sent. */
  email: string
  expires_at: Date
  used_at: Nullable<Date>
  created_at: CreatedAt
}

export type RecoveryRequestsTable = {
  id: Identity
  name: string
  language: 'en' | 'zh-CN'
  ip: string
  requested_at: Date
  created_at: CreatedAt
}

/** Exactly one of next_attempt_at, sent_at and given_up_at is set; the text is there while it may yet be sent. */
export type OutgoingMailsTable = {
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

/** A request as it may be shown to whom it came from. */
export type ReceivedRequest = {
  method: string
  /** Without the query, whose parameters are below. */
  path: string
  ip: string
  /** In the order in which they came; null for what is hidden. */
  parameters: [name: string, value: string | null][]
  /** How many more parameters there were. */
  left_out: number
}

/** Written by the database function receive_orders, and never changed. */
export type OrderRequestsTable = {
  order_id: bigint
  request: ColumnType<ReceivedRequest, string, never>
  received_at: Date
  created_at: CreatedAt
}

export type OrderViewsTable = {
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
  created_at: CreatedAt
}

export type ProposedLine = { user_id: string; username: string; amount: string }

export type BooksDaysTable = {
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

/** Terms of a payment application, as text. */
export type ProposedTerms = {
  fee_rate: string | null
  daily_payments_max: string | null
  daily_transfers_max: string | null
}

export type CorrectionProposalsTable = {
  id: Identity
  kind: 'refund' | 'reversal' | 'points' | 'setting' | 'terms'
  transaction_id: Nullable<string>
  amount: Nullable<bigint>
  with_fee: Nullable<boolean>
  lines: ColumnType<ProposedLine[] | null, string | null, never>
  setting: Nullable<string>
  setting_value: Nullable<string>
  payment_id: Nullable<string>
  terms: ColumnType<ProposedTerms | null, string | null, never>
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

export type RefundRequestsTable = {
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

/** Written by the database function post_transfers, and by an administrator's reversal. */
export type TransfersTable = {
  id: Identity
  app_id: bigint
  book: Generated<Book>
  order_id: string
  transaction_id: string
  status: Generated<'completed' | 'reversed'>
  /** Whole points that the recipient received; the fee came on top. */
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
  /** In which it counts, and what its sender had transferred in it, this one included. */
  day: string
  day_points: string
}

export type RefusedRequestsTable = {
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

/** The files of migrations/ that were applied: numbered ones, and texts of functions. */
export type SchemaMigrationsTable = { name: string; checksum: string; applied_at: CreatedAt }
export type SchemaFunctionsTable = SchemaMigrationsTable

export type Tables = {
  schema_migrations: SchemaMigrationsTable
  schema_functions: SchemaFunctionsTable
  users: UsersTable
  former_usernames: FormerUsernamesTable
  user_groups: UserGroupsTable
  sessions: SessionsTable
  sign_in_attempts: SignInAttemptsTable
  limit_counters: LimitCountersTable
  security_events: SecurityEventsTable
  audit_log: AuditLogTable
  oauth_apps: OauthAppsTable
  app_secrets: AppSecretsTable
  consents: ConsentsTable
  authorization_codes: AuthorizationCodesTable
  grants: GrantsTable
  access_tokens: AccessTokensTable
  refresh_tokens: RefreshTokensTable
  signing_keys: SigningKeysTable
  ledger_accounts: LedgerAccountsTable
  journal: JournalTable
  entries: EntriesTable
  journal_seals: JournalSealsTable
  journal_sealing: JournalSealingTable
  retired_seal_keys: RetiredSealKeysTable
  books_proofs: BooksProofsTable
  books_schedule: BooksScheduleTable
  books_days: BooksDaysTable
  site_settings: SiteSettingsTable
  site_settings_history: SiteSettingsHistoryTable
  payment_apps: PaymentAppsTable
  payment_app_days: PaymentAppDaysTable
  payment_app_keys: PaymentAppKeysTable
  payment_app_members: PaymentAppMembersTable
  payment_app_offers: PaymentAppOffersTable
  payment_app_roles: PaymentAppRolesView
  alerts: AlertsTable
  second_factors: SecondFactorsTable
  recovery_codes: RecoveryCodesTable
  pending_sign_ins: PendingSignInsTable
  account_links: AccountLinksTable
  recovery_requests: RecoveryRequestsTable
  outgoing_mails: OutgoingMailsTable
  orders: OrdersTable
  order_views: OrderViewsTable
  order_requests: OrderRequestsTable
  refunds: RefundsTable
  refund_requests: RefundRequestsTable
  correction_proposals: CorrectionProposalsTable
  transfers: TransfersTable
  refused_requests: RefusedRequestsTable
  notifications: NotificationsTable
  notification_attempts: NotificationAttemptsTable
  paused_hosts: PausedHostsTable
  forum_nonces: ForumNoncesTable
  forum_members: ForumMembersTable
  forum_groups: ForumGroupsTable
  forum_events: ForumEventsTable
  forum_api: ForumApiTable
  forum_scores: ForumScoresTable
}
