/**
 * Ends a sign-in with a password or a one-time link: it starts a session, or asks for the second factor first. Between the
 * two pages the browser has a cookie that gives access to nothing else.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { leadsTo, safeBack } from '../../web/back.ts'
import { type NextStep, nextStepOf } from '../../web/next-steps.ts'
import { wantsHtml } from '../../web/pages.ts'
import { type PasskeyButton, passkeyButton } from '../passkeys/options.ts'
import { checkPasskey } from '../passkeys/sign-in.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { noteSignIn } from '../security/new-browser.ts'
import { acceptCode, acceptRecoveryCode } from '../security/second-factor.ts'
import { attemptedBy } from '../session/known-browser.ts'
import { agentOf, cookieOptions, signInUrl, startSession } from '../session/session.ts'
import { clearAttempts, failAttempt, openAttempt, withdrawAttempt } from '../session/throttle.ts'
import { continueMeanwhile, hasSignedInMeanwhile } from './meanwhile.ts'

const CodeForm = z.union([
  z.object({
    code: z
      .string()
      .transform(withoutSpaces)
      .pipe(z.string().regex(/^\d{6}$/)),
  }),
  z.object({ recovery_code: z.string().min(1).max(100) }),
])
const PasskeyForm = z.object({ credential: z.string().min(1) })

function withoutSpaces(text: string): string {
  return text.replace(/\s/g, '')
}

/** A right password or link, its RFC 8176 names, and its counted attempt, if there is one. */
export type FirstStep = { user_id: bigint; amr: string[]; attempt?: bigint; back: string }

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/sign-in/second-step': {
      username: string
      back: string
      nextStep: NextStep | undefined
      /** False where passkeys are the only second factor. */
      hasCodes: boolean
      passkey: PasskeyButton | undefined
      problem: Problem | undefined
      /** How long a member who is locked out has to wait. */
      lockedSeconds: number | undefined
    }
  }
}

const PAGE = '/sign-in/second-factor'

type Pending = NonNullable<Awaited<ReturnType<typeof findSecondStep>>>

type Problem = 'wrongCode' | 'wrongRecoveryCode' | 'passkeyUnverified' | 'passkeyExpired' | 'locked'

type Shown = {
  problem?: Problem
  lockedSeconds?: number
  status?: number
}

/** Answers a right password or link with a session, or with a redirect to the second page. */
export async function finishSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { user_id, amr, attempt, back }: FirstStep,
  deps: Core,
): Promise<FastifyReply> {
  if (!(await hasSecondFactor(deps.db, user_id))) {
    if (attempt !== undefined) await clearAttempts(deps, attempt)
    await startSession(request, reply, user_id, amr, deps)
    await noteSignIn(request, reply, user_id, deps)
    return reply.redirect(back, 303)
  }
  // Not cleared yet, because with the password an attacker could otherwise reset the count of wrong codes.
  if (attempt !== undefined) await withdrawAttempt(deps, attempt)
  const token = await beginSecondStep(deps, { user_id, amr, return_to: back })
  reply.setCookie(cookieName(deps), token, { ...cookieOptions(deps.config), maxAge: PENDING_MINUTES * 60 })
  return reply.redirect(secondStepUrl(back), 303)
}

/** The address of the page, with the path that it returns to even after the unfinished sign-in has expired. */
function secondStepUrl(back: string): string {
  return back === '/' ? PAGE : `${PAGE}?return_to=${encodeURIComponent(back)}`
}

/** GET and POST /sign-in/second-factor, in the scope of the sign-in page. */
export function secondStepRoutes(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>(PAGE, async (request, reply) => {
    const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
    if (pending === undefined) return startOver(reply, request.query.return_to)
    return show(request, reply, pending, {}, deps)
  })

  const options = {
    config: { admission: 'slow', page: secondStepPage },
    errorHandler: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      showAgain(error, request, reply, deps),
  } as const
  app.post(PAGE, options, async (request, reply) => {
    const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
    if (pending === undefined) return startOver(reply, backOfForm(request))
    const { user_id, id, return_to } = pending
    const amr = await prove(request, pending, deps)
    if (typeof amr === 'string') return show(request, reply, pending, { problem: amr, status: 401 }, deps)
    const isOurs = await endSecondStep(deps.db, id)
    reply.clearCookie(cookieName(deps), cookieOptions(deps.config))
    // Another request used it, or a change of the password ended it.
    if (!isOurs) return startOver(reply, return_to)
    await startSession(request, reply, user_id, amr, deps)
    await noteSignIn(request, reply, user_id, deps)
    return reply.redirect(return_to, 303)
  })
}

/** Checks the second factor that a form sent. Returns the methods of the whole sign-in, or why it was refused. */
async function prove(request: FastifyRequest, pending: Pending, deps: Core): Promise<string[] | Problem> {
  const { user_id, username, amr } = pending
  const passkey = PasskeyForm.safeParse(request.body)
  if (passkey.success) {
    const asked = { purpose: 'second_step', member: { user_id, username }, amr } as const
    const outcome = await checkPasskey(request, passkey.data.credential, asked, deps)
    if (typeof outcome !== 'string') return outcome.amr
    return outcome === 'expired' ? 'passkeyExpired' : 'passkeyUnverified'
  }
  const form = CodeForm.safeParse(request.body)
  const attempt = await openAttempt(deps, attemptedBy(request, { user_id, username }, deps))
  if (form.success && (await accept(form.data, { user_id, ip: request.ip, agent: agentOf(request) }, deps))) {
    await clearAttempts(deps, attempt)
    return [...amr, 'otp']
  }
  await failAttempt(deps, attempt)
  const refusal = { kind: 'second_factor_failed', user_id, address: request.ip } as const
  await recordRefusal(deps.db, { ...refusal, at: deps.clock() })
  return 'recovery_code' in (request.body as object) ? 'wrongRecoveryCode' : 'wrongCode'
}

