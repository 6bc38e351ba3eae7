/** Rows as a parameter of a database function: an array of one of its composite types. */
import { type RawBuilder, sql } from 'kysely'

/** A composite type of the database, with its columns in their order. */
export type RowType<Column extends string> = { type: string; columns: readonly Column[] }

/** Writes the rows as one parameter. A missing value is null. test/database/rows.test.ts compares the columns with the database. */
export function rowArray<Column extends string>(
  { type, columns }: RowType<Column>,
  rows: readonly Partial<Record<Column, unknown>>[],
): RawBuilder<unknown> {
  const written = rows.map((row) => `"(${columns.map((column) => field(row[column])).join(',')})"`)
  return sql`${`{${written.join(',')}}`}::${sql.raw(type)}[]`
}

/** An empty field is null. Numbers and times have no character to quote; every other value is quoted. */
function field(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof Date) return value.toISOString()
  if (Buffer.isBuffer(value)) return quote(`\\x${value.toString('hex')}`)
  return quote(JSON.stringify(value))
}

/** Quotes a field of a row of an array at once for both: a quotation mark and a backslash have three backslashes before them. */
const quote = (text: string) => `\\"${text.replaceAll('\\', '\\\\\\\\').replaceAll('"', '\\\\\\"')}\\"`
