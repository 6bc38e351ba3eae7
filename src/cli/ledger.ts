/** `tessera ledger partition`: the journal and its entries by month. */
import { partitionLedger } from '../ledger/partitions.ts'
import { type Command, withDeps } from './command.ts'

export const ledgerCommands: Command[] = [
  {
    name: 'ledger partition',
    takes: [],
    summary:
      'Partitions journal and entries by month, beside the service, which goes on with it. Not undone. Safe to repeat.',
    async run({ config, progress }) {
      const data = await withDeps(config, (deps) => partitionLedger(deps, progress))
      const { isNew, locked_ms, partitions } = data
      return {
        lines: [
          isNew
            ? `The ledger is partitioned. Nobody could pay for ${locked_ms} ms.`
            : 'The ledger was partitioned before.',
          `Partitions of the journal: ${partitions.join(', ')}`,
        ],
        data,
      }
    },
  },
]
