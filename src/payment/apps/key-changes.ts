/**
 * Replaces the keys of a payment application: a token with an overlap, the gateway's keys at once. Secret values are
 * shown only once. Each change writes an audit entry.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import { AppError } from '../../platform/errors.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'
import { secretKeyOf } from '../signing/hmac.ts'
import {
  endPreviousKeys,
  newMerchantKey,
  newRsaPair,
  newToken,
  type RsaPair,
  replaceKey,
} from '../signing/keys.ts'
import { fingerprintOf, type PublicKey } from '../signing/public-key.ts'

export const OVERLAP_HOURS_DEFAULT = 24
export const OVERLAP_HOURS_MAX = 720

/** The end of an overlap in hours; 0 ends it now. Throws invalid_form. */
export function endOfOverlap(now: Date, overlap_hours: number): Date {
  if (!Number.isInteger(overlap_hours) || overlap_hours < 0 || overlap_hours > OVERLAP_HOURS_MAX) {
    throw new AppError('invalid_form', `The overlap must be 0 to ${OVERLAP_HOURS_MAX} hours`)
  }
  return new Date(now.getTime() + overlap_hours * 3_600_000)
}

export type RotatedToken = { token: string; secret_key: string; previous_until: Date }

/**
 * Issues a new token and Secret Key, which are shown only once. The previous pair stays valid for the overlap in hours;
 * 0 ends it now. Throws invalid_form and what lockPermitted throws. spec/payment-api 1.4.
 */
export async function rotateToken(
  deps: Core,
  payment_id: string,
  overlap_hours: number,
  actor: Actor,
): Promise<RotatedToken> {
  const now = deps.clock()
  const previous_until = endOfOverlap(now, overlap_hours)
  const token = await deps.db.transaction().execute(async (tx) => {
    const { id, book } = await lockPermitted(tx, payment_id, actor, 'keys.manage')
    const made = newToken(book)
    await replaceKey(tx, deps.secrets, id, 'token', made, { now, previousUntil: previous_until })
    await audit(tx, 'payment_app.rotate_token', payment_id, { overlap_hours }, actor)
    return made
  })
  return { token, secret_key: secretKeyOf(token), previous_until }
}

/** Ends the overlap of a rotation at once. Throws conflict if there is none. */
export async function endOverlap(deps: Core, payment_id: string, actor: Actor): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'keys.manage')
    const isEnded = await endPreviousKeys(tx, id, 'token', deps.clock())
    if (!isEnded) throw new AppError('conflict', 'There is no earlier key in its overlap')
    await audit(tx, 'payment_app.end_overlap', payment_id, {}, actor)
  })
}

/**
 * Replaces the Merchant KEY with immediate effect, for requests and for pending notifications. Returns the new one.
 * spec/payment-api 1.4.
 */
export async function resetMerchantKey(deps: Core, payment_id: string, actor: Actor): Promise<string> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const { id, book } = await lockPermitted(tx, payment_id, actor, 'keys.manage')
    const made = newMerchantKey(book)
    await replaceKey(tx, deps.secrets, id, 'merchant_key', made, { now, previousUntil: now })
    await audit(tx, 'payment_app.reset_merchant_key', payment_id, {}, actor)
    return made
  })
}

/** The notifications that are looked at, the newest first. An older one that still waits is rare. */
const WAITING_LOOKED_THROUGH = 1_000

/** Counts the gateway's notifications that are still to be sent, each of which is signed when it is sent. */
export async function waitingNotifications(db: Db, app_id: bigint): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*) filter (where status = 'due' and kind = 'gateway')::integer as waiting
    from (
      select n.status, n.kind from notifications as n where ${rowsOfApp('n', app_id)}
      order by n.app_id desc, n.id desc limit ${WAITING_LOOKED_THROUGH}
    ) as newest`.execute(db)
  return rows[0]!.waiting
}

/** Replaces the public key that verifies the merchant's V2 requests, with immediate effect. */
export async function setPublicKey(
  deps: Core,
  payment_id: string,
  { spki_base64, bits, fingerprint }: PublicKey,
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    await replacePublicKey(tx, deps, payment_id, spki_base64, actor)
    await audit(tx, 'payment_app.set_public_key', payment_id, { bits, fingerprint }, actor)
  })
}

/** Makes a pair for the merchant. The public half takes effect at once. The private half is shown once and not stored. */
export async function makeMerchantPair(deps: Core, payment_id: string, actor: Actor): Promise<RsaPair> {
  const pair = await newRsaPair()
  const fingerprint = fingerprintOf(pair.public_base64)
  await deps.db.transaction().execute(async (tx) => {
    await replacePublicKey(tx, deps, payment_id, pair.public_base64, actor)
    await audit(tx, 'payment_app.make_key_pair', payment_id, { fingerprint }, actor)
  })
  return pair
}

async function replacePublicKey(
  tx: Tx,
  { clock, secrets }: Core,
  payment_id: string,
  spki_base64: string,
  actor: Actor,
): Promise<void> {
  const now = clock()
  const { id } = await lockPermitted(tx, payment_id, actor, 'keys.manage')
  await replaceKey(tx, secrets, id, 'merchant_public_key', spki_base64, { now, previousUntil: now })
}
