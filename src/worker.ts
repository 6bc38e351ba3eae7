/** The worker of a process: bounded, repeatable jobs, each in its own rounds, until it is stopped. */
import type { FastifyBaseLogger } from 'fastify'
import { syncWithForum } from './accounts/forum/sweep.ts'
import { sendDueMail } from './accounts/people/email.ts'
import { answerRecoveryRequests } from './accounts/security/recovery.ts'
import { rotateDueSigningKeys } from './identity/keys/rotation.ts'
import { closeDueDays } from './ledger/closes.ts'
import { keepDueProof } from './ledger/proofs.ts'
import { makeSealer } from './ledger/seal.ts'
import { deleteExpiredRows } from './operations/retention.ts'
import type { Parts } from './parts.ts'
import { raiseDueAlerts } from './payment/apps/due-alerts.ts'
import { finishMandates } from './payment/mandates/finish.ts'
import { tellOfMandates } from './payment/mandates/notices.ts'
import { expireOrders } from './payment/orders/orders.ts'

const ORDERS_ROUND_MS = 15_000
const SEAL_ROUND_MS = 5_000
const FORUM_ROUND_MS = 15_000
const KEYS_ROUND_MS = 60_000
const SWEEP_ROUND_MS = 60_000
/** Short, because a member waits for the mail. */
const MAIL_ROUND_MS = 5_000
const BOOKS_ROUND_MS = 60_000
const ALERTS_ROUND_MS = 60_000

export type Worker = {
  /** Resolves once the rounds in progress have ended. */
  stop(): Promise<void>
}

/** Starts the jobs. They run independently, so a mail server that hangs delays no order. */
export function startWorker(deps: Parts, log: FastifyBaseLogger): Worker {
  const seal = makeSealer(deps)
  deps.notifier.start(log)
  deps.logoutSender.start(log)
  const jobs = [
    repeat(ORDERS_ROUND_MS, log, async () => {
      await expireOrders(deps.db, deps.clock())
      await finishMandates(deps.db, deps.clock())
    }),
    repeat(SEAL_ROUND_MS, log, async (isStopped) => {
      const end = await seal(isStopped)
      if (end === undefined) return
      // A stored log line later shows whether the chain was cut off or rewritten before this journal.
      const [journal_id, hash] = [String(end.journal_id), end.hash.toString('hex')]
      log.info({ journal_id, hash }, 'the journal is sealed up to here')
    }),
    repeat(BOOKS_ROUND_MS, log, async () => {
      await closeDueDays(deps)
      const proof = await keepDueProof(deps)
      if (proof === undefined || proof.isSound) return
      const broken = proof.invariants.flatMap(({ name, broken: count }) =>
        count > 0n ? [`${name}: ${count}`] : [],
      )
      log.error({ broken }, 'the books do not pass: an administrator sees on /admin/books what is broken')
    }),
    repeat(MAIL_ROUND_MS, log, async () => {
      await answerRecoveryRequests(deps)
      await sendDueMail(deps)
    }),
    repeat(ALERTS_ROUND_MS, log, async () => {
      await raiseDueAlerts(deps)
      await tellOfMandates(deps)
    }),
    repeat(FORUM_ROUND_MS, log, (isStopped) => syncWithForum(deps, isStopped)),
    repeat(KEYS_ROUND_MS, log, async () => {
      await rotateDueSigningKeys(deps)
      await reportUnreadableKeys(deps, log)
    }),
    repeat(SWEEP_ROUND_MS, log, (isStopped) => deleteExpiredRows(deps, isStopped)),
  ]
  return {
    async stop() {
      await Promise.all([deps.notifier.stop(), deps.logoutSender.stop(), ...jobs.map((job) => job.stop())])
    },
  }
}

/** Reports unreadable signing keys at the start and in every round, because no other code notices that they never sign. */
export async function reportUnreadableKeys(
  { signingKeys }: Pick<Parts, 'signingKeys'>,
  log: FastifyBaseLogger,
): Promise<void> {
  const kids = await signingKeys.unreadable()
  if (kids.length === 0) return
  log.error(
    { kids },
    'signing keys were made under another APP_SECRET and never sign here: tessera keys rotate withdraws them',
  )
}

/** Repeats a job in rounds. A failed round is logged, and the next round repeats the job. Long jobs check `isStopped`. */
function repeat(
  round_ms: number,
  log: FastifyBaseLogger,
  job: (isStopped: () => boolean) => Promise<void>,
): Worker {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let running = Promise.resolve()

  const round = async () => {
    try {
      await job(() => isStopped)
    } catch (error) {
      log.error({ err: error }, 'a round of the worker failed')
    }
    if (!isStopped) schedule()
  }
  const schedule = () => {
    timer = setTimeout(() => {
      running = round()
    }, round_ms)
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
