/**
 * The keys of payment applications: encrypted at rest, rotated with an overlap. Memory keeps decrypted keys, because
 * decrypting one costs more than a request. spec/payment-api 1.4.
 */
import assert from 'node:assert/strict'
import { createHash, generateKeyPair as generate } from 'node:crypto'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppKeyKind } from '../../database/tables/payment-apps.ts'
import { ALNUM, LOWER_ALNUM, randomText, type Secrets } from '../../platform/secrets.ts'
import { PAYMENT_ID_LENGTH } from '../wire-fields/fields.ts'

/** Each key takes about 1 KB. */
const READY_KEYS_MAX = 2_000

const KEY_USE_BUCKET_MS = 60_000
const RSA_BITS = 2048

const generateKeyPair = promisify(generate)

/** A token's row and its last known use. */
export type TokenUse = { id: bigint; last_used_at: Date | null }

/** Keys of the test book carry a mark. Their length is the same, and the random rest is long enough. */
const MARKS = { live: '', test: 'test' } as const

/** A random Payment ID, which shows its book. */
export function newPaymentId(book: Book): string {
  const id = randomText(PAYMENT_ID_LENGTH - MARKS[book].length, LOWER_ALNUM)
  // Live Payment IDs and test Payment IDs have different prefixes, so a live one that starts like a test one is redrawn.
  return id.startsWith(MARKS.test) ? newPaymentId(book) : `pay_${MARKS[book]}${id}`
}

/** A random token, which shows its book. */
export function newToken(book: Book = 'live'): string {
  return `tk_${MARKS[book]}${randomText(40 - MARKS[book].length, ALNUM)}`
}

/** A random Merchant KEY, which shows its book. */
export function newMerchantKey(book: Book = 'live'): string {
  return `${MARKS[book]}${randomText(32 - MARKS[book].length, ALNUM)}`
}

/** A pair for RSA signatures in base64 DER: PKCS#8 and SPKI. */
export type RsaPair = { private_base64: string; public_base64: string }

