/**
 * Lists with the newest rows first. Pages are cut by the id of the last row shown, so new rows shift no page. A search
 * without an index looks at a bounded number of rows for each page, so every page costs the same. The next page continues
 * where this one stopped.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { BIGGEST_ID } from './connection.ts'

export const PAGE_LINES = 25
/** Lines on a page of members or applications. */
export const TABLE_LINES = 50
/** Lines of the history on the page of one thing. */
export const HISTORY_LINES = 50
const LOOKED_THROUGH_MAX = 1_000

/** An id, or a subquery that returns one. */
type Id = bigint | RawBuilder<bigint>

/** Both are excluded. */
type Between = { after?: Id | undefined; before?: Id | undefined }

/** Selects the rows of one application between two ids. @param table the table's name in the query. */
export function rowsOfApp(table: string, app_id: Id, between: Between = {}): RawBuilder<SqlBool> {
  return rowsOfOne(`${table}.app_id`, `${table}.id`, app_id, between)
}

/**
 * Selects the rows of one owner between two ids. The condition is a range of pairs, so that Postgres uses the index on
 * (owner, id). With `owner = …` Postgres may walk the rows of all owners, newest first, for those of one.
 */
export function rowsOfOne(
  owner: string,
  id: string,
  value: Id,
  { after = 0n, before = BIGGEST_ID }: Between = {},
): RawBuilder<SqlBool> {
  const pair = sql`(${sql.ref(owner)}, ${sql.ref(id)})`
  return sql`${sql.ref(owner)} is not null and ${pair} > (${value}::bigint, ${after}::bigint) and ${pair} < (${value}::bigint, ${before}::bigint)`
}

/**
 * Returns how many rows one page may look at.
 * @param lookedThrough the bound of a search; a search of cheap rows may set a higher one.
 */
export function rowsWithin(isSearch: boolean, lookedThrough = LOOKED_THROUGH_MAX): number {
  return isSearch ? lookedThrough : PAGE_LINES + 1
}

export type Page<Row> = {
  rows: Row[]
  /** The next page shows rows older than this id. Undefined after the last page. */
  next: bigint | undefined
  /** The moment of the row where the search stopped, with older rows left. */
  looked_back_to: Date | undefined
}

/** Each row of such a query also says how many rows the query looked at, and which was the oldest. */
export type Looked = { seen: bigint; oldest: bigint; oldest_at: Date }

/**
 * Cuts the answer of a query to a page. The query asks for one row more than a page has. When it finds no rows, it answers
 * one row without an id.
 * @param within how many rows the query could look at.
 * @param lines how many rows a page has.
 */
export function pageOf<Row extends { id: bigint }>(
  answer: ((Row | { id: null }) & Looked)[],
  within: number,
  lines = PAGE_LINES,
): Page<Row> {
  const { seen, oldest, oldest_at } = answer[0]!
  const found = answer.filter((row): row is Row & Looked => row.id !== null)
  const rows = found.slice(0, lines)
  if (found.length > lines) return { rows, next: rows.at(-1)!.id, looked_back_to: undefined }
  if (seen < BigInt(within)) return { rows, next: undefined, looked_back_to: undefined }
  return { rows, next: oldest, looked_back_to: oldest_at }
}

/** Returns a pattern for `ilike` that matches every value containing the text. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Returns the amount that a search text means, or null when it is not digits. */
export function amountIn(text: string): bigint | null {
  return /^\d{1,16}$/.test(text) ? BigInt(text) : null
}
