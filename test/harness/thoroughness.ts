/**
 * The share of the full number of random histories, requests and inputs: a twentieth in `npm test`, and ten times the full
 * number in `npm run test:all`. From the full number on, the browser also opens every page in every look.
 */
export const TIMES = Number(process.env.TEST_TIMES ?? 0.05)

/** The number of inputs: a share of the full number, and never fewer than the assertions need. */
export const times = (full: number, floor: number): number => Math.max(floor, Math.ceil(full * TIMES))

/**
 * The part of a series that this run has. `npm test` has the first, and leaves the rest to a part of continuous integration, in which the
 * variable is `left`. `npm run test:all` has both.
 */
export function thisPart<T>(variable: 'LOOKS' | 'SAMPLES', first: T[], rest: T[]): T[] {
  if (TIMES >= 1) return [...first, ...rest]
  return process.env[variable] === 'left' ? rest : first
}
