/** Renders failures of the identity area for people: pages, or JSON for scripts. spec/sign-in 6.1. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors.ts'
import { asOAuthFailure, type OAuthFailure, sendOAuthError } from '../../web/oauth/errors.ts'
import { sendPageError, wantsHtml } from '../../web/pages.ts'
import { type AuthorizedApp, UnregisteredAddress } from './authorization-request.ts'

/** Codes that have their own text on the page. */
const EXPLAINED = ['invalid_client', 'invalid_redirect_uri', 'invalid_request', 'access_denied'] as const

declare module '../../web/views.ts' {
  interface PageData {
    'identity/oauth/error': {
      failure: OAuthFailure
      kind: (typeof EXPLAINED)[number] | 'other'
      requestId: string
      /** The application whose redirect URI was not found, the address that was sent, and whether it is the reader's. */
      unregistered?: { app: AuthorizedApp; redirect_uri: string; isOwn: boolean }
    }
  }
}

/** Renders a failure of the browser scope: a page that also shows the OAuth code, or JSON for scripts. */
export async function sendBrowserError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const failure = asOAuthFailure(error)
  const isPageFailure = error instanceof AppError && failure === undefined
  if (isPageFailure || (failure === undefined && wantsHtml(request)))
    return sendPageError(error, request, reply)
  if (failure === undefined || !wantsHtml(request)) return sendOAuthError(error, request, reply)
  const { challenge } = failure.data
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  const kind = EXPLAINED.find((code) => code === failure.code) ?? ('other' as const)
  const unregistered = error instanceof UnregisteredAddress && {
    ...{ app: error.app, redirect_uri: error.redirect_uri },
    isOwn: error.app.owner_id !== null && error.app.owner_id === request.session?.user.id,
  }
  const data = { failure, kind, requestId: request.id, ...(unregistered && { unregistered }) }
  return reply.page('identity/oauth/error', data, { status: failure.status })
}
