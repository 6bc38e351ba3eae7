/** Skips tests that cannot run with many processes, each with its reason. */

/** Whether many processes answer the requests of this run, instead of the tests' own. */
export const isSpread = Number(process.env.TEST_PROCESSES ?? 0) > 0

/** Whether to skip tests because the run has many processes: `it.skipIf(inOneProcess(REASON))`. */
export const inOneProcess = (_reason: string): boolean => isSpread

export const COUNTED_APART =
  'each process counts frequent requests for itself, adds them up every second, and finds a limit full by itself'
export const STATEMENTS = 'the statements of one process are listened to'
export const ONE_TIMER = 'the timer of one process is to be stopped, and there are several'
export const ONE_QUEUE = 'the queue of one process is to be filled, and there are several'
