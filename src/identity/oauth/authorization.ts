/**
 * An authorization request of a known application: what is asked of whom, and how its answer goes back. That is a redirect with
 * the result in the query, or a page whose form posts it (OAuth 2.0 Form Post Response Mode 1.0). spec/sign-in 1.2.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { signInUrl } from '../../accounts/session/session.ts'
import type { AskedMandate, MandateConsents } from '../../accounts/sign-in/mandate-consent.ts'
import type { Config } from '../../platform/config.ts'
import { privateUseScheme } from '../../web/back.ts'
import { namesIn, withParameters } from '../../web/oauth/parameters.ts'
import type { Parameters } from '../../web/parameters.ts'
import { AUTHORIZATION_PATH } from '../apps/addresses.ts'
import type { Resource } from '../grants/resources.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import type { MetadataClients } from '../metadata/clients.ts'
import { type Demand, queryText, type Target } from './authorization-request.ts'
import type { Hint } from './id-token.ts'

/** The parts that authorization requests need. */
export type AuthorizeDeps = IdentityDeps & {
  metadataClients: MetadataClients
  mandateConsents: MandateConsents
}

/** The member's answer to the consent page. `seen` is what the page showed of the client's document. */
export type Decision = { decision: 'allow' | 'charge' | 'only' | 'deny'; seen?: string | undefined }

export type Authorization = {
  request: FastifyRequest
  reply: FastifyReply
  deps: AuthorizeDeps
  /** The parameters of the request. */
  sent: Parameters
  target: Target
  demand: Demand
  resource: Resource | undefined
  /** The member whom the application expects, by its ID token hint. */
  expected: Hint | undefined
  /** The member's answer to the consent page; undefined before it. */
  decided: Decision | undefined
  /** The public id of the mandate that the request names. */
  mandate_id: string | undefined
  /** That mandate, once the member is known. */
  mandate: AskedMandate | undefined
}

/** The address of the request, to which a sign-in leads back. */
export function addressOf(sent: Parameters): string {
  return `${AUTHORIZATION_PATH}?${queryText(sent)}`
}

/** Where a member signs in as somebody else for the same request. */
export function switchAccountUrl(sent: Parameters): string {
  return signInUrl(addressOf(sent))
}

/** Whether the request has prompt=none, also with extra spaces, so that no page may be shown. */
export function isSilent({ prompt }: Parameters): boolean {
  return typeof prompt === 'string' && namesIn(prompt).includes('none')
}

/** Sends the member back to the application with a code. */
export function sendCode({ reply, target, sent, deps }: Authorization, code: string): true {
  sendAnswer(reply, target, answerTo(target, sent, { code }, deps.config))
  return true
}

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
