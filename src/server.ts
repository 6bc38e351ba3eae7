/** The process: start, serve, and stop in reverse order, finishing what is in flight. */
import { parseArgs } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { buildApp } from './app.ts'
import { type Config, ConfigError, loadConfig, loadDemoConfig } from './config.ts'
import { openDatabase } from './database/connection.ts'
import { migrate } from './database/migrate.ts'
import { provideDatabase } from './database/url.ts'
import type { Deps } from './deps.ts'
import { ensureAdministrator, provideAppSecret } from './first-start.ts'
import { ensureSigningKey, openSigningKeys } from './identity/keys.ts'
import { refuseTakenPort } from './ports.ts'
import { makeSecrets } from './secrets.ts'
import { openSettings } from './settings.ts'

/** A started service. `prepared` is what the preparation returned. */
export type Running<T> = { prepared: T; stop: () => Promise<void> }

/**
 * Starts the service and resolves once it listens. `prepare` runs when the database is ready and before any
 * request is served. Whatever was started is stopped again when a later step fails.
 */
export async function serve<T>(config: Config, prepare: (deps: Deps) => Promise<T>): Promise<Running<T>> {
  const closers: (() => Promise<void>)[] = []
  const stop = async () => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close()
  }
  let log: FastifyBaseLogger | undefined
  await refuseTakenPort('PORT', config.HOST, config.PORT)
  try {
    const database = await provideDatabase(config)
    closers.push(database.stop)
    await migrate(database.url)
    const db = openDatabase(database.url, {
      max: config.DATABASE_POOL_MAX,
      onIdleError: (error) => log?.warn({ err: error }, 'an idle database connection broke'),
    })
    closers.push(() => db.destroy())
    const clock = () => new Date()
    const secrets = makeSecrets(await provideAppSecret(config))
    await ensureSigningKey(db, secrets, clock())
    const deps = {
      config,
      db,
      clock,
      secrets,
      settings: openSettings(db),
      signingKeys: openSigningKeys(db, secrets),
    }
    const prepared = await prepare(deps)
    const app = await buildApp(deps)
    log = app.log
    closers.push(() => app.close())
    await app.listen({ host: config.HOST, port: config.PORT })
    return { prepared, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function main(): Promise<void> {
  const { values: flags } = parseArgs({ options: { demo: { type: 'boolean' }, json: { type: 'boolean' } } })
  if (flags.demo) return demo(flags.json ?? false)
  const config = loadConfig()
  const running = await serve(config, (deps) => ensureAdministrator(deps.db, config))
  stopOnSignal(running.stop)
  announce(config, running.prepared)
}

async function demo(isJson: boolean): Promise<void> {
  // Imported only here: a service of its own has no use for it.
  const { describeDemo, startDemo } = await import('./demo.ts')
  const { prepared, stop } = await startDemo(loadDemoConfig())
  stopOnSignal(stop)
  process.stdout.write(isJson ? `${JSON.stringify(prepared)}\n` : describeDemo(prepared))
}

function announce(config: Config, administrator: { username: string; password: string } | undefined): void {
  const lines = [`Tessera is at ${config.PUBLIC_URL}`]
  if (administrator !== undefined) {
    lines.push(`First administrator: ${administrator.username}, one-time password ${administrator.password}`)
  }
  process.stdout.write(`${lines.join('\n')}\n`)
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
}

const STOP_SECONDS_MAX = 20

/** A taken port or an unknown flag: the message says all there is to know. */
function isUsageError(error: unknown): boolean {
  return /^(EADDRINUSE|ERR_PARSE_ARGS_)/.test((error as NodeJS.ErrnoException).code ?? '')
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    const isExpected = error instanceof ConfigError || isUsageError(error)
    process.stderr.write(`${isExpected ? (error as Error).message : (error as Error).stack}\n`)
    process.exit(1)
  })
}
