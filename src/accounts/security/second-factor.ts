/**
 * The second factor of a local account: a TOTP secret or passkeys, and recovery codes for a lost phone. The database accepts each
 * code once, also for simultaneous requests. spec/accounts 2.4.
 */

import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { randomText, sha256 } from '../../platform/secrets.ts'
import { relyingPartyId } from '../session/relying-party.ts'
import { endSessionsOf } from '../session/session.ts'
import { recordSecurityEvent } from './security-events.ts'
import { matchingStep, newTotpSecret } from './totp.ts'

const RECOVERY_CODES = 10
const RECOVERY_CODE_LENGTH = 16
/** 32 characters that do not look alike. 16 of them have 80 bits. */
const RECOVERY_ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789'

/** Returns the encryption context of a member's secret. */
export const factorContext = (user_id: bigint) => `second factor of ${user_id}`

/** The member, and the session that acts. */
export type Actor = { user_id: bigint; session_id: bigint; ip: string; agent?: string }

/**
 * Turns the factor on with the first code of a new secret. Returns the recovery codes, which cannot be read again, or
 * undefined when the code is wrong. It ends all other sessions, because they began without the factor. Throws conflict when
 * the factor is on.
 */
export async function turnOnSecondFactor(
  deps: Core,
  { user_id, session_id, ...by }: Actor,
  { secret, code }: { secret: string; code: string },
): Promise<string[] | undefined> {
  const last_step = matchingStep(secret, code, deps.clock(), 0n)
  if (last_step === undefined) return undefined
  const codes = newRecoveryCodes()
  await deps.db.transaction().execute(async (tx) => {
    const secret_encrypted = deps.secrets.encrypt(factorContext(user_id), secret)
    await insertFactor(tx, { user_id, secret_encrypted, last_step })
    await insertRecoveryCodes(tx, user_id, codes)
    await endSessionsOf(tx, deps, user_id, { except: session_id })
    await tx
      .updateTable('sessions')
      .set(({ fn, val }) => ({ amr: fn<string[]>('array_append', ['amr', val('otp')]) }))
      .where('id', '=', session_id)
      .execute()
    await recordSecurityEvent(tx, deps, { event: 'second_factor.on', user_id, actor_id: user_id, ...by })
  })
  return codes
}

/**
 * Turns the factor on with the member's passkeys alone, and returns the recovery codes. It ends all other sessions. Throws
 * conflict without a passkey of this site, and when the factor is on.
 */
export async function turnOnWithPasskeys(
  deps: Core,
  { user_id, session_id, ...by }: Actor,
): Promise<string[]> {
  const codes = newRecoveryCodes()
  await deps.db.transaction().execute(async (tx) => {
    // Locked, so that a simultaneous removal of the last one waits and sees the factor.
    const passkeys = await tx
      .selectFrom('passkeys')
      .where('user_id', '=', user_id)
      .where('rp_id', '=', relyingPartyId(deps.config) ?? '')
      .select('id')
      .forShare()
      .execute()
    if (passkeys.length === 0) throw new AppError('conflict', 'Add a passkey first')
    await insertFactor(tx, { user_id })
    await insertRecoveryCodes(tx, user_id, codes)
    await endSessionsOf(tx, deps, user_id, { except: session_id })
    const detail = { passkeys: passkeys.length }
    await recordSecurityEvent(tx, deps, {
      event: 'second_factor.on',
      user_id,
      actor_id: user_id,
      ...by,
      detail,
    })
  })
  return codes
}

type NewFactor = { user_id: bigint; secret_encrypted?: Buffer; last_step?: bigint }

async function insertFactor(tx: Tx, factor: NewFactor): Promise<void> {
  const made = await tx
    .insertInto('second_factors')
    .values(factor)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (made.numInsertedOrUpdatedRows !== 1n) throw new AppError('conflict', 'There is a second factor already')
}

/** Turns the factor off. Throws conflict when it is off already. */
export async function turnOffSecondFactor(
  deps: Core,
  { user_id, session_id: _, ...by }: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    if (!(await removeFactor(tx, user_id))) throw noFactor()
    await recordSecurityEvent(tx, deps, { event: 'second_factor.off', user_id, actor_id: user_id, ...by })
  })
}

/**
 * Turns the factor off for a member who has lost the phone and the recovery codes, and removes all passkeys. Throws conflict when
 * there is neither. A null `admin_id` is the operator at the command line.
 */
export async function resetSecondFactor(
  deps: Core,
  {
    user_id,
    admin_id,
    reason,
    ip,
  }: { user_id: bigint; admin_id: bigint | null; reason: string; ip: string | null },
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const isOn = await removeFactor(tx, user_id)
    const { numDeletedRows: passkeys } = await tx
      .deleteFrom('passkeys')
      .where('user_id', '=', user_id)
      .executeTakeFirst()
    if (!isOn && passkeys === 0n) throw noFactor()
    const detail = { reason, passkeys: passkeys.toString() }
    await recordSecurityEvent(tx, deps, {
      event: 'second_factor.reset',
      user_id,
      actor_id: admin_id,
      ip,
      detail,
    })
  })
}

/**
 * Keeps two-step verification on before its last passkeys are removed. A random secret takes their place, so the recovery codes
 * are the only means left.
 */
