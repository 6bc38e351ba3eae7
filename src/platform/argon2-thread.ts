/** A thread that hashes what it is sent, one message after another. */
import { argon2Sync } from 'node:crypto'
import { availableParallelism, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** Where one core serves all, a hash gives way to requests. At this priority it keeps a quarter of a busy core. */
const PRIORITY = 5

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
if (process.platform === 'linux' && availableParallelism() === 1) setPriority(0, PRIORITY)

parentPort!.on('message', (job: HashJob) => parentPort!.postMessage(argon2Sync('argon2id', job)))
