/** The demos that the run has made, for tests: a copy of the folder with history, and the demo that runs for all. */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { createUser } from '../../src/accounts/people/users.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { provideDatabase } from '../../src/database/url.ts'
import type { Demo } from '../../src/demo/world.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { randomText } from '../../src/platform/secrets.ts'
import type { KnownDemo } from './demos.ts'
import { copyCluster } from './empty-cluster.ts'
import { PASSWORD, PASSWORD_HASH } from './password.ts'
import { makeScratchFolder } from './scratch.ts'

/** Makes a data folder in which a demo has started once. `demo` is what it printed. */
export async function makeSeededDir(): Promise<KnownDemo> {
  const { dataDir, demo } = await ask('/seeded')
  return { dataDir: await copyToScratch(dataDir), demo }
}

async function copyToScratch(source: string): Promise<string> {
  const folder = await makeScratchFolder()
  await copyCluster(source, folder)
  return folder
}

/** The demo that runs for all test files at once, with a connection to its database. */
export type SharedDemo = { demo: Demo; db: Db; dataDir: string; close(): Promise<void> }

/**
 * Opens the demo of the run, which has a forum. A test changes no member but its own, and expects others to buy at the same time.
 */
export async function openSharedDemo(): Promise<SharedDemo> {
  const { demo, dataDir } = await ask('/running')
  const { url } = await provideDatabase(loadConfig({ DATA_DIR: dataDir }))
  const db = openDatabase(url, { max: 2, onBroken: () => {} })
  return { demo, db, dataDir, close: () => db.destroy() }
}

export type Member = { id: bigint; username: string; password: string }

/** Creates a member of the shared demo. */
export async function makeMember(
  { db }: Pick<SharedDemo, 'db'>,
  { points, trust_level = 2 }: { points: bigint; trust_level?: number },
): Promise<Member> {
  const username = `member_${randomText(8, 'abcdefghijklmnopqrstuvwxyz')}`
  const id = await createUser(db, { username, trust_level, password_hash: PASSWORD_HASH })
  const grant = { user_id: id, amount: points, reference: `test:${username}`, reason: 'test' }
  await grantPoints(db, { ...grant, actor_id: null, now: new Date() })
  return { id, username, password: PASSWORD }
}

async function ask(path: string): Promise<KnownDemo> {
  // Unlike fetch, this request has no time limit of its own.
  const [answer] = (await once(get(`${inject('demos')}${path}`), 'response')) as [IncomingMessage]
  const body = await text(answer)
  if (answer.statusCode !== 200) throw new Error(body)
  return JSON.parse(body) as KnownDemo
}
