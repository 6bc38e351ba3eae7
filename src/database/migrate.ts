/**
 * Brings the schema of the database up to date. Only the files of `migrations/` change the schema, and never backwards.
 *
 * - A numbered file changes tables. It runs once, in the order of names, and is never edited afterwards.
 * - A file of `functions/` is the only text of its functions and their triggers. It runs again whenever the text changes.
 *
 * One call is one transaction under one lock, so no process sees new tables with old functions. Numbered files that fill a
 * large index run before it, each in a transaction of its own, because the one transaction holds the tables that it changes
 * until its end. A database with unknown migrations belongs to another version, and this program does not change it.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { connectionSettings, type Db } from './connection.ts'
import { connectionFault, DatabaseFault, NOT_SET_UP } from './operator-messages.ts'
import { giveTimeouts, liftClientTimeouts } from './timeouts.ts'

const MIGRATIONS_DIR = join(import.meta.dirname, '../../migrations')
/** A line `sha256  name` for each text that a file of functions ever had, and for past texts of numbered files. */
const HISTORY = 'functions/history'
/** Sets how functions are planned. It runs last, after any other file of functions, because they lose these settings. */
const PLANS = 'functions/plans.sql'
/** Begins a numbered file that runs before the others, in a transaction of its own. It needs no table that is younger. */
const APART = '-- apart: '
/** The number of the advisory lock. Any number works that no other lock of this database uses. */
const MIGRATION_LOCK = 7_305_128_841

type File = { name: string; sql: string; checksum: string }
type Applied = Pick<File, 'name' | 'checksum'>
type Files = { numbered: File[]; functions: File[]; history: Set<string> }

let files: Promise<Files> | undefined

/** Reads the files once a process. Files that an upgrade adds later belong to the next process. */
function readMigrations(): Promise<Files> {
  files ??= readFiles()
  return files
}

async function readFiles(): Promise<Files> {
  const names = (await readdir(MIGRATIONS_DIR, { recursive: true })).filter((name) => name.endsWith('.sql'))
  const all = await Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(MIGRATIONS_DIR, name), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
  const functions = all
    .filter(isFunctions)
    .sort((a, b) => Number(a.name === PLANS) - Number(b.name === PLANS))
  const history = await readFile(join(MIGRATIONS_DIR, HISTORY), 'utf8')
  return {
    numbered: all.filter((file) => !isFunctions(file)),
    functions,
    history: new Set(history.split('\n')),
  }
}

/** Returns the names of this program's numbered files, in the order in which they run. */
export async function migrationNames(): Promise<string[]> {
  return (await readMigrations()).numbered.map(({ name }) => name)
}

/**
 * Brings the database up to date and returns the names applied now. Many processes may call it at once. Throws
 * DatabaseFault when the database is unreachable, when another version wrote the schema, and when an applied file was
 * edited.
 */
export async function migrate(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const apart = await migrateApart(client)
    const { names, isTimed } = await alone(client, async () => ({
      names: await migrateWithin(client),
      isTimed: await giveTimeouts(client),
    }))
    if (isTimed) await endConnection(client)
    return [...apart, ...names]
  })
}

/** Applies the due files that run apart. In a new database, they run with the others, because their tables are not there yet. */
async function migrateApart(client: pg.Client): Promise<string[]> {
  const applied: string[] = []
  for (const { name, sql } of (await readMigrations()).numbered) {
    if (!sql.startsWith(APART)) continue
    const names = await alone(client, async () => {
      const { rows } = await client.query("select to_regclass('schema_migrations') is not null as is_there")
      return rows[0].is_there ? migrateWithin(client, [name]) : []
    })
    applied.push(...names)
  }
  return applied
}

/**
 * Ends this connection on the server too. It was opened without the timeouts, and pgbouncer would give it to the next
 * client. The other connections of pgbouncer end with their `server_lifetime`.
 */
async function endConnection(client: pg.Client): Promise<void> {
  client.on('error', () => {})
  await client.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
}

