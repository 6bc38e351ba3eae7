/** /account/email: the pages that change and confirm the address of a local account. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { hasMail } from '../people/email.ts'
import { PROFILE, requireFreshSignIn } from '../session/reauthentication.ts'
import { agentOf, requireUser, type Session, sessionOf } from '../session/session.ts'
import { registerAttempt } from '../session/throttle.ts'
import { findLink } from './account-links.ts'
import { CONFIRM, confirmAddress, LINK_MINUTES, pendingAddress, requestAddress } from './email-address.ts'

const PAGE = '/account/email'
/** Requests of one member in the throttle's window, because each sends a mail to any address. */
const REQUESTS_MAX = 5

const AddressForm = z.object({ email: z.string().trim().pipe(z.email().max(254)) })
const Token = z.string().min(1).max(100)

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/security/email-address': { user: Session['user']; pending: string | undefined }
    'accounts/security/confirm-email': { user: Session['user']; token: string; email: string }
  }
}

/** GET and POST /account/email and /account/email/confirm, in a browser scope. Throws not_found on a site without mail. */
export async function emailAddressPages(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('preHandler', requireUser)
  app.addHook('preHandler', async (request) => {
    if (!hasMail(deps.config)) throw new AppError('not_found', 'This site sends no mail')
    if (!sessionOf(request).user.has_password)
      throw new AppError('forbidden', 'You sign in at the forum, which keeps your address')
  })
  await app.register(changePages, deps)
  confirmPages(app, deps)
}

async function changePages(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('preHandler', requireFreshSignIn(deps, { back: PROFILE }))

  app.get(PAGE, async (request, reply) => {
    const { user } = sessionOf(request)
    const pending = await pendingAddress(deps.db, user.id, deps.clock())
    return reply.page('accounts/security/email-address', { user, pending })
  })

  app.post(PAGE, async (request, reply) => {
    const email = await sendConfirmation(request, deps)
    return reply.page('accounts/security/message', {
      message: 'confirmationSent',
      email,
      minutes: LINK_MINUTES,
    })
  })
}

/** Reads the form with the new address of the signed-in member, mails the link to it, and returns it. Throws FormRefused. */
export async function sendConfirmation(request: FastifyRequest, deps: Core): Promise<string> {
  const { user } = sessionOf(request)
  const { malformed, same } = request.locale.t.security.email
  const { email } = readForm(request, AddressForm, { email: malformed })
  if (user.email_verified && user.email === email) throw new FormRefused({ email: same })
  const { ip, locale } = request
  await registerAttempt(deps, {
    account: `address of ${user.id}`,
    address: `address from ${networkOf(ip)}`,
    accountMax: REQUESTS_MAX,
  })
  await requestAddress(deps, { user, email, language: locale.language, ip, agent: agentOf(request) })
  return email
}

function confirmPages(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>(CONFIRM, async (request, reply) => {
    const token = asToken(request.query.token)
    const link = await findLink(deps.db, { token, purpose: 'confirm_email', now: deps.clock() })
    const { user } = sessionOf(request)
    if (link?.user_id !== user.id) return showDeadLink(reply)
    return reply.page('accounts/security/confirm-email', { user, token, email: link.email })
  })

  app.post(CONFIRM, async (request, reply) => {
    const token = asToken((request.body as Record<string, unknown>).token)
    const { user } = sessionOf(request)
    const act = { token, user_id: user.id, ip: request.ip, agent: agentOf(request) }
    const email = await confirmAddress(deps, act)
    if (email === undefined) return showDeadLink(reply)
    return reply.page('accounts/security/message', { message: 'addressConfirmed', email })
  })
}

function showDeadLink(reply: FastifyReply) {
  return reply.page('accounts/security/message', { message: 'deadAddressLink' }, { status: 410 })
}

function asToken(sent: unknown): string {
  return Token.safeParse(sent).data ?? ''
}
