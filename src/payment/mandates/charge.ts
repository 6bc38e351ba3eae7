/**
 * The act of charging under a mandate. Its rule is the database function charge_mandates; this file calls it in batches.
 * spec/mandates 3.1 and 3.2.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { countOutcome } from '../../core/metrics.ts'
import { makeBatcher, skippingArguments, unlessLocked } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import type { LockedRow, Skipping } from '../../database/lock-waits.ts'
import { named } from '../../database/named-statements.ts'
import { type RowType, rowArray } from '../../database/rows.ts'
import type { RefusalOutcome } from '../../database/tables/mandates.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText, sha256 } from '../../platform/secrets.ts'
import { findOrder, type Order, statusWord } from '../orders/orders.ts'
import { madeBefore, requireUnpaused } from '../orders/repeats.ts'
import { byLevel } from '../orders/transfers.ts'
import { isoSeconds } from '../signing/hmac.ts'
import { formerOwners, mandateInactive, mandateNotFound, mandatesUnavailable } from './refusals.ts'

export type ChargeRequest = {
  app_id: bigint
  /** `mdt_` and 24 characters. */
  mandate_id: string
  order_id: string
  /** Whole points. */
  amount: bigint
  description: string
  /** The owner when the signature was checked. Null when a former owner knows the key, which then charges nothing. */
  owner_id: bigint | null
  /** The access token that came with the request. */
  access_token: string | undefined
}

export const ASKED_CHARGE = {
  type: 'asked_charge',
  columns: [
    ...(['app_id', 'mandate_id', 'order_id', 'transaction_id', 'amount', 'description', 'now'] as const),
    ...(['owner_id', 'token_hash'] as const),
  ],
} as const satisfies RowType<string>

/** A charge: its order, and its period as of that charge. */
export type Charge = {
  order: Order
  mandate_id: string
  /** The first day of the period, in Asia/Shanghai. */
  period_from: string
  /** Whole points of the period, with this charge. */
  spent: bigint
  left: bigint
  /** When the next period begins. */
  resets_at: Date
}

/** The outcomes of spec/mandates 3.1. */
export type ChargeOutcome =
  | 'completed'
  | 'exists'
  | 'changed'
  | 'taken'
  | 'not_found'
  | 'unusable'
  | 'not_allowed'
  | 'inactive'
  | 'no_token'
  | 'charge_limit'
  | 'period_limit'
  | 'wallet_frozen'
  | 'too_often'
  | 'insufficient'
  | 'daily_limit'

/** What came of a charge request. `bound` is the limit that refused it, or the needed points. */
export type ChargeResult = {
  outcome: ChargeOutcome
  mandate_status: string | null
  mandate_reason: string | null
  bound: bigint | null
  is_exact: boolean | null
  period_spent: bigint | null
  period_left: bigint | null
  resets_at: Date | null
  retry_at: Date | null
}
/** Without an order, its columns are null. */
type Answer = { result: ChargeResult; order: Order }

/**
 * Charges points under a mandate, or returns the charge of a repeated request as it was at first. Throws a PaymentCode of
 * spec/mandates 3.1, or too_many_attempts, without moving points.
 * @param requireAllowed throws the refusal of a new charge. A repeated request is answered anyway.
 */
export type ChargeMandate = (request: ChargeRequest, requireAllowed?: () => Promise<void>) => Promise<Charge>

/** Makes the chargeMandate of this process. Charges that arrive together share a commit. */
export function makeChargeMandate(deps: Core): ChargeMandate {
  const charge = makeBatcher<ChargeRequest & { now: Date }, Answer>({
    name: 'charge mandates',
    ...deps.batching,
    canSkip: true,
    regroups: true,
    run: (requests, patience_ms, skipping) => chargeMandates(deps, requests, patience_ms, skipping),
  })
  return async (request, requireAllowed) => {
    const before = await madeBefore(
      async () => {
        await requireAllowed?.()
        requireUnpaused(await deps.settings.read())
      },
      () => findCharged(deps.db, request),
    )
    const now = deps.clock()
    const asked = before === undefined ? charge({ ...request, now }) : Promise.resolve(before)
    const answer = await countOutcome(deps.metrics?.charges, asked, ({ result }) => result.outcome)
    refuse(request, answer, now)
    const { order, result } = answer
    return {
      order,
      mandate_id: request.mandate_id,
      period_from: order.mandate_period!,
      spent: result.period_spent!,
      left: result.period_left!,
      resets_at: result.resets_at!,
    }
  }
}

/** Every run draws new transaction ids, so that a retry after a collision succeeds. */
async function chargeMandates(
  deps: Core,
  requests: (ChargeRequest & { now: Date })[],
  patience_ms: number,
  skipping: Skipping | undefined,
): Promise<(Answer | LockedRow)[]> {
  const settings = await deps.settings.read()
  const asked = requests.map(({ access_token, ...request }) => ({
    ...request,
    transaction_id: `txn_${randomText(24, LOWER_ALNUM)}`,
    token_hash: access_token === undefined ? null : sha256(access_token),
  }))
  const { rows } = await sql<ChargeResult & Order & { locked: string | null }>`
    select ${named} locked, (result).*, (charge).* from charge_mandates(
      ${within(patience_ms, rowArray(ASKED_CHARGE, asked))},
      ${settings.mandates === 'on'}::boolean,
      ${settings.points_payment_fee_rate}::numeric,
      ${byLevel(settings, 'mandate_charge_max')}::bigint[], ${skippingArguments(skipping)}
    ) order by item`.execute(deps.db)
  return unlessLocked(rows, asAnswer)
}

