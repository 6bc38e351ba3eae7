/**
 * Time-based one-time passwords, RFC 6238 over RFC 4226, with the parameters that all authenticator apps support: SHA-1,
 * 6 digits, 30 s. second-factor.ts accepts each code only once.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { sameText } from '../../platform/secrets.ts'

const DIGITS = 6
const STEP_SECONDS = 30
/** How far the clock of a phone may be off, in steps. */
const DRIFT_STEPS = 1
/** RFC 4226 4, R6: as long as the digest. */
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Makes a new secret in base32, as members type it and apps store it. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES))
}

/** Returns the code of a step. */
export function totpCode(secret: string, step: bigint): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(step)
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS
  return String(number).padStart(DIGITS, '0')
}

/** Returns the step of a moment: the number of 30 s periods since 1970. */
export function stepAt(now: Date): bigint {
  return BigInt(Math.floor(now.getTime() / 1000 / STEP_SECONDS))
}

/** Returns the step of a code, if that step is later than `after` and at most one step from now. */
export function matchingStep(secret: string, code: string, now: Date, after: bigint): bigint | undefined {
  const middle = stepAt(now)
  const steps = Array.from({ length: 2 * DRIFT_STEPS + 1 }, (_, i) => middle + BigInt(i - DRIFT_STEPS))
  return steps.filter((step) => step > after && sameText(totpCode(secret, step), code))[0]
}

/** Returns the content of the QR code, in the key URI format of authenticator apps. They show the site's name. */
export function otpauthUri(site: string, username: string, secret: string): string {
  // A colon would end the name.
  const issuer = encodeURIComponent(site.replaceAll(':', ' '))
  const label = `${issuer}:${encodeURIComponent(username)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${issuer}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`
}

/** Encodes base32 (RFC 4648) without padding, which multiples of 5 bytes do not need. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
