/**
 * The share of the full number of random histories, requests and inputs, and of pages in a second language: a quarter in `npm test`, and ten times the
 * full number in `npm run test:all`.
 */
export const TIMES = Number(process.env.TEST_TIMES ?? 0.25)

/** The number of inputs, from their full number. */
export const times = (full: number): number => Math.ceil(full * TIMES)
