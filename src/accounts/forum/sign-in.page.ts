/**
 * Signing in through the forum: GET /sign-in/forum sends the browser there with a nonce that only this browser can
 * bring back, once and soon; GET /sign-in/forum/callback is where it comes back. A refusal changes nothing.
 *
 * NOTE: The forum answers without asking again while the browser has a session there, and its protocol knows no way
 * to demand a password. An application that demands a new sign-in gets a new handshake and with it a new auth_time.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { Config } from '../../platform/config.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { safeReturnTo } from '../../web/return-to.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { browserScope, signInUrl, startSession } from '../session/session.ts'
import { type ForumFailure, type ForumUser, fetchForumUser } from './api.ts'
import { type AnswerFault, type ForumIdentity, forumOf, readAnswer, requestUrl } from './connect.ts'
import { parseGroupAliases } from './groups.ts'
import { forumSuspension, saveMember, savingMembers } from './members.ts'

const NONCE_MINUTES = 10
const CALLBACK_PATH = '/sign-in/forum/callback'

/** Why a sign-in through the forum ended on a page of ours. Each has its own text. */
type Problem = AnswerFault | NonceFault | 'off' | 'suspended'
type NonceFault = 'unknown' | 'other_browser' | 'used' | 'expired'

const STATUS = {
  off: 404,
  malformed: 400,
  bad_signature: 403,
  unknown: 400,
  other_browser: 403,
  used: 409,
  expired: 400,
  suspended: 403,
} satisfies Record<Problem, number>

type Query = { Querystring: Record<string, unknown> }

const cookieName = (config: Config) => (config.production ? '__Host-forum' : 'tessera_forum')

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/forum/refused': {
      problem: Problem
      again: string
      isDone: boolean
      forumUrl: string | undefined
    }
  }
}

/** GET /sign-in/forum and its callback. */
export async function forumSignInRoutes(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)

  // No HEAD: it would make nonces that nobody uses.
  app.get<Query>('/sign-in/forum', { exposeHeadRoute: false }, async (request, reply) => {
    const return_to = safeReturnTo(request.query.return_to)
    const forum = forumOf(deps.config)
    if (forum === undefined) return refuse(reply, 'off', return_to)
    const nonce = await issueNonce(deps, rememberBrowser(request, reply, deps.config), return_to)
    const comeBackTo = `${originInUse(request, deps.config)}${CALLBACK_PATH}`
    return reply.header('cache-control', 'no-store').redirect(requestUrl(forum, nonce, comeBackTo), 303)
  })

  const options = { exposeHeadRoute: false, config: { admission: 'slow' } } as const
  app.get<Query>(CALLBACK_PATH, options, async (request, reply) => {
    const { sso, sig } = request.query
    const forum = forumOf(deps.config)
    if (forum === undefined) return refuse(reply, 'off', '/')
    const answer = readAnswer(forum.secret, sso, sig)
    if (typeof answer === 'string') {
      request.log.warn({ problem: answer }, 'an answer of the forum was refused')
      return refuse(reply, answer, '/')
    }
    const browser = request.cookies[cookieName(deps.config)] ?? ''
    const nonce = { nonce: answer.nonce, browser }
    const { fault, return_to } = await lookAtNonce(deps, nonce)
    if (fault !== undefined) return refuse(reply, fault, return_to)
    const outcome = await signInMember(deps, answer.identity, nonce)
    if (typeof outcome === 'string') {
      return refuse(reply, outcome, return_to, outcome === 'suspended' ? forum.url : undefined)
    }
    await startSession(request, reply, outcome.user_id, ['forum'], deps)
    return reply.header('cache-control', 'no-store').redirect(return_to, 303)
  })
}

/** A page that says what went wrong, with the way on. */
function refuse(reply: FastifyReply, problem: Problem, returnTo: string, forumUrl?: string): FastifyReply {
  const { session } = reply.request
  // Who pressed "back" after signing in has nothing to repeat.
  const isDone = problem === 'used' && session !== undefined
  const again = isDone ? returnTo : signInUrl(returnTo)
  return reply.page(
    'accounts/forum/refused',
    { problem, again, isDone, forumUrl },
    { status: STATUS[problem] },
  )
}

