/**
 * GET and POST /oauth2/logout (OpenID Connect RP-Initiated Logout 1.0): an application sends the member to sign out here.
 * With an ID token of the signed-in member, the sign-out is immediate. Otherwise the page asks the member, because a link
 * alone must not sign a member out. The member goes on only to a registered address: at once with an ID token, and after the
 * click otherwise. A request of a visitor without an ID token gets a link on our page, because anybody can make such a request.
 * spec/sign-in 4.1.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { browserScope, endSession } from '../../accounts/session/session.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { type Single, singleValues, withParameters } from '../../web/oauth/parameters.ts'
import { wantsHtml } from '../../web/pages.ts'
import { malformed, type Parameters, parseParameters } from '../../web/parameters.ts'
import { redirectHost } from '../apps/redirect-uris.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import { toldApplications } from '../logout/deliveries.ts'
import { echoableState, queryText } from './authorization-request.ts'
import { type Hint, readHint } from './id-token.ts'

export const LOGOUT_PATH = '/oauth2/logout'
const CONFIRM_PATH = '/oauth2/logout/confirm'
const DONE_PATH = '/oauth2/logout/done'

/** Why the request is not followed. The member can still sign out. */
type Fault = 'unknown_hint' | 'other_client' | 'unknown_address'

const FAULTS = {
  unknown_hint: ['invalid_request', 'The id_token_hint is not an ID token of ours'],
  other_client: ['invalid_request', 'The id_token_hint was not issued to this client_id'],
  unknown_address: [
    'invalid_redirect_uri',
    'The post_logout_redirect_uri is not registered for this application',
  ],
} as const satisfies Record<Fault, readonly [string, string]>

type Logout = {
  app: { name: string } | undefined
  hint: Hint | undefined
  /** The address to go on to, with the state. */
  next: string | undefined
  fault: Fault | undefined
}

declare module '../../web/views.ts' {
  interface PageData {
    'identity/oauth/signed-out': { app?: Logout['app']; link?: { to: string; host: string } }
    'identity/oauth/sign-out': Pick<Logout, 'app' | 'fault'> & {
      query: string
      host: string | undefined
      /** The names of the applications that learn of the sign-out. */
      told: string[]
    }
  }
}

/** GET /oauth2/logout, its confirmation and its last page, in a browser scope. */
export async function logoutPages(app: FastifyInstance, deps: IdentityDeps): Promise<void> {
  browserScope(app, deps)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })

  app.get<{ Querystring: Parameters }>(LOGOUT_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const logout = await readLogout(request.query, deps)
    if (logout.fault !== undefined) return showFault(request, reply, logout, logout.fault, deps)
    const { session } = request
    if (session === undefined && isOffered(logout)) return showLink(reply, logout)
    const isSettled = session === undefined || logout.hint?.sub === session.user.id.toString()
    return isSettled ? finish(request, reply, logout, deps) : ask(request, reply, logout, deps)
  })

  app.post(CONFIRM_PATH, { config: { page: requestPage } }, async (request, reply) => {
    const form = z.object({ query: z.string() }).safeParse(request.body)
    if (!form.success) throw malformed('The form is incomplete')
    return finish(request, reply, await readLogout(parseParameters(form.data.query), deps), deps)
  })

  app.get(DONE_PATH, async (_request, reply) => reply.page('identity/oauth/signed-out', {}))
}

/** The page of the confirmation is the request that it answers. */
function requestPage({ body }: FastifyRequest): string {
  const { query } = (body ?? {}) as Record<string, unknown>
  return typeof query === 'string' ? `${LOGOUT_PATH}?${query}` : LOGOUT_PATH
}

/** Whether the request alone, without a click, leads on only by a link on our page. */
function isOffered(logout: Logout): logout is Logout & { next: string } {
  return logout.hint === undefined && logout.next !== undefined
}

function showLink(reply: FastifyReply, { app, next: to }: Logout & { next: string }) {
  return reply.page('identity/oauth/signed-out', { app, link: { to, host: redirectHost(to) } })
}

async function readLogout(sent: Parameters, deps: IdentityDeps): Promise<Logout> {
  const values = singleValues(sent)
  const { id_token_hint, post_logout_redirect_uri: uri } = values
  const hint = id_token_hint === undefined ? undefined : await readHint(id_token_hint, deps)
  if (id_token_hint !== undefined && hint === undefined) return faulty('unknown_hint')
  if (hint !== undefined && (values.client_id ?? hint.aud) !== hint.aud) return faulty('other_client')
  const app = await findApp(deps.db, values.client_id ?? hint?.aud)
  const isKnown = uri === undefined || app?.post_logout_redirect_uris.includes(uri)
  if (!isKnown) return { ...faulty('unknown_address'), app, hint }
  return { app, hint, next: goesOnTo(values), fault: undefined }
}

const faulty = (fault: Fault): Logout => ({ app: undefined, hint: undefined, next: undefined, fault })

/** Finds the application. A suspended one is not found, so that members are not sent to it. */
async function findApp(db: Db, client_id: string | undefined) {
  if (client_id === undefined) return undefined
  return db
    .selectFrom('oauth_apps')
    .where('client_id', '=', client_id)
    .where('suspended_at', 'is', null)
    .select(['name', 'post_logout_redirect_uris'])
    .executeTakeFirst()
}

function goesOnTo(values: Single): string | undefined {
  const { post_logout_redirect_uri: uri } = values
  const state = echoableState(values)
  return uri === undefined || state === undefined ? uri : withParameters(uri, { state })
}

async function finish(
  request: FastifyRequest,
  reply: FastifyReply,
  { next = DONE_PATH }: Logout,
  deps: IdentityDeps,
): Promise<FastifyReply> {
  if (request.session !== undefined) await endSession(request, reply, deps)
  return reply.redirect(next, 303)
}

async function ask(
  request: FastifyRequest,
  reply: FastifyReply,
  logout: Logout,
  { db }: IdentityDeps,
  status = 200,
): Promise<FastifyReply> {
  const { app, next, fault } = logout
  const { session } = request
  const data = {
    app,
    fault,
    query: queryText(request.query as Parameters),
    host: next === undefined ? undefined : redirectHost(next),
    told: session === undefined ? [] : await toldApplications(db, session.id),
  }
  return reply.page('identity/oauth/sign-out', data, { status, leavesSite: next ?? false })
}

async function showFault(
  request: FastifyRequest,
  reply: FastifyReply,
  logout: Logout,
  fault: Fault,
  deps: IdentityDeps,
): Promise<FastifyReply> {
  const [code, message] = FAULTS[fault]
  if (!wantsHtml(request)) throw new AppError(code, message)
  return ask(request, reply, logout, deps, 400)
}
