/**
 * Ends a sign-in with a password or a one-time link: it starts a session, or asks for the second factor first. Between the
 * two pages the browser has a cookie that gives access to nothing else.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { AppError } from '../../platform/errors.ts'
import { type Destination, destinationOf } from '../../web/destinations.ts'
import { wantsHtml } from '../../web/pages.ts'
import { leadsTo, safeReturnTo } from '../../web/return-to.ts'
import { acceptCode, acceptRecoveryCode } from '../security/second-factor.ts'
import { attemptedBy, rememberBrowser } from '../session/known-browser.ts'
import { cookieOptions, signInUrl, startSession } from '../session/session.ts'
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
      returnTo: string
      destination: Destination | undefined
      problem: 'wrongCode' | 'wrongRecoveryCode' | 'locked' | undefined
      /** How long a member who is locked out has to wait. */
      lockedSeconds: number | undefined
    }
  }
}

const PAGE = '/sign-in/second-factor'

type Pending = NonNullable<Awaited<ReturnType<typeof findSecondStep>>>

type Shown = {
  problem?: 'wrongCode' | 'wrongRecoveryCode' | 'locked'
  lockedSeconds?: number
  status?: number
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
  return reply.redirect(secondStepUrl(returnTo), 303)
}

/** The address of the page, with the path that it returns to even after the unfinished sign-in has expired. */
function secondStepUrl(returnTo: string): string {
  return returnTo === '/' ? PAGE : `${PAGE}?return_to=${encodeURIComponent(returnTo)}`
}

/** GET and POST /sign-in/second-factor, in the scope of the sign-in page. */
export function secondStepRoutes(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>(PAGE, async (request, reply) => {
    const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
    if (pending === undefined) return startOver(reply, request.query.return_to)
    return show(request, reply, pending, {})
  })

  const options = {
    config: { admission: 'slow', page: secondStepPage },
    errorHandler: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      showAgain(error, request, reply, deps),
  } as const
  app.post(PAGE, options, async (request, reply) => {
    const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
    if (pending === undefined) return startOver(reply, returnToOf(request))
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
      return show(request, reply, pending, { problem, status: 401 })
    }
    await clearAttempts(deps, attempt)
    const isOurs = await endSecondStep(deps.db, pending.id)
    reply.clearCookie(cookieName(deps), cookieOptions(deps.config))
    // Another request used it, or a change of the password ended it.
    if (!isOurs) return startOver(reply, pending.return_to)
    await startSession(request, reply, user_id, [...pending.amr, 'otp'], deps)
    rememberBrowser(request, reply, user_id, deps)
    return reply.redirect(pending.return_to, 303)
  })
}

async function show(
  request: FastifyRequest,
  reply: FastifyReply,
  { username, return_to: returnTo }: Pending,
  { problem, lockedSeconds, status = 200 }: Shown,
): Promise<FastifyReply> {
  const destination = await destinationOf(request.server, returnTo)
  const data = { username, returnTo, destination, problem, lockedSeconds }
  return reply.page('accounts/sign-in/second-step', data, { status, leavesSite: leadsTo(returnTo) })
}

/** Shows the form again after a lock-out. Throws other errors on. */
async function showAgain(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const isLockout = error instanceof AppError && error.code === 'too_many_attempts'
  // The limit of pages refuses a request before its body and its session are read.
  if (!isLockout || request.body === undefined || !wantsHtml(request)) throw error
  const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
  if (pending === undefined) throw error
  const lockedSeconds = error.retry_after_seconds ?? 1
  reply.header('retry-after', lockedSeconds)
  return show(request, reply, pending, { problem: 'locked', lockedSeconds, status: 429 })
}

/** Begins the sign-in again, on the way to the same place. */
function startOver(reply: FastifyReply, returnTo: unknown): FastifyReply {
  const path = safeReturnTo(returnTo)
  return reply.redirect(path === '/' ? '/sign-in' : signInUrl(path), 303)
}

function returnToOf({ body }: FastifyRequest): unknown {
  return (body as Record<string, unknown> | undefined)?.return_to
}

function secondStepPage(request: FastifyRequest): string {
  return secondStepUrl(safeReturnTo(returnToOf(request)))
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