/** The browser's own secret, which its nonces are bound to: nobody can be signed in by a link of somebody else. */
function rememberBrowser(request: FastifyRequest, reply: FastifyReply, config: Config): string {
  const browser = request.cookies[cookieName(config)] || randomToken()
  reply.setCookie(cookieName(config), browser, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: config.production,
    maxAge: NONCE_MINUTES * 60,
  })
  return browser
}

/** Which of our two addresses the browser is at. The Host header only chooses between them. */
function originInUse({ host }: FastifyRequest, { PUBLIC_URL, PAYMENT_PUBLIC_URL }: Config): string {
  return host === new URL(PAYMENT_PUBLIC_URL).host ? PAYMENT_PUBLIC_URL : PUBLIC_URL
}

async function issueNonce({ db, clock }: Core, browser: string, return_to: string): Promise<string> {
  const nonce = randomToken()
  const expires_at = new Date(clock().getTime() + NONCE_MINUTES * 60_000)
  await db
    .insertInto('forum_nonces')
    .values({ nonce_hash: sha256(nonce), browser_hash: sha256(browser), return_to, expires_at })
    .execute()
  return nonce
}

type NonceUse = { nonce: string; browser: string }

/** Whether the nonce may be used, before anything is asked or written. Only claimNonce decides. */
async function lookAtNonce(
  { db, clock }: Core,
  { nonce, browser }: NonceUse,
): Promise<{ fault: NonceFault | undefined; return_to: string }> {
  const row = await db
    .selectFrom('forum_nonces')
    .where('nonce_hash', '=', sha256(nonce))
    .select(['browser_hash', 'return_to', 'used_at', 'expires_at'])
    .executeTakeFirst()
  if (row === undefined) return { fault: 'unknown', return_to: '/' }
  if (!row.browser_hash.equals(sha256(browser))) return { fault: 'other_browser', return_to: '/' }
  const { return_to } = row
  if (row.used_at !== null) return { fault: 'used', return_to }
  return { fault: row.expires_at <= clock() ? 'expired' : undefined, return_to }
}

/** Single use is decided here: of any number that come with one nonce, one changes the row. */
async function claimNonce(tx: Tx, { nonce, browser }: NonceUse, now: Date): Promise<boolean> {
  const claimed = await tx
    .updateTable('forum_nonces')
    .set({ used_at: now })
    .where('nonce_hash', '=', sha256(nonce))
    .where('browser_hash', '=', sha256(browser))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return claimed.numUpdatedRows === 1n
}

/** Uses the nonce up and brings the account up to date, in one transaction. */
async function signInMember(
  deps: Core,
  identity: ForumIdentity,
  nonce: NonceUse,
): Promise<{ user_id: bigint } | 'used' | 'suspended'> {
  const hasApi = deps.config.DISCOURSE_API_KEY !== undefined
  const { forum_group_aliases } = await deps.settings.read()
  const { user, failure } = hasApi ? await askApi(deps, identity.forum_id) : {}
  const now = deps.clock()
  const known = await deps.db
    .selectFrom('users')
    .where('forum_id', '=', identity.forum_id)
    .select('id')
    .executeTakeFirst()
  // Somebody who has never been here and may not come in leaves no account.
  if (known === undefined && user !== undefined) {
    const suspension = forumSuspension(user, now)
    if (isBannedOrSuspended(suspension, now)) return 'suspended'
  }
  return savingMembers(deps.db, async (tx) => {
    if (!(await claimNonce(tx, nonce, now))) return 'used'
    const user_id = (await saveMember(tx, {
      identity,
      ...(user && { user }),
      failure,
      hasApi,
      aliases: parseGroupAliases(forum_group_aliases),
      now,
    }))!
    const saved = await tx
      .selectFrom('users')
      .where('id', '=', user_id)
      .select(['is_banned', 'suspended_till'])
      .executeTakeFirstOrThrow()
    return isBannedOrSuspended(saved, now) ? 'suspended' : { user_id }
  })
}

/**
 * The API's word, or why there is none: then the last known values count, and the member is asked about again soon.
 * "Deleted" cannot be true of somebody whom the forum has just vouched for.
 */
async function askApi(deps: Core, forum_id: bigint): Promise<{ user?: ForumUser; failure?: ForumFailure }> {
  const answer = await fetchForumUser(deps, forum_id, 'sign_in')
  return answer === 'deleted' ? { failure: 'unreadable' } : answer
}