export async function keepWithoutPasskeys(tx: Tx, deps: Core, user_id: bigint): Promise<void> {
  await tx
    .updateTable('second_factors')
    .set({ secret_encrypted: deps.secrets.encrypt(factorContext(user_id), newTotpSecret()) })
    .where('user_id', '=', user_id)
    .where('secret_encrypted', 'is', null)
    .execute()
}

/** Replaces every recovery code, used or not, and returns the new ones. Throws conflict when the factor is off. */
export async function remakeRecoveryCodes(
  deps: Core,
  { user_id, session_id: _, ...by }: Actor,
): Promise<string[]> {
  const codes = newRecoveryCodes()
  await deps.db.transaction().execute(async (tx) => {
    // Locked until the end, so that of two simultaneous calls the later one's codes count, and no mixture of both.
    const factor = await tx
      .selectFrom('second_factors')
      .where('user_id', '=', user_id)
      .select('user_id')
      .forUpdate()
      .executeTakeFirst()
    if (factor === undefined) throw noFactor()
    await tx.deleteFrom('recovery_codes').where('user_id', '=', user_id).execute()
    await insertRecoveryCodes(tx, user_id, codes)
    await recordSecurityEvent(tx, deps, { event: 'recovery_codes.remade', user_id, actor_id: user_id, ...by })
  })
  return codes
}

/** Accepts a TOTP code once. Returns false for a wrong, expired or used code. */
export async function acceptCode(deps: Core, user_id: bigint, code: string): Promise<boolean> {
  const factor = await deps.db
    .selectFrom('second_factors')
    .where('user_id', '=', user_id)
    .select(['secret_encrypted', 'last_step'])
    .executeTakeFirst()
  if (factor === undefined || factor.secret_encrypted === null) return false
  const secret = deps.secrets.decrypt(factorContext(user_id), factor.secret_encrypted)
  const step = matchingStep(secret, code, deps.clock(), factor.last_step)
  if (step === undefined) return false
  const spent = await deps.db
    .updateTable('second_factors')
    .set({ last_step: step })
    .where('user_id', '=', user_id)
    .where('last_step', '<', step)
    .where('secret_encrypted', '=', factor.secret_encrypted)
    .executeTakeFirst()
  return spent.numUpdatedRows === 1n
}

/** Accepts a recovery code once. Case, spaces and hyphens do not matter. */
export async function acceptRecoveryCode(
  deps: Core,
  { user_id, code, ...by }: { user_id: bigint; code: string; ip: string; agent?: string },
): Promise<boolean> {
  return deps.db.transaction().execute(async (tx) => {
    const spent = await tx
      .updateTable('recovery_codes')
      .set({ used_at: deps.clock() })
      .where('user_id', '=', user_id)
      .where('code_hash', '=', hashOf(code.toLowerCase().replace(/[\s-]/g, '')))
      .where('used_at', 'is', null)
      .executeTakeFirst()
    if (spent.numUpdatedRows !== 1n) return false
    const detail = { left: await recoveryCodesLeft(tx, user_id) }
    await recordSecurityEvent(tx, deps, {
      event: 'recovery_code.used',
      user_id,
      actor_id: user_id,
      ...by,
      detail,
    })
    return true
  })
}

/**
 * Returns when the factor was turned on, the number of unused recovery codes, and whether there is an authenticator app beside the
 * passkeys; undefined when it is off.
 */
export async function findSecondFactor(
  db: Db,
  user_id: bigint,
): Promise<{ since: Date; codesLeft: number; hasApp: boolean } | undefined> {
  const factor = await db
    .selectFrom('second_factors')
    .where('user_id', '=', user_id)
    .select('created_at')
    .select((eb) => eb('secret_encrypted', 'is not', null).$castTo<boolean>().as('hasApp'))
    .executeTakeFirst()
  if (factor === undefined) return undefined
  const { created_at: since, hasApp } = factor
  return { since, hasApp, codesLeft: await recoveryCodesLeft(db, user_id) }
}

/** Returns false when it was off. */
async function removeFactor(tx: Tx, user_id: bigint): Promise<boolean> {
  const gone = await tx.deleteFrom('second_factors').where('user_id', '=', user_id).executeTakeFirst()
  await tx.deleteFrom('pending_sign_ins').where('user_id', '=', user_id).execute()
  return gone.numDeletedRows === 1n
}

function noFactor(): AppError {
  return new AppError('conflict', 'There is no second factor')
}

async function recoveryCodesLeft(db: Db, user_id: bigint): Promise<number> {
  const { n } = await db
    .selectFrom('recovery_codes')
    .where('user_id', '=', user_id)
    .where('used_at', 'is', null)
    .select(({ fn }) => fn.countAll<bigint>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

async function insertRecoveryCodes(tx: Tx, user_id: bigint, codes: string[]): Promise<void> {
  const rows = codes.map((code) => ({ user_id, code_hash: hashOf(code.replaceAll('-', '')) }))
  await tx.insertInto('recovery_codes').values(rows).execute()
}

/** Makes ten codes like `abcd-efgh-jkmn-pqrs`. */
function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    randomText(RECOVERY_CODE_LENGTH, RECOVERY_ALPHABET).replace(/.{4}(?=.)/g, '$&-'),
  )
}

function hashOf(code: string): Buffer {
  return sha256(`recovery code ${code}`)
}
