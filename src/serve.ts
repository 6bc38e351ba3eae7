/** Starts the parts of a process in order, and stops them in reverse order after finishing requests in flight. */
import { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { openMetrics, serveMetrics } from './core/metrics.ts'
import { openDatabase } from './database/connection.ts'
import { migrate } from './database/migrate.ts'
import { databaseFault } from './database/operator-messages.ts'
import { provideDatabase } from './database/url.ts'
import { ensureSigningKeys } from './identity/keys/rotation.ts'
import { openSecrets } from './operations/first-start.ts'
import { openParts, type Parts } from './parts.ts'
import { type Config, ConfigError } from './platform/config.ts'
import { ListenError, refuseTakenPort } from './platform/ports.ts'
import { type Loss, openTracing } from './platform/trace-export.ts'
import { traceStatement } from './platform/tracing.ts'
import { VERSION } from './platform/version.ts'
import { makeClockReport, reportUnreadableKeys, startWorker } from './worker.ts'

/** After this time requests in flight are cut off, so that the rest of the stop has time too. */
const FINISH_SECONDS_MAX = 15
const IDLE_SWEEP_MS = 50
/** So long a proxy may still send requests on its open connections after the port is closed. */
const OPEN_CONNECTIONS_MS_MAX = 2_000
const QUIET_TICK_MS_MAX = 0.5
const QUIET_TICK_TRIES = 100

/** A started service. `prepared` is what the preparation returned. */
export type Running<T> = { prepared: T; stop: () => Promise<void> }

/**
 * Starts the service and resolves once it listens. `prepare` runs when the database is ready and before any request. When
 * a step fails, the started parts are stopped again and the error is thrown: ConfigError, ListenError, DatabaseFault, ….
 */
export async function serve<T>(
  config: Config,
  prepare: (deps: Parts) => Promise<T>,
  { batching = {}, logTo }: Partial<Pick<Parts, 'batching' | 'logTo'>> = {},
): Promise<Running<T>> {
  const closers: (() => Promise<void>)[] = []
  const stop = async () => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close()
  }
  let log: FastifyBaseLogger | undefined
  await refuseTakenPort('PORT', config.HOST, config.PORT)
  if (config.METRICS_PORT !== undefined)
    await refuseTakenPort('METRICS_PORT', config.METRICS_HOST, config.METRICS_PORT)
  try {
    const database = await provideDatabase(config)
    closers.push(database.stop)
    if (database.isBorrowed) {
      throw new ConfigError([
        'DATA_DIR is in use by another Tessera: set it to another folder, or set DATABASE_URL',
      ])
    }
    await migrate(database.url)
    const clock = () => new Date()
    const onLost = (loss: Loss) => log?.warn(loss, 'traces could not be sent to the collector, and are lost')
    const tracing = await openTracing({ config, clock, onLost })
    if (tracing !== undefined) closers.push(tracing.close)
    const db = openDatabase(database.url, {
      max: config.DATABASE_POOL_MAX,
      onBroken: (error) => log?.warn({ err: error }, 'a database connection broke'),
      onStatement: tracing && traceStatement,
      naming: {
        isOn: config.DATABASE_NAMED_STATEMENTS === 'on',
        onRefused: (error) =>
          log?.warn({ err: error }, 'named statements are off, because pgbouncer does not keep them'),
      },
    })
    closers.push(() => db.destroy())
    const secrets = await openSecrets(config, db)
    const metrics = await openMetrics({ config, db, clock })
    const deps = openParts({ config, db, secrets, clock, metrics, tracing, batching, logTo })
    closers.push(() => deps.limits.share())
    const prepared = await prepare(deps)
    await ensureSigningKeys(deps)
    const app = await buildApp(deps)
    log = app.log
    await reportUnreadableKeys(deps, app.log)
    const reportClock = makeClockReport(deps, app.log)
    await reportClock()
    const worker = startWorker(deps, app.log, reportClock)
    const graceSeconds = config.STOP_GRACE_SECONDS
    // Both stop at once, because each may take most of the time for a stop.
    closers.push(async () => void (await Promise.all([finish(app, graceSeconds > 0), worker.stop()])))
    if (metrics !== undefined) closers.push(await serveMetrics(config, metrics))
    const listenTextResolver = (address: string) => `Tessera ${VERSION} listens at ${address}`
    await app
      .listen({ host: config.HOST, port: config.PORT, listenTextResolver })
      .catch((cause: NodeJS.ErrnoException) => {
        throw new ListenError('PORT', config.HOST, config.PORT, cause)
      })
    if (graceSeconds > 0) closers.push(() => announceStop(app, graceSeconds))
    return { prepared, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Serves on for the grace period. /readyz says 503, so a proxy that asks it sends new requests to other processes. */
async function announceStop(app: FastifyInstance, graceSeconds: number): Promise<void> {
  app.stop.isAnnounced = true
  await sleep(graceSeconds * 1000)
}

/**
 * Closes the port, answers what still arrives on open connections, and waits 15 seconds at most for requests in flight.
 * @param isPatient whether proxies may hold open connections. Without it, idle ones are closed at once.
 */
async function finish(app: FastifyInstance, isPatient: boolean): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), FINISH_SECONDS_MAX * 1000)
  let sweep: NodeJS.Timeout | undefined
  try {
    if (isPatient) await closePort(app.server)
    // Without the sweep, a connection that becomes idle after the close began stayed open for more than a minute.
    sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
    await app.close()
  } finally {
    clearInterval(sweep)
    clearTimeout(cut)
  }
}

/**
 * Closes the port, and lets the callers end their connections: each further answer says `Connection: close`. Resolves when
 * none is left, after two seconds at most. A connection that is closed while a request is on its way loses the request.
 */
async function closePort(server: FastifyInstance['server']): Promise<void> {
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  await quietTick()
  // The close of the HTTP server would also close the idle connections.
  Server.prototype.close.call(server)
  const deadline = performance.now() + OPEN_CONNECTIONS_MS_MAX
  while (performance.now() < deadline && (await connectionsOf(server)) > 0) await sleep(IDLE_SWEEP_MS)
  await quietTick()
}

function connectionsOf(server: FastifyInstance['server']): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)))
}

/**
 * Resolves in a tick that had little other work. The system resets connections that it has accepted and this process has
 * not, so the port should close just after the process has looked for them.
 */
async function quietTick(): Promise<void> {
  for (let tries = 0; tries < QUIET_TICK_TRIES; tries += 1) {
    const began = performance.now()
    await new Promise((resolve) => setImmediate(resolve))
    if (performance.now() - began < QUIET_TICK_MS_MAX) return
  }
}

/** Returns a complete explanation of a failed start, or undefined when the stack is needed. */
export function sentenceFor(error: unknown): string | undefined {
  const { message, code = '' } = error as NodeJS.ErrnoException
  if (error instanceof ConfigError || error instanceof ListenError) return message
  if (code.startsWith('ERR_PARSE_ARGS_')) return message
  if (/^(EACCES|EPERM|EROFS|ENOSPC|ENOTDIR|ENOENT|EDQUOT)$/.test(code))
    return `DATA_DIR cannot be used: ${message}`
  return databaseFault(error)
}
