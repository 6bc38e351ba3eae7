/**
 * Time-based one-time passwords, RFC 6238 over RFC 4226 with what authenticator apps support everywhere: SHA-1,
 * 6 digits, 30 s. Pure arithmetic; that a code works only once is kept in second-factor.ts.
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
const ISSUER = 'Tessera'

/** A new secret in base32, as people type it and apps store it. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES))
}

/** The code of a step. */
export function totpCode(secret: string, step: bigint): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(step)
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS
  return String(number).padStart(DIGITS, '0')
}

export function stepAt(now: Date): bigint {
  return BigInt(Math.floor(now.getTime() / 1000 / STEP_SECONDS))
}

/** The step after `after` that the code belongs to, if it belongs to one that is near enough to now. */
export function matchingStep(secret: string, code: string, now: Date, after: bigint): bigint | undefined {
  const middle = stepAt(now)
  const steps = Array.from({ length: 2 * DRIFT_STEPS + 1 }, (_, i) => middle + BigInt(i - DRIFT_STEPS))
  return steps.filter((step) => step > after && sameText(totpCode(secret, step), code))[0]
}

/** What the QR code says (the key URI format that authenticator apps agree on). */
export function otpauthUri(username: string, secret: string): string {
  const label = `${encodeURIComponent(ISSUER)}:${encodeURIComponent(username)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(ISSUER)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`
}

/** RFC 4648 without padding, which whole multiples of 5 bytes do not need. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
