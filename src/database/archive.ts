/**
 * Everything the service knows, as one file that any Postgres can be filled from: a compressed list of rows, each as
 * Postgres itself writes it in JSON, taken in one snapshot. Credentials stay encrypted under APP_SECRET or hashed, as
 * they are stored; the file is as secret as the database.
 */
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import pg from 'pg'
import { connectionSettings } from './connection.ts'

const FORMAT = 'tessera archive 1'
const ROWS_AT_ONCE = 1_000
/** Left out: applied here anyway, and filled by a trigger where the journal is partitioned. */
const LEFT_OUT = ['schema_migrations', 'journal_references']

/** What the first line of an archive says. */
export type ArchiveHeader = {
  format: typeof FORMAT
  /** The migrations of the database it was taken from. */
  migrations: string[]
  /** Tables in the order in which they can be filled, with their rows. */
  tables: { name: string; rows: number }[]
}

export class ArchiveError extends Error {}

type OnRows = (done: number, total: number) => void

/** Writes the whole database to a file, in one snapshot, while the service goes on. */
export async function exportAll(url: string, path: string, onRows: OnRows): Promise<ArchiveHeader> {
  return withTransaction(url, 'repeatable read, read only', async (client) => {
    const tables: ArchiveHeader['tables'] = []
    for (const name of await tablesInOrder(client)) {
      const { rows } = await client.query(`select count(*)::int as rows from ${quoted(name)}`)
      tables.push({ name, rows: rows[0].rows })
    }
    const header: ArchiveHeader = { format: FORMAT, migrations: await migrationsOf(client), tables }
    const total = totalOf(header)
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    await once(file, 'open')
    const gzip = createGzip()
    gzip.pipe(file)
    const write = async (line: string) => {
      if (!gzip.write(`${line}\n`)) await once(gzip, 'drain')
    }
    await write(JSON.stringify(header))
    let done = 0
    for (const { name } of tables) {
      await client.query(
        `declare line cursor for select to_jsonb(each)::text as line from ${quoted(name)} as each`,
      )
      for (;;) {
        const { rows } = await client.query<{ line: string }>(`fetch ${ROWS_AT_ONCE} from line`)
        if (rows.length === 0) break
        for (const { line } of rows) await write(`${name}\t${line}`)
        done += rows.length
        onRows(done, total)
      }
      await client.query('close line')
    }
    gzip.end()
    await finished(file)
    return header
  })
}

/**
 * Fills an empty, migrated database from a file, all or nothing. Every constraint and trigger of the database judges
 * the rows as it would judge new ones. Throws ArchiveError for a file that is no archive, was taken from another
 * version, or is not whole, and for a database that already holds something.
 */
export async function importAll(url: string, path: string, onRows: OnRows): Promise<ArchiveHeader> {
  return withTransaction(url, 'read committed', async (client) => {
    const source = createReadStream(path)
    await once(source, 'open')
    const lines = createInterface({ input: source.pipe(createGunzip()), crlfDelay: Number.POSITIVE_INFINITY })
    const iterator = lines[Symbol.asyncIterator]()
    const header = readHeader((await iterator.next()).value)
    await requireSame(client, header)
    await requireEmpty(client)
    const total = totalOf(header)
    let done = 0
    let next = await iterator.next()
    for (const { name, rows } of header.tables) {
      let count = 0
      await client.query(`create temporary table stage (like ${quoted(name)}) on commit drop`)
      while (!next.done && next.value.startsWith(`${name}\t`)) {
        const batch: string[] = []
        while (batch.length < ROWS_AT_ONCE && !next.done && next.value.startsWith(`${name}\t`)) {
          batch.push(next.value.slice(name.length + 1))
          next = await iterator.next()
        }
        await client.query(
          `insert into stage select each.* from jsonb_array_elements($1::jsonb) as line
           cross join lateral jsonb_populate_record(null::${quoted(name)}, line) as each`,
          [`[${batch.join(',')}]`],
        )
        count += batch.length
        done += batch.length
        onRows(done, total)
      }
      if (count !== rows)
        throw new ArchiveError(`The archive is not whole: ${name} has ${count} of ${rows} rows`)
      await fill(client, name)
    }
    if (!next.done) throw new ArchiveError('The archive holds rows of a table that it does not name')
    await continueSequences(client)
    // Numbers of transactions mean nothing in another database: the sealing looks again.
    await client.query('update journal_sealing set seen_to = null, seen_before = null')
    return header
  })
}

