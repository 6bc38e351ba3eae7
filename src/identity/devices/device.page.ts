/**
 * /device: a member enters the code that a device shows, sees which application asks from where, and allows or denies it
 * (RFC 8628 3.3). A link can fill in the code, and the member still sends it (5.4).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { describeDevice, deviceOf } from '../../accounts/session/device.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { browserScope, requireUser, sessionOf, signInUrl } from '../../accounts/session/session.ts'
import { failAttempt, openAttempt, withdrawAttempt } from '../../accounts/session/throttle.ts'
import { networkOf } from '../../core/limits.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { malformed } from '../../web/parameters.ts'
import { isKeptForOwner, refusalOf } from '../apps/access.ts'
import { type Device, decideDevice, findDevice } from '../grants/devices.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import { findApp, type Target } from '../oauth/authorization-request.ts'
import { type ConsentFacts, consentFacts } from '../oauth/consent.page.ts'
import { DEVICE_PATH } from './authorization.ts'

const DECISION_PATH = `${DEVICE_PATH}/decision`
const CODE_LENGTH_MAX = 40

declare module '../../web/views.ts' {
  interface PageData {
    'identity/devices/device': { userCode: string }
    'identity/devices/confirm': ConsentFacts & {
      device: Pick<Device, 'user_code' | 'resource' | 'ip' | 'created_at'>
      program: string | undefined
      scopes: string[]
      switchAccountUrl: string
    }
  }
}

const CodeForm = z.object({ user_code: z.string().max(CODE_LENGTH_MAX) })
const DecisionForm = CodeForm.extend({ decision: z.enum(['allow', 'deny']) })

/** GET and POST /device, and POST /device/decision. */
export async function devicePages(app: FastifyInstance, deps: IdentityDeps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const askFreshSignIn = requireFreshSignIn(deps)

  app.get<{ Querystring: Record<string, unknown> }>(DEVICE_PATH, async ({ query }, reply) => {
    const { data } = CodeForm.safeParse(query)
    return reply.page('identity/devices/device', { userCode: data?.user_code ?? '' })
  })

  app.post(DEVICE_PATH, { config: { page: pageOf } }, async (request, reply) => {
    const { user_code } = readForm(request, CodeForm)
    const device = await findOrCount(request, user_code, deps)
    const app = await appOf(device, deps)
    const refuse = await findRefusal(request, app, deps)
    return refuse === undefined ? confirm(request, reply, device, app, deps) : refuse(reply)
  })

  app.post(DECISION_PATH, { config: { page: pageOf } }, async (request, reply) => {
    const { user_code, decision } = readForm(request, DecisionForm)
    const isAllowed = decision === 'allow'
    if (isAllowed) {
      await askFreshSignIn(request, reply)
      if (reply.sent) return reply
    }
    const device = await findOrCount(request, user_code, deps)
    const app = await appOf(device, deps)
    const act = { device, session: sessionOf(request), ip: request.ip, now: deps.clock() }
    const refuse = isAllowed ? await findRefusal(request, app, deps) : undefined
    // The device learns at once that it need not wait.
    await decideDevice(deps.db, { ...act, isAllowed: isAllowed && refuse === undefined })
    if (refuse !== undefined) return refuse(reply)
    const { device: d } = request.locale.t.identity
    return reply.done(DEVICE_PATH, isAllowed ? { text: d.allowed(app.name) } : { text: d.denied(app.name) })
  })
}

/** The page of both forms, with the code filled in. */
function pageOf({ body }: FastifyRequest): string {
  const { data } = CodeForm.safeParse(body)
  return data === undefined ? DEVICE_PATH : `${DEVICE_PATH}?user_code=${encodeURIComponent(data.user_code)}`
}

/**
 * Finds the device that waits with this code. A wrong code counts as a failed sign-in of the member and of the address, also in
 * a known browser (RFC 8628 5.1). Throws FormRefused for a wrong code, and too_many_attempts.
 */
async function findOrCount(request: FastifyRequest, user_code: string, deps: IdentityDeps): Promise<Device> {
  const { id: user_id, username: account } = sessionOf(request).user
  const attempt = await openAttempt(deps, { account, address: networkOf(request.ip), user_id })
  const device = await findDevice(deps, user_code, deps.clock())
  await (device === undefined ? failAttempt : withdrawAttempt)(deps, attempt)
  if (device === undefined) throw new FormRefused({ user_code: request.locale.t.identity.device.unknown })
  return device
}

async function appOf({ client_id }: Device, { db }: IdentityDeps): Promise<Target['app']> {
  const app = await findApp(db, client_id)
  if (app === undefined) throw malformed('This application was deleted')
  return app
}

/** Returns the answer to a member who may not use the application, which is that of the authorization endpoint. */
async function findRefusal(
  request: FastifyRequest,
  app: Target['app'],
  { db, settings, clock }: IdentityDeps,
): Promise<((reply: FastifyReply) => FastifyReply) | undefined> {
  const { user } = sessionOf(request)
  const switchAccountUrl = signInUrl(pageOf(request))
  const status = 403
  if (app.suspended_at !== null) return (reply) => reply.page('identity/oauth/suspended', { app }, { status })
  if (isKeptForOwner(app, await settings.read(), user.id))
    return (reply) => reply.page('identity/oauth/unconfirmed', { app, switchAccountUrl }, { status })
  const refusal = refusalOf(user, app, clock())
  if (refusal === undefined) return undefined
  const { client_id } = app
  const detail = { rule: refusal.rule }
  await recordRefusal(db, {
    kind: 'group_refused',
    user_id: user.id,
    client_id,
    address: request.ip,
    detail,
    at: clock(),
  })
  return (reply) => reply.page('identity/oauth/refused', { user, app, refusal, switchAccountUrl }, { status })
}

async function confirm(
  request: FastifyRequest,
  reply: FastifyReply,
  device: Device,
  app: Target['app'],
  deps: IdentityDeps,
): Promise<FastifyReply> {
  const { scopes, resource } = device
  return reply.page('identity/devices/confirm', {
    ...(await consentFacts(deps, app, sessionOf(request).user, { scopes, resource, isOnDevice: true })),
    device,
    scopes,
    program: programOf(device, request),
    switchAccountUrl: signInUrl(pageOf(request)),
  })
}

/** A program and its version, as in `curl/8.5.0`. */
const PRODUCT = /^[A-Za-z][A-Za-z0-9._-]{0,30}\/\d[A-Za-z0-9._-]{0,19}(?= |$)/

/**
 * Returns what the requesting program calls itself: a known browser in our words, else its first name and version. Any other
 * text of a stranger could read as a sentence of this page.
 */
function programOf({ agent }: Device, { locale }: FastifyRequest): string | undefined {
  if (agent === null) return undefined
  const { browser, system } = deviceOf(agent)
  return browser === undefined && system === undefined
    ? PRODUCT.exec(agent)?.[0]
    : describeDevice(agent, locale.t)
}
