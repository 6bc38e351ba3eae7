// This room: the Postgres that comes with the package, for a service without DATABASE_URL.
// Verbs: startEmbedded, createCluster, startServer, stopPostmaster.
/**
 * The built-in Postgres: binaries from npm, a cluster under the data folder, and one server for all processes that use the
 * folder. The process that starts the server owns it, and the server ends with its owner.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Cluster,
  createCluster,
  isAlive,
  type Server,
  type ServerOptions,
  setPassword,
  startServer,
  stopPostmaster,
} from './server.ts'
import { canEnter, chooseHome, exists, serverUser, usableBinaries } from './user.ts'

const POLL_MS = 20
/** Longer than a start may take, so that a waiting process sees how another process's start ends. */
const WAIT_MS = 90_000
const SQLITE_BUSY = 5

/** A server that accepts connections. `stop` does nothing unless this process started it. */
export type EmbeddedPostgres = {
  /** The address of the database `tessera`, with its password: a secret. */
  url: string
  owned: boolean
  stop: () => Promise<void>
}

export type EmbeddedOptions = ServerOptions & { dataDir: string }

/** postgres.json, which outlives the server. `home` is set when the cluster is not in the data folder. */
type Saved = { password: string; home?: string }
/** postgres.running.json, by which other processes use the running server. It is removed when the server stops. */
type Running = { url: string; ownerPid: number }

/**
 * The locks that this process holds. SQLite uses a lock of the kernel, which ends with the process that holds it, so no pid
 * has to be checked. The set keeps the locks from being garbage collected, which would release them.
 */
const locks = new Set<DatabaseSync>()

/**
 * Starts the Postgres of `dataDir`, after making it if it is missing, or finds it running under another process. Throws
 * Error with a sentence for the operator.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.dataDir, { recursive: true })
  const dataDir = await realpath(options.dataDir)
  const deadline = Date.now() + WAIT_MS
  while (Date.now() < deadline) {
    const lock = takeLock(dataDir)
    if (lock) return own(lock, { ...options, dataDir })
    const running = await readJson<Running>(runningFile(dataDir))
    // A new owner may not have removed the file of a dead owner yet.
    if (running && isAlive(running.ownerPid)) return { url: running.url, owned: false, stop: async () => {} }
    await sleep(POLL_MS)
  }
  throw new Error(
    `Another process holds the database in ${dataDir} but does not finish starting or stopping it`,
  )
}

function takeLock(dataDir: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(join(dataDir, 'postgres.lock'))
  try {
    lock.exec('begin exclusive')
    locks.add(lock)
    return lock
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw new Error(`Cannot lock the database in ${dataDir}: ${(error as Error).message}`, { cause: error })
  }
}

function releaseLock(lock: DatabaseSync): void {
  locks.delete(lock)
  lock.close()
}

async function own(lock: DatabaseSync, options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const file = runningFile(options.dataDir)
  let server: Server | undefined
  const end = async () => {
    try {
      await rm(file, { force: true })
      await server?.stop()
    } finally {
      releaseLock(lock)
    }
  }
  try {
    await rm(file, { force: true })
    const { cluster, password } = await prepareCluster(options.dataDir)
    server = await startServer(cluster, options)
    const url = `postgres://tessera:${password}@127.0.0.1:${server.port}/tessera`
    await writePrivate(file, { url, ownerPid: process.pid } satisfies Running)
    let stopping: Promise<void> | undefined
    return {
      url,
      owned: true,
      stop: () => {
        stopping ??= end()
        return stopping
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function prepareCluster(dataDir: string): Promise<{ cluster: Cluster; password: string }> {
  const savedFile = join(dataDir, 'postgres.json')
  const saved = await readJson<Saved>(savedFile)
  const home = await findHome(dataDir, saved, savedFile)
  const data = join(home, 'postgres')
  const user = await serverUser(data)
  const cluster = { data, user, bin: await usableBinaries(home, user) }
  const password = saved?.password ?? randomBytes(24).toString('base64url')
  const made = await isCluster(home)
  if (made) await stopPostmaster(cluster)
  if (made && !saved) await setPassword(cluster, password)
  // Saved before the cluster is made, so that no cluster exists without its password.
  if (!saved) await writePrivate(savedFile, { password } satisfies Saved)
  if (!made) await createCluster(cluster, password)
  if (home !== dataDir && !saved?.home) await writePrivate(savedFile, { password, home } satisfies Saved)
  return { cluster, password }
}

/** Returns the folder of the cluster, or of the one to be made. An existing cluster is never moved. */
async function findHome(dataDir: string, saved: Saved | undefined, savedFile: string): Promise<string> {
  const home = saved?.home ?? dataDir
  const user = await serverUser(join(home, 'postgres'))
  if (await isCluster(home)) {
    if (!user || (await canEnter(user, join(home, 'postgres')))) return home
    throw new Error(
      `OS user ${user.uid}, who runs Postgres, cannot enter ${join(home, 'postgres')}: open the folders above it to others (chmod o+x)`,
    )
  }
  if (saved?.home)
    throw new Error(
      `The database was kept in ${home}, which is gone: restore it, or delete ${savedFile} to begin with an empty one`,
    )
  return chooseHome(dataDir, user)
}

function isCluster(home: string): Promise<boolean> {
  return exists(join(home, 'postgres', 'PG_VERSION'))
}

function runningFile(dataDir: string): string {
  return join(dataDir, 'postgres.running.json')
}

/** Reads without checking existence first, because the owner may remove the file at any moment. */
async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the file as a whole, so that readers never see half of it. */
async function writePrivate(file: string, value: Saved | Running): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(value), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
