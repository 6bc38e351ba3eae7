/**
 * `npm run test:many`: the suite with the requests of its tests answered by four processes in turn, over one Postgres, and
 * once more with pgbouncer in transaction mode before it, where it is installed. Arguments are filters of files.
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