async function show(
  request: FastifyRequest,
  reply: FastifyReply,
  { user_id, username, return_to: back, hasCodes }: Pending,
  { problem, lockedSeconds, status = 200 }: Shown,
  deps: Core,
): Promise<FastifyReply> {
  const nextStep = await nextStepOf(request.server, back)
  const passkey = await passkeyButton(request, 'second_step', user_id, deps)
  const data = { username, back, nextStep, hasCodes, passkey, problem, lockedSeconds }
  return reply.page('accounts/sign-in/second-step', data, { status, leavesSite: leadsTo(back) })
}

/** Shows the form again after a lock-out, and continues where the browser has signed in meanwhile. Throws other errors on. */
async function showAgain(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  if (hasSignedInMeanwhile(error, request, deps)) {
    const { return_to = safeBack(backOfForm(request)), username = '' } =
      (await findSecondStep(deps, request.cookies[cookieName(deps)])) ?? {}
    return continueMeanwhile(request, reply, { back: return_to, username })
  }
  const isLockout = error instanceof AppError && error.code === 'too_many_attempts'
  // The limit of pages refuses a request before its body and its session are read.
  if (!isLockout || request.body === undefined || !wantsHtml(request)) throw error
  const pending = await findSecondStep(deps, request.cookies[cookieName(deps)])
  if (pending === undefined) throw error
  const lockedSeconds = error.retry_after_seconds ?? 1
  reply.header('retry-after', lockedSeconds)
  return show(request, reply, pending, { problem: 'locked', lockedSeconds, status: 429 }, deps)
}

/** Begins the sign-in again, on the way to the same page. */
function startOver(reply: FastifyReply, back: unknown): FastifyReply {
  const path = safeBack(back)
  return reply.redirect(path === '/' ? '/sign-in' : signInUrl(path), 303)
}

function backOfForm({ body }: FastifyRequest): unknown {
  return (body as Record<string, unknown> | undefined)?.return_to
}

function secondStepPage(request: FastifyRequest): string {
  return secondStepUrl(safeBack(backOfForm(request)))
}

function accept(
  form: z.output<typeof CodeForm>,
  { user_id, ...by }: { user_id: bigint; ip: string; agent: string },
  deps: Core,
): Promise<boolean> {
  if ('code' in form) return acceptCode(deps, user_id, form.code)
  return acceptRecoveryCode(deps, { user_id, code: form.recovery_code, ...by })
}

function cookieName({ config }: Core): string {
  return config.production ? '__Host-sign-in' : 'tessera_sign_in'
}

const PENDING_MINUTES = 10

/** Whether a sign-in to this account requires a second factor. */
async function hasSecondFactor(db: Db, user_id: bigint): Promise<boolean> {
  const factor = await db
    .selectFrom('second_factors as factor')
    .innerJoin('users', 'users.id', 'factor.user_id')
    .where('factor.user_id', '=', user_id)
    // An account that moved to the forum may have an old factor, which no longer counts.
    .where('users.password_hash', 'is not', null)
    .select('factor.user_id')
    .executeTakeFirst()
  return factor !== undefined
}

/** Stores a sign-in whose first step was right. Returns the token with which the browser finishes it. */
export async function beginSecondStep(
  { db, clock }: Core,
  first: { user_id: bigint; amr: string[]; return_to: string },
): Promise<string> {
  const token = randomToken()
  const expires_at = new Date(clock().getTime() + PENDING_MINUTES * 60_000)
  await db
    .insertInto('pending_sign_ins')
    .values({ ...first, token_hash: sha256(token), expires_at })
    .execute()
  return token
}

/** Returns the unfinished sign-in of this token, or undefined. `hasCodes`: the member has an authenticator app. */
async function findSecondStep({ db, clock }: Core, token: string | undefined) {
  if (token === undefined) return undefined
  const now = clock()
  const row = await db
    .selectFrom('pending_sign_ins as pending')
    .innerJoin('users', 'users.id', 'pending.user_id')
    .leftJoin('second_factors as factor', 'factor.user_id', 'pending.user_id')
    .where('pending.token_hash', '=', sha256(token))
    .where('pending.expires_at', '>', now)
    .select(['pending.id', 'pending.user_id', 'pending.amr', 'pending.return_to'])
    .select(['users.username', 'users.is_banned', 'users.suspended_till'])
    .select((eb) => eb('factor.secret_encrypted', 'is not', null).$castTo<boolean>().as('hasCodes'))
    .executeTakeFirst()
  return row === undefined || isBannedOrSuspended(row, now) ? undefined : row
}

/** Uses an unfinished sign-in. Returns false when another request used it, or a change of the password ended it. */
async function endSecondStep(db: Db, id: bigint): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('pending_sign_ins').where('id', '=', id).executeTakeFirst()
  return numDeletedRows === 1n
}
