/** Sign-in with a local password or a passkey, and sign-out. The page also links to the forum. Failures are throttled (spec/accounts 2.1 and 2.2). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { AppError } from '../../platform/errors.ts'
import { leadsTo, safeBack } from '../../web/back.ts'
import { foundQueueFull } from '../../web/forms/forms.ts'
import { type NextStep, nextStepOf } from '../../web/next-steps.ts'
import { wantsHtml } from '../../web/pages.ts'
import { readSignIn } from '../passkeys/credential.ts'
import { type PasskeyButton, passkeyButton } from '../passkeys/options.ts'
import { hasMail } from '../people/email.ts'
import { EMAIL_LENGTH_MAX, findToSignIn, isBannedOrSuspended } from '../people/users.ts'
import { verifyPassword } from '../security/password.ts'
import { attemptedBy } from '../session/known-browser.ts'
import { SIGN_IN_AGAIN } from '../session/reauthentication.ts'
import { relyingPartyId } from '../session/relying-party.ts'
import { browserScope, endSession, signInUrl } from '../session/session.ts'
import { checkAttempt, clearAttempts, failAttempt, openAttempt } from '../session/throttle.ts'
import { signInLinkRoutes } from './link.page.ts'
import { continueMeanwhile, hasSignedInMeanwhile, MEANWHILE } from './meanwhile.ts'
import { type PasskeyProblem, passkeySignInRoutes } from './passkey.page.ts'
import { isRegistrationOpen, registrationRoutes } from './register.page.ts'
import { finishSignIn, secondStepRoutes } from './second-step.page.ts'

const SignInForm = z.object({
  /** Or the confirmed e-mail address. */
  username: z.string().trim().min(1).max(EMAIL_LENGTH_MAX),
  password: z.string().min(1).max(1_000),
  return_to: z.string().optional(),
})

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/sign-in/sign-in': {
      back: string
      nextStep: NextStep | undefined
      username: string
      problem: Problem | undefined
      /** How long a member who is locked out has to wait. */
      lockedSeconds: number | undefined
      isAgain: boolean
      /** Where a member goes who does not confirm. */
      leave: string
      /** Whether the browser signed in while another tab showed the form. */
      isMeanwhile: boolean
      canRegister: boolean
      /** `isOwn`: it confirms the member of the session. */
      passkey: (PasskeyButton & { isOwn: boolean }) | undefined
      /** A passkey that the browser offered and this site does not know, as JSON. */
      unknownPasskey: string | undefined
      hasForum: boolean
      canRecover: boolean
      /** The host that the reader's address bar must name. */
      host: string
    }
  }
  interface PartData {
    /** `isNamed` if the page's heading names the application. */
    'accounts/sign-in/next-step': { nextStep: NextStep; isNamed?: boolean }
    /** A form that stays hidden until the browser can answer it. */
    'accounts/sign-in/passkey': {
      passkey: PasskeyButton
      action: string
      back: string
      hasAutofill: boolean
      label: string
      noneUsed: string
      isFirst: boolean
    }
  }
}

type Problem = 'wrong_credentials' | 'barred' | 'locked' | 'busy' | 'expired' | PasskeyProblem

type Shown = {
  back: string
  username: string
  problem?: Problem
  lockedSeconds?: number
  isAgain?: boolean
  leave?: string
  isMeanwhile?: boolean
  status?: number
}

/** GET and POST /sign-in, its answers by passkey, its second page, the one-time link and registration; POST /sign-out. */
export async function signInRoutes(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)

  app.get<{ Querystring: Record<string, unknown> }>('/sign-in', async (request, reply) => {
    const { return_to, login_hint, reason, leave } = request.query
    const username = typeof login_hint === 'string' ? login_hint.slice(0, EMAIL_LENGTH_MAX) : ''
    const back = safeBack(return_to)
    const shown = { back, username, isAgain: reason === SIGN_IN_AGAIN, leave: safeBack(leave ?? back) }
    return show(request, reply, { ...shown, isMeanwhile: reason === MEANWHILE }, deps)
  })

  const options = {
    config: { admission: 'slow', page: signInPage },
    errorHandler: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      showAgain(error, request, reply, deps),
  } as const
  app.post('/sign-in', options, async (request, reply) => {
    const form = SignInForm.safeParse(request.body)
    const back = safeBack((request.body as Record<string, unknown> | undefined)?.return_to)
    const again = (problem: Problem, username: string) =>
      show(request, reply, { back, username, problem, ...confirming(request), status: 401 }, deps)

    const { username: typed } = (request.body ?? {}) as Record<string, unknown>
    if (!form.success) return again('wrong_credentials', typeof typed === 'string' ? typed : '')
    const { username, password } = form.data
    const found = await findToSignIn(deps.db, username)
    // The username and the address of an account share one count.
    const by = { user_id: found?.id, username: found?.username ?? username }
    const attempt = await openAttempt(deps, attemptedBy(request, by, deps))
    // An unknown name takes the same time, so that the time reveals nothing.
    const isRight = await checkAttempt(deps, attempt, verifyPassword(password, found?.password_hash))
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
    return finishSignIn(request, reply, { user_id: found.id, amr: ['pwd'], attempt, back }, deps)
  })

  passkeySignInRoutes(app, deps, {
    errorHandler: options.errorHandler,
    page: signInPage,
    show: (request, reply, problem) => {
      const { return_to } = request.body as Record<string, unknown>
      const isAgain = request.routeOptions.url === '/sign-in/again'
      const asked = { isAgain, ...confirming(request) }
      const shown = { back: safeBack(return_to), username: '', ...asked, problem, status: 401 }
      return show(request, reply, shown, deps)
    },
  })
  registrationRoutes(app, deps)
  secondStepRoutes(app, deps)
  signInLinkRoutes(app, deps)

  app.post('/sign-out', { config: { page: () => '/' } }, async (request, reply) => {
    await endSession(request, reply, deps)
    return reply.redirect('/', 303)
  })
}

