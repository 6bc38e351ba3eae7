/** The payer's view of the notification to the shop: the outcomes of its attempts, but never its address. */
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import { AppError } from '../../platform/errors.ts'
import { readNotifications, redeliver } from '../notifications/redelivery.ts'
import type { PaymentDeps } from '../notifications/worker.ts'

/** Consecutive attempts with the same outcome. */
type Run = { outcome: AttemptOutcome; response_status: number | null; times: number; last_at: Date }

export type ShopNotification = {
  status: 'due' | 'delivered' | 'failed'
  is_under_way: boolean
  next_attempt_at: Date | null
  runs: Run[]
}

type Payer = { user_id: bigint; transaction_id: string }

/** Reads the notification of a payment. Undefined for a shop that gets only the callback. */
export async function shopNotificationOf(
  deps: PaymentDeps,
  { user_id, transaction_id }: Payer,
): Promise<ShopNotification | undefined> {
  const reader = { role: 'payer', user_id } as const
  const [notification] = (await readNotifications(deps.db, reader, { transaction_id }, 1)).rows
  if (notification === undefined) return undefined
  const { status, next_attempt_at, claimed_until, log } = notification
  const is_under_way = claimed_until !== null && claimed_until > deps.clock()
  return { status, is_under_way, next_attempt_at, runs: runsOf(log) }
}

type Attempt = { outcome: AttemptOutcome; response_status: number | null; started_at: Date }

function runsOf(log: Attempt[]): Run[] {
  const runs: Run[] = []
  for (const { outcome, response_status, started_at } of log) {
    const last = runs.at(-1)
    if (last?.outcome === outcome && last.response_status === response_status) {
      last.times += 1
      last.last_at = started_at
    } else runs.push({ outcome, response_status, times: 1, last_at: started_at })
  }
  return runs
}

/** Why the shop is not notified again now. The payer may ask once a minute. */
export type NotifyFault = { code: 'too_many_attempts' | 'conflict'; retry_after_seconds: number | undefined }

/** Notifies the shop again. Throws not_found without a notification, and to other members than the payer. */
export async function notifyAgain(
  deps: PaymentDeps,
  payer: Payer & { ip: string },
): Promise<NotifyFault | undefined> {
  const { user_id, transaction_id, ip } = payer
  try {
    await redeliver(deps, transaction_id, { role: 'payer', user_id, actor_id: user_id, ip })
    return undefined
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== 'too_many_attempts' && error.code !== 'conflict'))
      throw error
    return { code: error.code, retry_after_seconds: error.retry_after_seconds }
  }
}
