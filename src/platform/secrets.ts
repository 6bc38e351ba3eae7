/**
 * Random identifiers, hashes of credentials that are only compared, and encryption of credentials that are read back.
 * APP_SECRET never leaves this file: each use has its own key derived from it.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto'

export const LOWER_ALNUM = 'abcdefghijklmnopqrstuvwxyz0123456789'
export const ALNUM = `ABCDEFGHIJKLMNOPQRSTUVWXYZ${LOWER_ALNUM}`

const VERSION = 1
const KEY_ID_BYTES = 4
const IV_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + KEY_ID_BYTES + IV_BYTES + TAG_BYTES

/** Returns uniformly random text over an alphabet of at most 256 characters. */
export function randomText(length: number, alphabet: string): string {
  const fair = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    const byte = randomByte()
    // Bytes past the last whole multiple of the alphabet would favour its first letters.
    if (byte < fair) text += alphabet[byte % alphabet.length]
  }
  return text
}

/** Random bytes that nothing has used yet, from here on. Drawn together, they cost a fraction of single draws. */
const pool = Buffer.alloc(4_096)
let unused = pool.length

function randomByte(): number {
  if (unused === pool.length) {
    randomFillSync(pool)
    unused = 0
  }
  const byte = pool[unused]!
  // What it became part of may be a secret.
  pool[unused] = 0
  unused += 1
  return byte
}

/** Returns 256 random bits as base64url, for session tokens, codes, access and refresh tokens. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the SHA-256 digest of a text, 32 bytes. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Compares two texts in a time that depends on their lengths only. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}

/** A MAC over stored bytes, and the id of its key. */
export type Seal = { mac: Buffer; key_id: Buffer }

/** The uses of APP_SECRET, without the secret itself. During a rotation a second APP_SECRET is known too. */
export type Secrets = {
  /** Encrypts with AES-256-GCM. `context` names where the text is stored; decryption with another context fails. */
  encrypt(context: string, plaintext: string): Buffer
  /** Throws when the ciphertext was changed or moved, or its APP_SECRET is not known. */
  decrypt(context: string, ciphertext: Buffer): string
  /** The second to fifth byte of a ciphertext of `encrypt`. A ciphertext with another id needs re-encryption. */
  encryptionKeyId: Buffer
  /** Makes a tag that only this service can make, for form tokens and values that a browser carries. */
  tag(purpose: string, text: string): string
  /** Makes the tags under every known APP_SECRET, that of `tag` first. */
  tags(purpose: string, text: string): string[]
  /** Whether the tag was made under any known APP_SECRET. */
  isTag(purpose: string, text: string, tag: string): boolean
  /** Seals bytes that are stored in the database. Write access to the database alone cannot forge a seal. */
  seal(purpose: string, data: Buffer): Seal
  /** Verifies a seal. Returns undefined when its APP_SECRET is not known. */
  isSealed(purpose: string, data: Buffer, seal: Seal): boolean | undefined
  /** The seal key of the other APP_SECRET, which must be stored before that secret is dropped. */
  otherSealKey: SealKey | undefined
}

/** A key that makes and verifies seals. */
export type SealKey = { key: KeyObject; key_id: Buffer }

type Keys = { encryption: KeyObject; tag: KeyObject; seal: SealKey; encryption_id: Buffer }

/**
 * Derives all keys of APP_SECRET.
 * @param other the previous or the next APP_SECRET. It decrypts and verifies, and never encrypts or signs.
 */
export function makeSecrets(appSecret: string, other?: string): Secrets {
  const current = deriveKeys(appSecret)
  const known = other === undefined ? [current] : [current, deriveKeys(other)]
  const tagBy = ({ tag }: Keys, purpose: string, text: string) =>
    createHmac('sha256', tag).update(`${purpose}\0${text}`).digest('base64url')

  return {
    encryptionKeyId: current.encryption_id,
    otherSealKey: known[1]?.seal,
    encrypt(context, plaintext) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.encryption, iv).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), current.encryption_id, iv, cipher.getAuthTag(), body])
    },
    decrypt(context, ciphertext) {
      if (ciphertext.length < HEADER_BYTES || ciphertext[0] !== VERSION)
        throw new Error('Not a ciphertext of Tessera')
      const id = ciphertext.subarray(1, 1 + KEY_ID_BYTES)
      const keys = known.find(({ encryption_id }) => encryption_id.equals(id))
      if (keys === undefined) throw new Error('This was encrypted under another APP_SECRET')
      const iv = ciphertext.subarray(1 + KEY_ID_BYTES, HEADER_BYTES - TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', keys.encryption, iv)
        .setAAD(Buffer.from(context))
        .setAuthTag(ciphertext.subarray(HEADER_BYTES - TAG_BYTES, HEADER_BYTES))
      return Buffer.concat([decipher.update(ciphertext.subarray(HEADER_BYTES)), decipher.final()]).toString(
        'utf8',
      )
    },
    tag: (purpose, text) => tagBy(current, purpose, text),
    tags: (purpose, text) => known.map((keys) => tagBy(keys, purpose, text)),
    isTag: (purpose, text, tag) => known.some((keys) => sameText(tag, tagBy(keys, purpose, text))),
    seal: (purpose, data) => ({ mac: macBy(current.seal, purpose, data), key_id: current.seal.key_id }),
    isSealed(purpose, data, seal) {
      const keys = known.find((each) => each.seal.key_id.equals(seal.key_id))
      return keys === undefined ? undefined : isSealedBy(keys.seal, purpose, data, seal)
    },
  }
}

/** Whether this key made the seal of these bytes. */
export function isSealedBy(key: SealKey, purpose: string, data: Buffer, { mac }: Seal): boolean {
  const expected = macBy(key, purpose, data)
  return mac.length === expected.length && timingSafeEqual(mac, expected)
}

function macBy({ key }: SealKey, purpose: string, data: Buffer): Buffer {
  return createHmac('sha256', key).update(`${purpose}\0`).update(data).digest()
}

function deriveKeys(appSecret: string): Keys {
  // Key objects, because Node prepares a key given as bytes again at each use.
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', appSecret, '', `tessera ${purpose}`, 32)))
  const idOf = (key: KeyObject) =>
    createHash('sha256').update(key.export()).digest().subarray(0, KEY_ID_BYTES)
  const [encryption, tag, seal] = [derive('encryption'), derive('tags'), derive('seals')]
  return { encryption, tag, seal: { key: seal, key_id: idOf(seal) }, encryption_id: idOf(encryption) }
}
