/** A member's own pages: the front page, the choice of language, the change of password, and what else is registered here. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Core } from '../core/core.ts'
import { balanceOf } from '../ledger/wallet.ts'
import { AppError } from '../platform/errors.ts'
import { isLanguage, LANGUAGE_COOKIE } from '../web/languages.ts'
import { leadsTo, safeReturnTo } from '../web/return-to.ts'
import { chooseLanguage } from './people/users.ts'
import { profilePages } from './profile.page.ts'
import { emailAddressPages } from './security/email-address.page.ts'
import {
  hashPassword,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  verifyPassword,
} from './security/password.ts'
import { recoveryRoutes } from './security/recovery.page.ts'
import { secondFactorPages } from './security/second-factor.page.ts'
import { recordSecurityEvent } from './security/security-events.ts'
import { attemptedBy } from './session/known-browser.ts'
import { PROFILE } from './session/reauthentication.ts'
import {
  browserScope,
  endSessionsOf,
  requireUser,
  sessionOf,
  signInUrl,
  startSession,
} from './session/session.ts'
import { sessionPages } from './session/sessions.page.ts'
import { clearAttempts, failAttempt, openAttempt } from './session/throttle.ts'
import { walletPage } from './wallet.page.ts'

const YEAR_SECONDS = 31_536_000

const PasswordForm = z.object({
  current_password: z.string().min(1).max(1_000),
  new_password: z.string().min(PASSWORD_LENGTH_MIN).max(PASSWORD_LENGTH_MAX),
  return_to: z.string().optional(),
})

/** GET / and /account/password, POST /account/password and /language; the wallet, the profile and what leads on from it. */
export async function accountRoutes(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)

  app.get('/', async (request, reply) => {
    const { session } = request
    const balance = session === undefined ? undefined : await balanceOf(deps.db, session.user.id)
    return reply.page('accounts/home', { balance })
  })

  app.post('/language', async (request, reply) => {
    const { language, return_to } = (request.body ?? {}) as Record<string, unknown>
    if (isLanguage(language)) {
      const secure = deps.config.production
      reply.setCookie(LANGUAGE_COOKIE, language, { path: '/', sameSite: 'lax', secure, maxAge: YEAR_SECONDS })
      if (request.session !== undefined) await chooseLanguage(deps.db, request.session.user.id, language)
    }
    return reply.redirect(safeReturnTo(return_to), 303)
  })

  passwordRoutes(app, deps)
  await app.register(secondFactorPages, deps)
  await app.register(emailAddressPages, deps)
  await app.register(recoveryRoutes, deps)

  await app.register(async (own) => {
    own.addHook('preHandler', requireUser)
    sessionPages(own, deps)
    profilePages(own, deps)
    walletPage(own, deps)
  })
}

/** Outside requireUser's scope, which sends holders of a one-time password here. */
function passwordRoutes(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>('/account/password', async (request, reply) => {
    if (request.session === undefined) return reply.redirect(signInUrl('/account/password'), 303)
    if (!request.session.user.has_password) return reply.redirect(PROFILE, 303)
    const returnTo = safeReturnTo(request.query.return_to)
    return reply.page(
      'accounts/security/password',
      { returnTo, problem: undefined },
      { leavesSite: leadsTo(returnTo) },
    )
  })

  app.post('/account/password', { config: { admission: 'slow' } }, async (request, reply) => {
    const { user, amr, auth_time } = sessionOf(request)
    if (!user.has_password)
      throw new AppError('forbidden', 'This account signs in at the forum and has no password')
    const form = PasswordForm.safeParse(request.body)
    const returnTo = safeReturnTo((request.body as Record<string, unknown>).return_to)
    const again = (problem: 'too_short' | 'wrong_password' | 'same_password') =>
      reply.page(
        'accounts/security/password',
        { returnTo, problem },
        { status: 400, leavesSite: leadsTo(returnTo) },
      )
    if (!form.success) return again('too_short')

    const { current_password, new_password } = form.data
    const { id: user_id, username } = user
    const attempt = await openAttempt(deps, attemptedBy(request, { user_id, username }, deps))
    const row = await deps.db
      .selectFrom('users')
      .where('id', '=', user.id)
      .select('password_hash')
      .executeTakeFirst()
    if (!(await verifyPassword(current_password, row?.password_hash))) {
      await failAttempt(deps, attempt)
      return again('wrong_password')
    }
    await clearAttempts(deps, attempt)
    if (current_password === new_password) return again('same_password')
    const password_hash = await hashPassword(new_password)
    await deps.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('users')
        .set({ password_hash, must_change_password: false, updated_at: deps.clock() })
        .where('id', '=', user.id)
        .execute()
      // Whoever else knew the old password is signed out with it.
      await endSessionsOf(tx, user.id)
      await recordSecurityEvent(tx, deps, {
        event: 'password.changed',
        user_id: user.id,
        actor_id: user.id,
        ip: request.ip,
      })
    })
    // The password alone was proven now; when and how this member signed in stays what it was.
    await startSession(request, reply, user.id, amr, deps, auth_time)
    return reply.redirect(returnTo, 303)
  })
}
