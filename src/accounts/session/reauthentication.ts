/**
 * Acts on credentials, keys and large payments require a recent sign-in, so a stolen session cannot perform them. The
 * member signs in at the sign-in page, or from there at the forum, and returns to the act. spec/accounts 3.2.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { backOf } from '../../web/back.ts'
import { keepForm, typedForm } from '../../web/forms/kept-forms.ts'
import { type Session, sessionOf, signInUrl } from './session.ts'

export const PROFILE = '/account/profile'
export const SIGN_IN_AGAIN = 'again'

/** A code, and passkeys on hardware and in software (RFC 8176). */
const SECOND_FACTORS: readonly string[] = ['otp', 'hwk', 'swk']

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/session/sign-in-again': { signInUrl: string; back: string; minutes: number; isKept: boolean }
  }
}

/**
 * Whether the member has signed in within these minutes. With a second factor on the account, a session without it is never
 * fresh.
 */
export function isFresh({ auth_time, amr, user }: Session, minutes: number, now: Date): boolean {
  const isRecent = now.getTime() - auth_time.getTime() <= minutes * 60_000
  return isRecent && (!user.has_second_factor || amr.some((method) => SECOND_FACTORS.includes(method)))
}

/**
 * Returns the address of the sign-in page that shows the reason, names the member and returns to `back`.
 * @param leave where a member goes who does not sign in again: elsewhere if the page itself requires it.
 */
export function signInAgainUrl({ user }: Session, back: string, leave = back): string {
  const hint = new URLSearchParams({ login_hint: user.username, reason: SIGN_IN_AGAIN })
  if (leave !== back) hint.set('leave', leave)
  return `${signInUrl(back)}&${hint}`
}

/**
 * Makes a preHandler to use after requireUser. It lets only a fresh sign-in pass. A GET is redirected to the sign-in page
 * and returns; a form is refused with 409 and a page that leads to the page of the form, which then has what was typed.
 * @param options.back where a member goes who does not sign in again. By default it is the page of the form.
 */
export function requireFreshSignIn(deps: Core, { back }: { back?: string } = {}) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const session = sessionOf(request)
    const minutes = (await deps.settings.read()).reauthenticate_minutes
    if (isFresh(session, minutes, deps.clock())) return undefined
    if (request.method === 'GET')
      return reply.redirect(signInAgainUrl(session, request.url, back ?? '/'), 303)
    const page = backOf(request) ?? PROFILE
    const form = typedForm(request)
    const isKept = (await keepForm(reply, page, form, deps)) && Object.keys(form.typed).length > 0
    const shown = { signInUrl: signInAgainUrl(session, page), back: back ?? page, minutes, isKept }
    return reply.page('accounts/session/sign-in-again', shown, { status: 409 })
  }
}