/** Returns the names that `migrate` would apply now, and changes nothing. Throws DatabaseFault as `migrate` does. */
export async function pendingMigrations(url: string): Promise<string[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query("select to_regclass('schema_migrations') is not null as is_there")
    const { numbered, functions } = await readMigrations()
    const due = rows[0].is_there ? await findDue((text) => client.query(text)) : [...numbered, ...functions]
    return due.map(({ name }) => name)
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

/**
 * Acts in a transaction under the migration lock. The lock ends with the transaction: pgbouncer lends a connection for one
 * transaction only, and a lock of the session would outlive it.
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

/**
 * Does the work of `migrate` in an open transaction that holds the migration lock. With `names` it applies only these
 * numbered files. It applies no functions while other numbered files are missing, because the functions need all tables.
 */
export async function migrateWithin(client: pg.Client, names?: string[]): Promise<string[]> {
  await client.query(`
    create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now()
    );
    create table if not exists schema_functions (
      name text primary key, checksum text not null, applied_at timestamptz not null default now()
    )`)
  const due = await findDue((text) => client.query(text))
  const numbered = due.filter((file) => !isFunctions(file))
  const isHeldBack = (file: File) => names !== undefined && !names.includes(file.name)
  const wanted = numbered.some(isHeldBack) ? numbered.filter((file) => !isHeldBack(file)) : due
  for (const file of wanted) await apply(client, file)
  return wanted.map(({ name }) => name)
}

/** Takes the migration lock until the transaction ends. It waits without a timeout while another process migrates. */
export async function lockMigrations(client: pg.Client): Promise<void> {
  await liftClientTimeouts(client)
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
}

type Ask = (text: string) => Promise<{ rows: Applied[] }>

/** Returns the files to apply, in order. Throws DatabaseFault when another version wrote the schema. */
async function findDue(ask: Ask): Promise<File[]> {
  const { numbered, functions, history } = await readMigrations()
  const { rows: applied } = await ask('select name, checksum from schema_migrations')
  requireOwn(applied, numbered, history)
  const { rows: texts } = await ask('select name, checksum from schema_functions')
  const unknown = texts.find(({ name, checksum }) => !history.has(`${checksum}  ${name}`))
  if (unknown !== undefined) throw newer(`it holds another text of ${unknown.name}`)

  const names = new Set(applied.map(({ name }) => name))
  const appliedTexts = new Map(texts.map(({ name, checksum }) => [name, checksum]))
  const changed = functions.filter(({ name, checksum }) => appliedTexts.get(name) !== checksum)
  return [
    ...numbered.filter(({ name }) => !names.has(name)),
    ...functions.filter((file) => changed.includes(file) || (changed.length > 0 && file.name === PLANS)),
  ]
}

function requireOwn(applied: Applied[], numbered: File[], history: Set<string>): void {
  const known = new Map(numbered.map(({ name, checksum }) => [name, checksum]))
  for (const { name, checksum } of applied) {
    if (!known.has(name)) throw newer(`it holds migration ${name}`)
    if (known.get(name) !== checksum && !history.has(`${checksum}  ${name}`))
      throw new DatabaseFault(
        `Migration ${name} was changed after it had been applied: use the files of a version unchanged`,
      )
  }
}

function newer(why: string): DatabaseFault {
  return new DatabaseFault(
    `The database is newer than this program, because ${why}: use the newer version of Tessera, or restore a backup made before the upgrade`,
  )
}

function isFunctions({ name }: File): boolean {
  return name.startsWith('functions/')
}

async function apply(client: pg.Client, file: File): Promise<void> {
  const { name, sql, checksum } = file
  try {
    await client.query(sql)
  } catch (error) {
    throw new DatabaseFault(`Migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
  await client.query(
    `insert into ${isFunctions(file) ? 'schema_functions' : 'schema_migrations'} (name, checksum) values ($1, $2)
     on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`,
    [name, checksum],
  )
}

/**
 * Whether the database has exactly the numbered files of this program, as /readyz requires. After an upgrade an older
 * process must get no requests, because its tables may be gone. Changed functions do not matter: they also serve the
 * version before.
 */
export async function isMigrated(db: Db): Promise<boolean> {
  const own = await migrationNames()
  const rows = await db.selectFrom('schema_migrations').select('name').execute()
  const applied = new Set(rows.map(({ name }) => name))
  return applied.size === own.length && own.every((name) => applied.has(name))
}

/** Throws DatabaseFault when the database is unusable, or its schema is not exactly that of this program. */
export async function requireMigrated(db: Db): Promise<void> {
  const [first, ...more] = await dueIn(db).catch((error: unknown) => {
    if (error instanceof DatabaseFault) throw error
    throw new DatabaseFault(connectionFault(error), { cause: error })
  })
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new DatabaseFault(
    `The database is older than this program, because it lacks migration ${first.name}${others}: run \`tessera migrate\`, or start the service, which does it`,
  )
}

async function dueIn(db: Db): Promise<File[]> {
  const { rows } = await sql`select where to_regclass('schema_migrations') is not null`.execute(db)
  if (rows.length === 0) throw new DatabaseFault(NOT_SET_UP)
  return findDue((text) => sql.raw<Applied>(text).execute(db))
}
