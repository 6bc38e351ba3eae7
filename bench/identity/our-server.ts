/** Our service as `npm start` runs it. */
import { loadConfig } from '../../src/config.ts'
import { serve } from '../../src/server.ts'

await serve(loadConfig(), async () => {})
process.stdout.write('ready\n')
// So that a profile is written.
process.on('SIGTERM', () => process.exit(0))
