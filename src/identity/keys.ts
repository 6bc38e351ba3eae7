/**
 * The keys that sign ID tokens: in Postgres, private halves encrypted under APP_SECRET, so that every process
 * signs and publishes the same. How they come and go is in `key-rotation.ts`.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { JWK } from 'jose'
import type { Db } from '../database/connection.ts'
import type { Clock } from '../deps.ts'
import type { Secrets } from '../secrets.ts'

/** How long a process may go on with the keys it has read. */
export const KEYS_FRESH_SECONDS = 60
/** The RFC 7638 thumbprints that our keys are named by. */
const KID = /^[\w-]{43}$/

export const SIGNING_ALGORITHMS = ['RS256', 'ES256'] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
export type SigningKey = { kid: string; alg: SigningAlgorithm; private_key: KeyObject }
export type VerificationKey = { kid: string; alg: SigningAlgorithm; public_jwk: JWK }

export type SigningKeys = {
  /** The key to sign with now. Throws when there is none. */
  current(alg?: SigningAlgorithm): Promise<SigningKey>
  /** Every public key under which a live token may have been signed, and those that sign next: for JWKS. */
  published(): Promise<readonly JWK[]>
  /** A key of ours by its name, also one that is published no more: for ID tokens that come back as hints. */
  find(kid: string): Promise<VerificationKey | undefined>
}

export type KeyStore = { db: Db; secrets: Secrets; clock: Clock }

export function openSigningKeys(store: KeyStore): SigningKeys {
  let cached: { keys: Promise<LoadedKeys>; at: number } | undefined
  const read = (now: Date) => {
    // A clock that was set back makes what was read under it stale too.
    if (cached === undefined || Math.abs(now.getTime() - cached.at) >= KEYS_FRESH_SECONDS * 1000) {
      const keys = loadKeys(store, now)
      const reading = { keys, at: now.getTime() }
      cached = reading
      keys.catch(() => {
        if (cached === reading) cached = undefined
      })
    }
    return cached.keys
  }
  return {
    async current(alg = 'RS256') {
      const now = store.clock()
      const { signing } = await read(now)
      // Chosen by the clock at each use: a key that was read before its time begins to sign when that has come.
      const key = signing.find((each) => each.alg === alg && each.signs_from <= now)
      if (key === undefined) throw new Error(`There is no signing key for ${alg}`)
      return key
    },
    published: async () => (await read(store.clock())).published,
    async find(kid) {
      if (!KID.test(kid)) return undefined
      const { known } = await read(store.clock())
      return known.get(kid) ?? findKey(store.db, kid)
    },
  }
}

type LoadedKeys = {
  /** Newest first. */
  signing: (SigningKey & { signs_from: Date })[]
  published: JWK[]
  known: Map<string, VerificationKey>
}

/** The name of the place where a private key is stored, so that its ciphertext opens nowhere else. */
export const encryptionContext = (kid: string) => `signing_keys ${kid}`

async function loadKeys({ db, secrets }: KeyStore, now: Date): Promise<LoadedKeys> {
  const rows = await db
    .selectFrom('signing_keys')
    .where('private_encrypted', 'is not', null)
    .where((eb) => eb.or([eb('published_until', 'is', null), eb('published_until', '>', now)]))
    .select(['kid', 'alg', 'public_jwk', 'signs_from'])
    .select((eb) => eb.ref('private_encrypted').$notNull().as('private_encrypted'))
    .orderBy('signs_from', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return {
    signing: rows.map(({ kid, alg, signs_from, private_encrypted }) => ({
      kid,
      alg,
      signs_from,
      private_key: createPrivateKey(secrets.decrypt(encryptionContext(kid), private_encrypted)),
    })),
    published: rows.map((row) => row.public_jwk),
    known: new Map(rows.map(({ kid, alg, public_jwk }) => [kid, { kid, alg, public_jwk }])),
  }
}

function findKey(db: Db, kid: string): Promise<VerificationKey | undefined> {
  return db
    .selectFrom('signing_keys')
    .where('kid', '=', kid)
    .where('withdrawn_at', 'is', null)
    .select(['kid', 'alg', 'public_jwk'])
    .executeTakeFirst()
}
