/**
 * `npm run test:all`: the checks, the suite with many times the usual random inputs, and the suite once more on the
 * oldest Postgres that is supported, where its programs are installed. Every step runs, whatever became of the others.
 */
import { spawn } from 'node:child_process'
import { POSTGRES_15, POSTGRES_15_PLACES, startPostgres15 } from './postgres-15.ts'

const TIMES = 10

const steps: [name: string, act: () => Promise<boolean>][] = [
  ['formatting, lint, types', () => succeeds('npm', ['run', 'check'])],
  [`the suite, random inputs × ${TIMES}`, () => suite({ TEST_TIMES: String(TIMES) })],
]
const bin = POSTGRES_15
if (bin === undefined)
  console.log(`Postgres 15 is in none of ${POSTGRES_15_PLACES.join(', ')}: its run is left out`)
else steps.push(['the suite on Postgres 15', () => suiteOn(bin)])

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

function suite(env: Record<string, string>): Promise<boolean> {
  return succeeds('vitest', ['run', '--config', 'test/vitest.config.ts'], env)
}

function succeeds(command: string, args: string[], env: Record<string, string> = {}): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
}

async function suiteOn(bin: string): Promise<boolean> {
  const { port, stop } = await startPostgres15(bin)
  try {
    return await suite({ TEST_DATABASE_URL: `postgres://tessera@127.0.0.1:${port}/postgres` })
  } finally {
    await stop()
  }
}
