/**
 * Refresh token rotation. Conditional updates enforce single use, so only one of simultaneous requests succeeds. A second
 * use of a token revokes its family.
 */
import { sql } from 'kysely'
import { memberOf, userColumns } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { findHeld } from '../../database/held.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'
import { sha256 } from '../../platform/secrets.ts'
import { type Client, refusalOf } from '../apps/access.ts'
import { revokeGrant } from './grants.ts'
import {
  ACCESS_LIFE,
  asIssued,
  type Claimed,
  FAMILY_LIFE,
  IDLE_LIFE,
  type Issued,
  type IssuedTokens,
  type NewTokens,
  newTokens,
} from './tokens.ts'

/** Used tokens kept for each family. A replay of an older one fails without revoking the family. */
export const SPENT_TOKENS_KEPT = 200
/** A family above its limit may be refreshed once in this time. */
const LIMITED_SECONDS = 60

export type Refresh = {
  client: Client
  refresh_token: string
  /** The requested scopes, if the request narrows the granted ones. */
  scopes: string[] | undefined
  /** Where the request came from. */
  address: string
  now: Date
}

type Claim = Pick<Refresh, 'client' | 'scopes' | 'now'> & { token_hash: Buffer; tokens: NewTokens }

export type RotateRefreshToken = (refresh: Refresh) => Promise<IssuedTokens>

/**
 * Makes the function that exchanges a refresh token for new tokens, once. Simultaneous rotations of a process share a
 * commit. It throws invalid_grant for all faults of the token, and when the member may no longer use the application. It
 * throws invalid_scope when the request asks for more scopes than were granted. A second use of a token revokes the family,
 * except within the grace period; a token of another client does not change. When the family exceeds its limit of
 * refreshes, it throws too_many_attempts and does not use the token. It also throws overloaded and unavailable.
 */
export function makeRotateRefreshToken({ db, settings }: Pick<Core, 'db' | 'settings'>): RotateRefreshToken {
  const claim = makeBatcher<Claim, (Issued & { grant_id: bigint }) | undefined>({
    name: 'claim refresh tokens',
    findHeld: (claims) =>
      findHeld(
        db,
        sql`unnest(${claims.map(({ token_hash }) => token_hash)}::bytea[]) with ordinality as asked (token_hash, item)`,
        sql`select token.xmax from refresh_tokens as token where token.token_hash = asked.token_hash`,
        sql`select family.xmax from refresh_tokens as token
          join grants as family on family.id = token.grant_id where token.token_hash = asked.token_hash`,
        sql`select app.xmax from refresh_tokens as token join grants as family on family.id = token.grant_id
          join oauth_apps as app on app.id = family.app_id where token.token_hash = asked.token_hash`,
      ),
    run: async (claims, patience_ms) =>
      claimRefreshTokens(db, claims, (await settings.read()).limit_refreshes, patience_ms),
  })
  return async (refresh) => {
    const { client, scopes, now } = refresh
    const tokens = newTokens()
    const asked = { client, scopes, now, tokens }
    let issued = await claim({ ...asked, token_hash: sha256(refresh.refresh_token) })
    if (issued === undefined) {
      const { refresh_grace_seconds, limit_refreshes } = await settings.read()
      const unheard = await findUnheard(db, refresh, refresh_grace_seconds)
      if (unheard !== undefined) issued = await claim({ ...asked, token_hash: unheard })
      if (issued === undefined) return refuseRefresh(db, refresh, limit_refreshes)
    }
    const { grant_id, ...rest } = issued
    // NOTE: lost access revokes the family. The new tokens were not sent yet, and the member must sign in again.
    const refusal = refusalOf(issued.user, client, now)
    if (refusal === undefined) return { ...tokens.plain, ...rest }
    await revokeGrant(db, grant_id, `access lost: ${refusal.rule}`, now)
    throw invalidRefreshToken()
  }
}

