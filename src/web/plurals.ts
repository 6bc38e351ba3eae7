/** English singular and plural. */
import { POINT, POINTS } from './site-words.ts'

/** Chooses the singular, for 1 and −1, or the plural. */
export const counted = (n: bigint | number, one: string, many: string) =>
  BigInt(n) === 1n || BigInt(n) === -1n ? one : many

/**
 * Writes an amount with its unit, in the words of the site.
 * @param formatted an amount with thousands separators, such as 1,000.
 */
export const pointsOf = (formatted: string) => `${formatted} ${formatted === '1' ? POINT : POINTS}`
export const areLeft = (formatted: string) =>
  `${pointsOf(formatted)} ${formatted === '1' ? 'is' : 'are'} left`
