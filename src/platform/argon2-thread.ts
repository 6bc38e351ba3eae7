// This room: configuration, errors, secrets, clock, log and tracing: no database, and no rule of ours.
// Verbs: loadConfig, makeSecrets, loggerOptions, openTracing, argon2id.
/** A thread that hashes what it is sent, one message after another. */
import { argon2Sync } from 'node:crypto'
import { availableParallelism, constants, getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** The niceness of this thread above the process on one core. A hash then gets a quarter of the core while others need it. */
const NICER = 5

export type HashJob = {
  message: string
  nonce: Uint8Array
  tagLength: number
  /** KiB. */
  memory: number
  passes: number
  parallelism: number
}

// On Linux, 0 means the calling thread. Elsewhere it means the whole process, which keeps its priority.
if (process.platform === 'linux' && availableParallelism() === 1)
  setPriority(0, Math.min(getPriority(0) + NICER, constants.priority.PRIORITY_LOW))

parentPort!.on('message', (job: HashJob) => parentPort!.postMessage(argon2Sync('argon2id', job)))
