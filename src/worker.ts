/** The worker of a process: bounded, repeatable jobs, each in its own rounds, until it is stopped. */
import type { FastifyBaseLogger } from 'fastify'
import { syncWithForum } from './accounts/forum-sync/sweep.ts'
import { sendDueMail } from './accounts/people/email.ts'
import { answerRecoveryRequests } from './accounts/security/recovery.ts'
import { apartSentence } from './core/clock-check.ts'
import { rotateDueSigningKeys } from './identity/keys/rotation.ts'
import { closeDueDays, keepDueProof } from './ledger/proofs.ts'
import { makeSealer } from './ledger/seal.ts'
import { deleteExpiredRows } from './operations/retention.ts'
import { askForVersions } from './operations/update-notice.ts'
import type { Parts } from './parts.ts'
import { raiseDueAlerts } from './payment/apps/due-alerts.ts'
import { tellOfSales, tellOfStock } from './payment/links/notices.ts'
import { mailReceipts } from './payment/links/receipts.ts'
import { finishMandates } from './payment/mandates/acts.ts'
import { tellOfMandates } from './payment/mandates/notices.ts'
import { expireOrders } from './payment/orders/orders.ts'
import { countSales } from './payment/orders/sales.ts'
import { countTakings } from './payment/orders/takings.ts'
import { tellOfPayouts } from './payment/payouts/notices.ts'
import { runPayouts } from './payment/payouts/run.ts'

const CLOCK_ROUND_MS = 60_000
const ORDERS_ROUND_MS = 15_000
/** Short, because a merchant waits for the first lines. */
const PAYOUTS_ROUND_MS = 1_000
const SEAL_ROUND_MS = 5_000
const FORUM_ROUND_MS = 15_000
const KEYS_ROUND_MS = 60_000
const SWEEP_ROUND_MS = 60_000
/** Short, because a member waits for the mail. */
const MAIL_ROUND_MS = 5_000
const BOOKS_ROUND_MS = 60_000
const ALERTS_ROUND_MS = 60_000
const TAKINGS_ROUND_MS = 60_000
const UPDATES_ROUND_MS = 60_000

export type Worker = {
  /** Resolves once the rounds in progress have ended. */
  stop(): Promise<void>
}

/**
 * Starts the jobs. They run independently, so a mail server that hangs delays no order. They rest while the clock of this
 * process is wrong.
 */
export function startWorker(deps: Parts, log: FastifyBaseLogger, reportClock: () => Promise<void>): Worker {
  const seal = makeSealer(deps)
  deps.notifier.start(log)
  deps.logoutSender.start(log)
  const repeat = (round_ms: number, job: Job) =>
    repeatAlways(round_ms, log, whileClockIsRight(deps.clockCheck, job))
  const jobs = [
    repeatAlways(CLOCK_ROUND_MS, log, reportClock),
    repeat(ORDERS_ROUND_MS, async () => {
      await expireOrders(deps)
      await finishMandates(deps)
    }),
    repeat(PAYOUTS_ROUND_MS, (isStopped) => runPayouts(deps, isStopped)),
    repeat(SEAL_ROUND_MS, async (isStopped) => {
      const end = await seal(isStopped)
      if (end === undefined) return
      // A stored log line later shows whether the chain was cut off or rewritten before this journal.
      const [journal_id, hash] = [String(end.journal_id), end.hash.toString('hex')]
      log.info({ journal_id, hash }, 'the journal is sealed up to here')
    }),
    repeat(BOOKS_ROUND_MS, async (isStopped) => {
      await closeDueDays(deps)
      const proof = await keepDueProof(deps, isStopped)
      if (proof === undefined || proof.isSound) return
      const broken = proof.invariants.flatMap(({ name, broken: count }) =>
        count > 0n ? [`${name}: ${count}`] : [],
      )
      log.error({ broken }, 'the books do not pass: an administrator sees on /admin/books what is broken')
    }),
    repeat(MAIL_ROUND_MS, async () => {
      await answerRecoveryRequests(deps)
      await mailReceipts(deps)
      await sendDueMail(deps)
    }),
    repeat(ALERTS_ROUND_MS, async () => {
      await raiseDueAlerts(deps)
      await tellOfMandates(deps)
      await tellOfPayouts(deps)
      await tellOfStock(deps)
      await tellOfSales(deps)
    }),
    repeat(TAKINGS_ROUND_MS, async (isStopped) => {
      await countTakings(deps, isStopped)
      await countSales(deps, isStopped)
    }),
    repeat(FORUM_ROUND_MS, (isStopped) => syncWithForum(deps, isStopped)),
    repeat(UPDATES_ROUND_MS, async () => {
      const fault = await askForVersions(deps)
      if (fault !== undefined)
        log.warn({ fault }, 'UPDATE_NOTICE_URL brought no changelog: the next try is in a day')
    }),
    repeat(KEYS_ROUND_MS, async () => {
      await rotateDueSigningKeys(deps)
      await reportUnreadableKeys(deps, log)
    }),
    repeat(SWEEP_ROUND_MS, (isStopped) => deleteExpiredRows(deps, isStopped)),
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

/** Makes the report of a wrong clock, and of one that is right again. */
export function makeClockReport(
  { clockCheck }: Pick<Parts, 'clockCheck'>,
  log: FastifyBaseLogger,
): () => Promise<void> {
  let wasApart = false
  return async () => {
    const apart = await clockCheck.secondsApart()
    if (apart !== undefined)
      log.error(
        { ahead_seconds: apart },
        `${apartSentence(apart)}. Until then this process is not ready, and its rounds rest`,
      )
    else if (wasApart) log.info('the clock of this process is right again, and its rounds go on')
    wasApart = apart !== undefined
  }
}

type Job = (isStopped: () => boolean) => Promise<void>

/** Makes a job that rests while the clock of this process is wrong. */
export function whileClockIsRight(clockCheck: Parts['clockCheck'], job: Job): Job {
  return async (isStopped) => {
    if ((await clockCheck.secondsApart()) === undefined) await job(isStopped)
  }
}

/** Repeats a job in rounds. A failed round is logged, and the next round repeats the job. Long jobs check `isStopped`. */
function repeatAlways(round_ms: number, log: FastifyBaseLogger, job: Job): Worker {
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
