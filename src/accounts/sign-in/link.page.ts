/**
 * A link from the command line that signs in once: the way in when the forum is down, or a password is lost and no
 * mail leaves. It stands in for the password and for nothing else: a second factor is still asked for. Opening it uses
 * nothing up, since whatever previews links opens them too; its button does.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { claimLink, findLink } from '../security/account-links.ts'
import { recordSecurityEvent } from '../security/security-events.ts'
import { finishSignIn } from './second-step.page.ts'

export const SIGN_IN_LINK = '/sign-in/link'

const Token = z.object({ token: z.string().min(1).max(100) })

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/sign-in/link': { token: string; username: string }
  }
}

/** GET and POST /sign-in/link, in the scope of the sign-in page. */
export function signInLinkRoutes(app: FastifyInstance, deps: Core): void {
  app.get(SIGN_IN_LINK, async (request, reply) => {
    const { token = '' } = Token.safeParse(request.query).data ?? {}
    const link = await findLink(deps.db, { token, purpose: 'sign_in', now: deps.clock() })
    if (link === undefined) return showDeadLink(reply)
    return reply.page('accounts/sign-in/link', { token, username: link.username })
  })

  app.post(SIGN_IN_LINK, async (request, reply) => {
    const { token = '' } = Token.safeParse(request.body).data ?? {}
    const now = deps.clock()
    const user_id = await deps.db.transaction().execute(async (tx) => {
      const link = await claimLink(tx, { token, purpose: 'sign_in', now })
      if (link === undefined) return undefined
      const user = await tx
        .selectFrom('users')
        .where('id', '=', link.user_id)
        .select(['id', 'is_banned', 'suspended_till'])
        .executeTakeFirstOrThrow()
      if (isBannedOrSuspended(user, now)) return undefined
      const event = {
        event: 'sign_in.link_used',
        user_id: user.id,
        actor_id: user.id,
        ip: request.ip,
      } as const
      await recordSecurityEvent(tx, deps, event)
      return user.id
    })
    if (user_id === undefined) return showDeadLink(reply)
    // None of RFC 8176's names fits a link that somebody was given.
    return finishSignIn(request, reply, { user_id, amr: [], returnTo: '/' }, deps)
  })
}

function showDeadLink(reply: FastifyReply): FastifyReply {
  return reply.page('accounts/security/message', { message: 'deadSignInLink' }, { status: 410 })
}
