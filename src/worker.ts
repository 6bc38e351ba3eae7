/** The background of a process: small, bounded, repeatable jobs, one after another, until stopped. */
import type { FastifyBaseLogger } from 'fastify'
import type { Deps } from './deps.ts'
import { expireOrders } from './payment/orders.ts'

const ROUND_MS = 15_000

export type Worker = {
  /** Resolves once the round in progress has ended. */
  stop(): Promise<void>
}

/** Starts the rounds. A failed round is logged and tried again at the next; every job is safe to repeat. */
export function startWorker(deps: Deps, log: FastifyBaseLogger): Worker {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let running = Promise.resolve()

  const round = async () => {
    try {
      await expireOrders(deps.db, deps.clock())
    } catch (error) {
      log.error({ err: error }, 'a round of the worker failed')
    }
    if (!isStopped) schedule()
  }
  const schedule = () => {
    timer = setTimeout(() => {
      running = round()
    }, ROUND_MS)
  }
  schedule()
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
      return running
    },
  }
}
