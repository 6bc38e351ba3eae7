/**
 * Device codes (RFC 8628): a device asks, a member decides in a browser, and the device polls until it gets its tokens. A code is
 * valid for ten minutes and redeemed once. spec/sign-in 5.2.
 */
import { sql } from 'kysely'
import { memberOf, userColumns } from '../../accounts/people/users.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import type { Db } from '../../database/connection.ts'
import { AppError, type OAuthCode } from '../../platform/errors.ts'
import { randomText, randomToken, type Secrets, sha256 } from '../../platform/secrets.ts'
import { type Client, refusalOf } from '../apps/access.ts'
import { DEVICE_GRANT } from '../apps/apps.ts'
import {
  ACCESS_LIFE,
  asIssued,
  FAMILY_LIFE,
  IDLE_LIFE,
  type IssuedTokens,
  newTokens,
  sidOfClaimed,
} from './tokens.ts'

export const DEVICE_CODE_SECONDS = 600
/** Between two polls. The database lets it grow. */
export const POLL_SECONDS = 5
/** Codes of one application that wait for a member. */
export const WAITING_MAX = 1_000
const AGENT_LENGTH_MAX = 300
const PURPOSE = 'user code'
/** Letters without vowels, so that no code is a word (RFC 8628 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

/** Tags are made of this form of a code. Case, hyphens and spaces do not matter. */
const bare = (user_code: string) => user_code.toUpperCase().replace(/[\s-]/g, '')

type NewDeviceCode = {
  client: Client
  scopes: string[]
  resource_app_id: bigint | null
  ip: string
  agent: string | undefined
  now: Date
}

/**
 * Makes a pair of codes for a device. Throws unauthorized_client when the application is not switched on for devices, and
 * too_many_attempts while WAITING_MAX of its codes wait.
 */
export async function requestDeviceCode(
  { db, secrets }: Pick<Core, 'db' | 'secrets'>,
  { client, scopes, resource_app_id, ip, agent, now }: NewDeviceCode,
): Promise<{ device_code: string; user_code: string }> {
  const device_code = randomToken()
  const letters = randomText(8, LETTERS)
  await db.transaction().execute(async (tx) => {
    const { grant_types } = await tx
      .selectFrom('oauth_apps')
      .where('id', '=', client.id)
      .select('grant_types')
      // So that simultaneous requests count each other.
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow()
    if (!grant_types.includes(DEVICE_GRANT)) throw refused('unauthorized_client')
    const { waiting } = await tx
      .selectFrom('device_codes')
      .where('app_id', '=', client.id)
      .where('expires_at', '>', now)
      .where('allowed_at', 'is', null)
      .where('denied_at', 'is', null)
      .select((eb) => eb.fn.countAll<bigint>().as('waiting'))
      .executeTakeFirstOrThrow()
    if (waiting >= WAITING_MAX) {
      const options = { retry_after_seconds: DEVICE_CODE_SECONDS }
      throw new AppError('too_many_attempts', 'Too many devices of this application wait', options)
    }
    await tx
      .insertInto('device_codes')
      .values({
        app_id: client.id,
        device_code_hash: sha256(device_code),
        user_code_tag: secrets.tag(PURPOSE, letters),
        scopes,
        resource_app_id,
        ip,
        agent: agent?.slice(0, AGENT_LENGTH_MAX) ?? null,
        poll_interval: POLL_SECONDS,
        expires_at: new Date(now.getTime() + DEVICE_CODE_SECONDS * 1000),
        created_at: now,
      })
      .execute()
  })
  return { device_code, user_code: `${letters.slice(0, 4)}-${letters.slice(4)}` }
}

/** A device that waits for a member. */
export type Device = {
  id: bigint
  /** As the device shows it. */
  user_code: string
  client_id: string
  scopes: string[]
  /** The service that the tokens are for, if not for us. */
  resource: { name: string; uri: string } | undefined
  ip: string
  agent: string | null
  created_at: Date
}

/** Returns the device that waits with this code, or undefined. */
export async function findDevice(
  { db, secrets }: { db: Db; secrets: Secrets },
  user_code: string,
  now: Date,
): Promise<Device | undefined> {
  const letters = bare(user_code)
  if (letters.length !== 8) return undefined
  const found = await db
    .selectFrom('device_codes as code')
    .innerJoin('oauth_apps as app', 'app.id', 'code.app_id')
    .leftJoin('oauth_apps as resource', 'resource.id', 'code.resource_app_id')
    .where('code.user_code_tag', 'in', secrets.tags(PURPOSE, letters))
    .where('code.expires_at', '>', now)
    .where('code.allowed_at', 'is', null)
    .where('code.denied_at', 'is', null)
    .select(['code.id', 'app.client_id', 'code.scopes', 'code.ip', 'code.agent', 'code.created_at'])
    .select(['resource.name as resource_name', 'resource.resource_uri'])
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { resource_name: name, resource_uri: uri, ...device } = found
  const resource = name === null || uri === null ? undefined : { name, uri }
  return { ...device, resource, user_code: `${letters.slice(0, 4)}-${letters.slice(4)}` }
}

