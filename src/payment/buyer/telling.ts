/** Whether the shop was told of a payment, as its buyer may know it: how each attempt went, never where it went. */

import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import { AppError } from '../../platform/errors.ts'
import { readNotifications, redeliver } from '../notifications/redelivery.ts'
import type { PaymentDeps } from '../notifications/worker.ts'

/** Attempts in a row that went the same way. */
type Run = { outcome: AttemptOutcome; response_status: number | null; times: number; last_at: Date }

export type Telling = {
  status: 'due' | 'delivered' | 'failed'
  is_under_way: boolean
  next_attempt_at: Date | null
  runs: Run[]
}

type Payer = { user_id: bigint; transaction_id: string }

/** Undefined for an order whose shop is told by the buyer's browser alone. */
export async function tellingOf(
  deps: PaymentDeps,
  { user_id, transaction_id }: Payer,
): Promise<Telling | undefined> {
  const standing = { role: 'payer', user_id } as const
  const [notification] = await readNotifications(deps.db, standing, { transaction_id }, 1)
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

/** Why the shop is not told again just now; the buyer may ask once a minute. */
export type TellFault = { code: 'too_many_attempts' | 'conflict'; retry_after_seconds: number | undefined }

/** Tells the shop again. Throws not_found where there is nothing to tell it by, or to anybody but the payer. */
export async function tellAgain(
  deps: PaymentDeps,
  payer: Payer & { ip: string },
): Promise<TellFault | undefined> {
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
