/**
 * How many times the full number of random histories, requests and inputs the tests try: `npm test` tries a quarter,
 * `npm run test:all` ten times all of them.
 */
export const TIMES = Number(process.env.TEST_TIMES ?? 0.25)

/** This many inputs for every time. */
export const times = (full: number): number => Math.ceil(full * TIMES)
