/**
 * The keys that sign ID tokens. They are in Postgres, so that all processes sign and publish the same keys. Private keys
 * are encrypted under APP_SECRET. `rotation.ts` makes and retires keys.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { JWK } from 'jose'
import { APART_SECONDS_MAX } from '../../core/clock-check.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { orLatest } from '../../database/latest.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Secrets } from '../../platform/secrets.ts'

/** How long a process may use the keys it has read. */
export const KEYS_FRESH_SECONDS = 60
/** A key id: the RFC 7638 thumbprint of the key. */
const KID = /^[\w-]{43}$/

export const SIGNING_ALGORITHMS = ['RS256', 'ES256'] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
export type SigningKey = { kid: string; alg: SigningAlgorithm; private_key: KeyObject }
export type VerificationKey = { kid: string; alg: SigningAlgorithm; public_jwk: JWK }

export type SigningKeys = {
  /** Returns the key to sign with now. Throws Error when there is none. */
  current(alg?: SigningAlgorithm): Promise<SigningKey>
  /**
   * Returns the public keys of the JWKS: those that may have signed a live token, and those that sign next. While the database
   * does not answer, it returns those that were read last.
   */
  published(): readonly JWK[] | Promise<readonly JWK[]>
  /** Returns the ids of keys that this APP_SECRET does not decrypt. This process never signs with them. */
  unreadable(): Promise<readonly string[]>
  /** Finds one of our keys by its id, also one that is no longer published, to verify ID tokens that come as hints. */
  find(kid: string): Promise<VerificationKey | undefined>
}

/** The core, and the signing keys, which the identity area receives. */
export type IdentityDeps = Core & { signingKeys: SigningKeys }

export type KeyStore = { db: Db; secrets: Secrets; clock: Clock }

/** Opens the signing keys of a process, with a cache. */
export function openSigningKeys(store: KeyStore): SigningKeys {
  let cached: { keys: Promise<LoadedKeys>; at: number } | undefined
  let latest: LoadedKeys | undefined
  const read = (now: Date) => {
    // The absolute difference, because the clock may have been set back.
    if (cached === undefined || Math.abs(now.getTime() - cached.at) >= KEYS_FRESH_SECONDS * 1000) {
      const keys = loadKeys(store, now)
      const reading = { keys, at: now.getTime() }
      cached = reading
      keys.then(
        (loaded) => {
          latest = loaded
        },
        () => {
          if (cached === reading) cached = undefined
        },
      )
    }
    return cached.keys
  }
  return {
    async current(alg = 'RS256') {
      const now = store.clock()
      // Chosen at each use, so that a cached key starts to sign when its time comes.
      const key = signingAt(await read(now), alg, now)
      if (key === undefined) throw new Error(`There is no signing key for ${alg}`)
      return key
    },
    published() {
      const reading = read(store.clock())
      const keys = latest === undefined ? reading : orLatest(reading, latest)
      return keys instanceof Promise ? keys.then(({ published }) => published) : keys.published
    },
    unreadable: async () => (await read(store.clock())).unreadable,
    async find(kid) {
      if (!KID.test(kid)) return undefined
      const { known } = await read(store.clock())
      return known.get(kid) ?? findKey(store.db, kid)
    },
  }
}

export type LoadedKeys = {
  /** Keys that can sign, newest first. */
  signing: (SigningKey & { signs_from: Date })[]
  unreadable: string[]
  published: JWK[]
  known: Map<string, VerificationKey>
}

/**
 * Returns the key that signs at a moment: the newest key whose time has come. The database's time began the first key, so a
 * clock that is a little behind lets it sign already.
 */
export function signingAt({ signing }: Pick<LoadedKeys, 'signing'>, alg: SigningAlgorithm, now: Date) {
  const soon = new Date(now.getTime() + APART_SECONDS_MAX * 1000)
  const own = signing.filter((key) => key.alg === alg)
  return (
    own.find(({ signs_from }) => signs_from <= now) ?? own.findLast(({ signs_from }) => signs_from <= soon)
  )
}

/** Returns the encryption context of a private key. */
export const encryptionContext = (kid: string) => `signing_keys ${kid}`

/**
 * Reads all keys with a private key. Keys of another APP_SECRET are skipped: the newest readable key goes on signing and
 * stays published, even when an unreadable successor should have replaced it by now.
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

/** Decrypts a private key. Returns undefined when it was encrypted under another APP_SECRET, or changed. */
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
