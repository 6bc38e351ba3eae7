/** Answers about payouts, in the shapes of payout-shapes.ts. spec/payouts 4.1 and 4.2. */
import type { z } from 'zod'
import { PAYMENT_ERRORS, type PaymentWireCode } from '../hmac/errors.ts'
import { refusalOf } from '../orders/transfers.ts'
import type { JudgedPayout } from '../payouts/judge.ts'
import type { Payout, PayoutLineResult } from '../payouts/payouts.ts'
import type { PayoutRequest } from '../payouts/request.ts'
import { isoSeconds } from '../signing/hmac.ts'
import type { DryRunAnswer, PayoutFields, PayoutLineFields } from './payout-shapes.ts'

/** A payout, and the payout of an event, which has the sums of that moment. */
export function describePayout(payout: Payout): z.output<typeof PayoutFields> {
  const { reference, status, reason, mode, count, pending, paid, refused, cancelled } = payout
  return {
    ...{ reference, status, reason, mode, count, pending, paid, refused, cancelled },
    amount: Number(payout.amount),
    fee: Number(payout.fee),
    total: Number(payout.amount + payout.fee),
    paid_total: Number(payout.paid_total),
    created_at: isoSeconds(payout.created_at),
    finished_at: payout.finished_at === null ? null : isoSeconds(payout.finished_at),
  }
}

type Judged = Pick<
  PayoutLineResult,
  'line_id' | 'status' | 'outcome' | 'bound' | 'have' | 'fee' | 'transaction_id'
>

export function describeLine(line: Judged): z.output<typeof PayoutLineFields> {
  const { line_id, status, outcome, bound, have, transaction_id, fee } = line
  const refusal = outcome === null ? undefined : refusalOf({ outcome, bound, have, transaction_id })
  return {
    ...{ line_id, status },
    code: refusal === undefined ? null : PAYMENT_ERRORS[refusal.code as PaymentWireCode].number,
    message: refusal?.message ?? null,
    transaction_id,
    fee: Number(fee),
  }
}

export function describeDryRun(
  { reference, mode }: PayoutRequest,
  { lines, need, have, left_today }: JudgedPayout,
): z.output<typeof DryRunAnswer> {
  const refused = lines.filter(({ status }) => status === 'refused').length
  return {
    success: true,
    dry_run: true,
    ...{ reference, mode, count: lines.length, pending: lines.length - refused, refused },
    need: Number(need),
    have: Number(have),
    left_today: left_today === null ? null : Number(left_today),
    lines: lines.map((line) => ({
      ...describeLine({ ...line, transaction_id: null }),
      warning: line.is_suspended ? ('suspended' as const) : null,
    })),
  }
}
