/** Reads and changes rows of the database by the values of their columns. */
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Tx } from '../../src/database/connection.ts'
import type { Tables } from '../../src/database/tables.ts'
import type { TestApp } from './harness.ts'

type Table = keyof Tables & string
type Row<T extends Table> = Selectable<Tables[T]>

/** Returns the rows of a table with these values, in the order of their ids, whole or only these columns of them. */
export async function rowsOf<T extends Table, C extends keyof Row<T> = keyof Row<T>>(
  { db }: Pick<TestApp, 'db'>,
  table: T,
  values: Partial<Row<T>> = {},
  columns?: C[],
): Promise<Pick<Row<T>, C>[]> {
  const query = sql<Row<T>>`select * from ${sql.table(table)} where ${have(values)} order by 1`
  const { rows } = await query.execute(db)
  if (columns === undefined) return rows
  const pick = (row: Row<T>) => Object.fromEntries(columns.map((name) => [name, row[name]]))
  return rows.map((row) => pick(row) as Pick<Row<T>, C>)
}

/** Returns the first such row. Throws when there is none. */
export async function rowOf<T extends Table, C extends keyof Row<T> = keyof Row<T>>(
  test: Pick<TestApp, 'db'>,
  table: T,
  values: Partial<Row<T>>,
  columns?: C[],
): Promise<Pick<Row<T>, C>> {
  const [row] = await rowsOf(test, table, values, columns)
  if (row === undefined) throw new Error(`No row of ${table} has ${Object.keys(values)}`)
  return row
}

/** Sets columns of the rows with these values. */
export async function setRows<T extends Table>(
  { db }: Pick<TestApp, 'db'>,
  table: T,
  values: Partial<Row<T>>,
  columns: Partial<Row<T>>,
): Promise<void> {
  const set = Object.entries(columns).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  await sql`update ${sql.table(table)} set ${sql.join(set)} where ${have(values)}`.execute(db)
}

/** Locks the rows with these values until the transaction ends. */
export async function lockRows<T extends Table>(tx: Tx, table: T, values: Partial<Row<T>>): Promise<void> {
  await sql`select from ${sql.table(table)} where ${have(values)} order by id for update`.execute(tx)
}

function have(values: object): RawBuilder<SqlBool> {
  const equal = Object.entries(values).map(
    ([name, value]) => sql`${sql.ref(name)} is not distinct from ${value}`,
  )
  return sql.join([sql`true`, ...equal], sql` and `)
}
