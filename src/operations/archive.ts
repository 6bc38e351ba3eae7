/**
 * Exports the database to one file, and imports it into an empty one. The file is a compressed list of rows of one
 * snapshot, each in the JSON of Postgres. Credentials stay encrypted under APP_SECRET or hashed, as they are stored.
 * The file is as secret as the database.
 */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type pg from 'pg'
import { lockMigrations, migrateWithin, migrationNames } from '../database/migrate.ts'
import { invariantsSince } from '../ledger/invariants.ts'
import {
  type ArchiveHeader,
  continueSequences,
  FORMAT,
  Header,
  migrationsOf,
  quoted,
  sequencesOf,
  tablesInOrder,
  withTransaction,
} from './archive-tables.ts'
import { RETENTION } from './retention.ts'
import type { Ask } from './secret-proof.ts'

const ROWS_AT_ONCE = 1_000

/**
 * The triggers that the import disables. One requires a second administrator for a new value of a setting. One keeps the
 * platform's accounts, which those of the archive replace. One requires the codes of a sale, which are filled in later. One
 * requires an unpaid order for a tip.
 */
const RESTING = [
  { table: 'site_settings', trigger: 'site_settings_two_people' },
  { table: 'ledger_accounts', trigger: 'ledger_accounts_not_deleted' },
  { table: 'link_orders', trigger: 'link_orders_delivered' },
  { table: 'tips', trigger: 'tips_of_unpaid_order' },
]

/** The archive, or the database to fill, cannot be used. */
export class ArchiveError extends Error {}
type OnRows = (done: number, total: number) => void

/** Passes the whole database to `write`, in one snapshot, while the service runs. Throws the errors of `write`. */
export async function exportAll(
  url: string,
  write: (pieces: AsyncIterable<Uint8Array>) => Promise<void>,
  onRows: OnRows,
): Promise<ArchiveHeader> {
  return withTransaction(url, 'repeatable read, read only', async (client) => {
    const tables: ArchiveHeader['tables'] = []
    for (const name of await tablesInOrder(client)) {
      const { rows } = await client.query(`select count(*)::int as rows from ${quoted(name)}`)
      tables.push({ name, rows: rows[0].rows })
    }
    const header: ArchiveHeader = {
      format: FORMAT,
      migrations: await migrationsOf(client),
      tables,
      sequences: await sequencesOf(client),
    }
    await pipeline(textOf(client, header, onRows), createGzip(), write)
    return header
  })
}

