/**
 * GET /oauth2/auth and the consent form. It checks the request, then the member (sign-in, group rules, consent), and issues
 * a code. Only this file decides whether an answer is a page or a redirect.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { EMAIL_LENGTH_MAX } from '../../accounts/people/users.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { browserScope, type Session, sessionOf, signInUrl } from '../../accounts/session/session.ts'
import type { AskedMandate, MandateConsents, OfferOrReason } from '../../accounts/sign-in/mandate-consent.ts'
import { isRegistrationOpen, registerUrl } from '../../accounts/sign-in/register.page.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { type Tx, violatedConstraint } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { wantsHtml } from '../../web/pages.ts'
import { malformed, type Parameters, parseParameters } from '../../web/parameters.ts'
import { isKeptForOwner, type Refusal, refusalOf, refusalText } from '../apps/access.ts'
import { isOnDevice, kindOf, placeOf } from '../apps/redirect-uris.ts'
import { allowAndIssueCode, issueCode, type NewCode } from '../grants/codes.ts'
import { hasConsented } from '../grants/consents.ts'
import { findResource, type Resource } from '../grants/resources.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import { isAddress } from '../metadata/client-id.ts'
import { type MetadataClients, storeMetadataClient } from '../metadata/clients.ts'
import { shouldStepUp } from './acr.ts'
import { type Answer, answerTo, sendAnswer } from './answer.ts'
import { findAsked, readDetails } from './authorization-details.ts'
import {
  type Demand,
  findTarget,
  queryText,
  readDemand,
  type Target,
  unknownClient,
} from './authorization-request.ts'
import { type ConsentFacts, consentFacts } from './consent.ts'
import { asDescription, isOAuthError, type OAuthError } from './errors.ts'
import { type Hint, readHint } from './id-token.ts'
import { makeDescribeRequest } from './next-step.ts'
import { namesIn } from './parameters.ts'
import { markedQuery, meetsMark } from './reauthentication.ts'

export const AUTHORIZATION_PATH = '/oauth2/auth'
export const AUTHORIZATION_PATHS = [AUTHORIZATION_PATH, '/oauth2/authorize', '/oauth-provider/authorize']
const LOGIN_HINT_LENGTH_MAX = EMAIL_LENGTH_MAX

/** The foreign keys of codes and consents to their application. */
const GONE = /^(authorization_codes|consents)_app_id_fkey$/

/** The member's answer to the consent page. `seen` is what the page showed of the client's document. */
type Decision = { decision: 'allow' | 'charge' | 'only' | 'deny'; seen?: string | undefined }

/** The parts that authorization requests need. */
export type AuthorizeDeps = IdentityDeps & {
  metadataClients: MetadataClients
  mandateConsents: MandateConsents
}

