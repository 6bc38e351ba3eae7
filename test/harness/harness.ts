/** The real application over a database of its own, with a clock that tests move, and a browser for it. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { SettingName } from '../../src/core/setting-values.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { openParts, type Parts } from '../../src/parts.ts'
import { closeApplication, openApplication } from './application.ts'
import { type Browser, HTML, openBrowser, type Page } from './browser.ts'
import { requireDeclaredAnswers } from './declared-answers.ts'
import { APP_TEMPLATE, databaseUrl, START, TEMPLATE } from './global-setup.ts'
import { spreadRequests } from './processes.ts'
import { requireReports } from './reported-acts.ts'
import { longTimeouts } from './role-timeouts.ts'

export { type Browser, HTML, type Page, START }

export type TestApp = {
  app: FastifyInstance
  deps: Parts
  db: Parts['db']
  url: string
  clock: { now(): Date; advance(ms: number): void }
  /** Delivers notifications from now on, in every process. */
  startNotifier(): void
  close(): Promise<void>
}

/**
 * Clones a template database, by default the empty one, in about 0.05 s. No test file sees the rows of another. A service
 * that starts on it keeps the role's long timeouts, so a slow machine ends no transaction of a test. A test of the service's
 * own timeouts sets `isPatient` to false.
 */
export async function createDatabase(
  template: string = TEMPLATE,
  { isPatient = true } = {},
): Promise<{ name: string; url: string; drop: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const adminUrl = inject('adminUrl')
  const run = async (...statements: string[]) => {
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    for (const statement of statements) await admin.query(statement)
    await admin.end()
  }
  const timeouts = isPatient ? longTimeouts(name) : []
  await run(`create database ${name} template ${template} strategy file_copy`, ...timeouts)
  return { name, url: databaseUrl(adminUrl, name), drop: () => run(`drop database ${name} with (force)`) }
}

/**
 * Starts the application of a test, without its worker, in many processes if the run has them. `env` are the
 * environment variables. `onLog` gets the log of this process.
 */
export async function startTestApp(
  env: Record<string, string> = {},
  onLog?: (line: string) => void,
): Promise<TestApp> {
  const database = await createDatabase(APP_TEMPLATE)
  let now = START.getTime()
  const clock = () => new Date(now)
  const url = databaseUrl(inject('appsUrl'), database.name)
  const application = await openApplication(url, { env, clock, onLog })
  const { app, deps } = application
  const processes = inject('processes')
  const spread = processes.length > 0 ? await spreadRequests(application, { processes, env, now }) : undefined
  requireDeclaredAnswers(app)
  requireReports(app, inject('formsLog'))
  return {
    app,
    deps,
    db: deps.db,
    url: deps.config.PUBLIC_URL,
    clock: {
      now: clock,
      advance(ms) {
        now += ms
        spread?.tell({ act: 'set clock', now })
      },
    },
    startNotifier() {
      deps.notifier.start(app.log)
      spread?.tell({ act: 'start notifier' })
    },
    async close() {
      await spread?.close()
      await application.close()
      await database.drop()
    },
  }
}

/** Starts the application for all tests of a file, and closes it after them. Awaited at the top of the file. */
export async function useTestApp(env: Record<string, string> = {}): Promise<TestApp> {
  const test = await startTestApp(env)
  afterAll(() => test.close())
  return test
}

/** Opens another process over the database of this one. They share only the clock, and by default APP_SECRET. */
export async function anotherProcess(test: TestApp, { secrets = test.deps.secrets } = {}): Promise<TestApp> {
  const { config, clock, databaseTime } = test.deps
  const db = openDatabase(config.DATABASE_URL!, { max: config.DATABASE_POOL_MAX, onBroken: () => {} })
  const deps = openParts({ config, db, secrets, clock, databaseTime })
  const app = await buildApp(deps)
  await app.ready()
  return {
    ...test,
    app,
    deps,
    db,
    startNotifier: () => deps.notifier.start(app.log),
    close: () => closeApplication({ app, deps }),
  }
}

/** Changes a site setting as the operator does. */
export async function setSetting({ deps }: TestApp, name: SettingName, value: string): Promise<void> {
  await deps.settings.change({ name, value, actor_id: null, ip: 'command line', now: deps.clock() })
}

/** A browser for the application of a test. */
export function browser({ app }: Pick<TestApp, 'app'>): Browser {
  return openBrowser((request) => app.inject(request))
}
