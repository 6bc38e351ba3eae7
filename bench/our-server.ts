/** Our service as `npm start` runs it; with `--unbatched`, each payment, transfer and look-up by itself. */
import { loadConfig } from '../src/config.ts'
import { serve } from '../src/server.ts'

const batching = process.argv.includes('--unbatched') ? { itemsMax: 1, lanes: Number.POSITIVE_INFINITY } : {}

await serve(loadConfig(), async () => {}, { batching })
process.stdout.write('ready\n')
// So that a profile is written.
process.on('SIGTERM', () => process.exit(0))