/** Yields the lines of an archive, many at once. */
async function* textOf(client: pg.Client, header: ArchiveHeader, onRows: OnRows): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`
  const total = totalOf(header)
  let done = 0
  for (const { name } of header.tables) {
    await client.query(
      `declare line cursor for select to_jsonb(each)::text as line from ${quoted(name)} as each`,
    )
    for (;;) {
      const { rows } = await client.query<{ line: string }>(`fetch ${ROWS_AT_ONCE} from line`)
      if (rows.length === 0) break
      yield rows.map(({ line }) => `${name}\t${line}\n`).join('')
      done += rows.length
      onRows(done, total)
    }
    await client.query('close line')
  }
}

/** An archive whose first line was read and checked, and the lines after it. */
export type Archive = { header: ArchiveHeader; lines: AsyncIterator<string, void> }

/** Reads an archive. Throws ArchiveError, before `act` starts, for another file or an archive of a newer version. */
export async function withArchive<T>(path: string, act: (archive: Archive) => Promise<T>): Promise<T> {
  const lines = linesOf(path)
  try {
    const { value } = await lines.next()
    const header = readHeader(value ?? '')
    requireKnown(header, await migrationNames())
    return await act({ header, lines })
  } finally {
    await lines.return()
  }
}

async function* linesOf(path: string): AsyncGenerator<string, void> {
  const source = createReadStream(path)
  const text = createGunzip()
  source.once('error', (error) => text.destroy(error))
  try {
    let rest = ''
    for await (const chunk of source.pipe(text).setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      yield* lines
    }
    if (rest !== '') yield rest
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (!code.startsWith('Z_')) throw error
    throw new ArchiveError(`${path} is no archive of Tessera, or was cut short: ${message}`)
  } finally {
    source.destroy()
    text.destroy()
  }
}

/**
 * Migrates and fills a new database from an archive, in one transaction. Constraints and triggers check the rows as
 * they check new rows. An archive of an earlier version fills the tables of that version, which are then upgraded.
 * Triggers do not check its rows, because the functions of this program need its own tables. Throws ArchiveError for
 * an incomplete file and for a database that is not empty. `prove` runs after all rows are there; its errors roll back.
 */
export async function importAll(
  url: string,
  { header, lines }: Archive,
  { onRows, prove }: { onRows: OnRows; prove: (ask: Ask) => Promise<unknown> },
): Promise<ArchiveHeader> {
  return withTransaction(url, 'read committed', async (client) => {
    await lockMigrations(client)
    await requireNew(client)
    await migrateWithin(client, header.migrations)
    await requireNotNewer(client, header)
    await whileResting(client, () => fillAll(client, { header, lines }, onRows))
    await continueSequences(client, header)
    await migrateWithin(client)
    await requireWholeEntries(client)
    await prove((statement) => client.query(statement))
    // Transaction IDs mean nothing in another database, so the sealing starts its search again.
    await client.query('update journal_sealing set seen_to = null, seen_before = null')
    return header
  })
}

/** No trigger has looked up the journals and accounts of an archive of an earlier version. Throws ArchiveError. */
async function requireWholeEntries(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ entry: string }>(
    `select entry::text from (${invariantsSince(null).no_journal_mixes_books}) as looked_at where broken limit 1`,
  )
  if (rows.length > 0)
    throw new ArchiveError(
      `The archive is not whole: entry ${rows[0]!.entry} has no journal or account of its book`,
    )
}

async function whileResting(client: pg.Client, act: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ tgname: string }>('select tgname from pg_trigger')
  // The tables of an archive from an earlier version have no triggers yet.
  const resting = RESTING.filter(({ trigger }) => rows.some(({ tgname }) => tgname === trigger))
  for (const { table, trigger } of resting)
    await client.query(`alter table ${table} disable trigger ${trigger}`)
  await act()
  for (const { table, trigger } of resting)
    await client.query(`alter table ${table} enable trigger ${trigger}`)
}

async function fillAll(client: pg.Client, { header, lines }: Archive, onRows: OnRows): Promise<void> {
  const total = totalOf(header)
  let done = 0
  let next = await lines.next()
  for (const { name, rows } of header.tables) {
    let count = 0
    await client.query(`create temporary table stage (like ${quoted(name)}) on commit drop`)
    while (!next.done && next.value.startsWith(`${name}\t`)) {
      const batch: string[] = []
      while (batch.length < ROWS_AT_ONCE && !next.done && next.value.startsWith(`${name}\t`)) {
        batch.push(next.value.slice(name.length + 1))
        next = await lines.next()
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
}

/** Replaces the rows of the migrations. It inserts in one statement, because triggers check all entries of a journal together. */
async function fill(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query<{ is_filled: boolean; columns: string }>(
    `select exists (select from ${quoted(name)}) as is_filled, string_agg(quote_ident(attname), ', ') as columns
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [quoted(name)],
  )
  const { is_filled, columns } = rows[0]!
  if (is_filled) await client.query(`delete from ${quoted(name)}`)
  // Postgres computes the columns that it generates.
  await client.query(
    `insert into ${quoted(name)} (${columns}) overriding system value select ${columns} from stage`,
  )
  await client.query('drop table stage')
}

function readHeader(line: string): ArchiveHeader {
  try {
    return Header.parse(JSON.parse(line))
  } catch {
    throw new ArchiveError('This file is no archive of Tessera')
  }
}

function requireKnown(header: ArchiveHeader, here: string[]): void {
  const other = header.migrations.find((name) => !here.includes(name))
  if (other === undefined) return
  throw new ArchiveError(`The archive is of a newer version: it has the migration ${other}`)
}

async function requireNotNewer(client: pg.Client, { migrations }: ArchiveHeader): Promise<void> {
  const newer = (await migrationsOf(client)).find((name) => !migrations.includes(name))
  if (newer === undefined) return
  throw new ArchiveError(
    `The archive is of an older version: it lacks ${newer}, which this database has. Import it into a database without tables, which the import upgrades`,
  )
}

/** Accepts an empty database or an unused Tessera. Tables of extensions do not count. Throws ArchiveError. */
async function requireNew(client: pg.Client): Promise<void> {
  const { rows: found } = await client.query<{ name: string; is_list: boolean }>(`
    select relname as name, relname = 'schema_migrations' and exists (
        select from pg_attribute where attrelid = c.oid and attname = 'checksum'
      ) as is_list
    from pg_class as c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'm', 'f')
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    order by relname`)
  const isMigrated = found.some(({ is_list }) => is_list)
  const foreign = found.find(({ name }) => !isMigrated || !(name in RETENTION))
  if (foreign !== undefined)
    throw notNew(`it holds a table ${foreign.name}, which does not belong to Tessera`)
  for (const name of ['users', 'journal', 'audit_log']) {
    if (!found.some((table) => table.name === name)) continue
    const { rows } = await client.query(`select exists (select from ${quoted(name)}) as is_filled`)
    if (rows[0].is_filled) throw notNew(`${name} has rows`)
  }
}

function notNew(why: string): ArchiveError {
  return new ArchiveError(`The database is not empty: ${why}. Import into a new one`)
}

function totalOf({ tables }: ArchiveHeader): number {
  return tables.reduce((total, { rows }) => total + rows, 0)
}
