/** Signs ID tokens (OIDC Core 2), and verifies those that return as hints. spec/sign-in 2.6. */
import { createPublicKey } from 'node:crypto'
import { compactVerify, decodeProtectedHeader } from 'jose'
import { z } from 'zod'
import { sha256 } from '../../platform/secrets.ts'
import type { IssuedTokens } from '../grants/tokens.ts'
import { ID_TOKEN_SECONDS, signJwt } from '../keys/jwt.ts'
import type { IdentityDeps, SigningKey } from '../keys/keys.ts'
import { acrOf } from './acr.ts'
import { claimsOf } from './userinfo.ts'

export const ID_TOKEN_TYPE = 'JWT'

/** Signs the ID token for newly issued tokens. The scope `openid` alone gives the subject and the way of sign-in only. */
export function signIdToken(
  issued: IssuedTokens,
  client_id: string,
  key: SigningKey,
  now: Date,
  deps: Pick<IdentityDeps, 'config'>,
): string {
  const claims = { ...idTokenClaims(issued, client_id, now, deps), at_hash: halfHash(issued.access_token) }
  return signJwt(ID_TOKEN_TYPE, claims, key)
}

/** Returns the claims of an ID token, without `at_hash`, which an access token gives it. */
export function idTokenClaims(
  issued: Omit<IssuedTokens, 'access_token' | 'refresh_token' | 'details'>,
  client_id: string,
  now: Date,
  { config }: Pick<IdentityDeps, 'config'>,
): Record<string, unknown> {
  const iat = Math.floor(now.getTime() / 1000)
  return {
    iss: config.PUBLIC_URL,
    sub: issued.user.id.toString(),
    aud: client_id,
    exp: iat + ID_TOKEN_SECONDS,
    iat,
    auth_time: Math.floor(issued.auth_time.getTime() / 1000),
    ...(issued.nonce === null ? {} : { nonce: issued.nonce }),
    ...(issued.sid === null ? {} : { sid: issued.sid }),
    amr: issued.amr,
    acr: acrOf(issued.amr),
    ...claimsOf(issued.user, issued.scopes),
  }
}

/** Returns at_hash: the left half of the hash of the algorithm, which is SHA-256 for RS256 and ES256. */
function halfHash(text: string): string {
  return sha256(text).subarray(0, 16).toString('base64url')
}

/** The member and the application of one of our ID tokens. */
export type Hint = { sub: string; aud: string }

/**
 * Reads an ID token hint, also an expired one. Returns undefined unless one of our keys signed it with its own algorithm, and
 * its issuer is this site. A logout token has another type, so it is no hint.
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
    const { kid, typ } = decodeProtectedHeader(id_token)
    return typeof kid === 'string' && typ === ID_TOKEN_TYPE ? kid : undefined
  } catch {
    return undefined
  }
}
