/** /account/sessions: the member's signed-in browsers, and the form that signs them out. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { Messages } from '../../web/languages.ts'
import { describeDevice } from './device.ts'
import { endOtherSessions, openSessions } from './open-sessions.ts'
import { sessionOf } from './session.ts'

const MINUTE_MS = 60_000
/** The last use is accurate to ten minutes, so the page shows no shorter time. */
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

/** GET /account/sessions and POST /account/sessions/end, in a scope with requireUser. */
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

function describeAge(ms: number, { sessions }: Messages): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < JUST_NOW_MINUTES) return sessions.justNow
  if (minutes < 60) return sessions.minutesAgo(Math.floor(minutes / 10) * 10)
  if (minutes < 24 * 60) return sessions.hoursAgo(Math.floor(minutes / 60))
  return sessions.daysAgo(Math.floor(minutes / (24 * 60)))
}
