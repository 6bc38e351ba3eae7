/** The tokens that a code or a refresh token is exchanged for, and their lifetimes. */
import { type RawBuilder, sql } from 'kysely'
import type { z } from 'zod'
import type { User } from '../../accounts/people/users.ts'
import type { GrantedMandate } from '../../accounts/sign-in/mandate-consent.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { SIGN_IN_DAYS } from '../apps/sign-ins.ts'

export const ACCESS_TOKEN_SECONDS = 3_600
/** Lifetimes as Postgres intervals: of an access token, of an unused refresh token, and of a family. */
export const ACCESS_LIFE = `${ACCESS_TOKEN_SECONDS} seconds`
export const IDLE_LIFE = '14 days'
export const FAMILY_LIFE = `${SIGN_IN_DAYS} days`
/** New tokens and the claims of their ID token. `sid` is the public id of the session, null when it has ended. */
export type IssuedTokens = {
  access_token: string
  refresh_token: string
  scopes: string[]
  nonce: string | null
  auth_time: Date
  amr: string[]
  sid: string | null
  user: User
  /** What the member has granted besides the scopes (RFC 9396). Null if the authorization request did not ask for that. */
  details: z.output<typeof GrantedMandate>[] | null
}

/** Makes a pair of tokens and their hashes. The database stores only the hashes. */
export function newTokens(refresh_token = randomToken()) {
  const access_token = randomToken()
  return {
    plain: { access_token, refresh_token },
    access_hash: sha256(access_token),
    refresh_hash: sha256(refresh_token),
  }
}

export type NewTokens = ReturnType<typeof newTokens>
export type Issued = Omit<IssuedTokens, 'access_token' | 'refresh_token'>

/** The row of a successful claim: its position in the batch, and the data of its token family. */
export type Claimed = {
  item: number
  session_id: bigint | null
  scopes: string[]
  auth_time: Date
  amr: string[]
  /** The member's row as one value, which `memberOf` expands in the query. */
  member: unknown
}

/** Converts a claim's row. */
export function asIssued({
  sid,
  nonce,
  scopes,
  auth_time,
  amr,
  details,
  ...user
}: Omit<Issued, 'user'> & User): Issued {
  return { sid, nonce, scopes, auth_time, amr, details, user }
}

/** Selects what the member of a row of `users` has granted by a mandate, as it is now. Null without one. */
export function grantedDetails(mandate_id: RawBuilder<bigint | null>, now: Date) {
  return sql<
    z.output<typeof GrantedMandate>[] | null
  >`granted_details(${mandate_id}, users.id, ${now}::timestamptz)`.as('details')
}

/** Selects the public id of a claim's session. */
export function sidOfClaimed() {
  return sql<string | null>`(select sid from sessions where sessions.id = claimed.session_id)`.as('sid')
}
