/** Answers the form of a sign-in page whose browser has signed in meanwhile, in another tab. spec/accounts 2.5. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { wantsHtml } from '../../web/pages.ts'
import { isEarlierForm, sessionOf, signInUrl } from '../session/session.ts'

/** The reason of a sign-in page that offers to continue as the member of the session. */
export const MEANWHILE = 'meanwhile'

/** Whether a form was refused only because this browser has signed in since our own page made it. */
export function hasSignedInMeanwhile(error: Error, request: FastifyRequest, deps: Core): boolean {
  const isExpired = error instanceof AppError && error.code === 'form_expired'
  return isExpired && request.session !== undefined && wantsHtml(request) && isEarlierForm(request, deps)
}

/**
 * Continues as the member of the session where the form names that member, and offers it elsewhere. It starts no session and ends
 * none, so a forged form can sign nobody in.
 */
export function continueMeanwhile(
  request: FastifyRequest,
  reply: FastifyReply,
  { back, username }: { back: string; username: string },
): FastifyReply {
  const own = sessionOf(request).user.username
  if (username.trim().toLowerCase() === own.toLowerCase()) return reply.redirect(back, 303)
  const shown = new URLSearchParams({ reason: MEANWHILE, login_hint: username })
  return reply.redirect(`${signInUrl(back)}&${shown}`, 303)
}