function asAnswer(row: ChargeResult & Order): Answer {
  const { outcome, mandate_status, mandate_reason, bound, is_exact, retry_at, ...others } = row
  const { period_spent, period_left, resets_at, ...order } = others
  const period = { period_spent, period_left, resets_at }
  return { result: { outcome, mandate_status, mandate_reason, bound, is_exact, retry_at, ...period }, order }
}

/** The order of this order_id, with the outcome that charge_mandates gives a repeat. */
async function findCharged(db: Db, request: ChargeRequest): Promise<Answer | undefined> {
  const { app_id, order_id, mandate_id, amount } = request
  const order = await findOrder(db, { app_id, door: 'hmac', order_id })
  if (order === undefined) return undefined
  const none = { mandate_status: null, mandate_reason: null, bound: null, is_exact: null, retry_at: null }
  const { rows } = await sql<{ mandate_id: string; resets_at: Date }>`
    select mandate_id, mandate_day_begins(
      next_mandate_period(starts_on, period, ${order.mandate_period}::date), test_days
    ) as resets_at
    from mandates where id = ${order.mandate_id}`.execute(db)
  const [mandate] = rows
  const outcome =
    mandate === undefined
      ? 'taken'
      : mandate.mandate_id !== mandate_id || order.amount !== amount
        ? 'changed'
        : order.status === 'refunded'
          ? 'taken'
          : 'exists'
  const { mandate_spent, mandate_period_max } = order
  const left = mandate === undefined ? null : mandate_period_max! - mandate_spent!
  const period = { period_spent: mandate_spent, period_left: left, resets_at: mandate?.resets_at ?? null }
  return { result: { ...none, ...period, outcome }, order }
}

/** Throws the refusal of an outcome. Each text has its figure in the first parentheses. */
function refuse({ amount, owner_id }: ChargeRequest, { result, order }: Answer, now: Date): void {
  const { outcome, bound } = result
  switch (outcome) {
    case 'completed':
    case 'exists':
      return
    case 'changed':
      throw new AppError(
        'parameter_invalid',
        'Invalid order_id: it was charged with another mandate or amount',
      )
    case 'taken': {
      const data = { status: statusWord(order), transaction_id: order.transaction_id }
      throw new AppError('order_exists', `Order already exists with status ${data.status}`, { data })
    }
    case 'not_found':
      throw mandateNotFound()
    case 'unusable':
      throw owner_id === null
        ? formerOwners()
        : new AppError('application_unusable', 'This payment application is not approved')
    case 'not_allowed':
      throw mandatesUnavailable()
    case 'inactive':
    case 'charge_limit':
    case 'period_limit':
    case 'insufficient':
      throw keptRefusal({ ...result, outcome }, amount)
    case 'no_token':
      throw new AppError(
        'access_token_required',
        'A live access token of the member and of the linked application is required',
      )
    case 'wallet_frozen':
      throw new AppError('wallet_frozen', 'The wallet of this member cannot be charged now')
    case 'too_often': {
      const retry_after_seconds = Math.max(1, Math.ceil((result.retry_at!.getTime() - now.getTime()) / 1000))
      const text = 'This member had too few points too often. Try again later.'
      throw new AppError('too_many_attempts', text, { retry_after_seconds })
    }
    case 'daily_limit':
      throw new AppError('daily_limit_reached', `Daily limit reached (${bound})`, {
        data: { limit: Number(bound) },
      })
  }
}

/** The refusal of a charge of which the member and the events hear. The answer and the event say the same. */
export function keptRefusal(result: ChargeResult & { outcome: RefusalOutcome }, amount: bigint): AppError {
  const { outcome, bound } = result
  const limit = Number(bound)
  switch (outcome) {
    case 'inactive':
      return mandateInactive({ status: result.mandate_status!, reason: result.mandate_reason })
    case 'charge_limit': {
      const exactly = result.is_exact!
      const text = exactly
        ? 'The amount must be that of the mandate'
        : 'The amount is above the limit of a charge'
      return new AppError('charge_too_large', `${text} (${bound})`, { data: { limit, exactly } })
    }
    case 'period_limit': {
      const [spent, left] = [Number(result.period_spent), Number(result.period_left)]
      const resets_at = isoSeconds(result.resets_at!)
      const text = `The limit of this period is reached (${bound}, spent ${spent}, left ${left})`
      return new AppError('mandate_limit_reached', text, { data: { limit, spent, left, resets_at } })
    }
    case 'insufficient':
      return new AppError('insufficient_points', `The member has too few points (need ${amount})`, {
        data: { need: Number(amount) },
      })
  }
}
