/** Starts the demo as a process of its own on free ports, and watches it from outside. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { provideDatabase } from '../../src/database/url.ts'
import type { Demo } from '../../src/demo/world.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { copyCluster } from './empty-cluster.ts'
import { freePort } from './free-port.ts'
import { makeScratchFolder } from './scratch.ts'

const ROOT = join(import.meta.dirname, '../..')
const START_MS = 170_000
const STOP_MS = 60_000
const POLL_MS = 50

export type DemoProcess = {
  child: ChildProcess
  /** The demo's line of JSON. */
  demo: Demo
  /** Everything on standard output so far, and on standard error. */
  output(): { stdout: string; stderr: string }
  /** Every process under the demo: the shops, Postgres and its guard. */
  descendants: Descendant[]
  /** Sends the signal and resolves to the exit code (null when a signal ended it). */
  end(signal: NodeJS.Signals): Promise<number | null>
}

export type DemoOptions = {
  dataDir: string
  port?: number
  shopPort?: number
  env?: Record<string, string>
  flags?: string[]
}

/** A data folder with an empty database, so the demo need not create one. */
export async function makeDataDir(): Promise<string> {
  const folder = await makeScratchFolder()
  await copyCluster(inject('emptyCluster'), folder)
  return folder
}

export function removeDataDir(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Starts the process without waiting for it. */
export async function spawnDemo(options: DemoOptions): Promise<ChildProcess> {
  const { dataDir, port, shopPort, env = {}, flags = ['--demo', '--json'] } = options
  return spawn(process.execPath, ['src/server.ts', ...flags], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      PORT: String(port ?? (await freePort())),
      SHOP_PORT: String(shopPort ?? (await freePort())),
      GATEWAY_SHOP_PORT: String(await freePort()),
      DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Starts the demo, and resolves when it has printed its line. */
export async function startDemoProcess(options: DemoOptions): Promise<DemoProcess> {
  const child = await spawnDemo(options)
  const texts = { stdout: '', stderr: '' }
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    texts.stderr += text
  })
  const lines = createInterface({ input: child.stdout! }).on('line', (line) => {
    texts.stdout += `${line}\n`
  })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const line = await Promise.race([once(lines, 'line'), ended, sleep(START_MS, undefined, { ref: false })])
  if (typeof line?.[0] !== 'string') {
    child.kill('SIGKILL')
    throw new Error(`The demo did not start:\n${texts.stderr}${texts.stdout}`)
  }
  return {
    child,
    demo: JSON.parse(line[0]) as Demo,
    output: () => texts,
    descendants: descendantsOf(child.pid!),
    async end(signal) {
      child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}

/** Ends the remaining processes by pid, and removes the data folder. */
export async function cleanUp(started: DemoProcess | undefined, dataDir: string): Promise<void> {
  if (started !== undefined) {
    await Promise.race([started.end('SIGTERM'), sleep(STOP_MS)])
    started.child.kill('SIGKILL')
    for (const { pid, command } of survivors(started.descendants)) {
      console.error(`left behind by the demo: ${pid} ${command}`)
      process.kill(pid, 'SIGKILL')
    }
  }
  await removeDataDir(dataDir)
}

/** The demo as a process, with a connection to its running database. */
export type OpenDemo = { demo: Demo; db: Db; dataDir: string; close(): Promise<void> }

export async function openDemo(): Promise<OpenDemo> {
  const dataDir = await makeDataDir()
  const started = await startDemoProcess({ dataDir }).catch(async (error) => {
    await removeDataDir(dataDir)
    throw error
  })
  const { url } = await provideDatabase(loadConfig({ DATA_DIR: dataDir }))
  const db = openDatabase(url, { max: 2, onBroken: () => {} })
  return {
    demo: started.demo,
    db,
    dataDir,
    async close() {
      await db.destroy()
      await cleanUp(started, dataDir)
    },
  }
}

export type Descendant = { pid: number; command: string }

function descendantsOf(pid: number): Descendant[] {
  const all = processes()
  const below = (parent: number): Descendant[] =>
    all
      .filter((entry) => entry.parent === parent)
      .flatMap(({ pid, command }) => [{ pid, command }, ...below(pid)])
  return below(pid).filter(({ command }) => !command.startsWith('ps '))
}

function processes(): (Descendant & { parent: number })[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid && parent && command ? [{ pid: Number(pid), parent: Number(parent), command }] : []
  })
}

/** The processes that still run. The start time is compared too, because a pid may have been reused. */
function survivors(descendants: Descendant[]): Descendant[] {
  const all = processes()
  return descendants.filter(({ pid, command }) =>
    all.some((entry) => entry.pid === pid && entry.command === command),
  )
}

/** Waits until all of these have ended, and returns those that still run after `patienceMs`. */
export async function whoOutlives(descendants: Descendant[], patienceMs: number): Promise<Descendant[]> {
  const deadline = Date.now() + patienceMs
  while (survivors(descendants).length > 0 && Date.now() < deadline) await sleep(POLL_MS)
  return survivors(descendants)
}