declare module '../../web/views.ts' {
  interface PageData {
    'identity/oauth/consent': ConsentFacts & {
      scopes: string[]
      resource: Resource | undefined
      isAskedEachTime: boolean
      /** The mandate that the request asks for, if the member has not answered it. */
      mandate: OfferOrReason | undefined
      query: string
      /** The version of the client's document that this page shows, if it has one. */
      seen: string | undefined
      switchAccountUrl: string
      destination: { place: string; kind: 'web' | 'loopback' | 'scheme' }
    }
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
  interface PartData {
    'identity/oauth/consent-app': Pick<ConsentFacts, 'user' | 'app' | 'members' | 'ownerUrl'>
    'identity/oauth/consent-sees': { user: Session['user']; customGroups: string[]; listsApps: boolean }
    'identity/oauth/consent-may': {
      user: Session['user']
      scopes: string[]
      resource?: Pick<Resource, 'name' | 'uri'> | undefined
    }
  }
}

const ConsentForm = z.object({
  decision: z.enum(['allow', 'deny']),
  query: z.string(),
  seen: z.string().optional(),
})

/** The answer to a request for a mandate, too: `charge` allows it with the sign-in, `only` allows the sign-in only. */
const MandateForm = z.object({ decision: z.enum(['charge', 'only', 'deny']) })

/** Mounts the browser scope: authorization requests, and the answer to the consent page. */
export async function authorizePages(app: FastifyInstance, deps: AuthorizeDeps): Promise<void> {
  browserScope(app, deps)
  neverStored(app)
  app.nextSteps.push(makeDescribeRequest(deps, AUTHORIZATION_PATHS))
  const config = { admission: admissionOf }

  for (const path of AUTHORIZATION_PATHS) {
    // No HEAD, because each request may issue a code.
    app.get<{ Querystring: Parameters }>(path, { exposeHeadRoute: false, config }, async (request, reply) =>
      authorize(request, reply, request.query, undefined, deps),
    )
  }

  app.post('/oauth2/consent', { config: { ...config, page: consentPage } }, async (request, reply) => {
    const form = ConsentForm.safeParse(request.body)
    if (!form.success) throw malformed('The consent form is incomplete')
    const { query, ...decision } = form.data
    return authorize(request, reply, parseParameters(query), decision, deps)
  })
}

/**
 * POST /oauth2/auth/mandate, the answer to a request for a mandate. The request is in the address, because the page shows the
 * fields of this form again when they are faulty.
 */
export async function mandateAnswer(app: FastifyInstance, deps: AuthorizeDeps): Promise<void> {
  browserScope(app, deps)
  neverStored(app)
  const options = { config: { admission: admissionOf, page: AUTHORIZATION_PATH } }
  app.post<{ Querystring: Parameters }>(`${AUTHORIZATION_PATH}/mandate`, options, async (request, reply) => {
    const form = MandateForm.safeParse(request.body)
    if (!form.success) throw malformed('The consent form is incomplete')
    return authorize(request, reply, request.query, form.data, deps)
  })
}

/** A request of a client that is known by its document may wait for the server that has it. */
function admissionOf({ query, body }: FastifyRequest): 'slow' | undefined {
  const { query: sent } = (body ?? {}) as Record<string, unknown>
  const { client_id } = typeof sent === 'string' ? parsedOrEmpty(sent) : (query as Parameters)
  return typeof client_id === 'string' && isAddress(client_id) ? 'slow' : undefined
}

/** The handler reports what cannot be parsed. */
function parsedOrEmpty(text: string): Parameters {
  try {
    return parseParameters(text)
  } catch {
    return {}
  }
}

/** The page of a consent form is the request that it answers. */
function consentPage({ body }: FastifyRequest): string {
  const { query } = (body ?? {}) as Record<string, unknown>
  return typeof query === 'string' ? `${AUTHORIZATION_PATH}?${query}` : '/'
}

function neverStored(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}

/** Answers an authorization request. `decided` is the member's answer to the consent page. */
async function authorize(
  request: FastifyRequest,
  reply: FastifyReply,
  sent: Parameters,
  decided: Decision | undefined,
  deps: AuthorizeDeps,
): Promise<FastifyReply> {
  const user_id = request.session?.user.id
  const target = await findTarget(deps, sent, user_id)
  if (target === undefined) return signInFirst(reply, sent)
  if (target.app.suspended_at !== null) return refuseSuspended(request, reply, target)
  if (await isDraft(target, request, sent, deps)) return refuseDraft(request, reply, target, sent)
  try {
    const demand = readDemand(sent, target)
    if (demand.prompts.includes('create')) await requireRegistration(deps)
    const resource = await findResource(deps, sent.resource)
    const identifier = await readDetails(deps, demand)
    const expected = await readExpected(demand, deps)
    const detour = findDetour(request.session, sent, { ...demand, expected }, deps)
    if (detour !== undefined) return reply.redirect(detour, 303)
    const session = sessionOf(request)
    if (isSomebodyElse(session, expected)) {
      throw new AppError('login_required', 'The signed-in user is not the one of the id_token_hint')
    }
    const refusal = refusalOf(session.user, target.app, deps.clock())
    if (refusal !== undefined) {
      await recordRefusal(deps.db, {
        kind: 'group_refused',
        user_id: session.user.id,
        client_id: target.app.client_id,
        address: request.ip,
        detail: { rule: refusal.rule },
        at: deps.clock(),
      })
      throw new AppError('access_denied', refusalText(refusal), { data: { refusal } })
    }
    const mandate =
      identifier === undefined ? undefined : await findAsked(deps, identifier, target, session.user.id)
    if (decided?.decision === 'deny') {
      if (mandate?.isPending) await declineAlone(request, mandate, session.user.id, deps)
      throw new AppError('access_denied', 'The user refused authorization')
    }

    const code = newCode(target, { ...demand, resource, mandate }, session, deps.clock())
    const isAnswered = decided !== undefined && answers(decided, mandate)
    if (isAnswered && wasShown(target, decided)) {
      const issued = await allow(target, code, { decided, mandate, request }, deps)
      if (issued === undefined) {
        const asked = await requireFreshSignIn(deps)(request, reply)
        return asked ?? askForConsent(request, reply, target, { ...demand, resource, mandate }, sent, deps)
      }
      return answer(reply, target, sent, { code: issued }, deps)
    }
    const app_id = isAnswered ? undefined : await consentedApp(target, { ...demand, mandate }, code, deps)
    if (app_id === undefined) {
      return askForConsent(request, reply, target, { ...demand, resource, mandate }, sent, deps)
    }
    return answer(reply, target, sent, { code: await issueCode(deps.db, { ...code, app_id }) }, deps)
  } catch (error) {
    // The owner has deleted the application meanwhile.
    if (GONE.test(violatedConstraint(error) ?? '')) await findTarget(deps, sent, user_id)
    if (!isOAuthError(error)) throw error
    return refuse(error, target, sent, request, reply, deps)
  }
}

/** Nothing is known of the client yet, so no answer is redirected to it. */
function signInFirst(reply: FastifyReply, sent: Parameters): FastifyReply {
  if (isSilent(sent)) throw unknownClient()
  return reply.redirect(signInUrl(`${AUTHORIZATION_PATH}?${queryText(sent)}`), 303)
}

/** Whether the page that the member has answered showed what the client's document says now. */
function wasShown({ app }: Target, { seen }: Decision): boolean {
  return app.metadata === null || app.metadata.version.toString('base64url') === seen
}

/** Whether a decision answers what the page asks now. The member or the setting may have decided on the mandate meanwhile. */
function answers({ decision }: Decision, mandate: AskedMandate | undefined): boolean {
  return mandate?.isPending ? decision === 'charge' || decision === 'only' : decision === 'allow'
}

async function declineAlone(
  { ip }: FastifyRequest,
  { mandate_id }: AskedMandate,
  user_id: bigint,
  { db, clock, mandateConsents }: AuthorizeDeps,
): Promise<void> {
  const member = { user_id, ip, now: clock() }
  await db.transaction().execute((tx) => mandateConsents.decline(tx, mandate_id, member))
}

type Answered = { decided: Decision; mandate: AskedMandate | undefined; request: FastifyRequest }

/**
 * Stores the consent, and a client that is known by its document, decides on the mandate, and issues a code. Undefined if the
 * member must sign in again before allowing charges; nothing has changed then.
 */
async function allow(
  { app }: Target,
  code: Unbound,
  { decided: { decision }, mandate, request }: Answered,
  { db, mandateConsents }: AuthorizeDeps,
): Promise<string | undefined> {
  const { client_id, metadata } = app
  const { user_id, now } = code
  const { ip } = request
  const decline = async (tx: Tx) => {
    await mandateConsents.decline(tx, mandate!.mandate_id, { user_id, ip, now })
    return true
  }
  return allowAndIssueCode(db, code, {
    document_version: metadata?.version ?? null,
    besides: !mandate?.isPending
      ? undefined
      : decision === 'charge'
        ? await mandateConsents.accepting(request, mandate.mandate_id, client_id)
        : decline,
    appOf: async (tx) =>
      metadata === null ? app.id! : storeMetadataClient(tx, { ...metadata, client_id, user_id, ip, now }),
  })
}

/** NOTE: never redirects, even with prompt=none, because members must not reach a suspended application. */
function refuseSuspended(request: FastifyRequest, reply: FastifyReply, { app }: Target): FastifyReply {
  if (!wantsHtml(request)) throw new AppError('access_denied', 'This application has been suspended')
  return reply.page('identity/oauth/suspended', { app }, { status: 403 })
}

/**
 * Whether the application waits for its owner, and the site keeps it from everyone else until then. A visitor signs in first,
 * unless no page may be shown.
 */
async function isDraft(
  { app }: Target,
  { session }: FastifyRequest,
  sent: Parameters,
  { settings }: IdentityDeps,
): Promise<boolean> {
  if (app.confirmed_at !== null) return false
  const isKnown = session !== undefined || isSilent(sent)
  return isKnown && isKeptForOwner(app, await settings.read(), session?.user.id)
}

/** NOTE: never redirects, because members must not reach an application that its owner may not know of. */
function refuseDraft(
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

/** Reads the member whom the application expects from its ID token hint. Throws invalid_request for a foreign token. */
async function readExpected({ id_token_hint }: Demand, deps: IdentityDeps): Promise<Hint | undefined> {
  if (id_token_hint === undefined) return undefined
  const hint = await readHint(id_token_hint, deps)
  if (hint === undefined)
    throw new AppError('invalid_request', 'The id_token_hint is not an ID token of ours')
  return hint
}

function isSomebodyElse(session: Session, expected: Hint | undefined): boolean {
  return expected !== undefined && expected.sub !== session.user.id.toString()
}

type Expectation = Demand & { expected: Hint | undefined }

/** Returns where the member must go first: to the sign-in page, or to the change of a one-time password. */
function findDetour(
  session: Session | undefined,
  sent: Parameters,
  demand: Expectation,
  deps: IdentityDeps,
): string | undefined {
  const needsSignIn = session === undefined || needsNewSignIn(session, sent, demand, deps)
  if (!needsSignIn && !session.user.must_change_password) return undefined
  if (demand.prompts.includes('none')) {
    throw new AppError('login_required', 'The user must sign in first')
  }
  if (!needsSignIn) {
    const back = `${AUTHORIZATION_PATH}?${queryText(sent)}`
    return `/account/password?return_to=${encodeURIComponent(back)}`
  }
  const { max_age, expected, acr_values } = demand
  const isDemanded =
    demandsSignIn(demand) || max_age !== undefined || expected !== undefined || acr_values.length > 0
  const query = isDemanded ? markedQuery(sent, session, deps) : queryText(sent)
  const hint = demand.login_hint?.slice(0, LOGIN_HINT_LENGTH_MAX)
  const hinted = hint === undefined ? '' : `&login_hint=${encodeURIComponent(hint)}`
  const back = `${AUTHORIZATION_PATH}?${query}`
  return demand.prompts.includes('create') ? registerUrl(back) : signInUrl(back) + hinted
}

/** Throws invalid_request where nobody may register, because discovery then does not offer the prompt. */
async function requireRegistration(deps: IdentityDeps): Promise<void> {
  if (!(await isRegistrationOpen(deps)))
    throw new AppError('invalid_request', 'prompt create is not supported: this site takes no registrations')
}

function needsNewSignIn(
  session: Session,
  sent: Parameters,
  demand: Expectation,
  deps: IdentityDeps,
): boolean {
  const { max_age, expected } = demand
  const age_seconds = epochSeconds(deps.clock()) - epochSeconds(session.auth_time)
  const isTooOld = max_age !== undefined && age_seconds > max_age
  // A wish shows no page where none may be shown.
  const isWeak = !demand.prompts.includes('none') && shouldStepUp(demand.acr_values, session)
  const isWrong = demandsSignIn(demand) || isTooOld || isWeak || isSomebodyElse(session, expected)
  return isWrong && !meetsMark(sent, session, deps)
}

/** NOTE: max_age=0 means prompt=login (OIDC Core 3.1.2.1), also within the second of the sign-in. */
function demandsSignIn({ prompts, max_age }: Demand): boolean {
  return max_age === 0 || ['login', 'select_account', 'create'].some((prompt) => prompts.includes(prompt))
}

/** Rounds to whole seconds, as auth_time does, so that ages agree with it. */
function epochSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000)
}

