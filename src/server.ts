/** The process: start, serve, and stop in reverse order, finishing what is in flight. */
import { parseArgs } from 'node:util'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { type Deps, openDeps } from './core/core.ts'
import { openMetrics, serveMetrics } from './core/metrics.ts'
import { type Db, openDatabase } from './database/connection.ts'
import { databaseFault } from './database/faults.ts'
import { migrate } from './database/migrate.ts'
import { provideDatabase } from './database/url.ts'
import { ensureSigningKeys } from './identity/keys/rotation.ts'
import { ensureAdministrator, openSecrets } from './operations/first-start.ts'
import { type Config, ConfigError, isRunByNpm, loadConfig, loadDemoConfig } from './platform/config.ts'
import { ListenError, refuseTakenPort } from './platform/ports.ts'
import { type Loss, openTracing } from './platform/trace-export.ts'
import { traceStatement } from './platform/tracing.ts'
import { reportUnreadableKeys, startWorker } from './worker.ts'

const STOP_SECONDS_MAX = 20
/** What is in flight by then is cut off, so that the rest of the stop has its time too. */
const FINISH_SECONDS_MAX = 15
const IDLE_SWEEP_MS = 50
const PARENT_WATCH_MS = 500

/** A started service. `prepared` is what the preparation returned. */
export type Running<T> = { prepared: T; stop: () => Promise<void> }

/**
 * Starts the service and resolves once it listens. `prepare` runs when the database is ready and before any
 * request is served. Whatever was started is stopped again when a later step fails.
 */
export async function serve<T>(
  config: Config,
  prepare: (deps: Deps) => Promise<T>,
  { batching = {}, logTo }: Pick<Deps, 'batching' | 'logTo'> = {},
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
    })
    closers.push(() => db.destroy())
    const secrets = await openSecrets(config, db)
    const metrics = await openMetrics({ config, db, clock })
    const deps = openDeps({ config, db, secrets, clock, metrics, tracing, batching, logTo })
    closers.push(() => deps.limits.close())
    const prepared = await prepare(deps)
    await ensureSigningKeys(deps)
    const app = await buildApp(deps)
    log = app.log
    await reportUnreadableKeys(deps, app.log)
    const worker = startWorker(deps, app.log)
    // Together: each may take most of the time there is.
    closers.push(async () => void (await Promise.all([finish(app), worker.stop()])))
    if (metrics !== undefined) closers.push(await serveMetrics(config, metrics))
    await app.listen({ host: config.HOST, port: config.PORT }).catch((cause: NodeJS.ErrnoException) => {
      throw new ListenError('PORT', config.HOST, config.PORT, cause)
    })
    return { prepared, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Takes no more requests and waits for those in flight, for a while: some may never end. */
async function finish(app: FastifyInstance): Promise<void> {
  // A connection that falls idle after the close has begun would be kept alive for more than a minute.
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
  const cut = setTimeout(() => app.server.closeAllConnections(), FINISH_SECONDS_MAX * 1000)
  try {
    await app.close()
  } finally {
    clearInterval(sweep)
    clearTimeout(cut)
  }
}

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const
  const { values: flags } = parseArgs({ options: { demo: flag, json: flag, forum: flag } })
  if (flags.demo) return demo(flags)
  for (const name of ['json', 'forum'] as const)
    if (flags[name]) throw new ConfigError([`--${name} goes with --demo`])
  const config = loadConfig()
  const { stop } = await serve(config, (deps) => announceAdministrator(deps.db, config))
  stopOnSignal(stop)
  process.stdout.write(`Tessera is at ${config.PUBLIC_URL}\n`)
}

async function demo({ json, forum }: { json: boolean; forum: boolean }): Promise<void> {
  // Imported only here: a service of its own has no use for it.
  const { describeDemo, startDemo } = await import('./demo/demo.ts')
  const { prepared, stop } = await startDemo(loadDemoConfig(), {
    withForum: forum,
    // Scripts read a single line of standard output.
    logTo: json ? process.stderr : undefined,
  })
  stopOnSignal(stop)
  process.stdout.write(json ? `${JSON.stringify(prepared)}\n` : describeDemo(prepared))
}

/** Printed as soon as it is stored: a start that fails later could not say it again. */
async function announceAdministrator(db: Db, config: Config): Promise<void> {
  const administrator = await ensureAdministrator(db, config)
  if (administrator === undefined) return
  const { username, password } = administrator
  process.stdout.write(
    password === undefined
      ? `There is NO ADMINISTRATOR, and ${username} is the name of a member: \`tessera user grant-admin ${username}\` makes them one, or set ADMIN_USERNAME to another name and start again\n`
      : `First administrator: ${username}, one-time password ${password}\n`,
  )
}

/** A first signal stops in order; a second one, or a stop that takes too long, ends the process at once. */
function stopOnSignal(stop: () => Promise<void>): void {
  let isStopping = false
  const onSignal = () => {
    if (isStopping) process.exit(1)
    isStopping = true
    setTimeout(() => process.exit(1), STOP_SECONDS_MAX * 1000).unref()
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  if (isRunByNpm()) onOrphaned(onSignal)
}

/** npm passes a signal to the shell it has started, which ends without telling us: we would go on without a parent. */
function onOrphaned(act: () => void): void {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    act()
  }, PARENT_WATCH_MS)
  watch.unref()
}

/** Why a start failed, where a sentence says all there is to know. */
export function sentenceFor(error: unknown): string | undefined {
  const { message, code = '' } = error as NodeJS.ErrnoException
  if (error instanceof ConfigError || error instanceof ListenError) return message
  if (code.startsWith('ERR_PARSE_ARGS_')) return message
  if (/^(EACCES|EPERM|EROFS|ENOSPC|ENOTDIR|ENOENT|EDQUOT)$/.test(code))
    return `DATA_DIR cannot be used: ${message}`
  return databaseFault(error)
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    process.stderr.write(`${sentenceFor(error) ?? (error as Error).stack}\n`)
    process.exit(1)
  })
}
