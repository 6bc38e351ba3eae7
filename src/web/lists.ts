/** What the address of a list says. Whatever does not fit is left out: an address typed by hand still shows a list. */
import { z } from 'zod'

/** What is searched for; empty for everything. */
export const searchText = z.string().trim().max(100).catch('')

/** Where a page of a list begins: after the row of this id, in the order of the list. */
export const cursor = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt)
  .optional()
  .catch(undefined)

/** The address of a list with what is asked for, empty values left out. */
export function listUrl(path: string, asked: Record<string, string | bigint | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
