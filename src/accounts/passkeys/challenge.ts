// This room: passkeys (WebAuthn), with which members sign in or confirm an act.
// Verbs: makeChallenge, addPasskey, checkPasskey, removePasskey.
// Tables: passkeys, spent_challenges.
// Clauses: spec/accounts 2.3.
/**
 * Challenges of WebAuthn. A challenge carries a random part, its end, and a tag under APP_SECRET over both, its purpose, the
 * browser and the account. So showing a page stores nothing, and a challenge of another page or browser is refused. An
 * answer stores the hash of its challenge, which refuses the answer a second time.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { sha256 } from '../../platform/secrets.ts'

const RANDOM_BYTES = 16
const TIME_BYTES = 6
const HEAD_BYTES = RANDOM_BYTES + TIME_BYTES
const PURPOSE = 'passkey challenge'

/** How long the answer to each page may take, in minutes. A sign-in page may wait in a tab. */
const MINUTES = { register: 10, sign_in: 60, second_step: 10, again: 10 } as const

export type ChallengePurpose = keyof typeof MINUTES

/** What a challenge is for: the page, the browser, and the account where it is known. */
export type ChallengeFor = {
  purpose: ChallengePurpose
  request: FastifyRequest
  /** The member, and with a registration the user handle. */
  account: string | undefined
}

/** Makes the challenge of a page, as base64url. */
export function makeChallenge({ secrets, clock }: Core, wanted: ChallengeFor): string {
  const head = Buffer.alloc(HEAD_BYTES)
  randomBytes(RANDOM_BYTES).copy(head)
  head.writeUIntBE(clock().getTime() + MINUTES[wanted.purpose] * 60_000, RANDOM_BYTES, TIME_BYTES)
  const tag = Buffer.from(secrets.tag(PURPOSE, taggedText(head, wanted)), 'base64url')
  return Buffer.concat([head, tag]).toString('base64url')
}

/** Judges an answered challenge. `foreign` is none of ours, or that of another purpose, browser or account. */
export function judgeChallenge(
  { secrets, clock }: Core,
  challenge: string,
  wanted: ChallengeFor,
): 'good' | 'expired' | 'foreign' {
  const bytes = Buffer.from(challenge, 'base64url')
  const head = bytes.subarray(0, HEAD_BYTES)
  if (head.length < HEAD_BYTES || bytes.toString('base64url') !== challenge) return 'foreign'
  const tag = bytes.subarray(HEAD_BYTES).toString('base64url')
  if (!secrets.isTag(PURPOSE, taggedText(head, wanted), tag)) return 'foreign'
  return head.readUIntBE(RANDOM_BYTES, TIME_BYTES) > clock().getTime() ? 'good' : 'expired'
}

/** Spends a challenge. Returns false when an answer has spent it before. */
export async function spendChallenge(tx: Tx, challenge: string, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('spent_challenges')
    .values({ challenge_hash: sha256(challenge), spent_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

function taggedText(head: Buffer, { purpose, request, account = '' }: ChallengeFor): string {
  const browser = request.session?.token ?? request.visitorToken ?? ''
  return [purpose, head.toString('base64url'), browser, account].join('\n')
}
