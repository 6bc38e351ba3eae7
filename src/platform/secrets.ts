/**
 * Random identifiers, hashes of credentials that only need checking, and encryption of the few that must be
 * read back. APP_SECRET never leaves this file: every use gets a key of its own derived from it.
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
  timingSafeEqual,
} from 'node:crypto'

export const LOWER_ALNUM = 'abcdefghijklmnopqrstuvwxyz0123456789'
export const ALNUM = `ABCDEFGHIJKLMNOPQRSTUVWXYZ${LOWER_ALNUM}`

const VERSION = 1
const KEY_ID_BYTES = 4
const IV_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + KEY_ID_BYTES + IV_BYTES + TAG_BYTES

/** Uniform random text over an alphabet of at most 256 characters. */
export function randomText(length: number, alphabet: string): string {
  const fair = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    // Bytes past the last whole multiple of the alphabet would favour its first letters.
    for (const byte of randomBytes(length)) {
      if (byte < fair && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

/** 256 random bits as base64url: session tokens, codes, access and refresh tokens. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Compares two texts in time that depends on their lengths only. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}

/** A mark on bytes that are kept, and which key it was made with. */
export type Seal = { mac: Buffer; key_id: Buffer }

/** What APP_SECRET is used for, without the secret itself. While it is being changed, another one is known beside it. */
export type Secrets = {
  /** AES-256-GCM. `context` names the place the text is stored at; a ciphertext moved elsewhere does not open. */
  encrypt(context: string, plaintext: string): Buffer
  /** Throws when the text was changed, moved, or encrypted under an APP_SECRET that is not known. */
  decrypt(context: string, ciphertext: Buffer): string
  /** What a ciphertext of `encrypt` has in its second to fifth byte: whichever has not is to be encrypted anew. */
  encryptionKeyId: Buffer
  /** A tag that only this service can make: for form tokens and values that travel through a browser. */
  tag(purpose: string, text: string): string
  /** Whether this is the tag, made under any APP_SECRET that is known. */
  isTag(purpose: string, text: string, tag: string): boolean
  /** Marks bytes that are kept in the database, so that nobody who only has the database can put others there. */
  seal(purpose: string, data: Buffer): Seal
  /** Whether these bytes bear their seal. Undefined when it was made under an APP_SECRET that is not known. */
  isSealed(purpose: string, data: Buffer, seal: Seal): boolean | undefined
  /** The key of the other APP_SECRET's seals, which must be kept when that one is forgotten. Absent without another. */
  otherSealKey: SealKey | undefined
}

/** A key that seals were made with, and by which they can still be verified. */
export type SealKey = { key: KeyObject; key_id: Buffer }

type Keys = { encryption: KeyObject; tag: KeyObject; seal: SealKey; encryption_id: Buffer }

/** @param other is known as well and never used for anything new: the one before, or the one to come. */
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
    isTag: (purpose, text, tag) => known.some((keys) => sameText(tag, tagBy(keys, purpose, text))),
    seal: (purpose, data) => ({ mac: macBy(current.seal, purpose, data), key_id: current.seal.key_id }),
    isSealed(purpose, data, seal) {
      const keys = known.find((each) => each.seal.key_id.equals(seal.key_id))
      return keys === undefined ? undefined : isSealedBy(keys.seal, purpose, data, seal)
    },
  }
}

/** Whether bytes bear a seal made with this key. */
export function isSealedBy(key: SealKey, purpose: string, data: Buffer, { mac }: Seal): boolean {
  const expected = macBy(key, purpose, data)
  return mac.length === expected.length && timingSafeEqual(mac, expected)
}

function macBy({ key }: SealKey, purpose: string, data: Buffer): Buffer {
  return createHmac('sha256', key).update(`${purpose}\0`).update(data).digest()
}

function deriveKeys(appSecret: string): Keys {
  // As key objects: a key given in bytes is prepared anew at each use.
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', appSecret, '', `tessera ${purpose}`, 32)))
  const idOf = (key: KeyObject) =>
    createHash('sha256').update(key.export()).digest().subarray(0, KEY_ID_BYTES)
  const [encryption, tag, seal] = [derive('encryption'), derive('tags'), derive('seals')]
  return { encryption, tag, seal: { key: seal, key_id: idOf(seal) }, encryption_id: idOf(encryption) }
}
