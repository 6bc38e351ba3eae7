/**
 * Refresh tokens, exchanged by rotation. Every rule of single use is a conditional update whose count is checked, so of
 * any number of requests at once one wins; a token used twice ends its family.
 */
import { sql } from 'kysely'
import { memberOf, userColumns } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { findHeld } from '../../database/frozen.ts'
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

/** Of a family, besides the token in force: an older one is only wrong, and no longer known as a replay. */
export const SPENT_TOKENS_KEPT = 200
/** A family over its limit may be refreshed once a minute. */
const LIMITED_SECONDS = 60

export type Refresh = {
  client: Client
  refresh_token: string
  /** The scopes asked for, when fewer than granted. */
  scopes: string[] | undefined
  /** Where the request came from. */
  address: string
  now: Date
}

type Claim = Pick<Refresh, 'client' | 'scopes' | 'now'> & { token_hash: Buffer; tokens: NewTokens }

export type RotateRefreshToken = (refresh: Refresh) => Promise<IssuedTokens>

/**
 * Makes the rotation of refresh tokens of this process; those that arrive together share a commit. It exchanges a
 * refresh token for new tokens, once. Throws invalid_grant for whatever is wrong with it, and when the member may no
 * longer use the application; invalid_scope when more is asked for than was granted. A token used before ends the
 * family, unless it may be asked for again; another client's token stays as it is. Throws too_many_attempts, and spends
 * nothing, when the family has been refreshed more often than its limit allows.
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
    // NOTE: losing access ends the family: nobody has been told the new tokens yet, and the next way in is a sign-in.
    const refusal = refusalOf(issued.user, client, now)
    if (refusal === undefined) return { ...tokens.told, ...rest }
    await revokeGrant(db, grant_id, `access lost: ${refusal.rule}`, now)
    throw invalidRefreshToken()
  }
}

/** One statement, whose rules stand in the database function. */
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
 * What a refresh token was exchanged for, when its answer may have been lost: it was used within the last seconds of the
 * setting, by an application that has a secret, and what it got has not been used. Exchanged in its place, that is spent
 * unheard, and a third try with the same token finds it used.
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

/** Why a refresh token was not taken. What may be told is told; a replay is dealt with first. */
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
    throw new AppError('invalid_scope', 'More was asked for than was granted')
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
