/**
 * GET /healthz: the process runs. GET /readyz: it can serve. For `tessera doctor` alone, /healthz also shows the version
 * and the caller's address as the service sees it, which shows whether the service trusts the proxy in front of it.
 * spec/limits 4.1.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { makeCanWrite } from '../database/can-write.ts'
import { isMigrated } from '../database/migrate.ts'
import type { Secrets } from '../platform/secrets.ts'
import { VERSION } from '../platform/version.ts'
import { apartSentence } from './clock-check.ts'
import type { Core } from './core.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether this process was told to stop. It goes on serving, and is no longer ready. */
    stop: { isAnnounced: boolean }
  }
}

/** Carries a moment and its tag, which requires APP_SECRET. */
export const SEEN_HEADER = 'tessera-seen'
const SEEN_PURPOSE = 'seen'
const SEEN_MINUTES_MAX = 5

/** The caller's address that every limit counts, and the values that the service derived it from. */
export type Seen = { address: string; peer: string; forwarded_for: string | null }

/** What /healthz answers to the doctor, beside the status. */
export type DoctorsAnswer = { version: string; seen: Seen }

/** Makes the value of SEEN_HEADER. */
export function seenTicket(secrets: Secrets, now: Date): string {
  return `${now.getTime()}.${secrets.tag(SEEN_PURPOSE, String(now.getTime()))}`
}

/** Mounts /healthz and /readyz. Both answer under overload too. */
export function healthRoutes(
  app: FastifyInstance,
  deps: Core,
  requireSigningKey: () => Promise<unknown>,
): void {
  const config = { admission: 'always' } as const
  app.get('/healthz', { config }, async (request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok', ...answerToDoctor(request, deps) }),
  )

  const stop = { isAnnounced: false }
  app.decorate('stop', stop)
  const canWrite = makeCanWrite(deps.db)
  app.get('/readyz', { config }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    if (stop.isAnnounced) return reply.code(503).send({ status: 'stopping' })
    const checks = { database: false, migrations: false, writes: false, clock: false, signing_key: false }
    try {
      checks.migrations = await isMigrated(deps.db)
      checks.database = true
      checks.writes = await canWrite()
      const apart = await deps.clockCheck.secondsApart()
      // A key that signs later than a slow clock would look like a missing one.
      if (apart !== undefined) throw new Error(apartSentence(apart))
      checks.clock = true
      await requireSigningKey()
      checks.signing_key = true
    } catch (error) {
      request.log.warn({ err: error }, 'not ready')
    }
    const isReady = Object.values(checks).every(Boolean)
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not ready', checks })
  })
}

/** Returns nothing for strangers, because they would learn the version and the addresses of the proxies. */
function answerToDoctor(
  { headers, ip, socket }: FastifyRequest,
  { secrets, clock }: Core,
): Partial<DoctorsAnswer> {
  const ticket = headers[SEEN_HEADER]
  const [moment = '', tag = ''] = typeof ticket === 'string' ? ticket.split('.') : []
  const age_ms = Math.abs(clock().getTime() - Number(moment))
  if (!(age_ms <= SEEN_MINUTES_MAX * 60_000) || !secrets.isTag(SEEN_PURPOSE, moment, tag)) return {}
  const forwarded_for = headers['x-forwarded-for']?.toString() ?? null
  return { version: VERSION, seen: { address: ip, peer: socket.remoteAddress ?? ip, forwarded_for } }
}
