/** /account/sessions: the browsers signed in to one's account, and signing them out from here. */
import type { FastifyInstance } from 'fastify'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { Messages } from '../../web/languages.ts'
import { deviceOf } from './device.ts'
import { endSessionsOf, type Session, sessionOf } from './session.ts'

const MINUTE_MS = 60_000
/** Last seen is kept to within ten minutes; nothing finer is shown. */
const JUST_NOW_MINUTES = 15

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/session/sessions': {
      sessions: (Awaited<ReturnType<typeof openSessions>>[number] & { device: string; lastSeen: string })[]
      hasEnded: boolean
      path: string
    }
  }
}

/** Below requireUser. */
export function sessionPages(app: FastifyInstance, deps: Core): void {
  app.get('/account/sessions', async (request, reply) => {
    const { ended } = request.query as Record<string, unknown>
    const { t } = request.locale
    const sessions = (await openSessions(deps, sessionOf(request))).map((session) => ({
      ...session,
      device: describeDevice(session.agent, t),
      lastSeen: describeAge(deps.clock().getTime() - session.last_seen_at.getTime(), t),
    }))
    return reply.page('accounts/session/sessions', {
      sessions,
      hasEnded: ended === '1',
      path: '/account/sessions',
    })
  })

  app.post('/account/sessions/end', async (request, reply) => {
    const { session: handle } = request.body as Record<string, unknown>
    await endOtherSessions(deps, sessionOf(request), { handle, ip: request.ip })
    return reply.redirect('/account/sessions?ended=1', 303)
  })
}

/** The live sessions of the member of this one, the last used first. `handle` names one without telling its id. */
async function openSessions({ db, clock, secrets }: Core, { id: current, user }: Session) {
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

/**
 * Ends the session of this handle, or every one but this when the handle is `others`. Throws not_found when the member
 * has no such other session.
 */
async function endOtherSessions(
  deps: Core,
  current: Session,
  { handle, ip }: { handle: unknown; ip: string },
): Promise<void> {
  const others = (await openSessions(deps, current)).filter(({ isThisOne }) => !isThisOne)
  const chosen = handle === 'others' ? others : others.filter((one) => one.handle === handle)
  if (handle !== 'others' && chosen.length === 0) throw new AppError('not_found', 'No such session')
  if (chosen.length === 0) return
  await deps.db.transaction().execute(async (tx) => {
    const ended = await endSessionsOf(tx, current.user.id, { only: chosen.map(({ id }) => id) })
    if (ended.length === 0) return
    await recordAudit(tx, {
      actor_id: current.user.id,
      action: 'account.sessions_ended',
      subject: `user:${current.user.id}`,
      detail: { before: { sessions: ended }, after: null },
      ip,
    })
  })
}

export function describeDevice(agent: string, { sessions }: Messages): string {
  const { browser, system } = deviceOf(agent)
  if (browser !== undefined && system !== undefined) return sessions.on(browser, system)
  return browser ?? system ?? sessions.unknown
}

function describeAge(ms: number, { sessions }: Messages): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < JUST_NOW_MINUTES) return sessions.justNow
  if (minutes < 60) return sessions.minutesAgo(Math.floor(minutes / 10) * 10)
  if (minutes < 24 * 60) return sessions.hoursAgo(Math.floor(minutes / 60))
  return sessions.daysAgo(Math.floor(minutes / (24 * 60)))
}
