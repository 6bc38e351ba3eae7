/** Starts one Postgres for the whole run, with the migrated template databases that test files clone. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/database/connection.ts'
import { startEmbedded } from '../../src/database/embedded/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { ensureSigningKeys } from '../../src/identity/keys/rotation.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { serveDemos } from './demos.ts'
import { copyCluster } from './empty-cluster.ts'
import { startPgbouncer } from './pgbouncer.ts'
import { startProcesses } from './processes.ts'
import { makeScratchFolder } from './scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    adminUrl: string
    /** The same server as the applications reach it: through pgbouncer, if the run has one. */
    appsUrl: string
    /** The addresses of the processes that answer the tests' requests. Empty when each test's own process answers. */
    processes: string[]
    /** The data folder of a first start that has ended. */
    emptyCluster: string
    /** The address of the demos that tests share. */
    demos: string
    /** The file of the forms that tests have sent. */
    formsLog: string
  }
}

/** A migrated, empty database. */
export const TEMPLATE = 'tessera_template'
/** The initial database of every test application. */
export const APP_TEMPLATE = 'tessera_app_template'
export const APP_SECRET = 'a secret of the tests, which guards nothing at all'
export const START = new Date('2026-01-01T00:00:00Z')

/** Test databases need not survive a power cut, and have no standby. */
export const SERVER_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  shared_buffers: '128MB',
  max_connections: '300',
  // It would visit the databases of all test files again and again.
  autovacuum: 'off',
}

/**
 * TEST_DATABASE_URL names another server, whose role must be able to create databases. TEST_PROCESSES is the number
 * of processes that answer the tests' requests in place of the tests' own. TEST_PGBOUNCER puts pgbouncer before the
 * database.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // All processes of the run compile the same sources.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/compiled')
  const scratch = await makeScratchFolder()
  // The reporter reads it, in this process.
  process.env.FORMS_LOG = join(scratch, 'forms')
  await writeFile(process.env.FORMS_LOG, '')
  project.provide('formsLog', process.env.FORMS_LOG)
  const emptyCluster = join(scratch, 'empty')
  const first = await startEmbedded({ dataDir: emptyCluster })
  await first.stop()
  project.provide('emptyCluster', emptyCluster)
  const demos = await serveDemos({ emptyCluster, scratch })
  project.provide('demos', demos.url)

  const given = process.env.TEST_DATABASE_URL
  const server = given === undefined ? await startServer(emptyCluster, join(scratch, 'server')) : undefined
  const adminUrl = given ?? server!.url
  await makeTemplates(adminUrl)
  project.provide('adminUrl', adminUrl)
  const pooler = process.env.TEST_PGBOUNCER ? await startPgbouncer(adminUrl) : undefined
  project.provide('appsUrl', pooler?.url ?? adminUrl)
  const { urls, stop } = await startProcesses(Number(process.env.TEST_PROCESSES ?? 0))
  project.provide('processes', urls)
  return async () => {
    await demos.stop()
    await stop()
    await pooler?.stop()
    await server?.stop()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Starts a server on a copy of the empty cluster. It asks for no password, whose check costs two thirds of a connection. */
export async function startServer(emptyCluster: string, dataDir: string) {
  await mkdir(dataDir)
  await copyCluster(emptyCluster, dataDir)
  const hba_file = `${dataDir}.hba`
  await writeFile(hba_file, 'host all all 127.0.0.1/32 trust\n')
  return startEmbedded({ dataDir, settings: { ...SERVER_SETTINGS, hba_file } })
}

async function makeTemplates(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  for (const name of [TEMPLATE, APP_TEMPLATE]) await admin.query(`drop database if exists ${name}`)
  await admin.query(`create database ${TEMPLATE}`)
  await migrate(databaseUrl(adminUrl, TEMPLATE))
  await admin.query(`create database ${APP_TEMPLATE} template ${TEMPLATE}`)
  await admin.end()

  const db = openDatabase(databaseUrl(adminUrl, APP_TEMPLATE), { max: 1, onBroken: () => {} })
  await ensureSigningKeys({ db, secrets: makeSecrets(APP_SECRET), databaseTime: async () => START })
  // The clock of tests stands still, so one minute contains any number of pages.
  await db.insertInto('site_settings').values({ name: 'limit_pages', value: '0' }).execute()
  await db.destroy()
}

export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}