/** What a request asks of the member who is signed in. */
type Asking = Demand & { resource: Resource | undefined; mandate: AskedMandate | undefined }

/** A code before its application has a row. */
type Unbound = Omit<NewCode, 'app_id'>

function newCode(target: Target, demand: Asking, session: Session, now: Date): Unbound {
  return {
    user_id: session.user.id,
    session_id: session.id,
    redirect_uri: target.redirect_uri,
    redirect_uri_sent: target.redirect_uri_sent,
    scopes: demand.scopes,
    resource_app_id: demand.resource?.app_id ?? null,
    mandate_id: demand.mandate?.id ?? null,
    nonce: demand.nonce,
    code_challenge: demand.code_challenge,
    auth_time: session.auth_time,
    amr: session.amr,
    now,
  }
}

/** Returns the id of an application that the member has allowed all this before. Undefined when the member must be asked. */
async function consentedApp(
  target: Target,
  demand: Pick<Asking, 'prompts' | 'scopes' | 'mandate'>,
  code: Unbound,
  deps: IdentityDeps,
): Promise<bigint | undefined> {
  const { id: app_id, metadata } = target.app
  const isAsked =
    app_id === null ||
    demand.prompts.includes('consent') ||
    isOnDevice(target.app, target.redirect_uri) ||
    demand.mandate?.isPending
  if (!isAsked) {
    const document_version = metadata?.version ?? null
    if (await hasConsented(deps.db, { ...code, app_id, document_version }, demand.scopes)) return app_id
  }
  if (demand.prompts.includes('none')) throw new AppError('consent_required', 'The user must consent first')
  return undefined
}

