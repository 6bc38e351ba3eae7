/** /account/password: a member changes the password. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { leadsTo, safeBack } from '../../web/back.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { attemptedBy } from '../session/known-browser.ts'
import { isFresh, PROFILE } from '../session/reauthentication.ts'
import {
  agentOf,
  endSessionsOf,
  giveSession,
  replaceToken,
  type Session,
  sessionOf,
  signInUrl,
} from '../session/session.ts'
import { checkAttempt, clearAttempts, failAttempt, openAttempt } from '../session/throttle.ts'
import { ChosenPassword, hashPassword, verifyPassword, wordsForChosen } from './password.ts'
import { recordSecurityEvent } from './security-events.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/security/password': { user: Session['user']; back: string; asksForCurrent: boolean }
  }
}

const NewPassword = z.object({
  new_password: ChosenPassword,
  return_to: z.string().optional(),
})
const PasswordForm = NewPassword.extend({ current_password: z.string().min(1).max(1_000) })

/** GET and POST /account/password. They are outside requireUser, which redirects members with a one-time password here. */
export function passwordPages(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>('/account/password', async (request, reply) => {
    if (request.session === undefined) return reply.redirect(signInUrl('/account/password'), 303)
    const { user } = request.session
    if (!user.has_password) return reply.redirect(PROFILE, 303)
    const back = ownReturn(request.refused?.typed.return_to ?? request.query.return_to)
    const asksForCurrent = !(await mayReplace(request.session, deps))
    const shown = { user, back, asksForCurrent }
    return reply.page('accounts/security/password', shown, { leavesSite: leadsTo(back) })
  })

  app.post('/account/password', { config: { admission: 'slow' } }, async (request, reply) => {
    const session = sessionOf(request)
    if (!session.user.has_password)
      throw new AppError('forbidden', 'This account signs in at the forum and has no password')
    const isReplaced = await mayReplace(session, deps)
    const form = isReplaced ? await readReplacement(request, deps) : await readChange(request, deps)
    const { others, token } = await changePassword(deps, request, { ...form, isReplaced })
    if (token !== undefined) giveSession(reply, token, deps)
    return reply.done(ownReturn(form.return_to), { text: request.locale.t.security.passwordChanged(others) })
  })
}

/**
 * Whether a session may replace the one-time password without typing it again. The member has just typed it, or has signed in by a
 * link or a passkey and may not know it. Until then the session can do nothing else.
 */
async function mayReplace(session: Session, { settings, clock }: Core): Promise<boolean> {
  if (!session.user.must_change_password) return false
  return isFresh(session, (await settings.read()).reauthenticate_minutes, clock())
}

type NewPasswordForm = { new_password: string; return_to?: string | undefined }

const newPasswordWords = ({ body, locale }: FastifyRequest) => ({
  new_password: wordsForChosen(body, 'new_password', locale.t),
})

/** Reads the form that replaces a one-time password. Throws FormRefused for the same password. */
async function readReplacement(request: FastifyRequest, deps: Core): Promise<NewPasswordForm> {
  const { password } = request.locale.t
  const form = readForm(request, NewPassword, newPasswordWords(request))
  if (await isPasswordOf(deps.db, sessionOf(request).user.id, form.new_password))
    throw new FormRefused({ new_password: password.same_password })
  return form
}

/** Reads the form of a change, and checks the current password. Throws FormRefused. */
async function readChange(request: FastifyRequest, deps: Core): Promise<NewPasswordForm> {
  const { password } = request.locale.t
  const { id: user_id, username } = sessionOf(request).user
  const form = readForm(request, PasswordForm, {
    current_password: password.wrong_password,
    ...newPasswordWords(request),
  })
  const { current_password, new_password } = form
  const attempt = await openAttempt(deps, attemptedBy(request, { user_id, username }, deps))
  if (!(await checkAttempt(deps, attempt, isPasswordOf(deps.db, user_id, current_password)))) {
    await failAttempt(deps, attempt)
    throw new FormRefused({ current_password: password.wrong_password })
  }
  await clearAttempts(deps, attempt)
  if (current_password === new_password) throw new FormRefused({ new_password: password.same_password })
  return form
}

function ownReturn(sent: unknown): string {
  return sent === undefined ? PROFILE : safeBack(sent)
}

/** Whether this is the member's password. It takes the same time for a member without a password. */
async function isPasswordOf(db: Db, user_id: bigint, password: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .where('id', '=', user_id)
    .select('password_hash')
    .executeTakeFirst()
  return verifyPassword(password, row?.password_hash)
}

/**
 * Sets the new password for the member of a request. It ends all other sessions and gives this one a new token, because
 * other people may know the old password and the old cookie. The member proved the password only, so auth_time and amr
 * stay. Returns the number of other signed-in browsers, and the token. Throws conflict if `isReplaced` and the old password
 * is no longer a one-time password.
 */
async function changePassword(
  deps: Core,
  request: FastifyRequest,
  { new_password, isReplaced }: { new_password: string; isReplaced: boolean },
): Promise<{ others: number; token: string | undefined }> {
  const { id: session_id, user } = sessionOf(request)
  const { id: user_id } = user
  const password_hash = await hashPassword(new_password)
  return deps.db.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable('users')
      .set({ password_hash, must_change_password: false, updated_at: deps.clock() })
      .where('id', '=', user_id)
      .$if(isReplaced, (query) => query.where('must_change_password', '=', true))
      .executeTakeFirst()
    if (changed.numUpdatedRows !== 1n) throw new AppError('conflict', 'The password was changed meanwhile')
    const ended = await endSessionsOf(tx, deps, user_id, { except: session_id })
    const token = await replaceToken(tx, request, {}, deps)
    const event = { event: 'password.changed', user_id, actor_id: user_id, ip: request.ip } as const
    await recordSecurityEvent(tx, deps, { ...event, agent: agentOf(request) })
    return { others: ended.length, token }
  })
}