async function show(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    back,
    username,
    problem,
    lockedSeconds,
    isAgain = false,
    leave = back,
    isMeanwhile = false,
    status = 200,
  }: Shown,
  deps: Core,
): Promise<FastifyReply> {
  const data = {
    back,
    nextStep: await nextStepOf(request.server, back),
    username,
    problem,
    lockedSeconds,
    isAgain,
    leave,
    isMeanwhile,
    canRegister: await isRegistrationOpen(deps),
    passkey: await findPasskeyButton(request, isAgain, deps),
    unknownPasskey: problem === 'passkeyUnknown' ? unknownPasskey(request, deps) : undefined,
    hasForum: deps.config.DISCOURSE_URL !== undefined,
    canRecover: hasMail(deps.config),
    host: hostOf(request, deps),
  }
  return reply.page('accounts/sign-in/sign-in', data, { status, leavesSite: leadsTo(back) })
}

/** Whether a form confirms the member who is signed in, and where it leads who does not. */
function confirming({ body }: FastifyRequest): Pick<Shown, 'isAgain' | 'leave'> {
  const { reason, leave } = (body ?? {}) as Record<string, unknown>
  return reason === SIGN_IN_AGAIN ? { isAgain: true, leave: safeBack(leave) } : {}
}

/**
 * Returns the button of the page. Where a member of the forum is signed in, it confirms that member, because the forum decides
 * who comes in.
 */
async function findPasskeyButton(request: FastifyRequest, isAgain: boolean, deps: Core) {
  const user = request.session?.user
  if (user !== undefined && (isAgain || !user.has_password)) {
    const own = await passkeyButton(request, 'again', user.id, deps)
    if (own !== undefined || isAgain) return own && { ...own, isOwn: true }
  }
  const any = await passkeyButton(request, 'sign_in', undefined, deps)
  return any && { ...any, isOwn: false }
}

/** Returns what `signalUnknownCredential` needs about the passkey of a request. */
function unknownPasskey({ body }: FastifyRequest, { config }: Core): string | undefined {
  const credentialId = readSignIn((body as Record<string, unknown>).credential)?.answer.id
  return credentialId && JSON.stringify({ rpId: relyingPartyId(config), credentialId })
}

/** Shows the form again with what was typed: after a lock-out, under overload, and if it is too old. Throws other errors on. */
async function showAgain(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const sent = request.body as Record<string, unknown> | undefined
  // The limit of pages refuses a request before its body and its session are read.
  if (!(error instanceof AppError) || sent === undefined || !wantsHtml(request)) throw error
  const username = typeof sent.username === 'string' ? sent.username.slice(0, EMAIL_LENGTH_MAX) : ''
  const shown = { back: safeBack(sent.return_to), username, ...confirming(request) }
  if (hasSignedInMeanwhile(error, request, deps)) return continueMeanwhile(request, reply, shown)
  if (error.code === 'form_expired')
    return show(request, reply, { ...shown, problem: 'expired', status: 403 }, deps)
  const isBusy = foundQueueFull(error, request)
  if (!isBusy && error.code !== 'too_many_attempts') throw error
  const lockedSeconds = error.retry_after_seconds ?? 1
  reply.header('retry-after', lockedSeconds)
  if (isBusy) return show(request, reply, { ...shown, problem: 'busy', status: 503 }, deps)
  return show(request, reply, { ...shown, problem: 'locked', lockedSeconds, status: 429 }, deps)
}

/** The page of a sign-in form, which is again about to lead to the same page, with the username that was typed. */
function signInPage({ body }: FastifyRequest): string {
  const { return_to, username } = (body ?? {}) as Record<string, unknown>
  const url = signInUrl(safeBack(return_to))
  if (typeof username !== 'string' || username === '') return url
  return `${url}&login_hint=${encodeURIComponent(username.slice(0, EMAIL_LENGTH_MAX))}`
}

/** The host of our configured address at which the reader is, so that another host cannot vouch for itself. */
function hostOf({ host }: FastifyRequest, { config }: Core): string {
  const own = [config.PUBLIC_URL, config.PAYMENT_PUBLIC_URL].map((url) => new URL(url).host)
  return own.find((each) => each === host) ?? own[0]!
}
