/** Starts the demo as a process of its own on free ports, and watches it from outside. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isAlive } from '../../src/database/embedded/server.ts'
import type { Demo } from '../../src/demo/world.ts'
import { freePort } from './free-port.ts'
import { until } from './waiting.ts'

const ROOT = join(import.meta.dirname, '../..')

export type DemoProcess = {
  dataDir: string
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

/** Starts the process without waiting for it. */
export async function spawnDemo(options: DemoOptions): Promise<ChildProcess> {
  return spawn(process.execPath, ['src/start.js', ...(options.flags ?? ['--demo', '--json'])], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      // Under npm, the demo ends with the process that started it.
      npm_lifecycle_event: 'start',
      ...(await demoEnvironment(options)),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The variables of a demo, with free ports where the options name none. */
export async function demoEnvironment({ dataDir, port, shopPort, env = {} }: DemoOptions) {
  return {
    PORT: String(port ?? (await freePort())),
    SHOP_PORT: String(shopPort ?? (await freePort())),
    GATEWAY_SHOP_PORT: String(await freePort()),
    FORUM_PORT: String(await freePort()),
    DATA_DIR: dataDir,
    ...env,
  }
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
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [unknown]
  if (typeof line !== 'string') throw new Error(`The demo did not start:\n${texts.stderr}${texts.stdout}`)
  return {
    dataDir: options.dataDir,
    demo: JSON.parse(line) as Demo,
    output: () => texts,
    descendants: descendantsOf(child.pid!),
    async end(signal) {
      child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}

/** Ends the demo, if it has started, and by pid what it left behind. Removes its data folder. */
export async function cleanUp(started: DemoProcess | undefined): Promise<void> {
  if (started === undefined) return
  await started.end('SIGTERM')
  for (const { pid, command } of survivors(started.descendants)) {
    console.error(`left behind by the demo: ${pid} ${command}`)
    // It may have ended just now.
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  }
  await removeDataDir(started.dataDir)
}

export function removeDataDir(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 })
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

/** Resolves when all of these have ended. */
export function untilEnded(descendants: Descendant[]): Promise<unknown> {
  return until(() => !descendants.some(({ pid }) => isAlive(pid)))
}

/** The processes that still run. The command is compared too, because a pid may have been reused. */
export function survivors(descendants: Descendant[]): Descendant[] {
  const all = processes()
  return descendants.filter(({ pid, command }) =>
    all.some((entry) => entry.pid === pid && entry.command === command),
  )
}
