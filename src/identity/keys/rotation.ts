/**
 * Rotates signing keys. A new key is published before it signs, so that verifiers have it by then. The previous key stays
 * published until all its tokens have expired, and then keeps its public key only. spec/sign-in 3.4.
 */
import { generateKeyPair as generate, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint } from 'jose'
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { ConfigError } from '../../platform/config.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { ID_TOKEN_SECONDS, JWKS_CACHE_SECONDS } from './jwt.ts'
import {
  encryptionContext,
  KEYS_FRESH_SECONDS,
  loadKeys,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
  signingAt,
} from './keys.ts'

const RSA_BITS = 2048
const DAY_MS = 86_400_000
/** The difference of two machines' clocks, plus the time of a request between choosing a key and signing. */
const SKEW_SECONDS = 300
/** From a key's publication to its first signature. All caches of the old JWKS have expired by then. */
const PUBLISHED_AHEAD_SECONDS = JWKS_CACHE_SECONDS + KEYS_FRESH_SECONDS + SKEW_SECONDS
/** From the successor's first signature until all tokens of this key have expired. */
const OUTLIVES_SECONDS = ID_TOKEN_SECONDS + SKEW_SECONDS
/** The number of the advisory lock that keeps two processes from making a key at once. */
const KEY_CREATION_LOCK = 7_305_128_842

const generateKeyPair = promisify(generate)

/** Rotations use the database's time: they end keys for good, and all processes must agree when a key begins to sign. */
export type RotationStore = Pick<Core, 'db' | 'secrets' | 'databaseTime'>

/**
 * Makes the first key of each algorithm if there is none. Several processes may start at once. Throws ConfigError when keys
 * exist and APP_SECRET decrypts none of them.
 */
export async function ensureSigningKeys(store: RotationStore): Promise<void> {
  for (const alg of SIGNING_ALGORITHMS) {
    const newest = await findNewest(store, alg)
    if (newest === undefined)
      await addKey(store, alg, { after: undefined, signs_from: await store.databaseTime() })
  }
  const now = await store.databaseTime()
  const keys = await loadKeys(store, now)
  if (SIGNING_ALGORITHMS.every((alg) => signingAt(keys, alg, now) !== undefined)) return
  throw new ConfigError([
    'APP_SECRET opens no signing key of this database: if it is the right one, `tessera keys rotate` withdraws those that were made under another one, and makes new ones',
  ])
}

/** Runs the worker's round: makes the keys that are due by the setting, and deletes private keys that no longer sign. */
export async function rotateDueSigningKeys(deps: RotationStore & Pick<Core, 'settings'>): Promise<void> {
  const { signing_key_days } = await deps.settings.read()
  const now = await deps.databaseTime()
  for (const alg of SIGNING_ALGORITHMS) {
    const newest = await findNewest(deps, alg)
    if (newest === undefined) continue
    const signs_from = new Date(newest.signs_from.getTime() + signing_key_days * DAY_MS)
    const isDue = now >= later(signs_from, -PUBLISHED_AHEAD_SECONDS)
    if (isDue) await addKey(deps, alg, { after: newest.kid, signs_from })
  }
  // A key whose successor is unreadable goes on signing.
  const keys = await loadKeys(deps, now)
  const inUse = SIGNING_ALGORITHMS.flatMap((alg) => signingAt(keys, alg, now)?.kid ?? [])
  await deps.db
    .updateTable('signing_keys')
    .set({ private_encrypted: null })
    .where('published_until', '<=', now)
    .where('private_encrypted', 'is not', null)
    .where('kid', '<>', sql<string>`all(${inUse}::text[])`)
    .execute()
}

export type NextKey = { alg: SigningAlgorithm; kid: string; signs_from: Date }

/**
 * Starts a rotation now, before its schedule. It makes no key where a published key already waits for its time. It first
 * withdraws the keys that APP_SECRET does not decrypt.
 */
export async function rotateSigningKeys(
  store: RotationStore,
): Promise<{ next: NextKey[]; withdrawn: string[] }> {
  const withdrawn = await withdrawUnreadable(store)
  const next: NextKey[] = []
  const now = await store.databaseTime()
  for (const alg of SIGNING_ALGORITHMS) {
    const newest = await findNewest(store, alg)
    const isWaiting = newest !== undefined && newest.signs_from > now
    if (!isWaiting) await addKey(store, alg, { after: newest?.kid, signs_from: now })
    const { kid, signs_from } = (await findNewest(store, alg))!
    next.push({ alg, kid, signs_from })
  }
  return { next, withdrawn }
}

/** Withdraws unreadable keys. The newest readable key becomes the current one again, and its successor is published ahead. */
async function withdrawUnreadable({ db, secrets, databaseTime }: RotationStore): Promise<string[]> {
  const now = await databaseTime()
  return db.transaction().execute(async (tx) => {
    await lockKeyCreation(tx)
    const { unreadable, signing } = await loadKeys({ db: tx, secrets }, now)
    if (unreadable.length === 0) return []
    const withdrawn = await withdraw(tx, now, unreadable)
    for (const alg of SIGNING_ALGORITHMS) {
      const kid = signing.find((key) => key.alg === alg)?.kid
      if (kid === undefined || (await findNewest({ db: tx }, alg)) !== undefined) continue
      await tx.updateTable('signing_keys').set({ published_until: null }).where('kid', '=', kid).execute()
    }
    await recordReplaced(tx, { withdrawn, made: [] })
    return withdrawn
  })
}