/** Generates an RSA pair off the event loop, in a fraction of a second. */
export async function newRsaPair(): Promise<RsaPair> {
  const { publicKey, privateKey } = await generateKeyPair('rsa', {
    modulusLength: RSA_BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  return { private_base64: privateKey.toString('base64'), public_base64: publicKey.toString('base64') }
}

/** The encryption context of a stored key. */
export const keyContext = (app_id: bigint, kind: PaymentAppKeyKind) => `payment_app_keys ${app_id} ${kind}`

/** The first handover since this key was issued. Undefined if no former owner of the application knows the key. */
export async function formerSince(db: Db, key_id: bigint): Promise<Date | undefined> {
  const { former_since } = await db
    .selectFrom('payment_app_keys')
    .where('id', '=', key_id)
    .select('former_since')
    .executeTakeFirstOrThrow()
  return former_since ?? undefined
}

/** Encrypts and stores a key as the current one of its kind. */
export async function storeKey(
  tx: Tx,
  secrets: Secrets,
  app_id: bigint,
  kind: PaymentAppKeyKind,
  value: string,
): Promise<void> {
  const value_encrypted = secrets.encrypt(keyContext(app_id, kind), value)
  await tx.insertInto('payment_app_keys').values({ app_id, kind, value_encrypted }).execute()
}

/** Stores the first key of a kind. Does nothing if another process has already stored one. */
export async function storeFirstKey(
  db: Db,
  secrets: Secrets,
  app_id: bigint,
  kind: PaymentAppKeyKind,
  value: string,
): Promise<void> {
  const value_encrypted = secrets.encrypt(keyContext(app_id, kind), value)
  await db
    .insertInto('payment_app_keys')
    .values({ app_id, kind, value_encrypted })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Decrypts a stored key. */
export function openKey(
  secrets: Secrets,
  app_id: bigint,
  kind: PaymentAppKeyKind,
  value_encrypted: Buffer,
): string {
  return secrets.decrypt(keyContext(app_id, kind), value_encrypted)
}

/**
 * Replaces the current key, which stays valid until `previousUntil`. An earlier key in its overlap ends now.
 * The caller locks the application's row, which puts concurrent rotations in order.
 */
export async function replaceKey(
  tx: Tx,
  secrets: Secrets,
  app_id: bigint,
  kind: PaymentAppKeyKind,
  value: string,
  { now, previousUntil }: { now: Date; previousUntil: Date },
): Promise<void> {
  await endPreviousKeys(tx, app_id, kind, now)
  await tx
    .updateTable('payment_app_keys')
    .set({ valid_to: previousUntil })
    .where('app_id', '=', app_id)
    .where('kind', '=', kind)
    .where('valid_to', 'is', null)
    .execute()
  await storeKey(tx, secrets, app_id, kind, value)
}

/** Ends an overlap: only the current key stays valid. Returns whether there was an overlap. */
export async function endPreviousKeys(
  tx: Tx,
  app_id: bigint,
  kind: PaymentAppKeyKind,
  now: Date,
): Promise<boolean> {
  const ended = await tx
    .updateTable('payment_app_keys')
    .set({ valid_to: now })
    .where('app_id', '=', app_id)
    .where('kind', '=', kind)
    .where('valid_to', '>', now)
    .executeTakeFirst()
  return ended.numUpdatedRows > 0n
}

/**
 * Records the use of a token, at most once a minute. The owner's page and the choice of callback token read it. It waits for the disk:
 * a crash that lost the first use would let the previous token sign again.
 */
export async function markTokenUsed(db: Db, { id, last_used_at }: TokenUse, now: Date): Promise<void> {
  if (last_used_at !== null && now.getTime() - last_used_at.getTime() < KEY_USE_BUCKET_MS) return
  await db.updateTable('payment_app_keys').set({ last_used_at: now }).where('id', '=', id).execute()
}

/** The current key of a kind. */
export async function currentKey(deps: Core, app_id: bigint, kind: PaymentAppKeyKind): Promise<string> {
  const key = (await currentKeys(deps, [app_id], kind)).get(app_id)
  assert(key !== undefined)
  return key
}

/** The current keys of a kind, by application. */
export async function currentKeys(
  deps: Core,
  app_ids: bigint[],
  kind: PaymentAppKeyKind,
): Promise<Map<bigint, string>> {
  const rows = await deps.db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', sql<bigint>`any(${app_ids}::bigint[])`)
    .where('kind', '=', kind)
    .where('valid_to', 'is', null)
    .select(['app_id', 'value_encrypted'])
    .execute()
  return new Map(
    rows.map(({ app_id, value_encrypted }) => [app_id, openKey(deps.secrets, app_id, kind, value_encrypted)]),
  )
}

/** The length of a fingerprint in hex digits. */
const FINGERPRINT_LENGTH = 12

/** The prefix of a fingerprint that replaces a plain key in a kept request. */
export const KEPT_KEY = '#'

/** The fingerprint of a key. A member who has the key can compute it, and it does not reveal the key. */
export function keyFingerprint(key: string): string {
  return createHash('sha256').update(`tessera:${key}`).digest('hex').slice(0, FINGERPRINT_LENGTH)
}

export type ReadyKeys<Key> = {
  find(id: bigint): Key | undefined
  /** Keeps and returns the key. Beyond the bound, it drops the key that was kept first. */
  keep(id: bigint, key: Key): Key
}

/** Makes a store of keys by row id. A row's key never changes, because a new key is a new row. */
export function makeReadyKeys<Key>(): ReadyKeys<Key> {
  const ready = new Map<bigint, Key>()
  return {
    find: (id) => ready.get(id),
    keep(id, key) {
      if (ready.size >= READY_KEYS_MAX) ready.delete(ready.keys().next().value!)
      ready.set(id, key)
      return key
    },
  }
}
