/** Runs several long steps. A failed step does not stop the next, and the last lines name the results. */
import { spawn } from 'node:child_process'

export type Step = [name: string, act: () => Promise<boolean>]

/** Runs the steps. The exit code of this process says whether all succeeded. */
export async function runSteps(steps: Step[]): Promise<void> {
  const lines: string[] = []
  for (const [name, act] of steps) {
    console.log(`\n== ${name}`)
    const began = performance.now()
    const isGood = await act()
    const minutes = ((performance.now() - began) / 60_000).toFixed(1)
    lines.push(`${isGood ? 'ok    ' : 'FAILED'}  ${name}: ${minutes} min`)
    if (!isGood) process.exitCode = 1
  }
  console.log(`\n${lines.join('\n')}`)
}

/** Runs the tests, or those of the files that match a filter. */
export function runSuite(env: Record<string, string>, filters: string[] = []): Promise<boolean> {
  return succeeds('vitest', ['run', '--config', 'test/vitest.config.ts', ...filters], env)
}

export function succeeds(
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
}
