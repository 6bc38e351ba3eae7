/**
 * Checks what a member's passkey answered on a sign-in page. Failures count like wrong passwords.
 * spec/accounts 2.3.
 */
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { recordRefusal } from '../../core/refusals.ts'
import type { Db } from '../../database/connection.ts'
import { recordSecurityEvent } from '../security/security-events.ts'
import { attemptedBy } from '../session/known-browser.ts'
import { passkeyOrigins, passkeysAt } from '../session/relying-party.ts'
import { agentOf } from '../session/session.ts'
import { clearAttempts, failAttempt, openAttempt, withdrawAttempt } from '../session/throttle.ts'
import { type ChallengePurpose, judgeChallenge, spendChallenge } from './challenge.ts'
import { type Read, readSignIn, type SignInAnswer } from './credential.ts'

/** The page that asked, and the member whom it asked where it knows one. */
export type AskedBy = {
  purpose: Exclude<ChallengePurpose, 'register'>
  member?: { user_id: bigint; username: string }
  /** The methods of the sign-in so far (RFC 8176). */
  amr?: readonly string[]
}

/** `unknown` is no passkey of this site, and `foreign` is another member's. `expired` needs a new page. */
export type PasskeyFault = 'expired' | 'unknown' | 'unverified' | 'foreign'

/** The member, and the methods of the whole sign-in. */
export type SignedIn = Pick<FoundPasskey, 'user_id' | 'has_password' | 'is_banned' | 'suspended_till'> & {
  amr: string[]
}

/** Checks an answer. Throws too_many_attempts after too many failures of the account or the network. */
export async function checkPasskey(
  request: FastifyRequest,
  sent: unknown,
  asked: AskedBy,
  deps: Core,
): Promise<SignedIn | PasskeyFault> {
  const read = readSignIn(sent)
  const rp_id = passkeysAt(request.host, deps.config)?.rp_id
  const passkey = read && rp_id ? await findPasskey(deps.db, read.answer.id, rp_id) : undefined
  const account = asked.member ?? passkey
  const network = networkOf(request.ip)
  const attempt = await openAttempt(
    deps,
    account === undefined
      ? { account: `passkey from ${network}`, address: network }
      : attemptedBy(request, account, deps),
  )
  const outcome = await judge(request, { read, passkey, asked }, deps)
  if (typeof outcome !== 'string') await clearAttempts(deps, attempt)
  else if (outcome === 'expired') await withdrawAttempt(deps, attempt)
  else {
    await failAttempt(deps, attempt)
    await recordRefusal(deps.db, {
      kind: 'passkey_refused',
      user_id: account?.user_id,
      address: request.ip,
      detail: { page: asked.purpose },
      at: deps.clock(),
    })
  }
  return outcome
}

type FoundPasskey = NonNullable<Awaited<ReturnType<typeof findPasskey>>>

async function findPasskey(db: Db, credential_id: string, rp_id: string) {
  return db
    .selectFrom('passkeys')
    .innerJoin('users', 'users.id', 'passkeys.user_id')
    .where('credential_id', '=', Buffer.from(credential_id, 'base64url'))
    .where('rp_id', '=', rp_id)
    .select(['passkeys.id', 'rp_id', 'user_id', 'public_key', 'is_backup_eligible', 'is_user_verified'])
    .select(['username', 'passkey_handle', 'is_banned', 'suspended_till'])
    .select((eb) => eb('password_hash', 'is not', null).as('has_password'))
    .executeTakeFirst()
}

type Question = {
  read: Read<SignInAnswer> | undefined
  passkey: FoundPasskey | undefined
  asked: AskedBy
}

async function judge(
  request: FastifyRequest,
  { read, passkey, asked }: Question,
  deps: Core,
): Promise<SignedIn | PasskeyFault> {
  if (read === undefined) return 'unverified'
  const { purpose, member } = asked
  const wanted = { purpose, request, account: member?.user_id.toString() }
  const challenge = judgeChallenge(deps, read.challenge, wanted)
  if (challenge !== 'good') return challenge === 'expired' ? 'expired' : 'unverified'
  if (passkey === undefined) return 'unknown'
  if (member !== undefined && member.user_id !== passkey.user_id) return 'foreign'
  const proof = await verify(read, passkey, asked, deps)
  if (proof === undefined) return 'unverified'
  const fault = await recordUse(request, { read, passkey, asked, proof }, deps)
  if (fault !== undefined) return fault
  const { user_id, has_password, is_banned, suspended_till } = passkey
  return { user_id, has_password, is_banned, suspended_till, amr: methodsOf(passkey, proof, asked) }
}

