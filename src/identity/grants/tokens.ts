/** What a code or a refresh token is exchanged for, and how long it lives. */
import type { User } from '../../accounts/people/users.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'

export const ACCESS_TOKEN_SECONDS = 3_600
/** How long things live, as Postgres reads it: an access token, a refresh token that is not used, a family. */
export const ACCESS_LIFE = `${ACCESS_TOKEN_SECONDS} seconds`
export const IDLE_LIFE = '14 days'
export const FAMILY_LIFE = '30 days'
/** What the token endpoint answers with. `session_id` is null when that session has ended. */
export type IssuedTokens = {
  access_token: string
  refresh_token: string
  scopes: string[]
  nonce: string | null
  auth_time: Date
  amr: string[]
  session_id: bigint | null
  user: User
}

/** A new pair of tokens, of which the database sees only hashes. */
export function newTokens() {
  const access_token = randomToken()
  const refresh_token = randomToken()
  return {
    told: { access_token, refresh_token },
    access_hash: sha256(access_token),
    refresh_hash: sha256(refresh_token),
  }
}

export type NewTokens = ReturnType<typeof newTokens>
export type Issued = Omit<IssuedTokens, 'access_token' | 'refresh_token'>

/** What a claim that succeeded answers with: its place in the batch, and what the family of tokens is bound to. */
export type Claimed = {
  item: number
  session_id: bigint | null
  scopes: string[]
  auth_time: Date
  amr: string[]
  /** The member's row, as Postgres keeps it: to be taken apart there. */
  member: unknown
}

/** A claim's row as what is told of it. */
export function asIssued({
  session_id,
  nonce,
  scopes,
  auth_time,
  amr,
  ...user
}: Omit<Issued, 'user'> & User): Issued {
  return { session_id, nonce, scopes, auth_time, amr, user }
}
