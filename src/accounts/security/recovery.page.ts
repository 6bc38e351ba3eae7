/** /account/recover: the pages of a forgotten password. Neither answers nor times show whether an account exists. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { AppError } from '../../platform/errors.ts'
import { safeBack } from '../../web/back.ts'
import { readForm } from '../../web/forms/forms.ts'
import { type NextStep, nextStepOf } from '../../web/next-steps.ts'
import { hasMail } from '../people/email.ts'
import { agentOf } from '../session/session.ts'
import { registerAttempt } from '../session/throttle.ts'
import { findLink } from './account-links.ts'
import type { messages } from './mails.texts.ts'
import { ChosenPassword, wordsForChosen } from './password.ts'
import { LINK_MINUTES, NEW_PASSWORD, recoverPassword, requestRecovery } from './recovery.ts'

/** Requests for one name in the throttle's window, because each may send a mail. */
const REQUESTS_MAX = 3
/** A longer path to return to is left out, because the database keeps it. */
const RETURN_LENGTH_MAX = 2_000

const RequestForm = z.object({ name: z.string().trim().min(1).max(254) })
const Token = z.string().min(1).max(100)
const PasswordForm = z.object({
  token: z.unknown(),
  new_password: ChosenPassword,
})

type Message = keyof typeof messages
type MessageData = {
  email?: string
  /** The path that the sign-in of its button returns to, and what waits there. */
  back?: string
  nextStep?: NextStep | undefined
  /** The name that the sign-in of its button has filled in. */
  username?: string
}

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/security/message':
      | (MessageData & {
          message: 'recoverySent' | 'confirmationSent' | 'lockedOutSent'
          minutes: number
          /** The name or the address that was typed, to send the link to it again. */
          typed?: string
        })
      | (MessageData & {
          message: Exclude<Message, 'recoverySent' | 'confirmationSent' | 'lockedOutSent'>
          minutes?: undefined
          typed?: undefined
        })
    'accounts/security/recover': { hasForum: boolean; back: string; nextStep: NextStep | undefined }
    'accounts/security/recover-password': { token: string; username: string; nextStep: NextStep | undefined }
  }
}

/** GET and POST /account/recover and the link's page, in a browser scope. Throws not_found on a site without mail. */
export async function recoveryRoutes(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('preHandler', async () => {
    if (!hasMail(deps.config)) throw new AppError('not_found', 'This site sends no mail')
  })

  const hasForum = deps.config.DISCOURSE_URL !== undefined

  app.get<{ Querystring: Record<string, unknown> }>('/account/recover', async ({ query, refused }, reply) => {
    const back = backFrom(refused?.typed.return_to ?? query.return_to)
    return reply.page('accounts/security/recover', { hasForum, back, nextStep: await nextStepOf(app, back) })
  })

  app.post('/account/recover', async (request, reply) => {
    const { empty } = request.locale.t.security.recover
    const { name } = readForm(request, RequestForm, { name: empty })
    const { ip, locale } = request
    const back = backFrom((request.body as Record<string, unknown>).return_to)
    // Always counted as a failure, because no right answer could clear it.
    await registerAttempt(deps, {
      account: `recovery of ${name}`,
      address: `recovery from ${networkOf(ip)}`,
      accountMax: REQUESTS_MAX,
    })
    const by = { ip, agent: agentOf(request), language: locale.language }
    await requestRecovery(deps, { name, ...by, return_to: back })
    return reply.page('accounts/security/message', {
      message: 'recoverySent',
      minutes: LINK_MINUTES,
      typed: name,
      back,
      nextStep: await nextStepOf(app, back),
    })
  })

  app.get<{ Querystring: Record<string, unknown> }>(NEW_PASSWORD, async ({ query, refused }, reply) =>
    showNewPassword(reply, deps, asToken(refused?.typed.token ?? query.token)),
  )

  app.post(NEW_PASSWORD, { config: { admission: 'slow' } }, async (request, reply) => {
    const words = { new_password: wordsForChosen(request.body, 'new_password', request.locale.t) }
    const { token, new_password } = readForm(request, PasswordForm, words)
    const { ip, locale } = request
    const by = { ip, agent: agentOf(request), language: locale.language }
    const recovered = await recoverPassword(deps, { token: asToken(token), new_password, ...by })
    if (recovered === undefined) return showDeadLink(reply)
    const { return_to: back, username } = recovered
    const nextStep = await nextStepOf(app, back)
    return reply.page('accounts/security/message', { message: 'passwordSet', back, nextStep, username })
  })
}

async function showNewPassword(reply: FastifyReply, deps: Core, token: string): Promise<FastifyReply> {
  const link = await findLink(deps.db, { token, purpose: 'recover_password', now: deps.clock() })
  if (link === undefined) return showDeadLink(reply)
  const nextStep = await nextStepOf(reply.server, link.return_to)
  return reply.page('accounts/security/recover-password', { token, username: link.username, nextStep })
}

function showDeadLink(reply: FastifyReply) {
  return reply.page('accounts/security/message', { message: 'deadRecoveryLink' }, { status: 410 })
}

function backFrom(sent: unknown): string {
  const back = safeBack(sent)
  return back.length <= RETURN_LENGTH_MAX ? back : '/'
}

function asToken(sent: unknown): string {
  return Token.safeParse(sent).data ?? ''
}
