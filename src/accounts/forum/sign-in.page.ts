/**
 * Sign-in through the forum. GET /sign-in/forum sends the browser there with a nonce that only this browser can bring back,
 * once and within 10 minutes. The forum sends it to GET /sign-in/forum/callback. A refusal changes nothing.
 *
 * NOTE: While the browser has a session at the forum, the forum asks for no password, and its protocol cannot demand one.
 * When an application demands a new sign-in, a new handshake gives a new auth_time. spec/accounts 5.1.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { Config } from '../../platform/config.ts'
import { randomToken } from '../../platform/secrets.ts'
import { safeBack } from '../../web/back.ts'
import { noteSignIn } from '../security/new-browser.ts'
import { browserScope, signInUrl, startSession } from '../session/session.ts'
import { type AnswerFault, forumOf, readAnswer, requestUrl } from './connect.ts'
import { askFirstScore, keepFirstScore } from './points.ts'
import { issueNonce, lookAtNonce, NONCE_MINUTES, type NonceFault, signInMember } from './sign-in.ts'

const CALLBACK_PATH = '/sign-in/forum/callback'

/** Why a sign-in through the forum was refused. Each problem has its own text. */
type Problem = AnswerFault | NonceFault | 'off' | 'suspended'

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

  // No HEAD, because each request stores a nonce.
  app.get<Query>('/sign-in/forum', { exposeHeadRoute: false }, async (request, reply) => {
    const return_to = safeBack(request.query.return_to)
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
    // Asked at once with the member's facts, so a first score makes no sign-in longer.
    const [outcome, score] = await Promise.all([
      signInMember(deps, answer.identity, nonce),
      askFirstScore(deps, answer.identity),
    ])
    if (typeof outcome === 'string') {
      return refuse(reply, outcome, return_to, outcome === 'suspended' ? forum.url : undefined)
    }
    if (score !== undefined) {
      const failed = (error: unknown) => request.log.error({ err: error }, 'a first score was not granted')
      await keepFirstScore(deps, outcome.user_id, score).catch(failed)
    }
    await startSession(request, reply, outcome.user_id, ['forum'], deps)
    await noteSignIn(request, reply, outcome.user_id, deps)
    return reply.header('cache-control', 'no-store').redirect(return_to, 303)
  })
}

/** Shows why the sign-in was refused, with a link that goes on. */
function refuse(reply: FastifyReply, problem: Problem, back: string, forumUrl?: string): FastifyReply {
  const { session } = reply.request
  // A member who pressed "back" after signing in is signed in already.
  const isDone = problem === 'used' && session !== undefined
  const again = isDone ? back : signInUrl(back)
  return reply.page(
    'accounts/forum/refused',
    { problem, again, isDone, forumUrl },
    { status: STATUS[problem] },
  )
}

/** Returns the browser's own secret. Its nonces are bound to it, so a link of another person cannot sign a member in. */
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

/** Returns the one of our two addresses that the browser uses. The Host header only chooses between them. */
function originInUse({ host }: FastifyRequest, { PUBLIC_URL, PAYMENT_PUBLIC_URL }: Config): string {
  return host === new URL(PAYMENT_PUBLIC_URL).host ? PAYMENT_PUBLIC_URL : PUBLIC_URL
}