type Decision = {
  device: Device
  session: { id: bigint; auth_time: Date; amr: string[]; user: { id: bigint } }
  isAllowed: boolean
  ip: string
  now: Date
}

/** Allows or denies a device, and records it. Throws conflict when it was decided meanwhile, or has expired. */
export async function decideDevice(db: Db, { device, session, isAllowed, ip, now }: Decision): Promise<void> {
  const user_id = session.user.id
  const { auth_time, amr } = session
  await db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('device_codes')
      .set((eb) => ({
        user_id,
        ...(isAllowed
          ? {
              allowed_at: now,
              auth_time,
              amr,
              // As for a code: null when the session has ended meanwhile.
              session_id: eb.selectFrom('sessions').where('id', '=', session.id).select('id').forKeyShare(),
            }
          : { denied_at: now }),
      }))
      .where('id', '=', device.id)
      .where('allowed_at', 'is', null)
      .where('denied_at', 'is', null)
      .where('expires_at', '>', now)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new AppError('conflict', 'This code is no longer valid')
    await recordAudit(tx, {
      actor_id: user_id,
      action: isAllowed ? 'oauth_device.allowed' : 'oauth_device.denied',
      subject: device.client_id,
      detail: { user_id: user_id.toString(), scopes: device.scopes, requested_from: device.ip },
      ip,
    })
  })
}

export type Redemption = { client: Client; device_code: string; address: string; now: Date }

type Outcome = Extract<
  OAuthCode,
  | 'unauthorized_client'
  | 'invalid_grant'
  | 'access_denied'
  | 'expired_token'
  | 'authorization_pending'
  | 'slow_down'
>

const REASONS: Record<Outcome, string> = {
  unauthorized_client: 'This application is not switched on for devices',
  invalid_grant: 'The device code is wrong, already used, or was issued to another client',
  access_denied: 'The user refused authorization',
  expired_token: 'The device code has expired',
  authorization_pending: 'The user has not decided yet',
  slow_down: 'The device polls too often. Wait 5 seconds longer between two polls from now on.',
}

/**
 * Exchanges an allowed device code for tokens, once. Throws the errors of RFC 8628 3.5. A poll counts, and its interval grows,
 * only while the code waits. The group rules of the application are judged again.
 */
export async function redeemDeviceCode(db: Db, redemption: Redemption): Promise<IssuedTokens> {
  const { client, device_code, address, now } = redemption
  const device_code_hash = sha256(device_code)
  const { outcome, ...member } = await poll(db, { device_code_hash, app_id: client.id, now })
  if (outcome !== 'allowed') throw refused(outcome)
  const refusal = refusalOf(member, client, now)
  if (refusal !== undefined) {
    const { client_id } = client
    const detail = { rule: refusal.rule }
    await recordRefusal(db, {
      kind: 'group_refused',
      user_id: member.id,
      client_id,
      address,
      detail,
      at: now,
    })
    throw refused('access_denied')
  }
  const { plain, access_hash, refresh_hash } = newTokens()
  const redeemed = sql<Family>`redeem_device_code(
    ${device_code_hash}, ${client.id}, ${now}, ${access_hash}, ${refresh_hash},
    ${FAMILY_LIFE}::interval, ${ACCESS_LIFE}::interval, ${IDLE_LIFE}::interval
  )`
  const issued = await db
    .selectFrom(redeemed.as('claimed'))
    .innerJoinLateral(memberOf('claimed').as('users'), (join) => join.onTrue())
    .select(userColumns)
    .select([sidOfClaimed(), 'claimed.scopes', 'claimed.auth_time', 'claimed.amr'])
    .executeTakeFirst()
  // Another request redeemed it, or the member denied it, since the poll.
  if (issued === undefined) throw refused('invalid_grant')
  return { ...plain, ...asIssued({ ...issued, nonce: null, details: null }) }
}

type Family = {
  session_id: bigint | null
  scopes: string[]
  auth_time: Date
  amr: string[]
  member: unknown
}

async function poll(
  db: Db,
  { device_code_hash, app_id, now }: { device_code_hash: Buffer; app_id: bigint; now: Date },
) {
  const polled = sql<{
    outcome: 'allowed' | Outcome
    member: unknown
  }>`poll_device_code(${device_code_hash}, ${app_id}, ${now})`
  return db
    .selectFrom(polled.as('polled'))
    .innerJoinLateral(memberOf('polled').as('users'), (join) => join.onTrue())
    .select(userColumns)
    .select('polled.outcome')
    .executeTakeFirstOrThrow()
}

function refused(outcome: Outcome): AppError {
  return new AppError(outcome, REASONS[outcome])
}
