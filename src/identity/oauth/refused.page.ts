/** The pages and answers of authorization requests that are refused. spec/sign-in 1.2. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Session, sessionOf } from '../../accounts/session/session.ts'
import { AppError } from '../../platform/errors.ts'
import { asDescription, type OAuthError } from '../../web/oauth/errors.ts'
import { wantsHtml } from '../../web/pages.ts'
import type { Parameters } from '../../web/parameters.ts'
import type { Refusal } from '../apps/access.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import { type Answer, answerTo, isSilent, sendAnswer, switchAccountUrl } from './authorization.ts'
import type { Target } from './authorization-request.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'identity/oauth/refused': {
      user: Session['user']
      app: Target['app']
      refusal: Refusal
      /** Absent on the way to a device. */
      answer?: Answer
      switchAccountUrl: string
    }
    'identity/oauth/suspended': { app: Target['app'] }
    'identity/oauth/unconfirmed': { app: Target['app']; switchAccountUrl: string }
  }
}

/** NOTE: never redirects, even with prompt=none, because members must not reach a suspended application. */
export function refuseSuspended(request: FastifyRequest, reply: FastifyReply, { app }: Target): FastifyReply {
  if (!wantsHtml(request)) throw new AppError('access_denied', 'This application has been suspended')
  return reply.page('identity/oauth/suspended', { app }, { status: 403 })
}

/** NOTE: never redirects, because members must not reach an application that its owner may not know of. */
export function refuseDraft(
  request: FastifyRequest,
  reply: FastifyReply,
  { app }: Target,
  sent: Parameters,
): FastifyReply {
  if (!wantsHtml(request))
    throw new AppError('access_denied', 'Its owner has not confirmed this application yet')
  return reply.page(
    'identity/oauth/unconfirmed',
    { app, switchAccountUrl: switchAccountUrl(sent) },
    { status: 403 },
  )
}

/**
 * Sends a refusal to the application. Two refusals wait for a click: a group rule is first shown to the member, and a
 * script finds the address of a denial in its answer.
 */
export function refuse(
  error: OAuthError,
  target: Target,
  sent: Parameters,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: IdentityDeps,
): FastifyReply {
  const { code, message } = error
  const result = { error: code, error_description: asDescription(message) }
  const answer = answerTo(target, sent, result, deps.config)
  if (code !== 'access_denied' || isSilent(sent)) return sendAnswer(reply, target, answer)
  if (!wantsHtml(request)) throw new AppError(code, message, { data: answer })
  const refusal = error.data?.refusal as Refusal | undefined
  if (refusal === undefined) return sendAnswer(reply, target, answer)
  const { user } = sessionOf(request)
  const data = { user, app: target.app, refusal, answer, switchAccountUrl: switchAccountUrl(sent) }
  const leavesSite = answer.form_parameters === undefined ? false : answer.redirect_to
  return reply.page('identity/oauth/refused', data, { status: 403, leavesSite })
}