async function askForConsent(
  request: FastifyRequest,
  reply: FastifyReply,
  target: Target,
  { scopes, resource, mandate }: Asking,
  sent: Parameters,
  deps: AuthorizeDeps,
): Promise<FastifyReply> {
  const { app, redirect_uri } = target
  const { user } = sessionOf(request)
  const page = `${AUTHORIZATION_PATH}?${queryText(sent)}`
  return reply.page(
    'identity/oauth/consent',
    {
      ...(await consentFacts(deps, app, user, { scopes, resource, isOnDevice: false })),
      scopes,
      resource,
      isAskedEachTime: isOnDevice(app, redirect_uri),
      mandate: mandate?.isPending
        ? await deps.mandateConsents.show(request, mandate.mandate_id, page)
        : undefined,
      query: queryText(sent),
      seen: app.metadata?.version.toString('base64url'),
      switchAccountUrl: switchAccountUrl(sent),
      destination: { place: placeOf(redirect_uri), kind: kindOf(redirect_uri) },
    },
    { leavesSite: redirect_uri },
  )
}

function switchAccountUrl(sent: Parameters): string {
  return signInUrl(`${AUTHORIZATION_PATH}?${queryText(sent)}`)
}

/** Sends the member back to the application. */
function answer(
  reply: FastifyReply,
  target: Target,
  sent: Parameters,
  result: Record<string, string>,
  deps: IdentityDeps,
): FastifyReply {
  return sendAnswer(reply, target, answerTo(target, sent, result, deps.config))
}

/** Whether the request has prompt=none, also with extra spaces, so that no page may be shown. */
function isSilent({ prompt }: Parameters): boolean {
  return typeof prompt === 'string' && namesIn(prompt).includes('none')
}

/**
 * Sends a refusal to the application. Two refusals wait for a click: a group rule is first shown to the member, and a
 * script finds the address of a denial in its answer.
 */
function refuse(
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
