/**
 * The outbox of logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.4). Acts write its rows; any number of processes claim them and settle their outcomes. Each
 * application is told at least once, until it confirms or five attempts have failed. The claims and settlements are database
 * functions; the schedule is here. spec/sign-in 4.2.
 */

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import type { LogoutOutcome } from '../../database/tables/identity.ts'
import type { Config } from '../../platform/config.ts'
import { signJwt } from '../keys/jwt.ts'
import type { SigningAlgorithm, SigningKey } from '../keys/keys.ts'

/** The delay after the end of each failed attempt except the last. */
export const RETRY_SECONDS = [10, 60, 300, 1_800]
/** Longer than an attempt and its settlement. After it, another process may claim the delivery. */
const LEASE_SECONDS = 60
const HOST_CLAIMS_MAX = 4
const SHOWN_MAX = 50

/** A delivery that this process has claimed. */
export type Claimed = { id: bigint; claims: number; attempts: number; interruptions: number }

/** The outcome of an attempt, for settle_logouts. */
export type Settlement = {
  id: string
  claim: number
  ended_at: Date
  outcome: LogoutOutcome
  response_status: number | null
  /** Null when the delivery is over. */
  next_attempt_at: Date | null
}

/** Returns the time of the next attempt after one that failed at `now`, or null after the last. */
export function nextAttemptAt(attempts_before: number, now: Date): Date | null {
  const seconds = RETRY_SECONDS[attempts_before]
  return seconds === undefined ? null : new Date(now.getTime() + seconds * 1000)
}

/**
 * Settles the ended attempts of this process and claims up to `room` due deliveries, of them up to `bulk_room` of acts in bulk,
 * in one commit. A repeat is safe: after the lease, lost claims are claimed again.
 */
export async function claimAndSettle(
  db: Db,
  round: { settled: readonly Settlement[]; room: number; bulk_room: number; now: Date },
): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    select id, claims, attempts, interruptions
    from settle_and_claim_logouts(
      ${JSON.stringify(round.settled)}::jsonb, ${round.now}::timestamptz, make_interval(secs => ${LEASE_SECONDS}),
      ${round.room}::integer, ${round.bulk_room}::integer, ${HOST_CLAIMS_MAX}::integer
    )`.execute(db)
  return rows
}

/** What a delivery says, and to whom. */
export type Content = Ended & { url: string; alg: SigningAlgorithm }

/** Reads the contents of deliveries. Leaves out those of applications that are suspended or have no address any more. */
export async function findContents(db: Db, ids: bigint[]): Promise<Map<bigint, Content>> {
  const rows = await db
    .selectFrom('logout_deliveries as delivery')
    .innerJoin('oauth_apps as app', 'app.id', 'delivery.app_id')
    .where('delivery.id', 'in', ids)
    .where('app.backchannel_logout_uri', 'is not', null)
    .where('app.suspended_at', 'is', null)
    .select(['delivery.id', 'delivery.user_id', 'delivery.sid', 'app.client_id'])
    .select('app.id_token_signed_response_alg as alg')
    .select((eb) => eb.ref('app.backchannel_logout_uri').$notNull().as('url'))
    .execute()
  return new Map(rows.map(({ id, ...content }) => [id, content]))
}

/** Returns the last deliveries to an application, the newest first, without the members. */
export async function lastDeliveries(db: Db, app_id: bigint) {
  return db
    .selectFrom('logout_deliveries')
    .where('app_id', '=', app_id)
    .orderBy('id', 'desc')
    .limit(SHOWN_MAX)
    .select(['created_at', 'attempts', 'outcome', 'response_status', 'next_attempt_at', 'ended_at'])
    .execute()
}

/** Returns the names of the applications that are told when this session ends, in their order. */
export async function toldApplications(db: Db, session_id: bigint): Promise<string[]> {
  const apps = await db
    .selectFrom('oauth_apps as app')
    .where('app.backchannel_logout_uri', 'is not', null)
    .where('app.suspended_at', 'is', null)
    .where('app.id', 'in', (eb) =>
      eb
        .selectFrom('grants as family')
        .leftJoin('consents as consent', (join) =>
          join.onRef('consent.user_id', '=', 'family.user_id').onRef('consent.app_id', '=', 'family.app_id'),
        )
        .where('family.session_id', '=', session_id)
        .where((or) => or.or([or('family.revoked_at', 'is', null), or('consent.app_id', 'is not', null)]))
        .select('family.app_id'),
    )
    .orderBy('app.name')
    .select('app.name')
    .execute()
  return apps.map(({ name }) => name)
}

export const LOGOUT_TOKEN_TYPE = 'logout+jwt'
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const LIFE_SECONDS = 120

/** What a logout token says: this session of the member has ended, or without `sid` all of them. */
export type Ended = { client_id: string; user_id: bigint; sid: string | null }

/**
 * Signs a logout token. Each attempt gets its own `jti`: an application that received the first one, and whose answer was lost,
 * would refuse the same one as a replay.
 */
export function signLogoutToken(
  { client_id, user_id, sid }: Ended,
  key: SigningKey,
  now: Date,
  { config }: { config: Pick<Config, 'PUBLIC_URL'> },
): string {
  const iat = Math.floor(now.getTime() / 1000)
  const claims = {
    iss: config.PUBLIC_URL,
    aud: client_id,
    iat,
    exp: iat + LIFE_SECONDS,
    jti: randomUUID(),
    sub: user_id.toString(),
    ...(sid === null ? {} : { sid }),
    events: { [EVENT]: {} },
  }
  return signJwt(LOGOUT_TOKEN_TYPE, claims, key)
}
