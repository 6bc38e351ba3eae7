/** Named statements: parsed once for each connection, forgotten after a migration, and given up behind an old pgbouncer. */
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { named } from '../../src/database/named-statements.ts'
import { createDatabase } from '../harness/harness.ts'
import { hasPgbouncer, startPgbouncer } from '../harness/pgbouncer.ts'

const { url, drop } = await createDatabase()
afterAll(() => drop())

/** A process with one connection, and the refusals that it met. */
function openProcess(address: string, isOn = true) {
  const refusals: Error[] = []
  const naming = { isOn, onRefused: (error: Error) => refusals.push(error) }
  return { db: openDatabase(address, { max: 1, onBroken: () => {}, naming }), naming, refusals }
}

const ask = async (db: Db, n: number) =>
  (await sql<{ n: number }>`select ${named} ${n}::integer as n`.execute(db)).rows[0]!.n
const countNamed = async (db: Db) => {
  const { rows } = await sql<{ text: string }>`select statement as text from pg_prepared_statements`.execute(
    db,
  )
  return rows.length
}

it('a named statement is parsed once for a connection', async () => {
  const { db } = openProcess(url)
  expect([await ask(db, 1), await ask(db, 2), await countNamed(db)]).toEqual([1, 2, 1])
  await sql`select 1`.execute(db)
  expect(await countNamed(db)).toBe(1)
  await db.destroy()
})

it('no statement has a name where names are off, or in a transaction', async () => {
  const off = openProcess(url, false)
  expect([await ask(off.db, 1), await countNamed(off.db)]).toEqual([1, 0])
  await off.db.destroy()
  const { db } = openProcess(url)
  await db.transaction().execute(async (tx) => {
    expect([await ask(tx, 1), await countNamed(tx)]).toEqual([1, 0])
  })
  await db.destroy()
})

it('a statement whose result a migration changed runs again, and has a name again', async () => {
  const { db, naming } = openProcess(url)
  const make = (columns: string, values: string) =>
    sql`${sql.raw(`drop function if exists figures(); create function figures() returns table (${columns}) language sql as 'select ${values}'`)}`.execute(
      db,
    )
  const read = async () => (await sql`select ${named} * from figures()`.execute(db)).rows
  await make('a integer', '1')
  expect(await read()).toEqual([{ a: 1 }])
  await make('a integer, b integer', '1, 2')
  expect(await read()).toEqual([{ a: 1, b: 2 }])
  const before = await countNamed(db)
  expect(await read()).toEqual([{ a: 1, b: 2 }])
  expect([await countNamed(db), naming.isOn]).toEqual([before + 1, true])
  await db.destroy()
})

it('another fault of a named statement is the caller’s, and ends no naming', async () => {
  const { db, naming } = openProcess(url)
  await expect(sql`select ${named} ${0}::integer / 0`.execute(db)).rejects.toMatchObject({ code: '22012' })
  expect(naming.isOn).toBe(true)
  await db.destroy()
})

it.skipIf(!hasPgbouncer)('a pgbouncer that keeps no names ends the naming, and no call fails', async () => {
  const pgbouncer = await startPgbouncer(url, { connections: 1 })
  const [first, second] = [openProcess(pgbouncer.url), openProcess(pgbouncer.url)]
  expect([await ask(first.db, 1), await ask(second.db, 2), await ask(second.db, 3)]).toEqual([1, 2, 3])
  expect([second.naming.isOn, second.refusals.length]).toEqual([false, 1])
  for (const { db } of [first, second]) await db.destroy()
  await pgbouncer.stop()
})
