/** Starts the service or the demo, and stops it on a signal. start.js loads this module after it has checked Node. */
import { parseArgs } from 'node:util'
import type { Db } from './database/connection.ts'
import { ensureAdministrator } from './operations/first-start.ts'
import { type Config, ConfigError, isRunByNpm, loadConfig, loadDemoConfig } from './platform/config.ts'
import { VERSION } from './platform/version.ts'
import { sentenceFor, serve } from './serve.ts'

/** After the grace period. */
const STOP_SECONDS_MAX = 20
const PARENT_WATCH_MS = 500

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const
  const { values: flags } = parseArgs({ options: { demo: flag, json: flag, forum: flag } })
  if (flags.demo) return demo(flags)
  for (const name of ['json', 'forum'] as const)
    if (flags[name]) throw new ConfigError([`--${name} needs --demo`])
  const config = loadConfig()
  const { stop } = await serve(config, (deps) => announceAdministrator(deps.db, config))
  stopOnSignal(stop, config.STOP_GRACE_SECONDS)
  process.stdout.write(`Tessera ${VERSION} is at ${config.PUBLIC_URL}\n`)
  if (config.DATABASE_URL === undefined) await announceBuiltIn()
}

async function announceBuiltIn(): Promise<void> {
  const { builtInRelease, sentenceOfRelease } = await import('./database/embedded/release.ts')
  process.stdout.write(`${sentenceOfRelease(await builtInRelease(new Date()))}\n`)
}

async function demo({ json, forum }: { json: boolean; forum: boolean }): Promise<void> {
  // Imported only here, because only the demo needs it.
  const { describeDemo, startDemo } = await import('./demo/demo.ts')
  const { prepared, stop } = await startDemo(loadDemoConfig(), {
    withForum: forum,
    // Scripts read a single line of standard output.
    logTo: json ? process.stderr : undefined,
  })
  stopOnSignal(stop)
  process.stdout.write(json ? `${JSON.stringify(prepared)}\n` : describeDemo(prepared))
}

/** Prints the one-time password as soon as it is stored. If a later step failed first, the password would be lost. */
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

/** Stops in order on the first signal. A second signal, or 20 seconds after the grace period, ends the process at once. */
function stopOnSignal(stop: () => Promise<void>, graceSeconds = 0): void {
  let isStopping = false
  const onSignal = () => {
    if (isStopping) process.exit(1)
    isStopping = true
    setTimeout(() => process.exit(1), (graceSeconds + STOP_SECONDS_MAX) * 1000).unref()
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  if (isRunByNpm()) onOrphaned(onSignal)
}

/** npm signals only its shell, which ends without passing the signal on. So this process stops when its parent is gone. */
function onOrphaned(act: () => void): void {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    act()
  }, PARENT_WATCH_MS)
  watch.unref()
}

main().catch((error: unknown) => {
  process.stderr.write(`${sentenceFor(error) ?? (error as Error).stack}\n`)
  process.exit(1)
})
