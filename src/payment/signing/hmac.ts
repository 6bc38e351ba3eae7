/**
 * Signatures of the HMAC API: the string to sign, the keys, and the probable mistake behind a wrong signature.
 * Pure: knows neither HTTP nor SQL. spec/payment-api 2.2 and 3.3.
 */
import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { FlatParameters } from '../wire-fields/fields.ts'
import { canonicalString } from './canonical.ts'

/** Each guess costs a hash of the whole request, and anyone may send requests. Longer ones get no guesses. */
const HINTED_FIELDS_MAX = 15
const HINTED_LENGTH_MAX = 4_096

/** hex(SHA-256(token)): the Secret Key, also called token_hash. 64 lower-case hex characters. */
export function secretKeyOf(token: string): string {
  return hash('sha256', token, 'hex')
}

/** A valid token and the keys that its requests may be signed with: K, or hex(SHA-256(K)). spec/payment-api 2.2. */
export type TokenKeys = { token: string; accepted: readonly KeyObject[] }

/**
 * Derives the keys of a token. The second one accepts clients that hash the key they are given: with the Secret Key
 * in place of the token, they sign with its hash.
 */
export function tokenKeys(token: string): TokenKeys {
  const key = secretKeyOf(token)
  return { token, accepted: [key, secretKeyOf(key)].map((k) => createSecretKey(k, 'ascii')) }
}

/** The canonical string of every parameter except `signature`. */
export function stringToSign(parameters: FlatParameters): string {
  return canonicalString(without(parameters, 'signature'))
}

/** Lower-case hex HMAC-SHA-256. A text key is used as its 64 ASCII characters, not decoded from hex. */
export function sign(key: string | Buffer | KeyObject, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('hex')
}

/** `key` is the index of the token that signed the request. */
export type Verdict = { isValid: true; key: number } | { isValid: false; signed_string: string; hint: string }

/**
 * Checks `parameters.signature` in constant time against every accepted key.
 * @param tokens the application's valid tokens, the current one first.
 */
export function verifySignature(parameters: FlatParameters, tokens: readonly TokenKeys[]): Verdict {
  const received = parameters.signature ?? ''
  const text = stringToSign(parameters)
  const texts = [text]
  const nonEmpty = Object.entries(parameters).filter(([, value]) => value !== '')
  if (nonEmpty.length < Object.keys(parameters).length) texts.push(stringToSign(Object.fromEntries(nonEmpty)))
  // Computes every combination, so that the time does not reveal which one matched.
  const matches = tokens.map(({ accepted }) =>
    accepted
      .flatMap((key) => texts.map((candidate) => isSignature(received, sign(key, candidate))))
      .includes(true),
  )
  const key = matches.indexOf(true)
  if (key !== -1) return { isValid: true, key }
  const hint = findMistake(
    parameters,
    received,
    text,
    tokens.map(({ token }) => token),
  )
  return { isValid: false, signed_string: text, hint }
}

function isSignature(received: string, expected: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(received)) return false
  return timingSafeEqual(Buffer.from(received, 'hex'), Buffer.from(expected, 'hex'))
}

/** Names the usual mistake that yields the received signature, without revealing the right signature. */
function findMistake(
  parameters: FlatParameters,
  received: string,
  text: string,
  tokens: readonly string[],
): string {
  if ('amp;signature' in parameters)
    return 'The parameters are joined with &amp; as in the source of a page. Join them with & alone.'
  if (received === '') return 'The parameter signature is missing.'
  if (!/^[0-9a-f]{64}$/i.test(received)) return 'A signature is 64 hexadecimal characters: hex(HMAC-SHA-256).'
  const others = text.length > HINTED_LENGTH_MAX ? [] : otherStrings(parameters)
  for (const token of tokens) {
    const key = secretKeyOf(token)
    if (isSignature(received, sign(token, text))) {
      return 'The token itself was used as the key. Use its SHA-256 in hex: the Secret Key.'
    }
    if (isSignature(received, sign(Buffer.from(key, 'hex'), text))) {
      return 'The Secret Key was decoded from hex. Use its 64 characters as they are.'
    }
    for (const [hint, candidate] of others) {
      if (isSignature(received, sign(key, candidate))) return hint
    }
  }
  return 'No usual mistake explains it. Compare signed_string with what you sign, and check that the key is the SHA-256 of the current token.'
}

function otherStrings(parameters: FlatParameters): [hint: string, text: string][] {
  const signed = without(parameters, 'signature')
  const fields = Object.entries(signed)
  if (fields.length > HINTED_FIELDS_MAX) return []
  const encoded = canonicalString(
    Object.fromEntries(fields.map(([name, value]) => [name, encodeURIComponent(value)])),
  )
  const urlEncoded = 'The values were URL-encoded before signing. Sign the raw values.'
  return [
    [urlEncoded, encoded],
    [urlEncoded, encoded.replaceAll('%20', '+')],
    ['The parameters were not sorted by name.', fields.map(([name, value]) => `${name}=${value}`).join('&')],
    ['The string must not end with &.', `${canonicalString(signed)}&`],
    ...fields.map(([name]): [string, string] => [
      `The parameter ${name} was sent but not signed. Every parameter except signature is signed.`,
      canonicalString(without(signed, name)),
    ]),
  ]
}

function without(parameters: FlatParameters, name: string): FlatParameters {
  return Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== name))
}

/** ISO 8601 in UTC to the second, with `Z` at the end. Clients sign and compare times in this form. */
export function isoSeconds(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`
}

const Digits = z.string().regex(/^\d+$/)

/** A callback: seven fields of canonical text, and their signature. */
export const Callback = z.strictObject({
  transaction_id: z.string(),
  external_reference: z.string(),
  amount: Digits,
  platform_fee: Digits,
  merchant_points: Digits,
  status: z.literal('completed'),
  paid_at: z.iso.datetime(),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
})
export type CallbackFields = Omit<z.output<typeof Callback>, 'signature'>

/** The callback of the mandate page. Its fields are those of no request. spec/payment-api 3.3. */
export const MandateCallback = z.strictObject({
  decided_at: z.iso.datetime(),
  mandate_id: z.string(),
  mandate_status: z.enum(['active', 'declined']),
  reference: z.string(),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
})
export type MandateCallbackFields = Omit<z.output<typeof MandateCallback>, 'signature'>

/**
 * Appends the fields and the signature to callback_url, percent-encoded. The signature covers the query of callback_url
 * too, because a shop verifies every parameter that it receives. spec/payment-api 3.3.
 */
export function signedCallbackUrl(
  callbackUrl: string,
  fields: CallbackFields | MandateCallbackFields,
  token: string,
): string {
  const own = Object.fromEntries(new URL(callbackUrl).searchParams)
  const signature = sign(secretKeyOf(token), stringToSign({ ...own, ...fields }))
  const query = Object.entries({ ...fields, signature }).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  )
  return `${callbackUrl}${callbackUrl.includes('?') ? '&' : '?'}${query.join('&')}`
}
