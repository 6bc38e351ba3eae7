// This room: the keys that sign ID tokens and logout tokens, and their rotation.
// Verbs: openSigningKeys, ensureSigningKeys, rotateSigningKeys, signJwt.
// Tables: signing_keys.
// Clauses: spec/sign-in 3.4.
/** Signs JSON Web Tokens. Also the lifetimes of ID tokens and of the documents about their keys. */
import { sign } from 'node:crypto'
import type { SigningKey } from './keys.ts'

/** How long an ID token is valid. */
export const ID_TOKEN_SECONDS = 3_600
/** How long clients may cache the JWKS and the discovery documents. */
export const JWKS_CACHE_SECONDS = 300

/**
 * Signs a compact JWS (RFC 7515) synchronously, in 0.3 ms at most. WebCrypto signs in the thread pool, which costs more than
 * that and may be busy with passwords.
 */
export function signJwt(typ: string, claims: object, { alg, kid, private_key }: SigningKey): string {
  const signed = `${base64url({ alg, kid, typ })}.${base64url(claims)}`
  // ES256 requires the two numbers concatenated, not in DER. RSA ignores this option.
  const signature = sign('sha256', Buffer.from(signed), { key: private_key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

function base64url(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
