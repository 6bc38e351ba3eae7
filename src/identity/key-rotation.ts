/** How signing keys are made. */
import { generateKeyPair as generate, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint } from 'jose'
import { sql } from 'kysely'
import { encryptionContext, type KeyStore, SIGNING_ALGORITHMS, type SigningAlgorithm } from './keys.ts'

const RSA_BITS = 2048
/** Any constant of ours: it keeps two processes from making the same key twice. */
const KEY_CREATION_LOCK = 7_305_128_842

const generateKeyPair = promisify(generate)

/** Makes the first key of each algorithm where there is none. Safe when several processes start at once. */
export async function ensureSigningKeys({ db, secrets, clock }: KeyStore): Promise<void> {
  for (const alg of SIGNING_ALGORITHMS) {
    const existing = await db
      .selectFrom('signing_keys')
      .where('alg', '=', alg)
      .select('id')
      .limit(1)
      .executeTakeFirst()
    if (existing !== undefined) continue
    const { publicKey, privateKey } = await makePair(alg)
    const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>
    const kid = await calculateJwkThumbprint(jwk)
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const private_encrypted = secrets.encrypt(encryptionContext(kid), pem)
    const public_jwk = JSON.stringify({ kid, alg, use: 'sig', ...jwk })
    await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${KEY_CREATION_LOCK})`.execute(tx)
      const made = await tx.selectFrom('signing_keys').where('alg', '=', alg).select('id').execute()
      if (made.length > 0) return
      await tx
        .insertInto('signing_keys')
        .values({ kid, alg, public_jwk, private_encrypted, signs_from: clock() })
        .execute()
    })
  }
}

/** Off the event loop: an RSA key takes a good fraction of a second. */
function makePair(alg: SigningAlgorithm): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  if (alg === 'ES256') return generateKeyPair('ec', { namedCurve: 'P-256' })
  return generateKeyPair('rsa', { modulusLength: RSA_BITS })
}
