/**
 * Refresh token rotation. The successor of a token is derived from it, so requests that come at once with one token, or again after a
 * lost answer, get the same successor, in any process (spec/sign-in 2.5). Conditional updates enforce single use otherwise: a
 * second use revokes the family.
 */
import { sql } from 'kysely'
import { memberOf, userColumns } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { columnsOf, inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { findFrozen } from '../../database/lock-waits.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'
import { type Secrets, sha256 } from '../../platform/secrets.ts'
import { type Client, refusalOf } from '../apps/access.ts'
import { revokeGrant } from './grants.ts'
import {
  ACCESS_LIFE,
  asIssued,
  type Claimed,
  FAMILY_LIFE,
  grantedDetails,
  IDLE_LIFE,
  type Issued,
  type IssuedTokens,
  type NewTokens,
  newTokens,
  sidOfClaimed,
} from './tokens.ts'

/** Used tokens kept for each family. A replay of an older one fails without revoking the family. */
export const SPENT_TOKENS_KEPT = 200
/** A family above its limit may be refreshed once in this time. */
const LIMITED_SECONDS = 60
/** Answers with the same successor, beside the first one. The column has the same bound. */
const REPEATS_MAX = 10
const PURPOSE = 'refresh'

export type Refresh = {
  client: Client
  refresh_token: string
  /** The requested scopes, if the request narrows the granted ones. */
  scopes: string[] | undefined
  /** Where the request came from. */
  address: string
  now: Date
}

/** Tokens for a claim, and the successor under the other APP_SECRET, by which another process may have derived it. */
type Successor = { tokens: NewTokens; other: string; other_hash: Buffer }
type Claim = Hashes & { token_hash: Buffer; app_id: bigint; scopes: string | undefined; now: Date }
type Hashes = Omit<NewTokens, 'plain'> & Pick<Successor, 'other_hash'>
type Rotated = Issued & { grant_id: bigint; successor_hash: Buffer }
type Bounds = { limit_refreshes: number; refresh_grace_seconds: number }

export type RotateRefreshToken = (refresh: Refresh) => Promise<IssuedTokens>

/**
 * Makes the function that exchanges a refresh token for new tokens. Simultaneous rotations of a process share a commit.
 * Requests within the grace after a rotation get its successor too, while that is unused. It throws invalid_grant for all faults
 * of the token, and when the member may no longer use the application. It throws invalid_scope when the request asks for more
 * scopes than were granted. Any other second use of a token revokes the family; a token of another client does not change. When
 * the family exceeds its limit of refreshes, or a token its limit of repeats, it throws too_many_attempts and does not use the
 * token. It also throws overloaded and unavailable.
 */
export function makeRotateRefreshToken({
  db,
  settings,
  secrets,
}: Pick<Core, 'db' | 'settings' | 'secrets'>): RotateRefreshToken {
  const claim = makeBatcher<Claim, Rotated | undefined>({
    name: 'claim refresh tokens',
    findFrozen: (claims) =>
      findFrozen(
        db,
        sql`unnest(${columnsOf(claims, { token_hash: 'bytea' })}) with ordinality as asked (token_hash, item)`,
        sql`select token.xmax from refresh_tokens as token where token.token_hash = asked.token_hash`,
        sql`select family.xmax from refresh_tokens as token
          join grants as family on family.id = token.grant_id where token.token_hash = asked.token_hash`,
        sql`select app.xmax from refresh_tokens as token join grants as family on family.id = token.grant_id
          join oauth_apps as app on app.id = family.app_id where token.token_hash = asked.token_hash`,
      ),
    run: async (claims, patience_ms) => claimRefreshTokens(db, claims, await settings.read(), patience_ms),
  })
  return async (refresh) => {
    const { client, refresh_token, scopes, now } = refresh
    const { tokens, other, other_hash } = successorOf(secrets, refresh_token)
    const { plain, ...hashes } = tokens
    const issued = await claim({
      token_hash: sha256(refresh_token),
      app_id: client.id,
      scopes: scopes?.join(' '),
      now,
      ...hashes,
      other_hash,
    })
    if (issued === undefined) return refuseRefresh(db, refresh, await settings.read())
    const { grant_id, successor_hash, ...rest } = issued
    // NOTE: lost access revokes the family. The new tokens were not sent yet, and the member must sign in again.
    const refusal = refusalOf(issued.user, client, now)
    if (refusal === undefined) {
      const isOther = !successor_hash.equals(hashes.refresh_hash)
      return { ...plain, refresh_token: isOther ? other : plain.refresh_token, ...rest }
    }
    await revokeGrant(db, grant_id, `access lost: ${refusal.rule}`, now)
    throw invalidRefreshToken()
  }
}

/** Derives the successor of a token. Without APP_SECRET the token alone does not tell it. */
function successorOf(secrets: Secrets, refresh_token: string): Successor {
  const [derived, other = derived] = secrets.tags(PURPOSE, refresh_token) as [string, string?]
  return { tokens: newTokens(derived), other, other_hash: sha256(other) }
}

/** Claims refresh tokens in one statement. The database function has the rules. */
async function claimRefreshTokens(
  db: Db,
  claims: Claim[],
  { limit_refreshes, refresh_grace_seconds }: Bounds,
  patience_ms: number,
) {
  const claimed = sql<
    Claimed & { grant_id: bigint; nonce: null; successor_hash: Buffer }
  >`rotate_refresh_tokens(
    ${within(patience_ms, columnsOf(claims, { token_hash: 'bytea' }))},
    ${columnsOf(claims, { app_id: 'bigint', scopes: 'text', now: 'timestamptz' })},
    ${columnsOf(claims, { access_hash: 'bytea', refresh_hash: 'bytea', other_hash: 'bytea' })},
    ${ACCESS_LIFE}::interval, ${IDLE_LIFE}::interval, ${FAMILY_LIFE}::interval, ${limit_refreshes},
    ${SPENT_TOKENS_KEPT}, ${graceOf(refresh_grace_seconds)}::interval, ${REPEATS_MAX}
  )`
  const mandate = sql<bigint | null>`(select mandate_id from grants where grants.id = claimed.grant_id)`
  const rows = await db
    .selectFrom(claimed.as('claimed'))
    .innerJoinLateral(memberOf('claimed').as('users'), (join) => join.onTrue())
    .select(userColumns)
    .select(grantedDetails(mandate, claims[0]!.now))
    .select(['claimed.item', 'claimed.grant_id', sidOfClaimed(), 'claimed.nonce'])
    .select(['claimed.scopes', 'claimed.auth_time', 'claimed.amr', 'claimed.successor_hash'])
    .execute()
  return inOrder(claims, rows, ({ grant_id, successor_hash, ...row }) => ({
    grant_id,
    successor_hash,
    ...asIssued(row),
  }))
}

const graceOf = (seconds: number) => `${seconds} seconds`

/** Revokes the family after a replay, and throws why the refresh token was refused. */
async function refuseRefresh(db: Db, refresh: Refresh, bounds: Bounds): Promise<never> {
  const { client, refresh_token, scopes = [], address, now } = refresh
  const token = await db
    .selectFrom('refresh_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .where('token.token_hash', '=', sha256(refresh_token))
    .where('family.app_id', '=', client.id)
    .select(['token.grant_id', 'token.used_at', 'token.repeats', 'token.expires_at'])
    .select(['family.user_id', 'family.revoked_at', 'family.scopes'])
    .select(
      sql<boolean>`may_refresh(
        token.generation, family.expires_at - ${FAMILY_LIFE}::interval, ${now}, ${bounds.limit_refreshes})`.as(
        'mayRefresh',
      ),
    )
    .select(
      sql<boolean>`is_repeated_rotation(token, ${now}, ${graceOf(bounds.refresh_grace_seconds)}::interval)
        and exists (
          select from refresh_tokens as successor
          where successor.grant_id = token.grant_id and successor.generation = token.generation + 1
            and successor.used_at is null
        )`.as('isRepeat'),
    )
    .executeTakeFirst()
  if (token === undefined) throw invalidRefreshToken()
  if (token.used_at !== null && !token.isRepeat) {
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
  if (isLive && (token.isRepeat ? token.repeats >= REPEATS_MAX : !token.mayRefresh)) {
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
