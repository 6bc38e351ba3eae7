/**
 * Registers passkeys. We ask for no attestation, so every certificate is refused before the library sees it: it would judge
 * certificates, and fetch revocation lists from addresses inside them.
 */
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { decodeAttestationObject } from '@simplewebauthn/server/helpers'
import type { FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { type Tx, violatedConstraint } from '../../database/connection.ts'
import { explainAnonymised, lockUser } from '../people/users.ts'
import { recordSecurityEvent } from '../security/security-events.ts'
import { relyingPartyId } from '../session/relying-party.ts'
import { agentOf, sessionOf } from '../session/session.ts'
import { judgeChallenge, spendChallenge } from './challenge.ts'
import {
  CREDENTIAL_ID_BYTES_MAX,
  type Read,
  type RegistrationAnswer,
  readRegistration,
} from './credential.ts'
import { ALGORITHMS, accountOf } from './options.ts'

/** Passkeys of one account. The database counts them. */
export const PASSKEYS_MAX = 10
const PUBLIC_KEY_BYTES_MAX = 4_096
/** The outcomes that the database decides, by constraint. */
const CONFLICTS = {
  passkeys_at_most_ten: 'full',
  passkeys_credential_id_key: 'known',
} as const

export type NewPasskey = { name: string; handle: string; credential: unknown }

/** Registers a passkey of the signed-in member. `expired` needs a new page. `full` means that ten are there. */
export async function addPasskey(
  deps: Core,
  request: FastifyRequest,
  { name, handle, credential }: NewPasskey,
): Promise<'added' | 'expired' | 'unverified' | 'full' | 'known'> {
  const { id: user_id } = sessionOf(request).user
  const read = readRegistration(credential)
  const wanted = { purpose: 'register', request, account: accountOf(user_id, handle) } as const
  const challenge = read === undefined ? 'foreign' : judgeChallenge(deps, read.challenge, wanted)
  if (challenge === 'expired') return 'expired'
  const verified = read && challenge === 'good' ? await verify(deps, read) : undefined
  if (read === undefined || verified === undefined) {
    const refusal = { kind: 'passkey_refused', user_id, address: request.ip } as const
    await recordRefusal(deps.db, { ...refusal, detail: { page: wanted.purpose }, at: deps.clock() })
    return 'unverified'
  }
  return deps.db
    .transaction()
    .execute(async (tx) => {
      await lockUser(tx, user_id)
      if (!(await spendChallenge(tx, read.challenge, deps.clock()))) return 'unverified'
      if (!(await keepHandle(tx, user_id, handle))) return 'expired'
      const row = { ...verified, user_id, name, created_at: deps.clock() }
      await tx.insertInto('passkeys').values(row).execute()
      const event = { event: 'passkey_added', user_id, actor_id: user_id, ip: request.ip } as const
      await recordSecurityEvent(tx, deps, { ...event, agent: agentOf(request), detail: { name } })
      return 'added' as const
    })
    .catch((error) => {
      const constraint = violatedConstraint(error) as keyof typeof CONFLICTS
      return CONFLICTS[constraint] ?? explainAnonymised(error)
    })
}

/** Verifies an answer and returns its row. Undefined for whatever the library or our rules refuse. */
async function verify({ config }: Core, { answer, challenge }: Read<RegistrationAnswer>) {
  const { response, clientExtensionResults } = answer
  const rp_id = relyingPartyId(config)
  if (rp_id === undefined || !isWithoutCertificate(response.attestationObject)) return undefined
  const registered = await verifyRegistrationResponse({
    response: answer as Parameters<typeof verifyRegistrationResponse>[0]['response'],
    expectedChallenge: challenge,
    expectedOrigin: config.PUBLIC_URL,
    expectedRPID: rp_id,
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => undefined)
  if (registered?.registrationInfo === undefined) return undefined
  const { credential, credentialDeviceType, credentialBackedUp, userVerified } = registered.registrationInfo
  const [credential_id, public_key] = [
    Buffer.from(credential.id, 'base64url'),
    Buffer.from(credential.publicKey),
  ]
  const isInBounds =
    credential_id.length <= CREDENTIAL_ID_BYTES_MAX && public_key.length <= PUBLIC_KEY_BYTES_MAX
  if (credential.id !== answer.id || !isInBounds) return undefined
  return {
    credential_id,
    public_key,
    sign_count: BigInt(credential.counter),
    transports: response.transports,
    rp_id,
    is_backup_eligible: credentialDeviceType === 'multiDevice',
    is_backed_up: credentialBackedUp,
    is_user_verified: userVerified,
    is_discoverable: clientExtensionResults.credProps?.rk ?? null,
  }
}

/** Whether the statement is none, or signed by the new key itself, which browsers may pass on (WebAuthn Level 3, 5.1.3). */
function isWithoutCertificate(attestationObject: string): boolean {
  try {
    const object = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
    const [format, statement] = [object.get('fmt'), object.get('attStmt')]
    return format === 'none' || (format === 'packed' && statement.get('x5c') === undefined)
  } catch {
    return false
  }
}

/** Stores the user handle with the first passkey. Returns false when another page has stored another one meanwhile. */
async function keepHandle(tx: Tx, user_id: bigint, handle: string): Promise<boolean> {
  const passkey_handle = Buffer.from(handle, 'base64url')
  const { numUpdatedRows } = await tx
    .updateTable('users')
    .set({ passkey_handle })
    .where('id', '=', user_id)
    .where((eb) => eb.or([eb('passkey_handle', 'is', null), eb('passkey_handle', '=', passkey_handle)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
