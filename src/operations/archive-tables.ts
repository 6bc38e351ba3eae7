// This room: first start, retention, archives, and the change of APP_SECRET.
// Verbs: openSecrets, ensureAdministrator, deleteExpiredRows, exportAll, importAll, reencryptAll.
// Clauses: spec/points 3.6.
/** The tables of an archive: their order, their sequences, and the transaction that reads or fills them. */
import pg from 'pg'
import { z } from 'zod'
import { connectionSettings } from '../database/connection.ts'
import { liftClientTimeouts } from '../database/timeouts.ts'
import { RETENTION } from './retention.ts'

export const FORMAT = 'tessera archive 1'

/** Not archived, because the import migrates the new database itself. */
const LEFT_OUT = ['schema_migrations', 'schema_functions']

/** The next value of every sequence. */
export async function sequencesOf(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'S' order by relname`)
  const sequences: Record<string, string> = {}
  for (const { name } of rows) {
    const { rows } = await client.query(
      `select (last_value + is_called::int)::text as next from ${quoted(name)}`,
    )
    sequences[name] = rows[0].next
  }
  return sequences
}

/** Sets every sequence to its archived value, so no number is given twice, not even the number of a deleted row. */
export async function continueSequences(client: pg.Client, { sequences }: ArchiveHeader): Promise<void> {
  for (const [name, next] of Object.entries(sequences))
    await client.query('select setval($1, $2, false)', [quoted(name), next])
}

/** References that a trigger checks instead of a foreign key. */
const CHECKED_BY_TRIGGERS = [
  { from: 'entries', to: 'journal' },
  { from: 'entries', to: 'ledger_accounts' },
]

/** Every archived table, each after the tables that it refers to. Throws when tables refer to each other. */
export async function tablesInOrder(client: pg.Client): Promise<string[]> {
  // A trigger of users refuses the names in former_usernames, so these come first.
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname = any ($1)
     order by relname <> 'former_usernames', relname`,
    [Object.keys(RETENTION).filter((name) => !LEFT_OUT.includes(name))],
  )
  const { rows: keys } = await client.query<{ from: string; to: string }>(`
    select distinct conrelid::regclass::text as from, confrelid::regclass::text as to
    from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and conrelid <> confrelid`)
  const references = [...keys, ...CHECKED_BY_TRIGGERS]
  const ordered: string[] = []
  const visit = (name: string, path: string[]) => {
    if (ordered.includes(name)) return
    if (path.includes(name)) throw new Error(`Tables refer to each other: ${[...path, name].join(' → ')}`)
    for (const { from, to } of references) if (from === name) visit(to, [...path, name])
    ordered.push(name)
  }
  for (const { name } of tables) visit(name, [])
  return ordered
}

/** The names of the migrations that the database has. */
export async function migrationsOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations order by name')
  return rows.map(({ name }) => name)
}

/**
 * Runs an act in one transaction on a connection of its own, and commits. `mode` follows `begin isolation level`. An
 * error of the act rolls everything back.
 */
export async function withTransaction<T>(
  url: string,
  mode: string,
  act: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connectionSettings(url))
  // The next query reports a broken connection.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(`begin isolation level ${mode}`)
    // Reading or writing the file between two statements may take long.
    await liftClientTimeouts(client)
    const result = await act(client)
    await client.query('commit')
    return result
  } finally {
    // This also rolls back an open transaction.
    await client.end()
  }
}

export const quoted = (name: string) => pg.escapeIdentifier(name)

/** The first line of an archive. */
export const Header = z.object({
  format: z.literal(FORMAT),
  /** The migrations of the exported database. */
  migrations: z.array(z.string()),
  /** The tables, in the order in which they can be filled, with their number of rows. */
  tables: z.array(z.object({ name: z.string(), rows: z.number() })),
  /** The next value of every sequence. */
  sequences: z.record(z.string(), z.string()),
})

export type ArchiveHeader = z.output<typeof Header>
