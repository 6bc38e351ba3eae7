/** English singular and plural. */

/** Chooses the singular, for 1 and −1, or the plural. */
export const counted = (n: bigint | number, one: string, many: string) =>
  BigInt(n) === 1n || BigInt(n) === -1n ? one : many

/**
 * Writes an amount with its unit.
 * @param formatted an amount with thousands separators, such as 1,000.
 */
export const pointsOf = (formatted: string) => `${formatted} ${formatted === '1' ? 'point' : 'points'}`
export const areLeft = (formatted: string) =>
  `${pointsOf(formatted)} ${formatted === '1' ? 'is' : 'are'} left`
