/**
 * The keys that sign ID tokens: in Postgres, private halves encrypted under APP_SECRET, so that every process
 * signs and publishes the same. How they come and go is in `key-rotation.ts`.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { JWK } from 'jose'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Secrets } from '../../platform/secrets.ts'

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
  /** The names of those whose private half does not open under this APP_SECRET. They never sign here. */
  unreadable(): Promise<readonly string[]>
  /** A key of ours by its name, also one that is published no more: for ID tokens that come back as hints. */
  find(kid: string): Promise<VerificationKey | undefined>
}

/** What the identity area is opened with. */
export type IdentityDeps = Core & { signingKeys: SigningKeys }

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
      // Chosen by the clock at each use: a key that was read before its time begins to sign when that has come.
      const key = signingAt(await read(now), alg, now)
      if (key === undefined) throw new Error(`There is no signing key for ${alg}`)
      return key
    },
    published: async () => (await read(store.clock())).published,
    unreadable: async () => (await read(store.clock())).unreadable,
    async find(kid) {
      if (!KID.test(kid)) return undefined
      const { known } = await read(store.clock())
      return known.get(kid) ?? findKey(store.db, kid)
    },
  }
}

export type LoadedKeys = {
  /** Those that can sign, newest first. */
  signing: (SigningKey & { signs_from: Date })[]
  unreadable: string[]
  published: JWK[]
  known: Map<string, VerificationKey>
}

/** The key that signs at a moment: the newest whose time has come. */
export function signingAt({ signing }: Pick<LoadedKeys, 'signing'>, alg: SigningAlgorithm, now: Date) {
  return signing.find((each) => each.alg === alg && each.signs_from <= now)
}

/** The name of the place where a private key is stored, so that its ciphertext opens nowhere else. */
export const encryptionContext = (kid: string) => `signing_keys ${kid}`

/**
 * Reads all keys that have a private half. One that was made under another APP_SECRET takes nothing from the others:
 * the newest that opens goes on, published, also when a successor that does not open was to have followed it by now.
 */
export async function loadKeys({ db, secrets }: Omit<KeyStore, 'clock'>, now: Date): Promise<LoadedKeys> {
  const rows = await db
    .selectFrom('signing_keys')
    .where('private_encrypted', 'is not', null)
    .select(['kid', 'alg', 'public_jwk', 'signs_from', 'published_until'])
    .select((eb) => eb.ref('private_encrypted').$notNull().as('private_encrypted'))
    .orderBy('signs_from', 'desc')
    .orderBy('id', 'desc')
    .execute()
  const signing = rows.flatMap(({ kid, alg, signs_from, private_encrypted }) => {
    const private_key = openPrivateKey(secrets, kid, private_encrypted)
    return private_key === undefined ? [] : [{ kid, alg, signs_from, private_key }]
  })
  const readable = new Set(signing.map(({ kid }) => kid))
  const lasting = new Set(SIGNING_ALGORITHMS.map((alg) => signing.find((key) => key.alg === alg)?.kid))
  const shown = rows.filter(
    ({ kid, published_until }) => published_until === null || published_until > now || lasting.has(kid),
  )
  return {
    signing,
    unreadable: rows.flatMap(({ kid }) => (readable.has(kid) ? [] : [kid])),
    published: shown.map((row) => row.public_jwk),
    known: new Map(shown.map(({ kid, alg, public_jwk }) => [kid, { kid, alg, public_jwk }])),
  }
}

/** Undefined for what another APP_SECRET has encrypted, or somebody has changed. */
function openPrivateKey(secrets: Secrets, kid: string, ciphertext: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(secrets.decrypt(encryptionContext(kid), ciphertext))
  } catch {
    return undefined
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
