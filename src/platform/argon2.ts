/**
 * Hashes with argon2id in threads of their own: at most one at a time for each core but the one that serves the other
 * requests. All callers share one bounded queue.
 */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { HashJob } from './argon2-thread.ts'
import { overloaded } from './errors.ts'

/** More threads gain little, because a hash is bound by memory. */
const THREADS_MAX = Math.min(4, Math.max(1, availableParallelism() - 1))
/** Hashes that may wait. The last one waits for about two seconds where one core serves all. */
export const HASHES_WAITING_MAX = 40

/** Threads that have nothing to do. A thread starts when a hash needs it, and lives as long as the process. */
const idle: Worker[] = []
let running = 0
const waiting: (() => void)[] = []

/** Returns the tag of a message. Throws overloaded when too many hashes wait. */
export async function argon2id(job: HashJob): Promise<Buffer> {
  if (running < THREADS_MAX) running += 1
  else if (waiting.length >= HASHES_WAITING_MAX) throw overloaded()
  // A hash that ends starts the next one, so the count stays.
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await hashIn(idle.pop() ?? startThread(), job)
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

/** The number of hashes that wait for a thread. */
export function hashesWaiting(): number {
  return waiting.length
}

function startThread(): Worker {
  const thread = new Worker(new URL('./argon2-thread.ts', import.meta.url), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  })
  // A thread that dies while it is idle is replaced by the next hash. `once` reports an error during a hash.
  thread.on('error', () => {})
  thread.on('exit', () => {
    const at = idle.indexOf(thread)
    if (at !== -1) idle.splice(at, 1)
  })
  return thread
}

/** Lets a thread hash. Only a thread that hashes keeps the process alive. A thread that failed is not used again. */
async function hashIn(thread: Worker, job: HashJob): Promise<Buffer> {
  thread.ref()
  thread.postMessage(job)
  const [tag] = (await once(thread, 'message')) as [Uint8Array]
  thread.unref()
  idle.push(thread)
  return Buffer.from(tag)
}
