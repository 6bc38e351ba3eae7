/** Lists the sessions of an account, and ends them from another browser. */
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { endSessionsOf, type Session } from './session.ts'

/** The value that names all sessions but the current one. */
export const OTHERS = 'others'

export type OpenSession = Awaited<ReturnType<typeof openSessions>>[number]

/** Returns the live sessions of this session's member, the last used first. `handle` names one without showing its id. */
export async function openSessions({ db, clock, secrets }: Core, { id: current, user }: Session) {
  const rows = await db
    .selectFrom('sessions')
    .where('user_id', '=', user.id)
    .where('expires_at', '>', clock())
    .select(['id', 'ip', 'agent', 'auth_time'])
    .select((eb) => eb.fn.coalesce('last_seen_at', 'auth_time').as('last_seen_at'))
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) => ({
    ...row,
    isThisOne: row.id === current,
    handle: secrets.tag('session handle', row.id.toString()),
  }))
}

/** Returns the session of this handle, or all but the current one for OTHERS. Throws not_found for an unknown handle. */
export async function chosenSessions(deps: Core, current: Session, handle: unknown): Promise<OpenSession[]> {
  const others = (await openSessions(deps, current)).filter(({ isThisOne }) => !isThisOne)
  if (handle === OTHERS) return others
  const chosen = others.filter((one) => one.handle === handle)
  if (chosen.length === 0) throw new AppError('not_found', 'No such session')
  return chosen
}

/** Ends these sessions of the current session's member, and returns how many were still live. */
export async function endOtherSessions(
  deps: Core,
  current: Session,
  { chosen, ip }: { chosen: OpenSession[]; ip: string },
): Promise<number> {
  if (chosen.length === 0) return 0
  return deps.db.transaction().execute(async (tx) => {
    const ended = await endSessionsOf(tx, deps, current.user.id, { only: chosen.map(({ id }) => id) })
    if (ended.length === 0) return 0
    await recordAudit(tx, {
      actor_id: current.user.id,
      action: 'account.sessions_ended',
      subject: `user:${current.user.id}`,
      detail: { before: { sessions: ended }, after: null },
      ip,
    })
    return ended.length
  })
}
