/**
 * `npm run nemesis`: hundreds of clients, four processes, a synchronous standby, and faults at random. What clients were
 * told is proven by their histories and then by the books. See docs/reliability.md.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ROOT } from '../../test/harness/server-process.ts'
import { nemesis } from './nemesis.ts'
import { type FaultKind, KINDS } from './plan.ts'
import { asText } from './summary.ts'

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '200' },
    processes: { type: 'string', default: '4' },
    /** Kinds of faults, separated by commas. All of them by default. */
    faults: { type: 'string', default: KINDS.join(',') },
    /** The mean pause of a client between two acts, in ms. */
    pace: { type: 'string', default: '1500' },
    /** The pause before a fault in seconds, from and to. */
    pause: { type: 'string', default: '5-20' },
    /** The folder of the project whose service runs. */
    root: { type: 'string', default: ROOT },
    /** Files for the whole history and the summary. */
    history: { type: 'string' },
    json: { type: 'string' },
    /** Ends the run at the first finding. */
    first: { type: 'boolean', default: false },
  },
})

// All processes of the run compile the same sources.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')

const kinds = given.faults.split(',').map((name) => {
  const kind = KINDS.find((each) => each === name.trim())
  if (kind === undefined) throw new Error(`There is no fault "${name}". There are: ${KINDS.join(', ')}`)
  return kind satisfies FaultKind
})
const [from = 5, to = 20] = given.pause.split('-').map(Number)
const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()

const leaving = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort())

const summary = await nemesis({
  seed: Number(given.seed),
  minutes: Number(given.minutes),
  clients: Number(given.clients),
  processes: Number(given.processes),
  kinds,
  pace: Number(given.pace),
  pause: [from * 1_000, to * 1_000],
  root: given.root,
  history: given.history,
  isOverAtFirst: given.first,
  signal: leaving.signal,
  say: (line) => console.log(line),
})
const report = { ...summary, driver_delay_ms: Math.round(delay.max / 1e6) }
console.log(`\n${asText(report)}`)
const json = JSON.stringify(report, undefined, 2)
if (given.json !== undefined) await writeFile(given.json, json)
else console.log(`\n${json}`)
process.exitCode = report.findings.length > 0 ? 1 : 0
// A connection of a client that was stopped would keep the process for a minute.
await sleep(100)
process.exit()
