/**
 * Ends a sign-in with a password or a one-time link: it starts a session, or asks for the second factor first. Between the
 * two pages the browser has a cookie that gives access to nothing else.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { leadsTo } from '../../web/return-to.ts'
import { acceptCode, acceptRecoveryCode } from '../security/second-factor.ts'
import { attemptedBy, rememberBrowser } from '../session/known-browser.ts'
import { cookieOptions, startSession } from '../session/session.ts'
import { clearAttempts, failAttempt, openAttempt, withdrawAttempt } from '../session/throttle.ts'
import {
  beginSecondStep,
  endSecondStep,
  findSecondStep,
  hasSecondFactor,
  PENDING_MINUTES,
} from './second-step.ts'

const CodeForm = z.union([
  z.object({
    code: z
      .string()
      .transform(withoutSpaces)
      .pipe(z.string().regex(/^\d{6}$/)),
  }),
  z.object({ recovery_code: z.string().min(1).max(100) }),
])

function withoutSpaces(text: string): string {
  return text.replace(/\s/g, '')
}

/** A right password or link, its RFC 8176 names, and its counted attempt, if there is one. */
export type FirstStep = { user_id: bigint; amr: string[]; attempt?: bigint; returnTo: string }

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/sign-in/second-step': {
      username: string
      problem: 'wrongCode' | 'wrongRecoveryCode' | undefined
    }
  }
}

/** Answers a right password or link with a session, or with a redirect to the second page. */
export async function finishSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { user_id, amr, attempt, returnTo }: FirstStep,
  deps: Core,
): Promise<FastifyReply> {
  if (!(await hasSecondFactor(deps.db, user_id))) {
    if (attempt !== undefined) await clearAttempts(deps, attempt)
    await startSession(request, reply, user_id, amr, deps)
    rememberBrowser(request, reply, user_id, deps)
    return reply.redirect(returnTo, 303)
  }
  // Not cleared yet, because with the password an attacker could otherwise reset the count of wrong codes.
  if (attempt !== undefined) await withdrawAttempt(deps, attempt)
  const token = await beginSecondStep(deps, { user_id, amr, return_to: returnTo })
  reply.setCookie(cookieName(deps), token, { ...cookieOptions(deps.config), maxAge: PENDING_MINUTES * 60 })
  return reply.redirect('/sign-in/second-factor', 303)
}

/** GET and POST /sign-in/second-factor, in the scope of the sign-in page. */
export function secondStepRoutes(app: FastifyInstance, deps: Core): void {
  app.get('/sign-in/second-factor', async (request, reply) => {
    const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
    if (pending === undefined) return reply.redirect('/sign-in', 303)
    return reply.page(
      'accounts/sign-in/second-step',
      { username: pending.username, problem: undefined },
      { leavesSite: leadsTo(pending.return_to) },
    )
  })

  app.post('/sign-in/second-factor', { config: { admission: 'slow' } }, async (request, reply) => {
    const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
    if (pending === undefined) return reply.redirect('/sign-in', 303)
    const form = CodeForm.safeParse(request.body)
    const { user_id, username } = pending
    const attempt = await openAttempt(deps, attemptedBy(request, { user_id, username }, deps))
    const isRight = form.success && (await accept(form.data, { user_id, ip: request.ip }, deps))
    if (!isRight) {
      await failAttempt(deps, attempt)
      const refusal = { kind: 'second_factor_failed', user_id, address: request.ip } as const
      await recordRefusal(deps.db, { ...refusal, at: deps.clock() })
      const problem =
        form.data !== undefined && 'recovery_code' in form.data ? 'wrongRecoveryCode' : 'wrongCode'
      return reply.page(
        'accounts/sign-in/second-step',
        { username, problem },
        { status: 401, leavesSite: leadsTo(pending.return_to) },
      )
    }
    await clearAttempts(deps, attempt)
    const isOurs = await endSecondStep(deps.db, pending.id)
    reply.clearCookie(cookieName(deps), cookieOptions(deps.config))
    // Another request used it, or a change of the password ended it.
    if (!isOurs) return reply.redirect('/sign-in', 303)
    await startSession(request, reply, user_id, [...pending.amr, 'otp'], deps)
    rememberBrowser(request, reply, user_id, deps)
    return reply.redirect(pending.return_to, 303)
  })
}

function accept(
  form: z.output<typeof CodeForm>,
  { user_id, ip }: { user_id: bigint; ip: string },
  deps: Core,
): Promise<boolean> {
  if ('code' in form) return acceptCode(deps, user_id, form.code)
  return acceptRecoveryCode(deps, { user_id, code: form.recovery_code, ip })
}

function cookieName({ config }: Core): string {
  return config.production ? '__Host-sign-in' : 'tessera_sign_in'
}
