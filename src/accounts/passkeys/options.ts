/** What a page asks of the browser: the options of WebAuthn Level 3 in JSON, for `parseCreationOptionsFromJSON` and its sibling. */
import type { FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { type PasskeysHere, passkeysAt } from '../session/relying-party.ts'
import { type ChallengePurpose, makeChallenge } from './challenge.ts'

/** EdDSA, ES256 and RS256. They are named, so that no runtime accepts keys that another one cannot verify. */
export const ALGORITHMS = [-8, -7, -257]
/** How long the browser waits for the member. */
const TIMEOUT_MS = 300_000

/** What a view needs for a button that asks for a passkey. */
export type PasskeyButton = {
  /** The options as JSON. */
  options: string
  isRelated: boolean
}

export type Registering = { user_id: bigint; username: string; name: string | null; handle: string }

/** Returns the options for a new passkey of a member, which none of the member's authenticators may hold yet. */
export async function creationOptions(
  request: FastifyRequest,
  { rp_id }: PasskeysHere,
  { user_id, username, name, handle }: Registering,
  deps: Core,
): Promise<string> {
  return JSON.stringify({
    rp: { id: rp_id, name: request.localized.site.name },
    user: { id: handle, name: username, displayName: name ?? username },
    challenge: makeChallenge(deps, { purpose: 'register', request, account: accountOf(user_id, handle) }),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: await credentialsOf(deps.db, user_id, rp_id),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    attestation: 'none',
    extensions: { credProps: true },
  })
}

/** The account of a registration's challenge. It covers the user handle, which the page carries and does not store. */
export function accountOf(user_id: bigint, handle: string): string {
  return `${user_id} ${handle}`
}

/**
 * Returns the button of a sign-in page. Undefined where browsers would refuse, or where a known member has no passkey that
 * the page accepts.
 */
export async function passkeyButton(
  request: FastifyRequest,
  purpose: Exclude<ChallengePurpose, 'register'>,
  user_id: bigint | undefined,
  deps: Core,
): Promise<PasskeyButton | undefined> {
  const here = passkeysAt(request.host, deps.config)
  if (here === undefined) return undefined
  const allowCredentials =
    user_id === undefined ? [] : await credentialsOf(deps.db, user_id, here.rp_id, purpose === 'again')
  if (user_id !== undefined && allowCredentials.length === 0) return undefined
  const options = JSON.stringify({
    challenge: makeChallenge(deps, { purpose, request, account: user_id?.toString() }),
    rpId: here.rp_id,
    timeout: TIMEOUT_MS,
    allowCredentials,
    userVerification: purpose === 'second_step' ? 'preferred' : 'required',
  })
  return { options, isRelated: here.isRelated }
}

/** Returns a member's passkeys of this relying party, or only those that have verified the member once. */
async function credentialsOf(db: Db, user_id: bigint, rp_id: string, isVerified = false) {
  const rows = await db
    .selectFrom('passkeys')
    .where('user_id', '=', user_id)
    .where('rp_id', '=', rp_id)
    .$if(isVerified, (query) => query.where('is_user_verified', '=', true))
    .orderBy('id')
    .select(['credential_id', 'transports'])
    .execute()
  return rows.map(({ credential_id, transports }) => ({
    type: 'public-key',
    id: credential_id.toString('base64url'),
    transports,
  }))
}
