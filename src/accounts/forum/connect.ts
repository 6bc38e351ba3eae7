/**
 * DiscourseConnect on the wire, with the forum as the provider: it makes the request and reads the answer. The functions
 * are pure and do not check whether a nonce is ours.
 *
 * An operator may change the secret while members sign in: the forum accepts several secrets for one host, and answers
 * with the one that signed the request.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Config } from '../../platform/config.ts'
import { isCleanText } from '../../web/parameters.ts'
import { fullNameOf, GROUP_NAME_LENGTH_MAX, nameOf, USERNAME_LENGTH_MAX } from './facts.ts'

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

/** Returns an address that asks the forum like a sign-in, for nobody: its answer shows whether the forum accepts the secret. */
export function connectProbeUrl(forum: Forum, public_url: string): string {
  return requestUrl(forum, 'doctor', `${public_url}/sign-in/forum/callback`)
}

/**
 * The member that the forum names. The forum may leave out all but the id and the username, so what is undefined is
 * unknown. Only the API has the trust level and the suspension.
 */
export type ForumIdentity = {
  forum_id: bigint
  username: string
  name: string | null | undefined
  email: string | undefined
  avatar_url: string | undefined
  is_admin: boolean | undefined
  is_moderator: boolean | undefined
  /** The names of all groups, automatic ones too, in the language of the forum. */
  group_names: string[] | undefined
}

export type ForumAnswer = { nonce: string; identity: ForumIdentity }

/** Why an answer is refused. */
export type AnswerFault = 'bad_signature' | 'malformed'

/** Reads the forum's answer that the browser brought. It verifies the signature before it parses anything. */
export function readAnswer(secret: string, sso: unknown, sig: unknown): ForumAnswer | AnswerFault {
  if (typeof sso !== 'string' || typeof sig !== 'string') return 'malformed'
  if (!isSigned(sso, sig, secret)) return 'bad_signature'
  if (!/^[A-Za-z0-9+/=\r\n]+$/.test(sso)) return 'malformed'
  const claims = new URLSearchParams(Buffer.from(sso, 'base64').toString())
  const claim = (name: string) => {
    const values = claims.getAll(name)
    return values.length === 1 ? values[0] : undefined
  }
  const nonce = claim('nonce')
  const forum_id = forumIdOf(claim('external_id'))
  const username = nameOf(claim('username'), USERNAME_LENGTH_MAX)
  if (!nonce || forum_id === undefined || username === undefined) return 'malformed'
  const name = claim('name')
  const identity = {
    forum_id,
    username,
    name: name === undefined ? undefined : fullNameOf(name),
    email: matching(claim('email'), /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u),
    avatar_url: matching(claim('avatar_url'), /^https?:\/\/[^\s\p{Cc}]+$/u),
    is_admin: flagOfText(claim('admin')),
    is_moderator: flagOfText(claim('moderator')),
    group_names: groupNamesOf(claim('groups')),
  }
  return { nonce, identity }
}

/** Reads a member's id. The forum's own accounts (system, bots) have negative ids and never sign in. */
function forumIdOf(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[1-9]\d{0,18}$/.test(text)) return undefined
  const id = BigInt(text)
  return id <= FORUM_ID_MAX ? id : undefined
}

function matching(text: string | undefined, form: RegExp): string | undefined {
  return text !== undefined && form.test(text) && isCleanText(text) ? text : undefined
}

function flagOfText(text: string | undefined): boolean | undefined {
  return text === 'true' || text === 'false' ? text === 'true' : undefined
}

/** Reads the names of all groups. One name in a wrong form makes the groups unknown, because it may be of a denied group. */
function groupNamesOf(text: string | undefined): string[] | undefined {
  const names = text?.split(',').filter((name) => name !== '')
  const read = names?.map((name) => nameOf(name, GROUP_NAME_LENGTH_MAX)).filter((name) => name !== undefined)
  return read?.length === names?.length ? read : undefined
}

function signatureOf(sso: string, secret: string): string {
  return createHmac('sha256', secret).update(sso).digest('hex')
}

function isSigned(sso: string, sig: string, secret: string): boolean {
  const expected = Buffer.from(signatureOf(sso, secret))
  const sent = Buffer.from(sig)
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}
