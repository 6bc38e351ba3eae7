/** How much of the fault suite runs: each fault once with the other tests, and FAULT_ROUNDS faults by `npm run faults`. */
const given = process.env.FAULT_ROUNDS

export const IS_FULL = given !== undefined
export const ROUNDS = Number(given ?? 4)
/** Decides when each fault strikes. */
export const SEED = Number(process.env.FAULT_SEED ?? 20_260_101)
