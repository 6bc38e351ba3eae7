/** `npm run nemesis:planted`: plants bugs in copies of the project, one after the other, and lets a run find each. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../../test/harness/server-process.ts'
import { nemesis } from './nemesis.ts'
import { PLANTS, plantIn } from './plants.ts'

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '40' },
    pace: { type: 'string', default: '1000' },
    /** Plants only those whose name has this text. */
    only: { type: 'string', default: '' },
  },
})

process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled')
const leaving = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort())

const lines: string[] = []
for (const plant of PLANTS.filter(({ name }) => name.includes(given.only))) {
  if (leaving.signal.aborted) break
  console.log(`\n== ${plant.name}`)
  const root = await plantIn(plant)
  try {
    const { findings, minutes } = await nemesis({
      seed: Number(given.seed),
      minutes: Number(given.minutes),
      clients: Number(given.clients),
      processes: 4,
      kinds: plant.faults,
      pace: Number(given.pace),
      pause: [3_000, 8_000],
      root,
      history: undefined,
      isOverAtFirst: true,
      signal: leaving.signal,
      say: (line) => console.log(line),
    })
    const [first] = findings
    if (first === undefined) process.exitCode = 1
    else console.log([`${first.rule}: ${first.subject}`, ...first.history].join('\n  '))
    lines.push(
      first === undefined
        ? `NOT FOUND  ${plant.name}: in ${minutes} minutes`
        : `found      ${plant.name}: within ${minutes} minutes, as "${first.rule}"`,
    )
  } finally {
    await rm(root, { recursive: true })
  }
}
console.log(`\n${lines.join('\n')}`)
process.exit()
