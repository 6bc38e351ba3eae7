// This room: the type of each row, one file for the tables of an area. The migrations are the truth.
/** Rows of access keys and their tokens. */
import type { Book, CreatedAt, Identity, Nullable } from './columns.ts'

/** What a token may do. */
export type AccessScope = 'orders:read' | 'orders:write' | 'transfers' | 'payouts' | 'mandates'

type AccessKeysTable = {
  id: Identity
  app_id: bigint
  book: Book
  public_id: string
  secret_hash: Buffer
  name: string
  scopes: AccessScope[]
  allowed_addresses: string[]
  created_by: bigint
  created_at: Date
  expires_at: Date
  last_used_at: Nullable<Date>
  revoked_at: Nullable<Date>
}

/** The database function issue_access_token writes it. */
type AccessKeyTokensTable = {
  token_hash: Buffer
  key_id: bigint
  scopes: AccessScope[]
  created_at: CreatedAt
  expires_at: Date
}

export interface AccessKeysTables {
  access_keys: AccessKeysTable
  access_key_tokens: AccessKeyTokensTable
}
