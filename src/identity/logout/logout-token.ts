/** Logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.4). */
import { randomUUID } from 'node:crypto'
import type { Config } from '../../platform/config.ts'
import { signJwt } from '../keys/jwt.ts'
import type { SigningKey } from '../keys/keys.ts'

export const LOGOUT_TOKEN_TYPE = 'logout+jwt'
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const LIFE_SECONDS = 120

/** What a logout token says: this session of the member has ended, or without `sid` all of them. */
export type Ended = { client_id: string; user_id: bigint; sid: string | null }

/**
 * Signs a logout token. Each attempt gets its own `jti`: an application that received the first one, and whose answer was lost,
 * would refuse the same one as a replay.
 */
export function signLogoutToken(
  { client_id, user_id, sid }: Ended,
  key: SigningKey,
  now: Date,
  { config }: { config: Pick<Config, 'PUBLIC_URL'> },
): string {
  const iat = Math.floor(now.getTime() / 1000)
  const claims = {
    iss: config.PUBLIC_URL,
    aud: client_id,
    iat,
    exp: iat + LIFE_SECONDS,
    jti: randomUUID(),
    sub: user_id.toString(),
    ...(sid === null ? {} : { sid }),
    events: { [EVENT]: {} },
  }
  return signJwt(LOGOUT_TOKEN_TYPE, claims, key)
}
