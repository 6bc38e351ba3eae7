/**
 * Signatures of the gateway protocols: V1 is MD5 with the Merchant KEY appended, V2 is RSA with SHA-256.
 * Pure. spec/gateway 1.4, 2.1 and 3.1.
 */
import { hash, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { canonicalString } from './canonical.ts'

/** The string to sign: every non-empty scalar except `sign` and `sign_type`. Integers count as their decimal text. */
export function gatewayString(parameters: Readonly<Record<string, unknown>>): string {
  return canonicalString(scalars(parameters, (value) => value !== ''))
}

/** The strings that a client may have signed: some clients leave out white space as they leave out empty values. */
function signedTexts(parameters: Readonly<Record<string, unknown>>): string[] {
  const whole = gatewayString(parameters)
  const hasBlanks = Object.values(parameters).some((value) => value !== '' && String(value).trim() === '')
  return hasBlanks ? [whole, canonicalString(scalars(parameters, (value) => value.trim() !== ''))] : [whole]
}

function scalars(
  parameters: Readonly<Record<string, unknown>>,
  isKept: (value: string) => boolean,
): Record<string, string> {
  const kept: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(parameters)) {
    if (name === 'sign' || name === 'sign_type') continue
    if (typeof value !== 'string' && !Number.isSafeInteger(value)) continue
    if (isKept(String(value))) kept[name] = String(value)
  }
  return kept
}

/** V1: lower-case hex MD5 of the string with the KEY appended. */
export function signMd5(text: string, key: string): string {
  return hash('md5', text + key)
}

/**
 * Returns the text that `sign` verifies, with or without blank values, or undefined. Accepts hex of either case and
 * compares in constant time.
 */
export function verifyMd5(parameters: Readonly<Record<string, string>>, key: string): string | undefined {
  const received = parameters.sign ?? ''
  // With an empty KEY, anyone could compute the MD5 of the bare string.
  if (key === '' || !/^[0-9a-f]{32}$/i.test(received)) return undefined
  const signature = Buffer.from(received, 'hex')
  return signedTexts(parameters).find((text) => timingSafeEqual(signature, hash('md5', text + key, 'buffer')))
}

const signOffLoop = promisify(sign)

/** V2: base64 of RSA PKCS#1 v1.5 with SHA-256, computed off the event loop. */
export async function signRsa(text: string, privateKey: KeyObject): Promise<string> {
  return (await signOffLoop('sha256', Buffer.from(text), privateKey)).toString('base64')
}

/**
 * Returns the text that `sign` verifies, or undefined. `sign` may have line breaks, which many encoders of base64 add. A space
 * is a `+` that the client did not encode.
 */
export function verifyRsa(
  parameters: Readonly<Record<string, string>>,
  publicKey: KeyObject,
): string | undefined {
  const received = (parameters.sign ?? '').replaceAll(/[\r\n]/g, '').replaceAll(' ', '+')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(received)) return undefined
  const signature = Buffer.from(received, 'base64')
  return signedTexts(parameters).find((text) => verify('sha256', Buffer.from(text), publicKey, signature))
}
