/**
 * Transfers: an application sends points of its applicant to a member. The act is the database function
 * post_transfers; here is its caller, and the words for what it refuses. decisions.md 5.10.
 */
import { sql } from 'kysely'
import { makeBatcher } from '../database/batcher.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { countOutcome } from '../metrics.ts'
import { LOWER_ALNUM, randomText } from '../secrets.ts'
import type { SettingValues } from '../settings.ts'
import { requireUnpaused } from './maintenance.ts'

const LEVELS = [0, 1, 2, 3, 4] as const

export type TransferRequest = {
  app_id: bigint
  order_id: string
  to_user_id: bigint
  /** Must name the same member as `to_user_id`, in any case of letters. */
  to_username: string
  /** Whole points that the recipient receives; the fee comes on top. */
  amount: bigint
}

export type Transfer = {
  transaction_id: string
  order_id: string
  status: string
  amount: bigint
  fee: bigint
  from_user_id: bigint
  from_username: string
  to_user_id: bigint
  to_username: string
  paid_at: Date
}

type Outcome =
  | 'completed'
  | 'exists'
  | 'changed'
  | 'reversed'
  | 'unusable'
  | 'mismatch'
  | 'to_self'
  | 'below_minimum'
  | 'above_maximum'
  | 'daily_limit'
  | 'insufficient'
  | 'too_large'
  | 'purse_frozen'

type Result = Omit<Transfer, 'order_id'> & { outcome: Outcome; bound: bigint | null; have: bigint | null }

export type PostTransfer = (request: TransferRequest) => Promise<Transfer>

/**
 * Makes the transfer verb of this process: transfers that arrive together share a commit. It answers the transfer,
 * the same one for a repeated request, or throws the PaymentCode that says why not; then nothing moved.
 */
export function makePostTransfer(deps: Deps): PostTransfer {
  const post = makeBatcher<TransferRequest & { now: Date }, Result>({
    ...deps.batching,
    run: (requests) => postTransfers(deps, requests),
  })
  return async (request) => {
    await requireUnpaused(deps)
    const { points_transfers } = await deps.settings.read()
    if (points_transfers === 'off') throw new AppError('transfers_disabled', 'Transfer feature is disabled')
    const asked = post({ ...request, now: deps.clock() })
    const result = await countOutcome(deps.metrics?.transfers, asked, ({ outcome }) => outcome)
    return { ...acceptedOrThrow(result), order_id: request.order_id }
  }
}

/** Names each anew when it is run again: should a name have been given before, nobody's transfer fails for it. */
async function postTransfers(deps: Deps, requests: (TransferRequest & { now: Date })[]): Promise<Result[]> {
  const settings = await deps.settings.read()
  const { rows } = await sql<Result>`
    select (result).* from post_transfers(
      ${requests.map((request) => request.app_id)}::bigint[],
      ${requests.map((request) => request.order_id)}::text[],
      ${requests.map(() => `txn_${randomText(24, LOWER_ALNUM)}`)}::text[],
      ${requests.map((request) => request.to_user_id)}::bigint[],
      ${requests.map((request) => request.to_username)}::text[],
      ${requests.map((request) => request.amount)}::bigint[],
      ${requests.map((request) => request.now)}::timestamptz[],
      ${byLevel(settings, 'points_transfer_fee_rate')}::numeric[],
      ${byLevel(settings, 'points_transfer_min_amount')}::bigint[],
      ${byLevel(settings, 'points_transfer_max_amount')}::bigint[],
      ${byLevel(settings, 'points_transfer_daily_limit')}::bigint[]
    ) order by item`.execute(deps.db)
  return rows
}

type LevelSetting =
  | 'points_transfer_fee_rate'
  | 'points_transfer_min_amount'
  | 'points_transfer_max_amount'
  | 'points_transfer_daily_limit'

/** A setting's five values; an empty one is null. */
function byLevel(settings: SettingValues, name: LevelSetting): (string | null)[] {
  return LEVELS.map((level) => settings[`${name}_tl${level}`] || null)
}

/** The texts are those that clients of the interface know; the number stands in the first parentheses. */
function acceptedOrThrow({ outcome, bound, have, ...transfer }: Result): Omit<Transfer, 'order_id'> {
  switch (outcome) {
    case 'completed':
    case 'exists':
      return transfer
    case 'changed':
      throw new AppError(
        'parameter_invalid',
        'Invalid transfer: this order_id was used with another recipient or amount',
      )
    case 'reversed': {
      const data = { status: transfer.status, transaction_id: transfer.transaction_id }
      throw new AppError('order_exists', `Order already exists with status ${transfer.status}`, { data })
    }
    case 'unusable':
      throw new AppError('application_unusable', 'This payment application is not approved')
    case 'mismatch':
      throw new AppError('recipient_mismatch', 'Receiver id and username do not match')
    case 'to_self':
      throw new AppError('transfer_to_self', 'Cannot transfer to yourself')
    case 'below_minimum':
      throw new AppError('below_minimum', `Amount below minimum limit (${bound})`)
    case 'above_maximum':
      throw new AppError('above_maximum', `Amount exceeds maximum limit (${bound})`)
    case 'daily_limit':
      throw new AppError('daily_limit_reached', `Daily limit reached (${bound}, used ${have})`)
    case 'insufficient': {
      const data = { need: Number(bound), have: Number(have) }
      throw new AppError('insufficient_points', `Insufficient balance (need ${bound}, have ${have})`, {
        data,
      })
    }
    case 'purse_frozen':
      throw new AppError('purse_frozen', 'The purse of this application is frozen by an administrator')
    case 'too_large':
      throw new AppError('parameter_invalid', 'Invalid amount: with its fee it exceeds what can be counted')
  }
}
