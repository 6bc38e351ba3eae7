/** Starts and stops the processes of a bench. A server has core 0 unless the bench says otherwise, and everything else core 1. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from './driver.ts'

const SERVER_CORE = '0'
/** A busy machine takes seconds to write a profile. */
const STOP_MS = 10_000

export type ServerProcess = Endpoint & { process: ChildProcess }

export type ServerOptions = {
  port: number
  env?: Record<string, string>
  args?: string[]
  /** The cores that it may use, as `taskset` names them. */
  cores?: string
  /** Writes a profile when the process ends. */
  profile?: boolean
}

/** Starts a script that prints `ready` once it listens on PORT. */
export async function startServer(script: string, options: ServerOptions): Promise<ServerProcess> {
  const { port, env = {}, args = [], cores = SERVER_CORE, profile = false } = options
  const name = basename(script, '.ts')
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-name=${name}-${port}.cpuprofile`] : []
  const child = spawn('taskset', ['-c', cores, process.execPath, ...profiling, script, ...args], {
    env: { ...process.env, PORT: String(port), NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (text) => String(text).includes('ready') && resolve())
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
  })
  return { port, pid: child.pid!, process: child }
}

/** Stops the servers, and waits while they write their profiles. */
export async function stopServers(servers: ServerProcess[]): Promise<void> {
  const ended = servers.map(({ process: child }) => child.exitCode ?? once(child, 'exit'))
  for (const server of servers) server.process.kill('SIGTERM')
  await Promise.race([Promise.all(ended), sleep(STOP_MS, undefined, { ref: false })])
  for (const server of servers) server.process.kill('SIGKILL')
}