/** In one statement, because triggers judge all entries of a journal together. Rows of the migrations give way. */
async function fill(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query(`select exists (select from ${quoted(name)}) as is_filled`)
  if (rows[0].is_filled) await client.query(`delete from ${quoted(name)}`)
  await client.query(`insert into ${quoted(name)} overriding system value select * from stage`)
  await client.query('drop table stage')
}

function readHeader(line: string | undefined): ArchiveHeader {
  try {
    const header = JSON.parse(line ?? '') as ArchiveHeader
    if (header.format === FORMAT) return header
  } catch {
    // Said below.
  }
  throw new ArchiveError('This file is no archive of Tessera')
}

async function requireSame(client: pg.Client, header: ArchiveHeader): Promise<void> {
  const here = await migrationsOf(client)
  const other = header.migrations.filter((name) => !here.includes(name))
  const missing = here.filter((name) => !header.migrations.includes(name))
  if (other.length + missing.length === 0) return
  throw new ArchiveError(
    other.length > 0
      ? `The archive is of a newer version: it knows ${other[0]}`
      : `The archive is of an older version: it lacks ${missing[0]}. Import it with that version, then upgrade`,
  )
}

async function requireEmpty(client: pg.Client): Promise<void> {
  for (const name of ['users', 'journal', 'audit_log']) {
    const { rows } = await client.query(`select exists (select from ${quoted(name)}) as is_filled`)
    if (rows[0].is_filled)
      throw new ArchiveError(`The database is not empty: ${name} has rows. Import into a new one`)
  }
}

/** New rows go on where the old ones ended. */
async function continueSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(`
    select c.relname as table, a.attname as column, pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attidentity <> ''`)
  for (const { table, column, sequence } of rows) {
    await client.query(
      `select setval($1, coalesce((select max(${quoted(column)}) from ${quoted(table)}), 1),
         exists (select from ${quoted(table)}))`,
      [sequence],
    )
  }
  await client.query(
    `select setval('payment_apps_pid', coalesce((select max(pid) from payment_apps), 1001),
       exists (select from payment_apps))`,
  )
}

/** Every table of ours, each after those it refers to. Partitions are parts of their table. */
async function tablesInOrder(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname <> all ($1) order by relname`,
    [LEFT_OUT],
  )
  const { rows: references } = await client.query<{ from: string; to: string }>(`
    select distinct whole_from.root::text as from, whole_to.root::text as to
    from pg_constraint
    cross join lateral (select coalesce(pg_partition_root(conrelid), conrelid)::regclass as root) as whole_from
    cross join lateral (select coalesce(pg_partition_root(confrelid), confrelid)::regclass as root) as whole_to
    where contype = 'f' and connamespace = 'public'::regnamespace and whole_from.root <> whole_to.root`)
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

async function migrationsOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations order by name')
  return rows.map(({ name }) => name)
}

async function withTransaction<T>(
  url: string,
  mode: string,
  act: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connectionSettings(url))
  await client.connect()
  try {
    await client.query(`begin isolation level ${mode}`)
    const result = await act(client)
    await client.query('commit')
    return result
  } finally {
    // Ends an open transaction too.
    await client.end()
  }
}

const quoted = (name: string) => pg.escapeIdentifier(name)

function totalOf({ tables }: ArchiveHeader): number {
  return tables.reduce((total, { rows }) => total + rows, 0)
}
