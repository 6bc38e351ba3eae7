/** GET /healthz: the process runs. GET /readyz: it can serve. */
import type { FastifyInstance } from 'fastify'
import { isMigrated } from './database/migrate.ts'
import type { Deps } from './deps.ts'

export function healthRoutes(app: FastifyInstance, deps: Deps): void {
  const config = { admission: 'always' } as const
  app.get('/healthz', { config }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  )

  app.get('/readyz', { config }, async (request, reply) => {
    const checks = { database: false, migrations: false, signing_key: false }
    try {
      checks.migrations = await isMigrated(deps.db)
      checks.database = true
      checks.signing_key = (await deps.signingKeys.current()) !== undefined
    } catch (error) {
      request.log.warn({ err: error }, 'not ready')
    }
    const isReady = Object.values(checks).every(Boolean)
    return reply
      .code(isReady ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: isReady ? 'ready' : 'not ready', checks })
  })
}
