/**
 * The keys of payment applications: encrypted at rest, rotated with an overlap. decisions.md 4.3 and 4.4.
 */
import assert from 'node:assert/strict'
import { generateKeyPair as generate } from 'node:crypto'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { makeBatcher } from '../../database/batcher.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppKeyKind } from '../../database/tables/payment-apps.ts'
import { ALNUM, LOWER_ALNUM, randomText, type Secrets } from '../../platform/secrets.ts'
import { PAYMENT_ID_LENGTH } from '../values/payment-id.ts'

const KEY_USE_BUCKET_MS = 60_000
const RSA_BITS = 2048

const generateKeyPair = promisify(generate)

/** When a token was last used, as far as it is known. */
export type TokenUse = { id: bigint; last_used_at: Date | null }

/** Keys of the test book say so; they are as long as others, and as hard to guess as is needed. */
const MARKS = { live: '', test: 'test' } as const

export function newPaymentId(book: Book): string {
  const id = randomText(PAYMENT_ID_LENGTH - MARKS[book].length, LOWER_ALNUM)
  // Live ones never look like test ones, by no chance.
  return id.startsWith(MARKS.test) ? newPaymentId(book) : `pay_${MARKS[book]}${id}`
}

export function newToken(book: Book = 'live'): string {
  return `tk_${MARKS[book]}${randomText(40 - MARKS[book].length, ALNUM)}`
}

export function newMerchantKey(book: Book = 'live'): string {
  return `${MARKS[book]}${randomText(32 - MARKS[book].length, ALNUM)}`
}

/** A pair for RSA signatures, as the base64 of its DER: PKCS#8 and SPKI. */
export type RsaPair = { private_base64: string; public_base64: string }

/** Off the event loop: it takes a good fraction of a second. */
export async function newRsaPair(): Promise<RsaPair> {
  const { publicKey, privateKey } = await generateKeyPair('rsa', {
    modulusLength: RSA_BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  return { private_base64: privateKey.toString('base64'), public_base64: publicKey.toString('base64') }
}

/** The name of the place where a key is stored. */
export const keyContext = (app_id: bigint, kind: PaymentAppKeyKind) => `payment_app_keys ${app_id} ${kind}`

/** Since when a former owner of the application has known this key; undefined for the owner's own. */
export async function formerSince(db: Db, key_id: bigint): Promise<Date | undefined> {
  const { former_since } = await db
    .selectFrom('payment_app_keys')
    .where('id', '=', key_id)
    .select('former_since')
    .executeTakeFirstOrThrow()
  return former_since ?? undefined
}

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

/** Stores the first key of a kind. Does nothing where there is one: another process was faster. */
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

/** Reads a stored key back. */
export function openKey(
  secrets: Secrets,
  app_id: bigint,
  kind: PaymentAppKeyKind,
  value_encrypted: Buffer,
): string {
  return secrets.decrypt(keyContext(app_id, kind), value_encrypted)
}

/**
 * Puts a new key in place of the current one, which stays good until `previousUntil`. A still earlier one ends now.
 * The caller holds the application's row, so that two rotations at once follow each other.
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

/** Ends an overlap: only the current key is good from now on. Answers whether there was one. */
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

/** Notes that a request was signed with this token, at most once a minute: an owner sees it, and callbacks follow it. */
export async function markTokenUsed(db: Db, { id, last_used_at }: TokenUse, now: Date): Promise<void> {
  if (last_used_at !== null && now.getTime() - last_used_at.getTime() < KEY_USE_BUCKET_MS) return
  await db.updateTable('payment_app_keys').set({ last_used_at: now }).where('id', '=', id).execute()
}

/** The key of a kind that is in force. */
export async function currentKey(deps: Core, app_id: bigint, kind: PaymentAppKeyKind): Promise<string> {
  const key = (await currentKeys(deps, [app_id], kind)).get(app_id)
  assert(key !== undefined)
  return key
}

/** The keys of a kind that are in force, of several applications. */
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

export type CallbackToken = (app_id: bigint) => Promise<string>

type LiveToken = { app_id: bigint; value_encrypted: Buffer; last_used_at: Date | null }

/**
 * Makes the look-up of the token that callbacks are signed with: the previous one while it is good and no request has
 * been signed with the new one yet, because until then the merchant may not have it in place. Callbacks that are made
 * together share a statement.
 */
export function makeCallbackToken(deps: Core): CallbackToken {
  return makeBatcher<bigint, string>({
    name: 'find keys',
    ...deps.batching,
    run: async (app_ids) => {
      const { rows } = await sql<LiveToken>`
        select * from live_tokens(${app_ids}::bigint[], ${deps.clock()}::timestamptz)
      `.execute(deps.db)
      const tokens = Map.groupBy(rows, ({ app_id }) => app_id)
      return app_ids.map((app_id) => {
        const [current, previous] = tokens.get(app_id)!
        const chosen = previous !== undefined && current!.last_used_at === null ? previous : current!
        return openKey(deps.secrets, app_id, 'token', chosen.value_encrypted)
      })
    },
  })
}
