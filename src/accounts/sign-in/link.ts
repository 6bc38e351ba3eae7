/** A link that signs in once. */
import type { Core } from '../../core/core.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { claimLink } from '../security/account-links.ts'
import { recordSecurityEvent } from '../security/security-events.ts'

/** Uses a link up and answers whose it was; undefined for a dead one, and for a member who may not come in. */
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
