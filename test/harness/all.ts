/**
 * `npm run test:all` runs the checks, the suite with ten times all random inputs, the sign-in clients of the recipes,
 * and the suite on the oldest supported Postgres. What is not installed is left out. A failed step does not stop the
 * next.
 */
import { POSTGRES_15, POSTGRES_15_PLACES, startPostgres15 } from './postgres-15.ts'
import { runSteps, runSuite, type Step, succeeds } from './steps.ts'

const TIMES = 10
const FAULT_ROUNDS = 20

const steps: Step[] = [
  ['formatting, lint, types', () => succeeds('npm', ['run', 'check'])],
  [
    `the suite, random inputs × ${TIMES}, ${FAULT_ROUNDS} kills and failovers, pages photographed`,
    () => runSuite({ TEST_TIMES: String(TIMES), FAULT_ROUNDS: String(FAULT_ROUNDS), PHOTOGRAPH: 'true' }),
  ],
  ['the sign-in clients that are installed', () => succeeds('npm', ['run', 'recipes'])],
]
const bin = POSTGRES_15
if (bin === undefined)
  console.log(`Postgres 15 is in none of ${POSTGRES_15_PLACES.join(', ')}: its run is left out`)
else steps.push(['the suite on Postgres 15', () => suiteOn(bin)])

await runSteps(steps)

async function suiteOn(bin: string): Promise<boolean> {
  const { port, stop } = await startPostgres15(bin)
  try {
    return await runSuite({ TEST_DATABASE_URL: `postgres://tessera@127.0.0.1:${port}/postgres` })
  } finally {
    await stop()
  }
}
