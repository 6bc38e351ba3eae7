/** Opens the application of a test in one process. With many processes, each opens one. */
import { tmpdir } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../../src/app.ts'
import type { DatabaseTime } from '../../src/core/clock-check.ts'
import { openMetrics } from '../../src/core/metrics.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { openParts, type Parts } from '../../src/parts.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { openTracing } from '../../src/platform/trace-export.ts'
import { traceStatement } from '../../src/platform/tracing.ts'
import { APP_SECRET } from './global-setup.ts'

export type Application = { app: FastifyInstance; deps: Parts; close(): Promise<void> }

/**
 * Opens an application over a database without its worker. `env` are the environment variables. The database's time moves
 * with the clock, unless a test gives another one.
 */
export async function openApplication(
  url: string,
  {
    env,
    clock,
    databaseTime = async () => clock(),
    onLog,
  }: {
    env: Record<string, string>
    clock: Clock
    databaseTime?: DatabaseTime | undefined
    /** Gets each line of the log, from LOG_LEVEL of `env` on. */
    onLog?: ((line: string) => void) | undefined
  },
): Promise<Application> {
  const config = loadConfig({
    DATABASE_URL: url,
    APP_SECRET,
    DATA_DIR: tmpdir(),
    LOG_LEVEL: 'silent',
    DATABASE_POOL_MAX: '4',
    ...env,
  })
  const tracing = await openTracing({ config, clock, onLost: () => {} })
  const db = openDatabase(url, {
    max: config.DATABASE_POOL_MAX,
    onBroken: () => {},
    onStatement: tracing && traceStatement,
    naming: { isOn: config.DATABASE_NAMED_STATEMENTS === 'on', onRefused: () => {} },
  })
  const metrics = await openMetrics({ config, db, clock })
  const deps = openParts({
    config,
    db,
    secrets: makeSecrets(APP_SECRET),
    clock,
    databaseTime,
    metrics,
    tracing,
    logTo: onLog && ({ write: onLog } as NodeJS.WriteStream),
  })
  const app = await buildApp(deps)
  await app.ready()
  return {
    app,
    deps,
    async close() {
      await closeApplication({ app, deps })
      await tracing?.close()
    },
  }
}

export async function closeApplication({ app, deps }: Pick<Application, 'app' | 'deps'>): Promise<void> {
  await app.close()
  await deps.notifier.stop()
  await deps.logoutSender.stop()
  await deps.limits.share()
  await deps.db.destroy()
}

/**
 * A process uses cached settings for two seconds, and the tests do not wait. Returns a function that drops the cache.
 */
export function forgetfulSettings({ settings, db }: Pick<Parts, 'settings' | 'db'>): () => void {
  let current = openSettings(db)
  let latest = settings.latest()
  Object.assign(settings, {
    async read() {
      latest = await current.read()
      return latest
    },
    latest: () => latest,
    change: (change) => current.change(change),
    changeAll: (changes, propose) => current.changeAll(changes, propose),
    changeWithin: (tx, change) => current.changeWithin(tx, change),
  } satisfies typeof settings)
  return () => {
    current = openSettings(db)
  }
}
