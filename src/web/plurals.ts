/** How English counts: one word for one of a thing, another for many. */

export const counted = (n: bigint | number, one: string, many: string) => (BigInt(n) === 1n ? one : many)

/** An amount as it is written, such as 1 or 1,000. */
export const pointsOf = (formatted: string) => `${formatted} ${formatted === '1' ? 'point' : 'points'}`
export const areLeft = (formatted: string) =>
  `${pointsOf(formatted)} ${formatted === '1' ? 'is' : 'are'} left`
