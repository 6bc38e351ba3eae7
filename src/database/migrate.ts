/**
 * Forward-only migrations: the files of `migrations/` in name order, one transaction each, one process at a
 * time. A database that holds a migration this program does not know is newer than it, and is left alone.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { connectionSettings, type Db } from './connection.ts'
import { connectionFault, DatabaseFault, NOT_SET_UP } from './faults.ts'
import { giveTimeouts, liftClientTimeouts } from './timeouts.ts'

const MIGRATIONS_DIR = join(import.meta.dirname, '../../migrations')
/** Any constant of ours: it names the lock among all advisory locks of this database. */
const MIGRATION_LOCK = 7_305_128_841

type Migration = { name: string; sql: string; checksum: string }
type Applied = Pick<Migration, 'name' | 'checksum'>

let migrations: Promise<Migration[]> | undefined

/** Once a process: what an upgrade puts there later belongs to the next one. */
function readMigrations(): Promise<Migration[]> {
  migrations ??= readFiles()
  return migrations
}

async function readFiles(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(MIGRATIONS_DIR, name), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/** The names of all migrations of this program, in the order in which they are applied. */
export async function migrationNames(): Promise<string[]> {
  return (await readMigrations()).map(({ name }) => name)
}

/**
 * Brings the database up to date and returns the names applied now. Safe to call from many processes at once.
 * Throws DatabaseFault when it leads nowhere, when the schema is newer than this program, and when an applied file has
 * been edited since.
 */
export async function migrate(url: string): Promise<string[]> {
  const migrations = await readMigrations()
  return withClient(url, async (client) => {
    const names: string[] = []
    for (;;) {
      const name = await applyNext(client, migrations)
      if (name === undefined) break
      names.push(name)
    }
    if (await alone(client, () => giveTimeouts(client))) await endConnection(client)
    return names
  })
}

/**
 * Ends this connection on the server too: it was opened without the timeouts, and pgbouncer would give it to the next.
 * Others that pgbouncer holds end with their `server_lifetime`.
 */
async function endConnection(client: pg.Client): Promise<void> {
  client.on('error', () => {})
  await client.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
}

/** The names that `migrate` would apply now. Throws as it does, and changes nothing. */
export async function pendingMigrations(url: string): Promise<string[]> {
  const migrations = await readMigrations()
  return withClient(url, async (client) => {
    const { rows: found } = await client.query(
      "select to_regclass('schema_migrations') is not null as is_there",
    )
    if (!found[0].is_there) return migrations.map(({ name }) => name)
    return (await findPending(client, migrations)).map(({ name }) => name)
  })
}

async function withClient<T>(url: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connectionSettings(url))
  await client.connect().catch((error: unknown) => {
    throw new DatabaseFault(connectionFault(error), { cause: error })
  })
  try {
    return await act(client)
  } finally {
    await client.end()
  }
}

/** Applies the first migration that is missing, and answers its name. */
async function applyNext(client: pg.Client, migrations: Migration[]): Promise<string | undefined> {
  return alone(client, async () => {
    await makeList(client)
    const [next] = await findPending(client, migrations)
    if (next !== undefined) await apply(client, next)
    return next?.name
  })
}

/**
 * Acts in a transaction while nobody else migrates. The lock ends with the transaction: a lock of the session would stay
 * behind on a connection of pgbouncer, which is ours for a transaction only.
 */
async function alone<T>(client: pg.Client, act: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    await lockMigrations(client)
    const result = await act()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** As migrate, in an open transaction that holds lockMigrations: all of them, or all of those that are named. */
export async function migrateWithin(client: pg.Client, names?: string[]): Promise<void> {
  const migrations = await readMigrations()
  await makeList(client)
  for (const next of await findPending(client, migrations))
    if (names === undefined || names.includes(next.name)) await apply(client, next)
}

/** Nobody else migrates until the transaction ends: every start waits here, however long the others take. */
export async function lockMigrations(client: pg.Client): Promise<void> {
  await liftClientTimeouts(client)
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
}

async function makeList(client: pg.Client): Promise<void> {
  await client.query(
    'create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
  )
}

async function findPending(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<Applied>('select name, checksum from schema_migrations')
  return missingFrom(rows, migrations)
}

/** What is not applied yet. Throws DatabaseFault when something is that this program does not know. */
function missingFrom(applied: Applied[], migrations: Migration[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]))
  for (const { name, checksum } of applied) {
    if (!known.has(name))
      throw new DatabaseFault(
        `The database is newer than this program, for it holds migration ${name}: use the newer version of Tessera, or restore a backup made before the upgrade`,
      )
    if (known.get(name) !== checksum)
      throw new DatabaseFault(
        `Migration ${name} was changed after it had been applied: use the files of a release as they are`,
      )
  }
  const names = new Set(applied.map(({ name }) => name))
  return migrations.filter(({ name }) => !names.has(name))
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    throw new DatabaseFault(`Migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
  await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
}

/**
 * Whether the schema is that of this program: one of the conditions of being ready. A process that an upgrade has left
 * behind must not be led to, for its statements may be gone.
 */
export async function isMigrated(db: Db): Promise<boolean> {
  const own = await readMigrations()
  const rows = await db.selectFrom('schema_migrations').select('name').execute()
  const applied = new Set(rows.map(({ name }) => name))
  return applied.size === own.length && own.every(({ name }) => applied.has(name))
}

/** Throws DatabaseFault when the database cannot be used, or its schema is not exactly that of this program. */
export async function requireMigrated(db: Db): Promise<void> {
  const applied = await appliedTo(db).catch((error: unknown) => {
    throw new DatabaseFault(connectionFault(error), { cause: error })
  })
  const [first, ...more] = missingFrom(applied, await readMigrations())
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new DatabaseFault(
    `The database is older than this program, for it lacks migration ${first.name}${others}: run \`tessera migrate\`, or start the service, which does it`,
  )
}

async function appliedTo(db: Db): Promise<Applied[]> {
  const { rows } = await sql`select where to_regclass('schema_migrations') is not null`.execute(db)
  if (rows.length === 0) throw new DatabaseFault(NOT_SET_UP)
  return db.selectFrom('schema_migrations').select(['name', 'checksum']).execute()
}
