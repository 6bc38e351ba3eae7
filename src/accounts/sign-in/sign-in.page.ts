/** Sign-in with a local password, and sign-out. The page also links to the forum. Failures are throttled (decisions.md 11). */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { leadsTo, safeReturnTo } from '../../web/return-to.ts'
import { hasMail } from '../people/email.ts'
import { findToSignIn, isBannedOrSuspended } from '../people/users.ts'
import { verifyPassword } from '../security/password.ts'
import { attemptedBy } from '../session/known-browser.ts'
import { SIGN_IN_AGAIN } from '../session/reauthentication.ts'
import { browserScope, endSession } from '../session/session.ts'
import { clearAttempts, failAttempt, openAttempt } from '../session/throttle.ts'
import { signInLinkRoutes } from './link.page.ts'
import { isRegistrationOpen, registrationRoutes } from './register.page.ts'
import { finishSignIn, secondStepRoutes } from './second-step.page.ts'

const SignInForm = z.object({
  username: z.string().trim().min(1).max(60),
  password: z.string().min(1).max(1_000),
  return_to: z.string().optional(),
})

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/sign-in/sign-in': {
      returnTo: string
      username: string
      problem: 'wrong_credentials' | 'barred' | undefined
      isAgain: boolean
      canRegister: boolean
      hasForum: boolean
      canRecover: boolean
    }
  }
}

/** GET and POST /sign-in, its second page, the one-time link and registration; POST /sign-out. */
export async function signInRoutes(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  const hasForum = deps.config.DISCOURSE_URL !== undefined
  const canRecover = hasMail(deps.config)

  app.get<{ Querystring: Record<string, unknown> }>('/sign-in', async (request, reply) => {
    const { return_to, login_hint, reason } = request.query
    const username = typeof login_hint === 'string' ? login_hint.slice(0, 60) : ''
    const returnTo = safeReturnTo(return_to)
    return reply.page(
      'accounts/sign-in/sign-in',
      {
        returnTo,
        username,
        problem: undefined,
        isAgain: reason === SIGN_IN_AGAIN,
        canRegister: await isRegistrationOpen(deps),
        hasForum,
        canRecover,
      },
      { leavesSite: leadsTo(returnTo) },
    )
  })

  app.post('/sign-in', { config: { admission: 'slow' } }, async (request, reply) => {
    const form = SignInForm.safeParse(request.body)
    const returnTo = safeReturnTo(form.data?.return_to)
    const again = (problem: 'wrong_credentials' | 'barred', username: string) =>
      reply.page(
        'accounts/sign-in/sign-in',
        { returnTo, username, problem, isAgain: false, canRegister: false, hasForum, canRecover },
        { status: 401, leavesSite: leadsTo(returnTo) },
      )

    if (!form.success) return again('wrong_credentials', '')
    const { username, password } = form.data
    const found = await findToSignIn(deps.db, username)
    const attempt = await openAttempt(deps, attemptedBy(request, { user_id: found?.id, username }, deps))
    // An unknown name takes the same time, so that the time reveals nothing.
    const isRight = await verifyPassword(password, found?.password_hash)
    if (found === undefined || !isRight) {
      await failAttempt(deps, attempt)
      const refusal = { kind: 'sign_in_failed', user_id: found?.id, address: request.ip } as const
      await recordRefusal(deps.db, { ...refusal, at: deps.clock() })
      return again('wrong_credentials', username)
    }
    if (isBannedOrSuspended(found, deps.clock())) {
      await clearAttempts(deps, attempt)
      return again('barred', username)
    }
    return finishSignIn(request, reply, { user_id: found.id, amr: ['pwd'], attempt, returnTo }, deps)
  })

  registrationRoutes(app, deps)
  secondStepRoutes(app, deps)
  signInLinkRoutes(app, deps)

  app.post('/sign-out', async (request, reply) => {
    await endSession(request, reply, deps)
    return reply.redirect('/', 303)
  })
}
