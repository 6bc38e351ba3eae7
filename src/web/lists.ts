/**
 * Parameters in the address of a list. Invalid ones are ignored, so an address typed by hand still shows a list.
 * spec/pages 3.4.
 */
import { z } from 'zod'
import type { Count } from '../database/counts.ts'
import { AppError } from '../platform/errors.ts'

/** The text to search for; empty finds everything. */
export const searchText = z.string().trim().max(100).catch('')

/** The id of a row. */
export const rowId = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt)

/** A page of a list begins after the row of this id, in the order of the list. */
export const cursor = rowId.optional().catch(undefined)

/** Cuts rows to a page. The query reads one row more than a page shows. `next` is the page's last id, if there are more. */
export function onePage<Row extends { id: bigint }>(
  found: readonly Row[],
  lines: number,
): { rows: Row[]; next: bigint | undefined } {
  const rows = found.slice(0, lines)
  return { rows, next: found.length > lines ? rows.at(-1)!.id : undefined }
}

/** Returns the address of the page after this row, or undefined without a row. */
export function olderUrl(
  path: string,
  asked: Record<string, string | undefined>,
  next: bigint | undefined,
): string | undefined {
  return next === undefined ? undefined : listUrl(path, { ...asked, before: next })
}

/** Which rows of a list a page shows, and of how many. A last page needs no count. */
export type ShownRows = { first: number; last: number; of: Count | undefined }

/** The position of a page's first row in its list. It only labels the page. */
const position = z.coerce.number().int().min(1).max(1_000_000).catch(1)

/** A page of a list that says which rows it shows. */
export const Paged = z
  .object({ before: cursor, row: position })
  .transform(({ before, row }) => ({ before, row: before === undefined ? 1 : row }))

/**
 * Says which rows a page shows.
 * @param row the position of the first one.
 * @param rows how many the page has.
 * @param isLast whether no older rows are left.
 */
export function shownRows(
  row: number,
  rows: number,
  { isLast, count }: { isLast: boolean; count: Count | undefined },
): ShownRows | undefined {
  if (rows === 0) return undefined
  const last = row + rows - 1
  if (isLast) return { first: row, last, of: { rows: last, isMore: false } }
  if (count === undefined) return { first: row, last, of: undefined }
  return { first: row, last, of: count.rows > last ? count : { rows: last, isMore: true } }
}

/** Returns the address of a list with its parameters, without the empty ones. */
export function listUrl(path: string, asked: Record<string, string | bigint | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/**
 * Reads the ID in an address. Throws not_found for any other text.
 * @param what names the thing in the error, as in “member”.
 */
export function idIn(text: string, what: string): bigint {
  const { success, data } = rowId.safeParse(text)
  if (!success) throw new AppError('not_found', `There is no such ${what}`)
  return data
}
