/**
 * Everything the service knows, as one file that any Postgres can be filled from: a compressed list of rows, each as
 * Postgres itself writes it in JSON, taken in one snapshot. Credentials stay encrypted under APP_SECRET or hashed, as
 * they are stored; the file is as secret as the database.
 */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type pg from 'pg'
import { isUnreleased, lockMigrations, migrateWithin, migrationNames } from '../database/migrate.ts'
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

/** The trigger that rests while the tables fill. It asks who approved a change of a setting, and an import changes none. */
const RESTING = { table: 'site_settings', trigger: 'site_settings_two_people' }

export class ArchiveError extends Error {}
type OnRows = (done: number, total: number) => void

/** Gives `write` the whole database, in one snapshot, while the service goes on. */
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

/** The lines of an archive, many at once. */
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

/** A file whose first line was read and is right, and the lines after it. */
export type Archive = { header: ArchiveHeader; lines: AsyncIterator<string, void> }

/** Reads a file. Throws ArchiveError for one that is no archive, or that a newer version has written: then `act` is not begun. */
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
 * Migrates and fills a new database from an archive, in one transaction: all or nothing. Every constraint, and every trigger
 * that refuses, judges the rows as it would judge new ones. The tables of an archive from an earlier version fill as they were
 * in that version, and are then upgraded. Triggers do not judge these rows, because the functions of this program are made for
 * its own tables. Throws ArchiveError for a file that is not whole, and for a database that already holds something, of ours
 * or of others; what `prove` throws, which is asked when all rows are there.
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
    await prove((statement) => client.query(statement))
    // Numbers of transactions mean nothing in another database: the sealing looks again.
    await client.query('update journal_sealing set seen_to = null, seen_before = null')
    return header
  })
}

async function whileResting(client: pg.Client, act: () => Promise<void>): Promise<void> {
  const { table, trigger } = RESTING
  const { rows } = await client.query('select from pg_trigger where tgname = $1', [trigger])
  // The tables of an archive from an earlier version fill before there are triggers.
  if (rows.length === 0) return act()
  await client.query(`alter table ${table} disable trigger ${trigger}`)
  await act()
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

/** In one statement, because triggers judge all entries of a journal together. Rows of the migrations give way. */
async function fill(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query(`select exists (select from ${quoted(name)}) as is_filled`)
  if (rows[0].is_filled) await client.query(`delete from ${quoted(name)}`)
  await client.query(`insert into ${quoted(name)} overriding system value select * from stage`)
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
  throw new ArchiveError(
    isUnreleased(other)
      ? 'The archive is of a version from before the first release. Nothing is carried over from those versions'
      : `The archive is of a newer version: it knows ${other}`,
  )
}

async function requireNotNewer(client: pg.Client, { migrations }: ArchiveHeader): Promise<void> {
  const newer = (await migrationsOf(client)).find((name) => !migrations.includes(name))
  if (newer === undefined) return
  throw new ArchiveError(
    `The archive is of an older version: it lacks ${newer}, which this database has. Import into one without tables, which is upgraded on the way`,
  )
}

/** A database in which there is nothing, or a Tessera that nobody has used yet. What extensions bring does not count. */
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
  if (foreign !== undefined) throw notNew(`it holds a table ${foreign.name}, which is none of Tessera’s`)
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
