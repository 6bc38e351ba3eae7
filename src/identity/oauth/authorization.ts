/** An authorization request of a known application: what is asked of whom, and how its answer goes back. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { signInUrl } from '../../accounts/session/session.ts'
import type { AskedMandate, MandateConsents } from '../../accounts/sign-in/mandate-consent.ts'
import type { Parameters } from '../../web/parameters.ts'
import { AUTHORIZATION_PATH } from '../apps/addresses.ts'
import type { Resource } from '../grants/resources.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import type { MetadataClients } from '../metadata/clients.ts'
import { answerTo, sendAnswer } from './answer.ts'
import { type Demand, queryText, type Target } from './authorization-request.ts'
import type { Hint } from './id-token.ts'
import { namesIn } from './parameters.ts'

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
