/** /account/sessions: the member's signed-in browsers. Signing out asks first, and says afterwards what it did. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { Icon } from '../../web/icons.ts'
import type { Messages } from '../../web/languages.ts'
import { describeDevice, deviceIcon, deviceOf } from './device.ts'
import { endSessionsOf, type Session, sessionOf } from './session.ts'

const PAGE = '/account/sessions'
const END = `${PAGE}/end`
const MINUTE_MS = 60_000
/** The last use is accurate to ten minutes, so the page shows no shorter time. */
const JUST_NOW_MINUTES = 15

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/session/sessions': {
      sessions: (OpenSession & { device: string; icon: Icon; lastSeen: string })[]
      others: typeof OTHERS
    }
  }
  interface PartData {
    'accounts/session/end-others': { others: typeof OTHERS }
  }
}

/** GET /account/sessions and POST /account/sessions/end, in a scope with requireUser. */
export function sessionPages(app: FastifyInstance, deps: Core): void {
  app.get(PAGE, async (request, reply) => {
    const { t } = request.locale
    const sessions = (await openSessions(deps, sessionOf(request))).map((session) => ({
      ...session,
      device: describeDevice(session.agent, t),
      icon: deviceIcon(deviceOf(session.agent).system),
      lastSeen: describeAge(deps.clock().getTime() - session.last_seen_at.getTime(), t),
    }))
    return reply.page('accounts/session/sessions', { sessions, others: OTHERS })
  })

  app.post(END, async (request, reply) => {
    const { session: handle, sure } = (request.body ?? {}) as Record<string, unknown>
    const current = sessionOf(request)
    const { t } = request.locale
    const chosen = await chosenSessions(deps, current, handle)
    if (sure !== '1' && chosen.length > 0) return askFirst(reply, chosen, String(handle))
    const count = await endOtherSessions(deps, current, { chosen, ip: request.ip })
    const [one] = chosen
    const text =
      handle === OTHERS || one === undefined
        ? t.sessions.endedOthers(count)
        : t.sessions.ended(describeDevice(one.agent, t))
    const { has_password } = current.user
    const link = handle === OTHERS && has_password && { href: '/account/password', label: t.password.title }
    return reply.done(PAGE, { text, ...(link && { link }) })
  })
}

function askFirst(reply: FastifyReply, chosen: OpenSession[], handle: string): FastifyReply {
  const { t, time } = reply.request.locale
  const s = t.sessions
  const [one] = chosen
  const isOne = handle !== OTHERS && one !== undefined
  return reply.page('confirm', {
    title: isOne ? s.sureOne(describeDevice(one.agent, t)) : s.sureOthers(chosen.length),
    lead: isOne ? s.sureOneText : s.sureOthersText,
    facts: isOne
      ? [
          { term: s.address, value: one.ip },
          { term: s.since, value: time(one.auth_time) },
          { term: s.lastSeen, value: time(one.last_seen_at) },
        ]
      : chosen.slice(0, 5).map(({ agent, ip }) => ({ term: describeDevice(agent, t), value: ip })),
    notes: [s.applicationsStay],
    action: END,
    fields: { session: handle, sure: '1' },
    button: isOne ? s.end : s.endOthers,
    isDanger: true,
    cancel: PAGE,
  })
}

function describeAge(ms: number, { sessions }: Messages): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < JUST_NOW_MINUTES) return sessions.justNow
  if (minutes < 60) return sessions.minutesAgo(Math.floor(minutes / 10) * 10)
  if (minutes < 24 * 60) return sessions.hoursAgo(Math.floor(minutes / 60))
  return sessions.daysAgo(Math.floor(minutes / (24 * 60)))
}

/** The value that names all sessions but the current one. */
export const OTHERS = 'others'

type OpenSession = Awaited<ReturnType<typeof openSessions>>[number]

/** Returns the live sessions of this session's member, the last used first. `handle` names one without showing its id. */
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

/** Returns the session of this handle, or all but the current one for OTHERS. Throws not_found for an unknown handle. */
async function chosenSessions(deps: Core, current: Session, handle: unknown): Promise<OpenSession[]> {
  const others = (await openSessions(deps, current)).filter(({ isThisOne }) => !isThisOne)
  if (handle === OTHERS) return others
  const chosen = others.filter((one) => one.handle === handle)
  if (chosen.length === 0) throw new AppError('not_found', 'No such session')
  return chosen
}

/** Ends these sessions of the current session's member, and returns how many were still live. */
async function endOtherSessions(
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
