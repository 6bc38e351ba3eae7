/** One Postgres for the whole run, with one migrated template database that every test file clones. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    adminUrl: string
  }
}

export const TEMPLATE = 'tessera_template'

/** TEST_DATABASE_URL names another server to test on; its role must be able to create databases. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  const dataDir = await mkdtemp(join(tmpdir(), 'tessera-test-'))
  // Run as root, Postgres runs as another user, who must be able to come in.
  await chmod(dataDir, 0o755)
  // The databases of a test run need not survive a power cut.
  const settings = { fsync: 'off', max_connections: '200' }
  const server = given === undefined ? await startEmbedded({ dataDir, settings }) : undefined
  const adminUrl = given ?? server!.url
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query(`drop database if exists ${TEMPLATE}`)
  await admin.query(`create database ${TEMPLATE}`)
  await admin.end()
  await migrate(databaseUrl(adminUrl, TEMPLATE))
  project.provide('adminUrl', adminUrl)
  return async () => {
    await server?.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}
