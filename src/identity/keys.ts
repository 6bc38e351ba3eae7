/**
 * The keys that sign ID tokens: in Postgres, private halves encrypted under APP_SECRET, so that every process
 * signs and publishes the same.
 */
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  type JWK,
} from 'jose'
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import type { Secrets } from '../secrets.ts'

const RSA_BITS = 2048
/** Any constant of ours: it keeps two processes that start together from each making a first key. */
const KEY_CREATION_LOCK = 7_305_128_842
/** How long a process may go on with the keys it has read. */
const FRESH_MS = 60_000

export type SigningKey = { kid: string; alg: 'RS256' | 'ES256'; private_key: CryptoKey }

export type SigningKeys = {
  /** The key to sign with now. Throws when there is none. */
  current(): Promise<SigningKey>
  /** Every public key under which a live token may have been signed, for JWKS. */
  published(): Promise<JWK[]>
}

export function openSigningKeys(db: Db, secrets: Secrets): SigningKeys {
  let cached: { keys: Promise<LoadedKeys>; at: number } | undefined
  const read = () => {
    if (cached === undefined || performance.now() - cached.at > FRESH_MS) {
      const keys = loadKeys(db, secrets)
      cached = { keys, at: performance.now() }
      keys.catch(() => {
        cached = undefined
      })
    }
    return cached.keys
  }
  return {
    current: async () => (await read()).current,
    published: async () => (await read()).published,
  }
}

type LoadedKeys = { current: SigningKey; published: JWK[] }

const encryptionContext = (kid: string) => `signing_keys ${kid}`

async function loadKeys(db: Db, secrets: Secrets): Promise<LoadedKeys> {
  const rows = await db
    .selectFrom('signing_keys')
    .select(['kid', 'alg', 'public_jwk', 'private_encrypted'])
    .orderBy('id', 'desc')
    .execute()
  const newest = rows[0]
  if (newest === undefined) throw new Error('There is no signing key')
  const pem = secrets.decrypt(encryptionContext(newest.kid), newest.private_encrypted)
  const private_key = await importPKCS8(pem, newest.alg)
  return {
    current: { kid: newest.kid, alg: newest.alg, private_key },
    published: rows.map((row) => row.public_jwk),
  }
}

/** Makes the first signing key if there is none. Safe when several processes start at once. */
export async function ensureSigningKey(db: Db, secrets: Secrets, now: Date): Promise<void> {
  const existing = await db.selectFrom('signing_keys').select('id').limit(1).executeTakeFirst()
  if (existing !== undefined) return
  const { publicKey, privateKey } = await generateKeyPair('RS256', {
    modulusLength: RSA_BITS,
    extractable: true,
  })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const public_jwk = { kid, alg: 'RS256', use: 'sig', kty: jwk.kty!, n: jwk.n!, e: jwk.e! }
  const private_encrypted = secrets.encrypt(encryptionContext(kid), await exportPKCS8(privateKey))
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${KEY_CREATION_LOCK})`.execute(tx)
    const made = await tx.selectFrom('signing_keys').select('id').limit(1).executeTakeFirst()
    if (made !== undefined) return
    await tx
      .insertInto('signing_keys')
      .values({
        kid,
        alg: 'RS256',
        public_jwk: JSON.stringify(public_jwk),
        private_encrypted,
        signs_from: now,
      })
      .execute()
  })
}
