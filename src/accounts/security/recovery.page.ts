/** /account/recover: the pages of a forgotten password. Neither answers nor times show whether an account exists. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { AppError } from '../../platform/errors.ts'
import { hasMail } from '../people/email.ts'
import { registerAttempt } from '../session/throttle.ts'
import { findLink } from './account-links.ts'
import type { messages } from './message.texts.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './password.ts'
import { LINK_MINUTES, NEW_PASSWORD, recoverPassword, requestRecovery } from './recovery.ts'

/** Requests for one name in the throttle's window, because each may send a mail. */
const REQUESTS_MAX = 3

const RequestForm = z.object({ name: z.string().trim().min(1).max(254) })
const Token = z.string().min(1).max(100)
const PasswordForm = z.object({ new_password: z.string().min(PASSWORD_LENGTH_MIN).max(PASSWORD_LENGTH_MAX) })

type Message = keyof typeof messages

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/security/message':
      | { message: 'recoverySent' | 'confirmationSent'; minutes: number; email?: string }
      | {
          message: Exclude<Message, 'recoverySent' | 'confirmationSent'>
          email?: string
          minutes?: undefined
        }
    'accounts/security/recover': { isEmpty: boolean; hasForum: boolean }
    'accounts/security/recover-password': { token: string; username: string; isTooShort: boolean }
  }
}

/** GET and POST /account/recover and the link's page, in a browser scope. Throws not_found on a site without mail. */
export async function recoveryRoutes(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('preHandler', async () => {
    if (!hasMail(deps.config)) throw new AppError('not_found', 'This site sends no mail')
  })

  const hasForum = deps.config.DISCOURSE_URL !== undefined

  app.get('/account/recover', async (_request, reply) =>
    reply.page('accounts/security/recover', { isEmpty: false, hasForum }),
  )

  app.post('/account/recover', async (request, reply) => {
    const form = RequestForm.safeParse(request.body)
    if (!form.success)
      return reply.page('accounts/security/recover', { isEmpty: true, hasForum }, { status: 400 })
    const { name } = form.data
    const { ip, locale } = request
    // Always counted as a failure, because no right answer could clear it.
    await registerAttempt(deps, {
      account: `recovery of ${name}`,
      address: `recovery from ${networkOf(ip)}`,
      accountMax: REQUESTS_MAX,
    })
    await requestRecovery(deps, { name, language: locale.language, ip })
    return reply.page('accounts/security/message', { message: 'recoverySent', minutes: LINK_MINUTES })
  })

  app.get<{ Querystring: Record<string, unknown> }>(NEW_PASSWORD, async (request, reply) =>
    showNewPassword(reply, deps, { token: request.query.token }),
  )

  app.post(NEW_PASSWORD, { config: { admission: 'slow' } }, async (request, reply) => {
    const { token, ...rest } = (request.body ?? {}) as Record<string, unknown>
    const form = PasswordForm.safeParse(rest)
    if (!form.success) return showNewPassword(reply, deps, { token, isTooShort: true })
    const { new_password } = form.data
    const isDone = await recoverPassword(deps, { token: asToken(token), new_password, ip: request.ip })
    return isDone ? reply.page('accounts/security/message', { message: 'passwordSet' }) : showDeadLink(reply)
  })
}

async function showNewPassword(
  reply: FastifyReply,
  deps: Core,
  { token: sent, isTooShort = false }: { token: unknown; isTooShort?: boolean },
) {
  const token = asToken(sent)
  const link = await findLink(deps.db, { token, purpose: 'recover_password', now: deps.clock() })
  if (link === undefined) return showDeadLink(reply)
  const { username } = link
  return reply.page(
    'accounts/security/recover-password',
    { token, username, isTooShort },
    { status: isTooShort ? 400 : 200 },
  )
}

function showDeadLink(reply: FastifyReply) {
  return reply.page('accounts/security/message', { message: 'deadRecoveryLink' }, { status: 410 })
}

function asToken(sent: unknown): string {
  return Token.safeParse(sent).data ?? ''
}
