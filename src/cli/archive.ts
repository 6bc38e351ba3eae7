/** `tessera export` writes the whole database to one file. `tessera import` reads it back. */

import { withDatabaseUrl } from '../database/url.ts'
import { exportAll, importAll, withArchive } from '../operations/archive.ts'
import type { ArchiveHeader } from '../operations/archive-tables.ts'
import { provenSecrets } from '../operations/first-start.ts'
import type { Command, Result } from './command.ts'
import { writeNewFile } from './new-file.ts'

export const archiveCommands: Command[] = [
  {
    name: 'export',
    takes: ['file.gz'],
    summary:
      'Writes everything to a new file, in one snapshot. Keep the file secret, and keep APP_SECRET in another place.',
    run: async ({ config, arguments: [path], progress }) =>
      withDatabaseUrl(config, async (url) => {
        const header = await writeNewFile(path!, (file) =>
          exportAll(url, (pieces) => file.writeFile(pieces), progress),
        )
        return summaryOf('Wrote', path!, header)
      }),
  },
  {
    name: 'import',
    takes: ['file.gz'],
    summary:
      'Fills a new, empty database from such a file, all or nothing. APP_SECRET must be that of the exported database.',
    run: async ({ config, arguments: [path], progress }) =>
      withArchive(path!, (archive) =>
        withDatabaseUrl(config, async (url) => {
          const header = await importAll(url, archive, {
            onRows: progress,
            prove: (ask) => provenSecrets(config, ask, 'this archive'),
          })
          return summaryOf('Read', path!, header)
        }),
      ),
  },
]

function summaryOf(verb: string, path: string, header: ArchiveHeader): Result {
  const rows = header.tables.reduce((total, table) => total + table.rows, 0)
  return {
    lines: [`${verb} ${rows} rows of ${header.tables.length} tables: ${path}`],
    data: { path, tables: header.tables },
  }
}
