/** Starts and stops the processes of a bench. A server runs on core 0, and everything else on core 1. */
import { type ChildProcess, spawn } from 'node:child_process'
import { basename } from 'node:path'
import type { Endpoint } from './driver.ts'

const SERVER_CORE = '0'
const STOP_MS = 500

export type ServerProcess = Endpoint & { process: ChildProcess }

export type ServerOptions = {
  port: number
  env?: Record<string, string>
  args?: string[]
  /** Flags for Node. */
  node?: string[]
  /** Writes a profile when the process ends. */
  profile?: boolean
}

/** Starts a script that prints `ready` once it listens on PORT. */
export async function startServer(script: string, options: ServerOptions): Promise<ServerProcess> {
  const { port, env = {}, args = [], node = [], profile = false } = options
  const name = basename(script, '.ts')
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-name=${name}-${port}.cpuprofile`] : []
  const child = spawn(
    'taskset',
    ['-c', SERVER_CORE, process.execPath, ...node, ...profiling, script, ...args],
    {
      env: { ...process.env, PORT: String(port), NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      serialization: 'advanced',
    },
  )
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (text) => String(text).includes('ready') && resolve())
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
  })
  return { port, pid: child.pid!, process: child }
}

/** Stops the servers, and waits while they write their profiles. */
export async function stopServers(servers: ServerProcess[]): Promise<void> {
  for (const server of servers) server.process.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, STOP_MS))
  for (const server of servers) server.process.kill('SIGKILL')
}
