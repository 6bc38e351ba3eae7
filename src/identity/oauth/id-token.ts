/** ID tokens (OIDC Core 2): signed by the current key, and recognised when they come back as hints. */
import { createPublicKey, sign } from 'node:crypto'
import { compactVerify, decodeProtectedHeader } from 'jose'
import { z } from 'zod'
import { sha256 } from '../../platform/secrets.ts'
import type { IssuedTokens } from '../grants/tokens.ts'
import type { IdentityDeps, SigningKey } from '../keys/keys.ts'
import { ID_TOKEN_SECONDS } from '../keys/lifetimes.ts'
import { profileClaims } from './claims.ts'
import { publicSessionId } from './reauthentication.ts'

/** Signs the ID token that accompanies newly issued tokens. Bare `openid` tells no more than who signed in, and how. */
export function signIdToken(
  issued: IssuedTokens,
  client_id: string,
  key: SigningKey,
  now: Date,
  { config, secrets }: Pick<IdentityDeps, 'config' | 'secrets'>,
): string {
  const iat = Math.floor(now.getTime() / 1000)
  const claims = {
    iss: config.PUBLIC_URL,
    sub: issued.user.id.toString(),
    aud: client_id,
    exp: iat + ID_TOKEN_SECONDS,
    iat,
    auth_time: Math.floor(issued.auth_time.getTime() / 1000),
    ...(issued.nonce === null ? {} : { nonce: issued.nonce }),
    at_hash: halfHash(issued.access_token),
    ...(issued.session_id === null ? {} : { sid: publicSessionId(secrets, issued.session_id) }),
    amr: issued.amr,
    ...(issued.scopes.includes('profile') ? profileClaims(issued.user) : {}),
  }
  return signJwt(claims, key)
}

/**
 * A compact JWS (RFC 7515). Signed here and now, in 0.3 ms at most: the thread pool, where WebCrypto signs, costs more
 * than that to go to, and may be busy with passwords.
 */
function signJwt(claims: object, { alg, kid, private_key }: SigningKey): string {
  const signed = `${base64url({ alg, kid, typ: 'JWT' })}.${base64url(claims)}`
  // ES256 wants the two numbers side by side, not in DER; RSA knows no such choice.
  const signature = sign('sha256', Buffer.from(signed), { key: private_key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

function base64url(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** at_hash: the left half of the hash that goes with the algorithm, SHA-256 for RS256 and ES256 alike. */
function halfHash(text: string): string {
  return sha256(text).subarray(0, 16).toString('base64url')
}

/** Whom an ID token of ours is about, and to which application it was issued. */
export type Hint = { sub: string; aud: string }

/**
 * Reads an ID token that was brought as a hint, however old it is. Undefined unless a key of ours signed it, by the
 * algorithm which that key is for, in our name.
 */
export async function readHint(
  id_token: string,
  { config, signingKeys }: Pick<IdentityDeps, 'config' | 'signingKeys'>,
): Promise<Hint | undefined> {
  const kid = claimedKid(id_token)
  const key = kid === undefined ? undefined : await signingKeys.find(kid)
  if (key === undefined) return undefined
  const public_key = createPublicKey({ key: key.public_jwk, format: 'jwk' })
  try {
    const { payload } = await compactVerify(id_token, public_key, { algorithms: [key.alg] })
    const hint = HintClaims.parse(JSON.parse(new TextDecoder().decode(payload)))
    return hint.iss === config.PUBLIC_URL ? hint : undefined
  } catch {
    return undefined
  }
}

const HintClaims = z.object({ iss: z.string(), sub: z.string(), aud: z.string() })

function claimedKid(id_token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(id_token)
    return typeof kid === 'string' ? kid : undefined
  } catch {
    return undefined
  }
}
