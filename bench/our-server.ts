/** Our service as `npm start` runs it; with `--unbatched`, each payment, transfer and look-up by itself. */
import { loadConfig } from '../src/platform/config.ts'
import { serve } from '../src/serve.ts'

const batching = process.argv.includes('--unbatched') ? { itemsMax: 1, lanes: Number.POSITIVE_INFINITY } : {}

await serve(loadConfig(), async () => {}, { batching })
process.stdout.write('ready\n')
// On a signal, so that a profile is written; and with the bench, however that ends.
for (const end of ['SIGTERM', 'disconnect']) process.on(end, () => process.exit(0))