/**
 * Replaces all keys after a leak: withdraws every key, including waiting and retired ones, and makes keys that sign at once.
 * Applications refuse the new signatures until they fetch the new JWKS. Running processes use the old keys for
 * KEYS_FRESH_SECONDS at most. Members stay signed in.
 * @returns the new keys, and the ids of the withdrawn ones.
 */
export async function replaceSigningKeys({
  db,
  secrets,
  databaseTime,
}: RotationStore): Promise<{ made: NextKey[]; withdrawn: string[] }> {
  const keys = await Promise.all(SIGNING_ALGORITHMS.map((alg) => makeKey(secrets, alg)))
  const now = await databaseTime()
  return db.transaction().execute(async (tx) => {
    await lockKeyCreation(tx)
    const withdrawn = await withdraw(tx, now, 'all')
    const made = keys.map(({ kid, alg }) => ({ kid, alg, signs_from: now }))
    await tx
      .insertInto('signing_keys')
      .values(keys.map((key) => ({ ...key, signs_from: now })))
      .execute()
    await recordReplaced(tx, { withdrawn, made: made.map(({ kid }) => kid) })
    return { made, withdrawn }
  })
}

async function withdraw(tx: Tx, now: Date, which: string[] | 'all'): Promise<string[]> {
  const gone = await tx
    .updateTable('signing_keys')
    .set({
      withdrawn_at: now,
      private_encrypted: null,
      // Later than `signs_from`, as the constraint requires, also for a key that has never signed.
      published_until: sql<Date>`coalesce(published_until, greatest(${now}, signs_from + interval '1 second'))`,
    })
    .where('withdrawn_at', 'is', null)
    .$if(which !== 'all', (query) => query.where('kid', 'in', which as string[]))
    .returning('kid')
    .execute()
  return gone.map(({ kid }) => kid)
}

async function recordReplaced(tx: Tx, detail: { withdrawn: string[]; made: string[] }): Promise<void> {
  await recordAudit(tx, {
    actor_id: null,
    action: 'signing_keys.replaced',
    subject: 'signing_keys',
    detail,
    ip: null,
  })
}

function findNewest({ db }: Pick<Core, 'db'>, alg: SigningAlgorithm) {
  return db
    .selectFrom('signing_keys')
    .where('alg', '=', alg)
    .where('published_until', 'is', null)
    .select(['kid', 'signs_from'])
    .executeTakeFirst()
}

/**
 * Adds a key that signs from `signs_from` on, or later if it would not be published for long enough by then. Does nothing
 * when `after` is no longer the newest key, because another process was faster.
 */
async function addKey(
  { db, secrets, databaseTime }: RotationStore,
  alg: SigningAlgorithm,
  { after, signs_from: wanted }: { after: string | undefined; signs_from: Date },
): Promise<void> {
  const key = await makeKey(secrets, alg)
  const now = await databaseTime()
  await db.transaction().execute(async (tx) => {
    await lockKeyCreation(tx)
    const newest = await findNewest({ db: tx }, alg)
    if (newest?.kid !== after) return
    // The first key signs at once, because no client has a JWKS without it.
    const earliest = after === undefined ? now : later(now, PUBLISHED_AHEAD_SECONDS)
    const signs_from = wanted > earliest ? wanted : earliest
    await tx
      .updateTable('signing_keys')
      .set({ published_until: later(signs_from, OUTLIVES_SECONDS) })
      .where('alg', '=', alg)
      .where('published_until', 'is', null)
      .execute()
    await tx
      .insertInto('signing_keys')
      .values({ ...key, signs_from })
      .execute()
  })
}

async function lockKeyCreation(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${KEY_CREATION_LOCK})`.execute(tx)
}

/** Makes a new key with the columns of its row. Its id is its thumbprint. */
async function makeKey(secrets: Secrets, alg: SigningAlgorithm) {
  const { publicKey, privateKey } = await makePair(alg)
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>
  const kid = await calculateJwkThumbprint(jwk)
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const private_encrypted = secrets.encrypt(encryptionContext(kid), pem)
  return { kid, alg, public_jwk: JSON.stringify({ kid, alg, use: 'sig', ...jwk }), private_encrypted }
}

/** Makes a key pair off the event loop, because an RSA key takes a fraction of a second. */
function makePair(alg: SigningAlgorithm): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  if (alg === 'ES256') return generateKeyPair('ec', { namedCurve: 'P-256' })
  return generateKeyPair('rsa', { modulusLength: RSA_BITS })
}

function later(moment: Date, seconds: number): Date {
  return new Date(moment.getTime() + seconds * 1000)
}
