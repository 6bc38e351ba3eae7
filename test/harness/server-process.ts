/** Starts the service as a process on a free port, for tests that watch it from outside or end it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

export const ROOT = join(import.meta.dirname, '../..')

export type ServerProcess = { child: ChildProcess; url: string; output: () => string }

/**
 * Starts src/start.js, on a free port unless `env` names one, and resolves once `probe` answers 200: by default, once it is
 * ready. It gets only `env` and the compile cache. `root` is the folder of another copy of the project.
 */
export async function startServer(
  env: Record<string, string>,
  { root = ROOT, probe = '/readyz' }: { root?: string; probe?: '/readyz' | '/healthz' | undefined } = {},
): Promise<ServerProcess> {
  const port = env.PORT ?? (await freePort())
  const child = spawn(process.execPath, ['src/start.js'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: String(port),
      ...env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const url = `http://127.0.0.1:${port}`
  while (child.exitCode === null) {
    const answer = await fetch(`${url}${probe}`).catch(() => undefined)
    if (answer?.ok) return { child, url, output: () => output }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`The server ended: ${output}`)
}

/** Ends the process by a signal and returns its exit code, or null when the signal ended it. */
export async function stopServer({ child }: ServerProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
  return child.exitCode
}