/** Claims refresh tokens in one statement. The database function has the rules. */
async function claimRefreshTokens(db: Db, claims: Claim[], limit: number, patience_ms: number) {
  const claimed = sql<Claimed & { grant_id: bigint; nonce: null }>`rotate_refresh_tokens(
    ${within(patience_ms, sql`${claims.map(({ token_hash }) => token_hash)}::bytea[]`)},
    ${claims.map(({ client }) => client.id)}::bigint[],
    ${claims.map(({ scopes }) => scopes?.join(' ') ?? null)}::text[],
    ${claims.map(({ now }) => now)}::timestamptz[],
    ${claims.map(({ tokens }) => tokens.access_hash)}::bytea[],
    ${claims.map(({ tokens }) => tokens.refresh_hash)}::bytea[],
    ${ACCESS_LIFE}::interval, ${IDLE_LIFE}::interval, ${FAMILY_LIFE}::interval, ${limit}, ${SPENT_TOKENS_KEPT}
  )`
  const rows = await db
    .selectFrom(claimed.as('claimed'))
    .innerJoinLateral(memberOf('claimed').as('users'), (join) => join.onTrue())
    .select(userColumns)
    .select(['claimed.item', 'claimed.grant_id', 'claimed.session_id', 'claimed.nonce'])
    .select(['claimed.scopes', 'claimed.auth_time', 'claimed.amr'])
    .execute()
  return inOrder(claims, rows, ({ grant_id, ...row }) => ({ grant_id, ...asIssued(row) }))
}

/**
 * Returns the unused successor of a refresh token whose answer may have been lost. The token was used within the grace
 * period, by a confidential client, and its successor is unused. The caller exchanges the successor instead, so a third
 * attempt with the same token finds the successor used.
 */
async function findUnheard(
  db: Db,
  { client, refresh_token, now }: Refresh,
  grace_seconds: number,
): Promise<Buffer | undefined> {
  if (grace_seconds === 0 || client.token_endpoint_auth_method === 'none') return undefined
  const successor = await db
    .selectFrom('refresh_tokens as token')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('refresh_tokens as later')
          .whereRef('later.grant_id', '=', 'token.grant_id')
          .whereRef('later.id', '>', 'token.id')
          .orderBy('later.id')
          .limit(1)
          .select(['later.token_hash', 'later.used_at'])
          .as('successor'),
      (join) => join.onTrue(),
    )
    .where('token.token_hash', '=', sha256(refresh_token))
    .where('token.used_at', '>', new Date(now.getTime() - grace_seconds * 1000))
    .where('successor.used_at', 'is', null)
    .select('successor.token_hash')
    .executeTakeFirst()
  return successor?.token_hash
}

/** Revokes the family after a replay, and throws why the refresh token was refused. */
async function refuseRefresh(db: Db, refresh: Refresh, limit: number): Promise<never> {
  const { client, refresh_token, scopes = [], address, now } = refresh
  const token = await db
    .selectFrom('refresh_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .where('token.token_hash', '=', sha256(refresh_token))
    .where('family.app_id', '=', client.id)
    .select(['token.grant_id', 'token.used_at', 'token.expires_at'])
    .select(['family.user_id', 'family.revoked_at', 'family.scopes'])
    .select(
      sql<boolean>`may_refresh(
        token.generation, family.expires_at - ${FAMILY_LIFE}::interval, ${now}, ${limit})`.as('mayRefresh'),
    )
    .executeTakeFirst()
  if (token === undefined) throw invalidRefreshToken()
  if (token.used_at !== null) {
    const { user_id } = token
    const { client_id } = client
    await revokeGrant(db, token.grant_id, 'refresh token replayed', now)
    await recordRefusal(db, { kind: 'refresh_token_replayed', user_id, client_id, address, at: now })
    throw invalidRefreshToken()
  }
  const isLive = token.revoked_at === null && token.expires_at > now
  if (isLive && scopes.some((scope) => !token.scopes.includes(scope))) {
    throw new AppError('invalid_scope', 'The request asks for more scopes than were granted')
  }
  if (isLive && !token.mayRefresh) {
    throw new AppError(
      'too_many_attempts',
      'This grant was refreshed too often. Use its access token, or wait.',
      {
        retry_after_seconds: LIMITED_SECONDS,
      },
    )
  }
  throw invalidRefreshToken()
}

function invalidRefreshToken(): AppError {
  return new AppError('invalid_grant', 'The refresh token is wrong, expired, already used or revoked')
}
