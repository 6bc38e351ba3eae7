/**
 * DiscourseConnect on the wire, with the forum as the provider: it makes the request and reads the answer. The functions
 * are pure and do not check whether a nonce is ours.
 *
 * An operator may change the secret while members sign in: the forum accepts several secrets for one host, and answers
 * with the one that signed the request.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Config } from '../../platform/config.ts'
import { isCleanText, isCleanValue } from '../../web/parameters.ts'

/** 2^63 − 1, the largest value of a bigint column. */
const FORUM_ID_MAX = 9_223_372_036_854_775_807n

/** The forum's address and the shared secret. */
export type Forum = { url: string; secret: string }

/** Returns the forum of a configuration, or undefined without one. */
export function forumOf({ DISCOURSE_URL, DISCOURSE_SECRET }: Config): Forum | undefined {
  if (DISCOURSE_URL === undefined || DISCOURSE_SECRET === undefined) return undefined
  return { url: DISCOURSE_URL, secret: DISCOURSE_SECRET }
}

/** Returns the address that asks the forum which member uses the browser. */
export function requestUrl({ url, secret }: Forum, nonce: string, return_sso_url: string): string {
  const payload = new URLSearchParams({ nonce, return_sso_url }).toString()
  const sso = Buffer.from(payload).toString('base64')
  const query = new URLSearchParams({ sso, sig: signatureOf(sso, secret) })
  return `${url}/session/sso_provider?${query}`
}

/** The member that the forum names. Only the API has the trust level and the suspension. */
export type ForumIdentity = {
  forum_id: bigint
  username: string
  name: string | null
  email: string
  avatar_url: string | null
  is_admin: boolean
  is_moderator: boolean
  /** The names of all groups, automatic ones too, in the language of the forum. */
  group_names: string[]
}

export type ForumAnswer = { nonce: string; identity: ForumIdentity }

/** Why an answer is refused. */
export type AnswerFault = 'bad_signature' | 'malformed'

export const forumUsername = z
  .string()
  .transform((text) => text.normalize('NFC'))
  .refine((text) => /^[^\s\p{Cc}]{1,60}$/u.test(text) && isCleanText(text))

const Payload = z.object({
  nonce: z.string().min(1),
  // The forum's own accounts (system, bots) have negative ids and never sign in.
  external_id: z
    .string()
    .regex(/^[1-9]\d{0,18}$/)
    .transform(BigInt)
    .refine((id) => id <= FORUM_ID_MAX),
  username: forumUsername,
  email: z.string().regex(/^[^\s@]+@[^\s@]+$/),
  name: z.string().optional(),
  avatar_url: z.string().optional(),
  admin: z.enum(['true', 'false']).default('false'),
  moderator: z.enum(['true', 'false']).default('false'),
  groups: z.string().default(''),
})

/** Reads the forum's answer that the browser brought. It verifies the signature before it parses anything. */
export function readAnswer(secret: string, sso: unknown, sig: unknown): ForumAnswer | AnswerFault {
  if (typeof sso !== 'string' || typeof sig !== 'string') return 'malformed'
  if (!isSigned(sso, sig, secret)) return 'bad_signature'
  if (!/^[A-Za-z0-9+/=\r\n]+$/.test(sso)) return 'malformed'
  const pairs = [...new URLSearchParams(Buffer.from(sso, 'base64').toString())]
  const fields = Object.fromEntries(pairs)
  if (Object.keys(fields).length !== pairs.length || !isCleanValue(fields)) return 'malformed'
  const parsed = Payload.safeParse(fields)
  if (!parsed.success) return 'malformed'
  const { nonce, external_id, username, email, name, avatar_url, admin, moderator, groups } = parsed.data
  const identity = {
    forum_id: external_id,
    username,
    name: name || null,
    email,
    avatar_url: avatar_url !== undefined && /^https?:\/\//.test(avatar_url) ? avatar_url : null,
    is_admin: admin === 'true',
    is_moderator: moderator === 'true',
    group_names: groups.split(',').filter((group) => group !== ''),
  }
  return { nonce, identity }
}

function signatureOf(sso: string, secret: string): string {
  return createHmac('sha256', secret).update(sso).digest('hex')
}

function isSigned(sso: string, sig: string, secret: string): boolean {
  const expected = Buffer.from(signatureOf(sso, secret))
  const sent = Buffer.from(sig)
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}
