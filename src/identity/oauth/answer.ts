/**
 * Answers authorization requests: a redirect with the result in the query, or a page whose form posts it (OAuth 2.0 Form Post
 * Response Mode 1.0). spec/sign-in 1.2.
 */
import type { FastifyReply } from 'fastify'
import type { Config } from '../../platform/config.ts'
import { privateUseScheme } from '../../web/back.ts'
import type { Parameters } from '../../web/parameters.ts'
import type { Target } from './authorization-request.ts'
import { withParameters } from './parameters.ts'

/** Where an answer goes. With `form_parameters` a form posts them to the bare address. */
export type Answer = { redirect_to: string; form_parameters?: Record<string, string> }

declare module '../../web/views.ts' {
  interface PageData {
    'identity/oauth/form-post': { app: Target['app']; answer: Answer }
  }
  interface PartData {
    'identity/oauth/answer-fields': { answer: Answer }
  }
}

/** Makes the answer with this result, also to a faulty request. Every answer has `iss`, and `state` if it was sent. */
export function answerTo(
  { redirect_uri, state }: Target,
  { response_mode }: Parameters,
  result: Record<string, string>,
  { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>,
): Answer {
  const parameters = { ...result, ...(state === undefined ? {} : { state }), iss: PUBLIC_URL }
  const isPosted = response_mode === 'form_post' && privateUseScheme(redirect_uri) === undefined
  return isPosted
    ? { redirect_to: redirect_uri, form_parameters: parameters }
    : { redirect_to: withParameters(redirect_uri, parameters) }
}

/** Sends the browser on with an answer. Without JavaScript the page with the form waits for a click. */
export function sendAnswer(reply: FastifyReply, { app }: Target, answer: Answer): FastifyReply {
  const { redirect_to, form_parameters } = answer
  if (form_parameters === undefined) return reply.redirect(redirect_to, 303)
  return reply.page('identity/oauth/form-post', { app, answer }, { leavesSite: redirect_to })
}
