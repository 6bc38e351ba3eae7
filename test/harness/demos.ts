/**
 * Makes what the tests of the demo share: a data folder with the demo's history, and a demo that runs. Each is made once a run, when
 * a test first asks for it.
 */
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/connection.ts'
import { withDatabaseUrl } from '../../src/database/url.ts'
import type { Demo } from '../../src/demo/world.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { cleanUp, type DemoProcess, startDemoProcess } from './demo-process.ts'
import { copyCluster } from './empty-cluster.ts'

/** A demo that another process has started. */
export type KnownDemo = { dataDir: string; demo: Demo }

/** Serves both by HTTP, because test files run in several processes: `/seeded` the folder, and `/running` the demo. */
export async function serveDemos({ emptyCluster, scratch }: { emptyCluster: string; scratch: string }) {
  let seeded: Promise<KnownDemo> | undefined
  let running: Promise<DemoProcess> | undefined

  const start = async (name: string, flags: string[]): Promise<DemoProcess> => {
    const dataDir = join(scratch, name)
    await mkdir(dataDir)
    await copyCluster(emptyCluster, dataDir)
    const started = await startDemoProcess({ dataDir, flags })
    await allowAnyNumberOfPages(dataDir)
    return started
  }
  const seed = async (): Promise<KnownDemo> => {
    const { dataDir, demo, end } = await start('seeded', ['--demo', '--json'])
    await end('SIGTERM')
    return { dataDir, demo }
  }
  const run = () => start('running', ['--demo', '--forum', '--json'])
  const make: Record<string, () => Promise<KnownDemo>> = {
    '/seeded': () => (seeded ??= seed()),
    '/running': () => (running ??= run()),
  }
  const server = createServer(async ({ url }, response) => {
    try {
      const { dataDir, demo } = await make[url!]!()
      response.end(JSON.stringify({ dataDir, demo } satisfies KnownDemo))
    } catch (error) {
      response.writeHead(500).end((error as Error).stack)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      await cleanUp(await running?.catch(() => undefined))
    },
  }
}

/** The tests of the shared demo come from one address. */
async function allowAnyNumberOfPages(dataDir: string): Promise<void> {
  await withDatabaseUrl(loadConfig({ DATA_DIR: dataDir }), async (url) => {
    const db = openDatabase(url, { max: 1, onBroken: () => {} })
    await db.insertInto('site_settings').values({ name: 'limit_pages', value: '0' }).execute()
    await db.destroy()
  })
}
