/** Judges lines as the worker would pay them now, and stores nothing. spec/payouts 1.3. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { named } from '../../database/named-statements.ts'
import { rowArray } from '../../database/rows.ts'
import { ASKED_TRANSFER, quoteTransfer, type TransferOutcome, transferTerms } from '../orders/transfers.ts'
import type { Payer } from './payouts.ts'
import type { PayoutLine } from './request.ts'

/** The outcomes that leave a line pending and halt its payout. */
const HALTING: readonly TransferOutcome[] = ['insufficient', 'daily_limit', 'wallet_frozen', 'unusable']

export type JudgedLine = PayoutLine & {
  /** `pending` would be paid, unless `outcome` says what halts the payout there. */
  status: 'pending' | 'refused'
  /** Null when it would be paid. */
  outcome: Exclude<TransferOutcome, 'completed' | 'exists'> | null
  bound: bigint | null
  have: bigint | null
  fee: bigint
  /** Whether the recipient is suspended or banned. They receive nevertheless. */
  is_suspended: boolean
}

export type JudgedPayout = {
  lines: JudgedLine[]
  /** Points of all lines that are not refused, with their fees, and the owner's balance. */
  need: bigint
  have: bigint
  /** What the daily limits leave. Null without one. */
  left_today: bigint | null
}

/** Judges the lines in their order, on a balance that it carries along. */
export async function judgePayout(
  deps: Core,
  { app_id, owner_id }: Payer,
  { reference, lines }: { reference: string; lines: PayoutLine[] },
): Promise<JudgedPayout> {
  const settings = await deps.settings.read()
  const now = deps.clock()
  const asked = lines.map(({ line_id, to_user_id, to_username, amount }) => ({
    ...{ app_id, order_id: `payout:${reference}:${line_id}`, transaction_id: '' },
    ...{ to_user_id, to_username, amount, now, from_user_id: owner_id },
  }))
  const { rows } = await sql<{
    outcome: TransferOutcome
    fee: bigint
    bound: bigint | null
    have: bigint | null
    is_suspended: boolean
  }>`
    select ${named} outcome, fee, bound, have, is_suspended
    from judge_transfers(${rowArray(ASKED_TRANSFER, asked)}, ${transferTerms(settings)}) order by item`.execute(
    deps.db,
  )
  const judged = lines.map((line, i): JudgedLine => {
    const { outcome, ...row } = rows[i]!
    const refusal = outcome === 'completed' || outcome === 'exists' ? null : outcome
    const isRefused = refusal !== null && !HALTING.includes(refusal)
    return { ...line, ...row, outcome: refusal, status: isRefused ? 'refused' : 'pending' }
  })
  const need = judged
    .filter(({ status }) => status === 'pending')
    .reduce((sum, { amount, fee }) => sum + amount + fee, 0n)
  const { have, left_today } = await quoteTransfer(deps, app_id, 0n)
  return { lines: judged, need, have, left_today }
}
