/**
 * Lists whose newest rows come first, paged by the id of the last row shown: rows that are added meanwhile shift nothing.
 * What no index can find is looked for in a bounded number of rows at a time, so that a page costs the same whatever is
 * asked for; the next page goes on where this one stopped.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { BIGGEST_ID } from './connection.ts'

export const PAGE_LINES = 25
const LOOKED_THROUGH_MAX = 1_000

/**
 * The rows of one application, between two ids that are left out: as a range of pairs, which only the index of these pairs
 * has in its order. Asked for as those of the application, Postgres may walk the rows of all others for them.
 * @param table its name in the query. @param app_id the id, or a subquery that answers it.
 */
export function rowsOfApp(
  table: string,
  app_id: bigint | RawBuilder<bigint>,
  { after = 0n, before = BIGGEST_ID }: { after?: bigint | undefined; before?: bigint | undefined } = {},
): RawBuilder<SqlBool> {
  const pair = sql`(${sql.ref(`${table}.app_id`)}, ${sql.ref(`${table}.id`)})`
  return sql`${pair} > (${app_id}::bigint, ${after}::bigint) and ${pair} < (${app_id}::bigint, ${before}::bigint)`
}

/** How many rows one page may look at. @param lookedThrough for a search whose rows are cheaper to look at than most. */
export function rowsWithin(isSearch: boolean, lookedThrough = LOOKED_THROUGH_MAX): number {
  return isSearch ? lookedThrough : PAGE_LINES + 1
}

export type Page<Row> = {
  rows: Row[]
  /** The next page shows what is older than this id, if there may be anything. */
  next: bigint | undefined
  /** The search stopped at this moment, with more to look through. */
  looked_back_to: Date | undefined
}

/** What a query of this kind answers in every row: how many rows it looked at, and the last of them. */
export type Looked = { seen: bigint; oldest: bigint; oldest_at: Date }

/**
 * The page that a query found. It asks for one row more than a page has, and answers one without an id when it found
 * none. @param within how many rows it could look at. @param lines how many rows a page has.
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

/** A pattern for `ilike` that is met by whatever contains the text. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** The amount that a search for these digits means, if it is one. */
export function amountIn(text: string): bigint | null {
  return /^\d{1,16}$/.test(text) ? BigInt(text) : null
}
