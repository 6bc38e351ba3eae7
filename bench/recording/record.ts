/**
 * Records what the service answers to some hundreds of requests of every kind, and compares two checkouts by it: a
 * change that should change nothing is shown to change nothing.
 *
 *     npm run recording write <checkout> <file>
 *     npm run recording compare <file> <file>
 *
 * The demo of the checkout is started on fixed ports with a new data folder. Answers are kept without what differs
 * between two runs of one program (plain.ts).
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Demo } from '../../src/demo/world.ts'
import { makePlain, plainHeaders } from './plain.ts'
import { type Ask, askAll } from './requests.ts'

const PORTS = { PORT: '18300', SHOP_PORT: '18301', GATEWAY_SHOP_PORT: '18302' }
const COMMANDS = [
  ['--help'],
  ['settings', 'list'],
  ['users', 'list'],
  ['users', 'show', 'alice'],
  ['apps', 'list'],
  ['payment-apps', 'list'],
  ['books', 'verify'],
  ['points', 'grant', 'nobody', '5', '--reason', 'x'],
  ['points', 'grant', 'alice', '5', '--reason', 'A gift'],
  ['notifications', 'list'],
  ['nonsense'],
]

/** The number of characters shown of a line that differs. */
const SHOWN_MAX = 300

type Line = { name: string; status: number; headers: string[]; body: string }

async function startDemo(checkout: string, dataDir: string): Promise<{ child: ChildProcess; demo: Demo }> {
  const child = spawn(process.execPath, ['src/server.ts', '--demo', '--json'], {
    cwd: checkout,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, LOG_LEVEL: 'error', ...PORTS },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout! }))
    if (line.startsWith('{')) return { child, demo: JSON.parse(line) as Demo }
  throw new Error('The demo ended before it printed its line')
}

async function write(checkout: string, file: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'recording-'))
  const plain = makePlain()
  const lines: Line[] = []
  const { child, demo } = await startDemo(checkout, dataDir)
  const ask: Ask = async (name, reply) => {
    const { status, headers, body } = await reply
    lines.push({ name: plain(name), status, headers: plainHeaders(headers, plain), body: plain(body) })
    return { status, headers, body }
  }
  try {
    await askAll(demo, ask)
    for (const words of COMMANDS) lines.push(command(checkout, dataDir, words, plain))
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
    await rm(dataDir, { recursive: true, force: true })
  }
  await writeFile(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
  console.log(`${lines.length} answers -> ${file}`)
}

function command(checkout: string, dataDir: string, words: string[], plain: (text: string) => string): Line {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, ...PORTS }
  const name = `tessera ${words.join(' ')}`
  try {
    const output = execFileSync(process.execPath, ['src/cli/tessera.js', ...words], {
      cwd: checkout,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return { name, status: 0, headers: [], body: plain(output) }
  } catch (error) {
    const { status, stderr, stdout } = error as { status: number; stderr: string; stdout: string }
    return { name, status, headers: [], body: plain(`${stdout}${stderr}`) }
  }
}

async function readLines(file: string): Promise<Line[]> {
  const text = await readFile(file, 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

/** Prints the first differing line of each answer that differs, and returns the number of such answers. */
async function compare(before: string, after: string): Promise<number> {
  const [old, now] = [await readLines(before), await readLines(after)]
  const names = new Set([...old, ...now].map(({ name }) => name))
  let different = 0
  for (const name of names) {
    const [a, b] = [old, now].map((lines) =>
      lines
        .filter((line) => line.name === name)
        .map(asText)
        .join('\n'),
    )
    if (a === b) continue
    different += 1
    const [from, to] = [a!.split('\n'), b!.split('\n')]
    const at = from.findIndex((line, index) => line !== to[index])
    const shown = (lines: string[]) => (lines[at] ?? '(nothing)').slice(0, SHOWN_MAX)
    console.log(`${name}\n  - ${shown(from)}\n  + ${shown(to)}`)
  }
  console.log(`${old.length} and ${now.length} answers, ${different} of ${names.size} names differ`)
  return different
}

const asText = ({ status, headers, body }: Line) => [status, ...headers, body].join('\n')

const [act, from, to] = process.argv.slice(2)
if (act === 'write' && from && to) await write(from, to)
else if (act === 'compare' && from && to) process.exitCode = (await compare(from, to)) === 0 ? 0 : 1
else console.error('npm run recording write <checkout> <file> | compare <file> <file>')
