/**
 * Acts that a borrowed or stolen session must not be enough for ask for a sign-in of the last few minutes: at the
 * sign-in page, so that a member of the forum proves it at the forum, and back to where they were.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { type Session, sessionOf, signInUrl } from './session.ts'

export const PROFILE = '/account/profile'
export const SIGN_IN_AGAIN = 'again'

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/session/sign-in-again': { signInUrl: string; back: string; minutes: number }
  }
}

/**
 * Whether the member has signed in within these minutes, and since the account has a second factor, with it: one that
 * was begun with the password alone is never fresh.
 */
export function isFresh({ auth_time, amr, user }: Session, minutes: number, now: Date): boolean {
  const isRecent = now.getTime() - auth_time.getTime() <= minutes * 60_000
  return isRecent && (!user.has_second_factor || amr.includes('otp'))
}

/** The address of the sign-in page that says why, knows who, and comes back to `returnTo`, a path of ours. */
export function signInAgainUrl({ user }: Session, returnTo: string): string {
  const hint = new URLSearchParams({ login_hint: user.username, reason: SIGN_IN_AGAIN })
  return `${signInUrl(returnTo)}&${hint}`
}

/**
 * preHandler after requireUser: lets only a fresh sign-in pass. A page's reader is sent to sign in and comes back;
 * a form is refused with a page that leads to `page`, the address the form stands at.
 * @param options.back where who does not sign in again goes on, else `page`: for pages that ask for it themselves.
 * @param options.minutes what counts as fresh, else the setting reauthenticate_minutes.
 */
export function requireFreshSignIn(
  deps: Core,
  options: { minutes?: number; page: string | ((request: FastifyRequest) => string); back?: string },
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const session = sessionOf(request)
    const minutes = options.minutes ?? (await deps.settings.read()).reauthenticate_minutes
    if (isFresh(session, minutes, deps.clock())) return undefined
    if (request.method === 'GET') return reply.redirect(signInAgainUrl(session, request.url), 303)
    const page = typeof options.page === 'string' ? options.page : options.page(request)
    const shown = { signInUrl: signInAgainUrl(session, page), back: options.back ?? page, minutes }
    return reply.page('accounts/session/sign-in-again', shown, { status: 409 })
  }
}
