/** Parameters in the address of a list. Invalid ones are ignored, so an address typed by hand still shows a list. */
import { z } from 'zod'

/** The text to search for; empty finds everything. */
export const searchText = z.string().trim().max(100).catch('')

/** A page of a list begins after the row of this id, in the order of the list. */
export const cursor = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt)
  .optional()
  .catch(undefined)

/** Returns the address of a list with its parameters, without the empty ones. */
export function listUrl(path: string, asked: Record<string, string | bigint | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
