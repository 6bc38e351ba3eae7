/** Rows as a parameter of a database function: an array of one of its composite types. */
import { type RawBuilder, sql } from 'kysely'

/** A composite type of the database, with its columns in their order. */
export type RowType<Column extends string> = { type: string; columns: readonly Column[] }

/** Writes the rows as one parameter. A missing value is null. test/database/rows.test.ts compares the columns with the database. */
export function rowArray<Column extends string>(
  { type, columns }: RowType<Column>,
  rows: readonly Partial<Record<Column, unknown>>[],
): RawBuilder<unknown> {
  const written = rows.map((row) => quote(`(${columns.map((column) => field(row[column])).join(',')})`))
  return sql`${`{${written.join(',')}}`}::${sql.raw(type)}[]`
}

/** An empty field is null. Every other value is quoted. */
function field(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return quote(value.toISOString())
  if (Buffer.isBuffer(value)) return quote(`\\x${value.toString('hex')}`)
  return quote(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
