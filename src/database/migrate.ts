/**
 * Forward-only migrations: the files of `migrations/` in name order, one transaction each, one process at a
 * time. A database that holds a migration this program does not know is newer than it, and is left alone.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { loadConfig } from '../config.ts'
import { connectionSettings, type Db } from './connection.ts'
import { withDatabaseUrl } from './url.ts'

const MIGRATIONS_DIR = join(import.meta.dirname, '../../migrations')
/** Any constant of ours: it names the lock among all advisory locks of this database. */
const MIGRATION_LOCK = 7_305_128_841

type Migration = { name: string; sql: string; checksum: string }

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(MIGRATIONS_DIR, name), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/**
 * Brings the database up to date and returns the names applied now. Safe to call from many processes at once.
 * Throws when the schema is newer than this program, or when an applied file has been edited since.
 */
export async function migrate(url: string): Promise<string[]> {
  const migrations = await readMigrations()
  const client = new pg.Client(connectionSettings(url))
  await client.connect()
  try {
    const names: string[] = []
    for (;;) {
      const name = await applyNext(client, migrations)
      if (name === undefined) return names
      names.push(name)
    }
  } finally {
    await client.end()
  }
}

/** The names that `migrate` would apply now. Throws as it does, and changes nothing. */
export async function pendingMigrations(url: string): Promise<string[]> {
  const migrations = await readMigrations()
  const client = new pg.Client(connectionSettings(url))
  await client.connect()
  try {
    const { rows: found } = await client.query(
      "select to_regclass('schema_migrations') is not null as is_there",
    )
    if (!found[0].is_there) return migrations.map(({ name }) => name)
    return (await findPending(client, migrations)).map(({ name }) => name)
  } finally {
    await client.end()
  }
}

/**
 * Applies the first migration that is missing, and answers its name. The lock ends with the transaction: a lock of the
 * session would stay behind on a connection of pgbouncer, which is ours for a transaction only.
 */
async function applyNext(client: pg.Client, migrations: Migration[]): Promise<string | undefined> {
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await client.query(
      'create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    )
    const [next] = await findPending(client, migrations)
    if (next !== undefined) await apply(client, next)
    await client.query('commit')
    return next?.name
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

async function findPending(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migrations',
  )
  const applied = new Map(rows.map((row) => [row.name, row.checksum]))
  refuseForeign(applied, migrations)
  return migrations.filter(({ name }) => !applied.has(name))
}

function refuseForeign(applied: Map<string, string>, migrations: Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]))
  for (const [name, checksum] of applied) {
    if (!known.has(name))
      throw new Error(`The database is newer than this program: it holds migration ${name}`)
    if (known.get(name) !== checksum)
      throw new Error(`Migration ${name} was changed after it had been applied`)
  }
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    throw new Error(`Migration ${name} failed`, { cause: error })
  }
  await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
}

/** Whether every migration of this program has been applied: one of the conditions of being ready. */
export async function isMigrated(db: Db): Promise<boolean> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql'))
  const rows = await db.selectFrom('schema_migrations').select('name').execute()
  const applied = new Set(rows.map((row) => row.name))
  return names.every((name) => applied.has(name))
}

if (import.meta.main) {
  await withDatabaseUrl(loadConfig(), async (url) => {
    const names = await migrate(url)
    process.stdout.write(
      names.length === 0 ? 'Up to date.\n' : names.map((name) => `Applied ${name}\n`).join(''),
    )
  })
}
