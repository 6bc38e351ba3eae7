/** POST /sign-in/passkey and POST /sign-in/again: the sign-in page's answers by a passkey. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { safeBack } from '../../web/back.ts'
import { checkPasskey, type PasskeyFault } from '../passkeys/sign-in.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { noteSignIn } from '../security/new-browser.ts'
import { renewSession, sessionOf, signInUrl, startSession } from '../session/session.ts'

/** Why the sign-in page appears again. */
export type PasskeyProblem = 'passkeyExpired' | 'passkeyUnknown' | 'passkeyUnverified' | 'passkeyAtForum'

export const PROBLEMS = {
  expired: 'passkeyExpired',
  unknown: 'passkeyUnknown',
  unverified: 'passkeyUnverified',
  foreign: 'passkeyUnverified',
} satisfies Record<PasskeyFault, PasskeyProblem>

/** Shows the sign-in page again, with 401. */
type ShowAgain = (
  request: FastifyRequest,
  reply: FastifyReply,
  problem: PasskeyProblem | 'barred',
) => Promise<FastifyReply>

/** What the sign-in page does for its forms. */
type SignInPage = {
  errorHandler: (error: Error, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  page: (request: FastifyRequest) => string
  show: ShowAgain
}

/** Mounts both forms in the scope of the sign-in page. */
export function passkeySignInRoutes(
  app: FastifyInstance,
  deps: Core,
  { errorHandler, page, show }: SignInPage,
): void {
  const config = { admission: 'slow', page } as const

  app.post('/sign-in/passkey', { config, errorHandler }, async (request, reply) => {
    const { credential, return_to } = bodyOf(request)
    const outcome = await checkPasskey(request, credential, { purpose: 'sign_in' }, deps)
    if (typeof outcome === 'string') return show(request, reply, PROBLEMS[outcome])
    const { user_id, has_password, amr } = outcome
    if (isBannedOrSuspended(outcome, deps.clock())) return show(request, reply, 'barred')
    // The forum decides who comes in.
    if (!has_password) return show(request, reply, 'passkeyAtForum')
    await startSession(request, reply, user_id, amr, deps)
    await noteSignIn(request, reply, user_id, deps)
    return reply.redirect(safeBack(return_to), 303)
  })

  const startOver = async (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    // The session ended while the page was open, so its form token is worthless.
    const isExpired = error instanceof AppError && error.code === 'form_expired'
    if (isExpired && request.session === undefined)
      return reply.redirect(signInUrl(safeBack(bodyOf(request).return_to)), 303)
    return errorHandler(error, request, reply)
  }
  app.post('/sign-in/again', { config, errorHandler: startOver }, async (request, reply) => {
    const { credential, return_to } = bodyOf(request)
    const back = safeBack(return_to)
    if (request.session === undefined) return reply.redirect(signInUrl(back), 303)
    const { id: user_id, username, has_password } = sessionOf(request).user
    const amr = has_password ? [] : ['forum']
    const asked = { purpose: 'again', member: { user_id, username }, amr } as const
    const outcome = await checkPasskey(request, credential, asked, deps)
    if (outcome === 'foreign')
      throw new AppError('forbidden', 'This passkey belongs to another member. Use one of your own')
    if (typeof outcome === 'string') return show(request, reply, PROBLEMS[outcome])
    if (!(await renewSession(request, reply, outcome.amr, deps))) return reply.redirect(signInUrl(back), 303)
    return reply.redirect(back, 303)
  })
}

function bodyOf({ body }: FastifyRequest): Record<string, unknown> {
  return (body ?? {}) as Record<string, unknown>
}
