/** `tessera export` and `tessera import`: everything, as one file. */
import { type ArchiveHeader, exportAll, importAll } from '../database/archive.ts'
import { migrate } from '../database/migrate.ts'
import { withDatabaseUrl } from '../database/url.ts'
import type { Command, Result } from './command.ts'

export const archiveCommands: Command[] = [
  {
    name: 'export',
    takes: ['file.gz'],
    summary:
      'Writes everything to a new file, in one snapshot. Keep it, and APP_SECRET apart from it, as secret.',
    run: async ({ config, arguments: [path], progress }) =>
      withDatabaseUrl(config, async (url) => told('Wrote', path!, exportAll(url, path!, progress))),
  },
  {
    name: 'import',
    takes: ['file.gz'],
    summary:
      'Fills a new, empty database from such a file, all or nothing. APP_SECRET must be the one of its origin.',
    run: async ({ config, arguments: [path], progress }) =>
      withDatabaseUrl(config, async (url) => {
        await migrate(url)
        return told('Read', path!, importAll(url, path!, progress))
      }),
  },
]

async function told(verb: string, path: string, work: Promise<ArchiveHeader>): Promise<Result> {
  const header = await work
  const rows = header.tables.reduce((total, table) => total + table.rows, 0)
  return {
    lines: [`${verb} ${rows} rows of ${header.tables.length} tables: ${path}`],
    data: { path, tables: header.tables },
  }
}
