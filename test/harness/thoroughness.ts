/**
 * The share of the full number of random histories, requests and inputs: a twentieth in `npm test`, and ten times the full
 * number in `npm run test:all`. From the full number on, the browser also opens every page in every look.
 */
export const TIMES = Number(process.env.TEST_TIMES ?? 0.05)

/** The number of inputs: a share of the full number, and never fewer than the assertions need. */
export const times = (full: number, floor: number): number => Math.max(floor, Math.ceil(full * TIMES))

/** What `npm test` leaves to a part of continuous integration, in which the variable is `left`. */
type Left = 'LOOKS' | 'SAMPLES' | 'STARTS' | 'SCALE'

const isLeft = (variable: Left) => process.env[variable] === 'left'

/** The part of a series that this run has: the first in `npm test`, the rest where it is left to, and both in `npm run test:all`. */
export function thisPart<T>(variable: Left, first: T[], rest: T[]): T[] {
  if (TIMES >= 1) return [...first, ...rest]
  return isLeft(variable) ? rest : first
}

/** Whether this run has a long test that `npm test` leaves out. */
export const hasLeft = (variable: Left): boolean => TIMES >= 1 || isLeft(variable)
