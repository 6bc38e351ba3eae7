// This room: mounts the OAuth area; /api/apps, WebFinger and a member’s authorised applications.
// Verbs: identityPlugin, registerAppRoute, revokeAuthorisation, signOutEverywhere.
// Tables: consents, grants.
// Clauses: spec/registry 2.1–2.3, 3.2.
/** GET and POST /api/apps: programs list and register applications with an access token; a browser lists with its session. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { User } from '../accounts/people/users.ts'
import { browserScope, requireUser, signInUrl } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { AppError } from '../platform/errors.ts'
import { bearerError } from '../web/oauth/errors.ts'
import { singleValues } from '../web/oauth/parameters.ts'
import { wantsHtml } from '../web/pages.ts'
import type { Parameters } from '../web/parameters.ts'
import {
  AppsRequest,
  listApps,
  NewAppForm,
  onThisSite,
  redirectUriFaultOf,
  registerApp,
  registerUnconfirmedApp,
} from './apps/apps.ts'
import { ResourceTaken } from './apps/resource-uri.ts'
import { type Bearer, type GetBearer, readBearer } from './oauth/bearer.ts'

const PATH = '/api/apps'
/** A body of 64 KiB can have thousands of faults. The answer shows only the first ones. */
const FAULTS_SHOWN_MAX = 50

/**
 * POST in the machine scope. An access token of any scope registers an application for its member (spec/registry 2.2). It is confirmed
 * when the token has the scope apps, or the member's own application sends it (spec/registry 2.3).
 */
export function registerAppRoute(app: FastifyInstance, deps: Core, getBearer: GetBearer): void {
  app.post(PATH, async (request, reply) => {
    const bearer = await getBearer(readBearer(request.headers.authorization))
    requireScope(bearer)
    const { user, scopes, app: by } = bearer
    const { apps_min_trust_level } = await deps.settings.read()
    if (user.trust_level < apps_min_trust_level) {
      throw new AppError('access_denied', `Registering needs trust level ${apps_min_trust_level}`)
    }
    const form = onThisSite(NewAppForm, deps.config).safeParse(request.body)
    if (!form.success) throw invalidApp(form.error.issues)
    await deps.limits.hit('apps_created', user.id.toString())
    const registered = { ...form.data, owner_id: user.id, ip: request.ip }
    const isConfirmed = scopes.includes('apps') || by.owner_id === user.id
    const registering = isConfirmed
      ? registerApp(deps.db, registered)
      : registerUnconfirmedApp(deps, registered, by)
    const { id: _, ...credentials } = await registering.catch((error) => {
      if (!(error instanceof ResourceTaken)) throw error
      throw new AppError('invalid_request', 'resource_uri: another application has it')
    })
    const waiting = { status: 'unconfirmed', confirm_url: `${deps.config.PUBLIC_URL}/apps` }
    return reply.code(201).send({ ...credentials, ...form.data, ...(!isConfirmed && waiting) })
  })
}

/**
 * Members cannot see what a device does, and nobody answers for a client that is known by its document. So these need the scope
 * that the member has allowed (spec/registry 2.3).
 */
function requireScope({ isOnDevice, app, scopes }: Bearer): void {
  if ((!isOnDevice && app.owner_id !== null) || scopes.includes('apps')) return
  const who = isOnDevice ? 'On a device' : 'For a client without an owner'
  throw bearerError('insufficient_scope', `${who} this needs the scope apps`, 'apps')
}

function invalidApp(issues: z.core.$ZodIssue[]): AppError {
  const faults = issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const isRedirectUri = (issue: z.core.$ZodIssue) =>
    issue.path[0] !== 'backchannel_logout_uri' && redirectUriFaultOf(issue) !== undefined
  const code = issues.some(isRedirectUri) ? 'invalid_redirect_uri' : 'invalid_request'
  const texts = faults.slice(0, FAULTS_SHOWN_MAX).map(({ path, message }) => `${path || 'body'}: ${message}`)
  return new AppError(code, texts.join('; '), { data: { errors: faults.slice(0, FAULTS_SHOWN_MAX) } })
}

/** GET in its own scope, because it reads a session when there is no access token. spec/registry 2.1. */
export async function listAppsRoute(
  app: FastifyInstance,
  { getBearer, ...deps }: Core & { getBearer: GetBearer },
): Promise<void> {
  browserScope(app, deps)
  app.addHook('onSend', async (request, reply) => {
    // An answer to a program has no cookie.
    if (request.headers.authorization !== undefined) reply.removeHeader('set-cookie')
  })

  app.get<{ Querystring: Parameters }>(PATH, async (request, reply) => {
    const caller = await findCaller(request, getBearer)
    if (caller === undefined) return askToSignIn(request, reply)
    const { data: asked } = AppsRequest.safeParse(singleValues(request.query))
    if (asked === undefined) throw new AppError('invalid_request', 'owner can only be all')
    const { owner } = asked
    if (owner === 'all') requireWiderView(caller)
    return listApps(deps.db, owner ?? caller.user)
  })
}

type Caller = { user: User; scopes: string[] | 'session' }

async function findCaller(
  { headers, session }: FastifyRequest,
  getBearer: GetBearer,
): Promise<Caller | undefined> {
  if (headers.authorization !== undefined) {
    const bearer = await getBearer(readBearer(headers.authorization))
    requireScope(bearer)
    return bearer
  }
  if (session === undefined || session.user.must_change_password) return undefined
  return { user: session.user, scopes: 'session' }
}

async function askToSignIn(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (!wantsHtml(request)) return readBearer(undefined)
  if (request.session !== undefined) return requireUser(request, reply)
  return reply.redirect(signInUrl(request.url), 302)
}

function requireWiderView({ user, scopes }: Caller): void {
  if (!user.is_admin) throw new AppError('access_denied', 'Only administrators may list every application')
  if (scopes !== 'session' && !scopes.includes('apps')) {
    throw bearerError('insufficient_scope', 'Listing every application needs the scope apps', 'apps')
  }
}
