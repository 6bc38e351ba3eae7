/** `tessera migrate` applies pending migrations, or lists them. */
import { migrate, pendingMigrations } from '../database/migrate.ts'
import { withDatabaseUrl } from '../database/url.ts'
import type { Command } from './command.ts'

export const migrateCommands: Command[] = [
  {
    name: 'migrate',
    takes: [],
    options: { 'dry-run': { type: 'boolean' } },
    summary: 'Brings the database up to date, as a start does. --dry-run only says what would be applied.',
    async run({ config, options }) {
      const isDry = options['dry-run'] === true
      const names = await withDatabaseUrl(config, isDry ? pendingMigrations : migrate)
      const verb = isDry ? 'Would be applied' : 'Applied'
      return {
        lines: names.length === 0 ? ['The database is up to date.'] : names.map((name) => `${verb}: ${name}`),
        data: { migrations: names, is_applied: !isDry },
      }
    },
  },
]
