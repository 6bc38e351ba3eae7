/** How much of the fault suite runs: a few rounds with the other tests, all that FAULT_ROUNDS says by `npm run faults`. */
const given = process.env.FAULT_ROUNDS

export const IS_FULL = given !== undefined
export const ROUNDS = Number(given ?? 4)
