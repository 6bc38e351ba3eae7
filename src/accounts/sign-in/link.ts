/** Uses sign-in links. */
import type { Core } from '../../core/core.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { claimLink } from '../security/account-links.ts'
import { recordSecurityEvent } from '../security/security-events.ts'

/** Uses a link and returns its member. Returns undefined for an unusable link, and for a suspended or banned member. */
export async function useSignInLink(
  deps: Core,
  { token, ip }: { token: string; ip: string },
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
      ip,
    } as const
    await recordSecurityEvent(tx, deps, event)
    return user.id
  })
}
