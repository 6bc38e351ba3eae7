/**
 * How much of the fault suite runs: FAULT_ROUNDS faults, as in continuous integration and by `npm run faults`, and without the
 * variable what takes seconds.
 */
const given = process.env.FAULT_ROUNDS

export const IS_FULL = given !== undefined
export const ROUNDS = Number(given ?? 4)
/** Decides when each fault strikes. */
export const SEED = Number(process.env.FAULT_SEED ?? 20_260_101)
