/** Parameters in the address of a list. Invalid ones are ignored, so an address typed by hand still shows a list. */
import { z } from 'zod'

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

/** Returns the address of a list with its parameters, without the empty ones. */
export function listUrl(path: string, asked: Record<string, string | bigint | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
