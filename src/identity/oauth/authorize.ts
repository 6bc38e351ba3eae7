/**
 * Answers an authorization request: the checks in their order, each with its refusal. Only this room decides whether an answer
 * is a page or a redirect. spec/sign-in 1.4.
 */
import type { FastifyReply } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import { isRegistrationOpen } from '../../accounts/sign-in/register.page.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { violatedConstraint } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { isOAuthError } from '../../web/oauth/errors.ts'
import { isKeptForOwner, refusalOf, refusalText } from '../apps/access.ts'
import { findResource } from '../grants/resources.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import { type Authorization, isSilent, switchAccountUrl } from './authorization.ts'
import { findAsked, readDetails } from './authorization-details.ts'
import { type Demand, findTarget, readDemand, type Target, unknownClient } from './authorization-request.ts'
import { askForConsent, repeatConsent, requireNoDenial, takeConsent } from './consent.page.ts'
import { type Hint, readHint } from './id-token.ts'
import { refuse, refuseDraft, refuseSuspended } from './refused.page.ts'
import { findDetour, isSomebodyElse } from './required-sign-in.ts'

/** The foreign keys of codes and consents to their application. */
const GONE = /^(authorization_codes|consents)_app_id_fkey$/

/** A request before its client and its demand are known. */
export type Arrival = Pick<Authorization, 'request' | 'reply' | 'deps' | 'sent' | 'decided'>

/**
 * A check answers the request, throws a refusal, or lets the next check go on. It returns whether it has answered. NOTE: it
 * cannot return the reply, which is a promise of its own end.
 */
type Check = (authorization: Authorization) => Promise<boolean>

/** The checks of the member, in their order. */
const CHECKS: readonly Check[] = [
  signInFirst,
  requireExpectedMember,
  requireAdmission,
  findMandate,
  requireNoDenial,
  takeConsent,
  repeatConsent,
  askForConsent,
]

/** Answers an authorization request. */
export async function authorize(arrival: Arrival): Promise<FastifyReply> {
  const { request, reply, deps, sent } = arrival
  const user_id = request.session?.user.id
  const target = await findTarget(deps, sent, user_id)
  if (target === undefined) return signInBefore(arrival)
  // NOTE: these two never redirect to the application, even with prompt=none.
  if (target.app.suspended_at !== null) return refuseSuspended(request, reply, target)
  if (await isDraft(target, arrival)) return refuseDraft(request, reply, target, sent)
  try {
    const authorization = await readAuthorization(arrival, target)
    for (const check of CHECKS) if (await check(authorization)) break
    return reply
  } catch (error) {
    // The owner has deleted the application meanwhile.
    if (GONE.test(violatedConstraint(error) ?? '')) await findTarget(deps, sent, user_id)
    if (!isOAuthError(error)) throw error
    return refuse(error, target, sent, request, reply, deps)
  }
}

/** Reads what is asked, in the order in which its faults are told. Throws the OAuth error for the redirect. */
async function readAuthorization(arrival: Arrival, target: Target): Promise<Authorization> {
  const { sent, deps } = arrival
  const demand = readDemand(sent, target)
  if (demand.prompts.includes('create')) await requireRegistration(deps)
  const resource = await findResource(deps, sent.resource)
  const mandate_id = await readDetails(deps, demand)
  const expected = await readExpected(demand, deps)
  return { ...arrival, target, demand, resource, mandate_id, expected, mandate: undefined }
}

/** A client by its document is read for a signed-in member only. Nothing is known of it yet, so nothing is redirected to it. */
function signInBefore({ reply, sent }: Arrival): FastifyReply {
  if (isSilent(sent)) throw unknownClient()
  return reply.redirect(switchAccountUrl(sent), 303)
}

/**
 * Whether the application waits for its owner, and the site keeps it from everyone else until then. A visitor signs in first,
 * unless no page may be shown.
 */
async function isDraft({ app }: Target, { request, sent, deps }: Arrival): Promise<boolean> {
  if (app.confirmed_at !== null) return false
  const { session } = request
  const isKnown = session !== undefined || isSilent(sent)
  return isKnown && isKeptForOwner(app, await deps.settings.read(), session?.user.id)
}

/** Throws invalid_request where nobody may register, because discovery then does not offer the prompt. */
async function requireRegistration(deps: IdentityDeps): Promise<void> {
  if (!(await isRegistrationOpen(deps)))
    throw new AppError('invalid_request', 'prompt create is not supported: this site takes no registrations')
}

/** Reads the member whom the application expects from its ID token hint. Throws invalid_request for a foreign token. */
async function readExpected({ id_token_hint }: Demand, deps: IdentityDeps): Promise<Hint | undefined> {
  if (id_token_hint === undefined) return undefined
  const hint = await readHint(id_token_hint, deps)
  if (hint === undefined)
    throw new AppError('invalid_request', 'The id_token_hint is not an ID token of ours')
  return hint
}

/** Leads to a sign-in that is missing, too old or too weak. Throws login_required where no page may be shown. */
async function signInFirst(authorization: Authorization): Promise<boolean> {
  const detour = findDetour(authorization)
  if (detour !== undefined) authorization.reply.redirect(detour, 303)
  return detour !== undefined
}

/** Throws login_required for another member than the ID token hint names. */
async function requireExpectedMember({ request, expected }: Authorization): Promise<false> {
  if (isSomebodyElse(sessionOf(request), expected))
    throw new AppError('login_required', 'The signed-in user is not the one of the id_token_hint')
  return false
}

/** Throws access_denied for a member whom the application's group rules refuse, and records it. */
async function requireAdmission({ request, target, deps }: Authorization): Promise<false> {
  const { user } = sessionOf(request)
  const refusal = refusalOf(user, target.app, deps.clock())
  if (refusal === undefined) return false
  await recordRefusal(deps.db, {
    kind: 'group_refused',
    user_id: user.id,
    client_id: target.app.client_id,
    address: request.ip,
    detail: { rule: refusal.rule },
    at: deps.clock(),
  })
  throw new AppError('access_denied', refusalText(refusal), { data: { refusal } })
}

/** Finds the mandate that the request asks for. Throws invalid_authorization_details. */
async function findMandate(authorization: Authorization): Promise<false> {
  const { request, target, mandate_id, deps } = authorization
  if (mandate_id !== undefined)
    authorization.mandate = await findAsked(deps, mandate_id, target, sessionOf(request).user.id)
  return false
}
