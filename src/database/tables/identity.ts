/** Rows of OAuth applications, consents, codes, tokens and signing keys. */
import type { ColumnType, Generated, JSONColumnType } from 'kysely'
import type { CreatedAt, Identity, Nullable } from './columns.ts'
import type { AttemptOutcome } from './notifications.ts'

type OauthAppsTable = {
  id: Identity
  client_id: string
  /** Null for a client that is known by its document. */
  owner_id: Nullable<bigint>
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
  /** What the staff reviewed last, by column, since its mark was removed. A trigger fills it in. */
  reviewed_values: ColumnType<Record<string, unknown> | null, never, null>
  /** The application whose access token registered this one. */
  registered_by_app_id: Nullable<bigint>
  /** Null until the owner confirms an application that another one registered. */
  confirmed_at: Generated<Date | null>
  post_logout_redirect_uris: Generated<string[]>
  id_token_signed_response_alg: Generated<'RS256' | 'ES256'>
  token_endpoint_auth_method: Generated<'client_secret_basic' | 'client_secret_post' | 'none'>
  /** Whether the launch page may show it. */
  is_listed: Generated<boolean>
  /** The address of its service, for whose tokens others may ask (RFC 8707). */
  resource_uri: Nullable<string>
  /** That address once the staff has reviewed it. Only then do others get tokens for it. */
  reviewed_resource_uri: Nullable<string>
  grant_types: Generated<
    ('authorization_code' | 'refresh_token' | 'urn:ietf:params:oauth:grant-type:device_code')[]
  >
  backchannel_logout_uri: Nullable<string>
  backchannel_logout_session_required: Generated<boolean>
  /** The address of the document of a client that publishes its metadata, which is its client_id. The others are null without it. */
  document_url: Nullable<string>
  document: ColumnType<ClientDocument | null, string | undefined, string>
  fetched_at: Nullable<Date>
  fresh_until: Nullable<Date>
  created_at: Generated<Date>
}

type ClientDocument = { client_name: string; redirect_uris: string[]; homepage: string | null }

type AppSecretsTable = {
  id: Identity
  app_id: bigint
  secret_hash: Buffer
  created_at: CreatedAt
  last_used_at: Nullable<Date>
  expires_at: Nullable<Date>
}

type ConsentsTable = {
  user_id: bigint
  app_id: bigint
  scopes: string[]
  resource_app_ids: Generated<bigint[]>
  /** A hash of what the member has allowed of a client's document. */
  document_version: Nullable<Buffer>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

type AuthorizationCodesTable = {
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
  resource_app_id: Nullable<bigint>
  /** The mandate that the authorization request named. */
  mandate_id: Nullable<bigint>
  auth_time: Date
  amr: string[]
  expires_at: Date
  used_at: Nullable<Date>
  created_at: CreatedAt
}

type GrantsTable = {
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
  is_on_device: Generated<boolean>
  resource_app_id: Nullable<bigint>
  mandate_id: Nullable<bigint>
  created_at: CreatedAt
}

type DeviceCodesTable = {
  id: Identity
  device_code_hash: Buffer
  user_code_tag: string
  app_id: bigint
  scopes: string[]
  resource_app_id: Nullable<bigint>
  ip: string
  agent: string | null
  /** Seconds. */
  poll_interval: Generated<number>
  last_polled_at: Nullable<Date>
  user_id: Nullable<bigint>
  session_id: Nullable<bigint>
  auth_time: Nullable<Date>
  amr: Nullable<string[]>
  allowed_at: Nullable<Date>
  denied_at: Nullable<Date>
  grant_id: Nullable<bigint>
  redeemed_at: Nullable<Date>
  expires_at: Date
  created_at: Date
}

type AccessTokensTable = {
  id: Identity
  token_hash: Buffer
  grant_id: bigint
  scopes: string[]
  expires_at: Date
  created_at: CreatedAt
}

type RefreshTokensTable = {
  id: Identity
  token_hash: Buffer
  grant_id: bigint
  /** Its position in the family: 0 is the token issued for the code. */
  generation: Generated<number>
  expires_at: Date
  used_at: Nullable<Date>
  /** How many requests got its successor again. */
  repeats: Generated<number>
  created_at: CreatedAt
}

/** How an attempt to send a logout token ended. All but `delivered` are failures. */
export type LogoutOutcome = Exclude<AttemptOutcome, 'wrong_body' | 'too_large'>

type LogoutDeliveriesTable = {
  id: Identity
  app_id: bigint
  user_id: bigint
  /** The public id of the session that ended; null for all sessions of the member. */
  sid: Nullable<string>
  is_bulk: boolean
  attempts: Generated<number>
  next_attempt_at: Nullable<Date>
  claimed_until: Nullable<Date>
  claims: Generated<number>
  interruptions: Generated<number>
  attempted_at: Nullable<Date>
  outcome: Nullable<LogoutOutcome>
  response_status: Nullable<number>
  ended_at: Nullable<Date>
  created_at: Generated<Date>
}

type SigningKeysTable = {
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

export interface IdentityTables {
  oauth_apps: OauthAppsTable
  app_secrets: AppSecretsTable
  consents: ConsentsTable
  authorization_codes: AuthorizationCodesTable
  grants: GrantsTable
  device_codes: DeviceCodesTable
  access_tokens: AccessTokensTable
  refresh_tokens: RefreshTokensTable
  logout_deliveries: LogoutDeliveriesTable
  signing_keys: SigningKeysTable
}
