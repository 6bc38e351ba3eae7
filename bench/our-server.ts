/** Runs our service as `npm start` does. `--unbatched` runs each payment, transfer and look-up by itself. */
import { loadConfig } from '../src/platform/config.ts'
import { serve } from '../src/serve.ts'

const batching = process.argv.includes('--unbatched') ? { itemsMax: 1, lanes: Number.POSITIVE_INFINITY } : {}

await serve(loadConfig(), async () => {}, { batching })
process.stdout.write('ready\n')
// A regular exit writes the profile. The process also ends when the bench ends.
for (const end of ['SIGTERM', 'disconnect']) process.on(end, () => process.exit(0))
