/**
 * The address of a local account. A new one takes effect when the link sent to it is opened by its member, signed in:
 * an address proves who somebody is to other applications, so nobody can be talked into confirming it for a stranger.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { AppError } from '../../platform/errors.ts'
import type { Language } from '../../web/languages.ts'
import { enqueueMail, hasMail } from '../people/email.ts'
import type { User } from '../people/users.ts'
import { PROFILE, requireFreshSignIn } from '../session/reauthentication.ts'
import { requireUser, type Session, sessionOf } from '../session/session.ts'
import { registerAttempt } from '../session/throttle.ts'
import { claimLink, endLinks, findLink, issueLink } from './account-links.ts'
import { mails } from './mails.texts.ts'
import { recordSecurityEvent } from './security-events.ts'

const PAGE = '/account/email'
const CONFIRM = '/account/email/confirm'
const LINK_MINUTES = 60
/** Requests of one member in the throttle's window: each sends a mail to wherever they say. */
const REQUESTS_MAX = 5

const AddressForm = z.object({ email: z.string().trim().pipe(z.email().max(254)) })
const Token = z.string().min(1).max(100)

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/security/email-address': {
      user: Session['user']
      email: string
      problem: 'malformed' | 'same' | undefined
    }
    'accounts/security/confirm-email': { user: Session['user']; token: string; email: string }
  }
}

/** GET and POST /account/email and /account/email/confirm, in a browser scope. Only where mail can leave. */
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
  app.addHook('preHandler', requireFreshSignIn(deps, { page: PAGE, back: PROFILE }))

  app.get(PAGE, async (request, reply) =>
    reply.page('accounts/security/email-address', {
      user: sessionOf(request).user,
      email: '',
      problem: undefined,
    }),
  )

  app.post(PAGE, async (request, reply) => {
    const { user } = sessionOf(request)
    const form = AddressForm.safeParse(request.body)
    if (!form.success) {
      const sent = (request.body as Record<string, unknown>).email
      const email = typeof sent === 'string' ? sent : ''
      return reply.page(
        'accounts/security/email-address',
        { user, email, problem: 'malformed' },
        { status: 400 },
      )
    }
    const { email } = form.data
    if (user.email_verified && user.email === email)
      return reply.page('accounts/security/email-address', { user, email, problem: 'same' }, { status: 400 })
    const { ip, locale } = request
    await registerAttempt(deps, {
      account: `address of ${user.id}`,
      address: `address from ${networkOf(ip)}`,
      accountMax: REQUESTS_MAX,
    })
    await requestAddress(deps, { user, email, language: locale.language, ip })
    return reply.page('accounts/security/message', {
      message: 'confirmationSent',
      email,
      minutes: LINK_MINUTES,
    })
  })
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
    const email = await confirmAddress(deps, { token, user_id: user.id, ip: request.ip })
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

/** Sends the link to the new address. An earlier one, perhaps to a mistyped address, works no more. */
async function requestAddress(
  deps: Core,
  request: { user: Pick<User, 'id' | 'username'>; email: string; language: Language; ip: string },
): Promise<void> {
  const { user, email, language, ip } = request
  const now = deps.clock()
  const link = { user_id: user.id, purpose: 'confirm_email' } as const
  const expires_at = new Date(now.getTime() + LINK_MINUTES * 60_000)
  await deps.db.transaction().execute(async (tx) => {
    await endLinks(tx, { ...link, now })
    const token = await issueLink(tx, { ...link, email, expires_at })
    const event = {
      event: 'email.requested',
      user_id: user.id,
      actor_id: user.id,
      ip,
      detail: { email },
    } as const
    await recordSecurityEvent(tx, deps, event)
    await enqueueMail(tx, deps, {
      user_id: user.id,
      username: user.username,
      recipient: email,
      language,
      kind: 'email.confirmation',
      content: mails.confirmEmail(email),
      link: `${CONFIRM}?token=${token}`,
      useless_at: expires_at,
    })
  })
}

/** Makes the address of the link the member's own, tells the old one, and returns it; undefined for a dead or foreign link. */
async function confirmAddress(
  deps: Core,
  { token, user_id, ip }: { token: string; user_id: bigint; ip: string },
): Promise<string | undefined> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('users')
      .where('id', '=', user_id)
      .where('password_hash', 'is not', null)
      .select('email')
      .forUpdate()
      .executeTakeFirst()
    const link = await claimLink(tx, { token, user_id, purpose: 'confirm_email', now })
    if (before === undefined || link === undefined) return undefined
    const { email } = link
    const change = { email, email_verified: true, updated_at: now }
    await tx.updateTable('users').set(change).where('id', '=', user_id).execute()
    await recordSecurityEvent(tx, deps, {
      event: 'email.changed',
      user_id,
      actor_id: user_id,
      ip,
      detail: { from: before.email, to: email },
      notify: before.email === email ? null : before.email,
    })
    return email
  })
}
