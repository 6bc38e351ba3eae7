/**
 * `npm run test:many` runs the suite with four processes that answer its requests in turn, over one Postgres. It runs
 * it again with pgbouncer in transaction mode, if that is installed. Arguments filter the files.
 */
import { hasPgbouncer } from './pgbouncer.ts'
import { runSteps, runSuite, type Step } from './steps.ts'

const env = { TEST_PROCESSES: '4' }
const filters = process.argv.slice(2)

const steps: Step[] = [['four processes', () => runSuite(env, filters)]]
if (hasPgbouncer)
  steps.push(['four processes behind pgbouncer', () => runSuite({ ...env, TEST_PGBOUNCER: '1' }, filters)])
else console.log('pgbouncer is not installed: its run is left out')
await runSteps(steps)