/** What a verified answer proves. */
type Proof = { counter: bigint; isBackedUp: boolean; isUserVerified: boolean }

/** Verifies an answer. Undefined for whatever the library or our rules refuse. */
async function verify(
  { answer, challenge }: Read<SignInAnswer>,
  passkey: FoundPasskey,
  { purpose }: AskedBy,
  { config }: Core,
): Promise<Proof | undefined> {
  const needsUser = purpose !== 'second_step'
  const handle = answer.response.userHandle ?? undefined
  const isOwner = handle === passkey.passkey_handle?.toString('base64url')
  // Where the page named no account, the browser must say which one it chose.
  const mayBeSilent = handle === undefined && purpose !== 'sign_in'
  if (!(isOwner || mayBeSilent) || (needsUser && !passkey.is_user_verified)) return undefined
  const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
    response: { ...answer, clientExtensionResults: {} } as Parameters<
      typeof verifyAuthenticationResponse
    >[0]['response'],
    expectedChallenge: challenge,
    expectedOrigin: passkeyOrigins(config),
    expectedRPID: passkey.rp_id,
    requireUserVerification: needsUser,
    // The stored counter is compared where it is locked, and a refusal is recorded there.
    credential: { id: answer.id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }))
  if (!verified || info === undefined) return undefined
  // Whether a passkey may be synced never changes (WebAuthn Level 3, 7.2).
  if ((info.credentialDeviceType === 'multiDevice') !== passkey.is_backup_eligible) return undefined
  return {
    counter: BigInt(info.newCounter),
    isBackedUp: info.credentialBackedUp,
    isUserVerified: info.userVerified,
  }
}

/** Spends the challenge and stores the use. A counter that does not grow is refused, recorded and mailed. */
async function recordUse(
  request: FastifyRequest,
  {
    read,
    passkey,
    asked,
    proof,
  }: Question & { read: Read<SignInAnswer>; passkey: FoundPasskey; proof: Proof },
  deps: Core,
): Promise<PasskeyFault | undefined> {
  const now = deps.clock()
  const { id, user_id } = passkey
  return deps.db.transaction().execute(async (tx) => {
    if (!(await spendChallenge(tx, read.challenge, now))) return 'unverified'
    const row = await tx
      .selectFrom('passkeys')
      .where('id', '=', id)
      .select(['name', 'sign_count'])
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) return 'unknown'
    const { counter, isBackedUp, isUserVerified } = proof
    if ((counter > 0n || row.sign_count > 0n) && counter <= row.sign_count) {
      const event = { event: 'passkey_counter', user_id, actor_id: null, ip: request.ip } as const
      await recordSecurityEvent(tx, deps, { ...event, agent: agentOf(request), detail: { name: row.name } })
      return 'unverified'
    }
    // After a right password, the first verification of the member counts from then on (WebAuthn Level 3, 7.2).
    const proved = isUserVerified && asked.amr?.includes('pwd') === true
    await tx
      .updateTable('passkeys')
      .set({
        sign_count: counter,
        is_backed_up: isBackedUp,
        ...(proved && { is_user_verified: true }),
        last_used_at: now,
      })
      .where('id', '=', id)
      .execute()
    return undefined
  })
}

/**
 * Names the methods (RFC 8176). A passkey that cannot be synced counts as hardware, by the authenticator's own word. With a
 * verified member, or after a password, it is the second factor.
 */
function methodsOf(
  { is_backup_eligible }: FoundPasskey,
  { isUserVerified }: Proof,
  { amr = [] }: AskedBy,
): string[] {
  const isSecond = isUserVerified || amr.includes('pwd')
  return [...amr, is_backup_eligible ? 'swk' : 'hwk', 'user', ...(isSecond ? ['mfa'] : [])]
}
