/** Signs a member out of all browsers and all applications at once. */
import type { MemberAct } from '../accounts/members.ts'
import { lockUser } from '../accounts/people/users.ts'
import { recordSecurityEvent } from '../accounts/security/security-events.ts'
import { endSessionsOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import { endGrantsOf } from './grants/grants.ts'

/** Ends all sessions, unfinished sign-ins, codes and tokens of a member. Throws not_found. */
export async function signOutEverywhere(
  deps: Core,
  { user_id, actor_id, reason, ip }: MemberAct,
): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    await lockUser(tx, user_id)
    const sessions = await endSessionsOf(tx, deps, user_id)
    const grants = await endGrantsOf(tx, { user_id, now })
    const detail = { reason, sessions: sessions.length, grants }
    await recordSecurityEvent(tx, deps, { event: 'signed_out', user_id, actor_id, ip, detail })
  })
}

/** Returns the applications with live grants of the member, and the number of grants. */
export async function liveGrants(db: Db, user_id: bigint, now: Date) {
  return db
    .selectFrom('grants as family')
    .innerJoin('oauth_apps as app', 'app.id', 'family.app_id')
    .where('family.user_id', '=', user_id)
    .where('family.revoked_at', 'is', null)
    .where('family.expires_at', '>', now)
    .groupBy(['app.client_id', 'app.name'])
    .select(['app.client_id', 'app.name'])
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .orderBy('app.name')
    .execute()
}
