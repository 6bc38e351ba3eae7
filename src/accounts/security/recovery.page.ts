/**
 * A forgotten password. What is asked for is only written down: the page never looks at accounts, so neither its
 * answer nor its time can tell whether there is one. The worker finds out, and sends the link.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { enqueueMail, hasMail } from '../people/email.ts'
import { endSessionsOf } from '../session/session.ts'
import { registerAttempt } from '../session/throttle.ts'
import { claimLink, endLinks, findLink, issueLink } from './account-links.ts'
import { mails } from './mails.texts.ts'
import type { messages } from './message.texts.ts'
import { hashPassword, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './password.ts'
import { recordSecurityEvent } from './security-events.ts'

const LINK_MINUTES = 30
/** Requests for one name in the throttle's window: each may send a mail. */
const REQUESTS_MAX = 3
const BATCH_MAX = 20
/** An address may belong to several accounts; more than this is nobody's mailbox. */
const ACCOUNTS_MAX = 5
const NEW_PASSWORD = '/account/recover/password'

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

/** GET and POST /account/recover, and the page that the link opens, in a browser scope. Only where mail can leave. */
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
    // Counted as a failure for good: there is no right answer that would clear it.
    await registerAttempt(deps, {
      account: `recovery of ${name}`,
      address: `recovery from ${networkOf(ip)}`,
      accountMax: REQUESTS_MAX,
    })
    const asked = { name, language: locale.language, ip, requested_at: deps.clock() }
    await deps.db.insertInto('recovery_requests').values(asked).execute()
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

/**
 * Sets a new password with a link and ends every session; tokens of applications, the second factor and all else stay.
 * False when the link is used, expired, or was sent to an address that is the account's no more.
 */
async function recoverPassword(
  deps: Core,
  { token, new_password, ip }: { token: string; new_password: string; ip: string },
): Promise<boolean> {
  const now = deps.clock()
  const purpose = 'recover_password'
  // Before the costly hash; who really gets the link is decided by claimLink.
  if ((await findLink(deps.db, { token, purpose, now })) === undefined) return false
  const password_hash = await hashPassword(new_password)
  return deps.db.transaction().execute(async (tx) => {
    const link = await claimLink(tx, { token, purpose, now })
    if (link === undefined) return false
    const { user_id, email } = link
    const changed = await tx
      .updateTable('users')
      .set({ password_hash, must_change_password: false, updated_at: now })
      .where('id', '=', user_id)
      .where('password_hash', 'is not', null)
      .where('email', '=', email)
      .where('email_verified', '=', true)
      .executeTakeFirst()
    if (changed.numUpdatedRows !== 1n) return false
    await endLinks(tx, { user_id, purpose, now })
    await endSessionsOf(tx, user_id)
    await recordSecurityEvent(tx, deps, { event: 'password.recovered', user_id, actor_id: user_id, ip })
    return true
  })
}

/** Turns what was asked for into links and mails. Each request goes to one process. */
export async function answerRecoveryRequests(deps: Core): Promise<void> {
  if (!hasMail(deps.config)) return
  await deps.db.transaction().execute(async (tx) => {
    const requests = await tx
      .deleteFrom('recovery_requests')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('recovery_requests')
          .orderBy('id')
          .limit(BATCH_MAX)
          .forUpdate()
          .skipLocked()
          .select('id'),
      )
      .returning(['name', 'language', 'ip'])
      .execute()
    for (const request of requests) await sendLinks(tx, deps, request)
  })
}

/** To the confirmed addresses of local accounts of that name or address. Often that is nobody. */
async function sendLinks(
  tx: Tx,
  deps: Core,
  { name, language, ip }: { name: string; language: 'en' | 'zh-CN'; ip: string },
): Promise<void> {
  const accounts = await tx
    .selectFrom('users')
    .where(sql<boolean>`(lower(username) = lower(${name}) or lower(email) = lower(${name}))`)
    .where('password_hash', 'is not', null)
    .where('email_verified', '=', true)
    .where('email', 'is not', null)
    .select(['id', 'username', 'email', 'language'])
    .orderBy('id')
    .limit(ACCOUNTS_MAX)
    .execute()
  const expires_at = new Date(deps.clock().getTime() + LINK_MINUTES * 60_000)
  for (const { id: user_id, username, ...account } of accounts) {
    const email = account.email!
    const token = await issueLink(tx, { user_id, purpose: 'recover_password', email, expires_at })
    await recordSecurityEvent(tx, deps, { event: 'password.recovery_sent', user_id, actor_id: null, ip })
    await enqueueMail(tx, deps, {
      user_id,
      username,
      recipient: email,
      language: account.language ?? language,
      kind: 'password.recovery',
      content: mails.recovery(LINK_MINUTES),
      link: `${NEW_PASSWORD}?token=${token}`,
      useless_at: expires_at,
    })
  }
}
