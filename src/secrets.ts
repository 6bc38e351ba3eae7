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

/** A ciphertext that another APP_SECRET made. */
export class ForeignCiphertextError extends Error {}

/** A mark on bytes that are kept, and which key it was made with. */
export type Seal = { mac: Buffer; key_id: Buffer }

/** What APP_SECRET is used for, without the secret itself. */
export type Secrets = {
  /** AES-256-GCM. `context` names the place the text is stored at; a ciphertext moved elsewhere does not open. */
  encrypt(context: string, plaintext: string): Buffer
  /** Throws when the text was changed, moved, or encrypted under another APP_SECRET. */
  decrypt(context: string, ciphertext: Buffer): string
  /** A tag that only this service can make: for form tokens and values that travel through a browser. */
  tag(purpose: string, text: string): string
  /** Marks bytes that are kept in the database, so that nobody who only has the database can put others there. */
  seal(purpose: string, data: Buffer): Seal
  /** Whether these bytes bear their seal. Undefined when it was made under another APP_SECRET. */
  isSealed(purpose: string, data: Buffer, seal: Seal): boolean | undefined
}

export function makeSecrets(appSecret: string): Secrets {
  // As key objects: a key given in bytes is prepared anew at each use.
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', appSecret, '', `tessera ${purpose}`, 32)))
  const encryptionKey = derive('encryption')
  const tagKey = derive('tags')
  const sealKey = derive('seals')
  const idOf = (key: KeyObject) =>
    createHash('sha256').update(key.export()).digest().subarray(0, KEY_ID_BYTES)
  const keyId = idOf(encryptionKey)
  const sealKeyId = idOf(sealKey)
  const macOf = (purpose: string, data: Buffer) =>
    createHmac('sha256', sealKey).update(`${purpose}\0`).update(data).digest()

  return {
    encrypt(context, plaintext) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', encryptionKey, iv).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), keyId, iv, cipher.getAuthTag(), body])
    },
    decrypt(context, ciphertext) {
      if (ciphertext.length < HEADER_BYTES || ciphertext[0] !== VERSION)
        throw new Error('Not a ciphertext of Tessera')
      if (!ciphertext.subarray(1, 1 + KEY_ID_BYTES).equals(keyId)) {
        throw new ForeignCiphertextError('This was encrypted under another APP_SECRET')
      }
      const iv = ciphertext.subarray(1 + KEY_ID_BYTES, HEADER_BYTES - TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', encryptionKey, iv)
        .setAAD(Buffer.from(context))
        .setAuthTag(ciphertext.subarray(HEADER_BYTES - TAG_BYTES, HEADER_BYTES))
      return Buffer.concat([decipher.update(ciphertext.subarray(HEADER_BYTES)), decipher.final()]).toString(
        'utf8',
      )
    },
    tag(purpose, text) {
      return createHmac('sha256', tagKey).update(`${purpose}\0${text}`).digest('base64url')
    },
    seal: (purpose, data) => ({ mac: macOf(purpose, data), key_id: sealKeyId }),
    isSealed(purpose, data, { mac, key_id }) {
      if (!key_id.equals(sealKeyId)) return undefined
      const expected = macOf(purpose, data)
      return mac.length === expected.length && timingSafeEqual(mac, expected)
    },
  }
}
