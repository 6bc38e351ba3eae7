/**
 * /account/not-me: the page behind “This wasn't me”. Its button acts. Opening the link does not, because mail scanners open it
 * too.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { hasMail } from '../accounts/people/email.ts'
import { LINK_MINUTES } from '../accounts/security/recovery.ts'
import { isDeniable, NOT_ME } from '../accounts/security/security-events.ts'
import { agentOf, browserScope } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { AppError } from '../platform/errors.ts'
import { denyChange, findDenial } from './not-me.ts'

const Token = z.object({ token: z.string().min(1).max(100) })

/** GET and POST /account/not-me. The link is enough: no sign-in is needed. Throws not_found on a site without mail. */
export async function notMePages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', async () => {
    if (!hasMail(deps.config)) throw new AppError('not_found', 'This site sends no mail')
  })

  app.get(NOT_ME, async (request, reply) => showPage(request, reply, deps))

  app.post(NOT_ME, { config: { admission: 'slow' } }, async (request, reply) => {
    const { ip, locale } = request
    const by = { ip, agent: agentOf(request), language: locale.language }
    const done = await denyChange(deps, { token: tokenIn(request.body), ...by })
    if (done === undefined) return showDeadLink(reply)
    const message = 'accounts/security/message'
    return done.hadPassword
      ? reply.page(message, { message: 'lockedOutSent', email: done.address, minutes: LINK_MINUTES })
      : reply.page(message, { message: 'signedOutAll' })
  })
}

async function showPage(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const token = tokenIn(request.query)
  const account = await findDenial(deps, token)
  if (account === undefined) return showDeadLink(reply)
  const { t, time } = request.locale
  const { notMe } = t
  const { username, address, email, has_password, has_second_factor, has_new_passkeys, event } = account
  const notes = [
    notMe.signsOut,
    has_password && notMe.password(address),
    has_password && email !== address && notMe.address,
    has_new_passkeys && notMe.passkeys(time(account.untrusted_since)),
    has_second_factor && notMe.secondFactor,
    notMe.stays,
  ]
  return reply.page('confirm', {
    title: notMe.title,
    lead: has_password ? notMe.lead(username) : notMe.leadAtForum(username),
    facts: [
      ...(isDeniable(event) ? [{ term: notMe.what, value: t.mails.notices[event].subject }] : []),
      { term: notMe.when, value: time(account.changed_at) },
    ],
    notes: notes.filter((note) => note !== false),
    action: NOT_ME,
    fields: { token },
    button: has_password ? notMe.lock : notMe.signOut,
    isDanger: true,
    cancel: '/',
  })
}

function showDeadLink(reply: FastifyReply): FastifyReply {
  return reply.page('accounts/security/message', { message: 'deadNotMeLink' }, { status: 410 })
}

function tokenIn(sent: unknown): string {
  return Token.safeParse(sent).data?.token ?? ''
}
