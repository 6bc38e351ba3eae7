/**
 * Counts the rows that each filter of a list would show. One statement serves all filters of a list. It reads at most
 * COUNTED_MAX rows for each of them, so a list of a million rows costs no more than one of a thousand.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './connection.ts'

/** How many rows a count reads. */
export const COUNTED_MAX = 1_000

/** How many rows a filter shows. `isMore`: at least so many. */
export type Count = { rows: number; isMore: boolean }

/** The counts by filter. `all` is the list without one. A filter has none if it may show only rows that were not read. */
export type Counts<Filter extends string> = { [F in Filter | 'all']?: Count }

/**
 * Counts the newest rows of a list by filter.
 * @param newest selects the `filter` of each row in the order of an index, or null for a row that the list leaves out.
 * @param within how many rows it reads.
 */
export async function countNewest<Filter extends string>(
  db: Db,
  filters: readonly Filter[],
  newest: RawBuilder<unknown>,
  within = COUNTED_MAX,
): Promise<Counts<Filter>> {
  const { rows: groups } = await sql<{ filter: Filter | null; rows: number }>`
    select filter, count(*)::integer as rows from (${newest} limit ${within}) as newest group by filter`.execute(
    db,
  )
  const isMore = sumOf(groups) >= within
  const shown = groups.filter(({ filter }) => filter !== null)
  const counts = filters
    .map((filter) => ({ filter, rows: shown.find((group) => group.filter === filter)?.rows ?? 0 }))
    .filter(({ rows }) => rows > 0 || !isMore)
    .map(({ filter, rows }) => [filter, { rows, isMore }])
  return { ...Object.fromEntries(counts), all: { rows: sumOf(shown), isMore } }
}

/**
 * Counts the rows of several queries.
 * @param queries each selects its rows in the order of an index, `select from …`. Without an order, Postgres may look for rare
 *   rows among all others.
 */
export async function countEach<Filter extends string>(
  db: Db,
  queries: { [F in Filter]: RawBuilder<unknown> },
): Promise<Counts<Filter>> {
  const columns = Object.entries<RawBuilder<unknown>>(queries).map(
    ([filter, query]) =>
      sql`(select count(*) from (${query} limit ${COUNTED_MAX}) as counted)::integer as ${sql.ref(filter)}`,
  )
  const { rows } = await sql<Record<string, number>>`select ${sql.join(columns)}`.execute(db)
  const counts = Object.entries(rows[0]!).map(([filter, rows]) => [
    filter,
    { rows, isMore: rows >= COUNTED_MAX },
  ])
  return Object.fromEntries(counts) as Counts<Filter>
}

function sumOf(groups: { rows: number }[]): number {
  return groups.reduce((sum, { rows }) => sum + rows, 0)
}
