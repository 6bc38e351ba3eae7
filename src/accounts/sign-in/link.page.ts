/**
 * A link from the command line that signs in once, for when the forum is down, or a password is lost on a site without
 * mail. It replaces the password only: the second factor is still required. Its button uses the link. Opening the link does
 * not, because programs that preview links open it too. spec/accounts 2.6.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { claimLink, findLink } from '../security/account-links.ts'
import { recordSecurityEvent } from '../security/security-events.ts'
import { agentOf } from '../session/session.ts'
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
    const user_id = await useSignInLink(deps, { token, ip: request.ip, agent: agentOf(request) })
    if (user_id === undefined) return showDeadLink(reply)
    // RFC 8176 has no name for a sign-in by a link.
    return finishSignIn(request, reply, { user_id, amr: [], back: '/' }, deps)
  })
}

function showDeadLink(reply: FastifyReply): FastifyReply {
  return reply.page('accounts/security/message', { message: 'deadSignInLink' }, { status: 410 })
}

/** Uses a link and returns its member. Returns undefined for an unusable link, and for a suspended or banned member. */
async function useSignInLink(
  deps: Core,
  { token, ...by }: { token: string; ip: string; agent: string },
): Promise<bigint | undefined> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
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
      ...by,
    } as const
    await recordSecurityEvent(tx, deps, event)
    return user.id
  })
}
