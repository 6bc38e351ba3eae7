/** Quotes a transfer for the page that shows its cost before it is sent. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { byLevel } from './transfers.ts'

/** The cost of a transfer and its limits, in whole points. */
export type TransferQuote = {
  fee: bigint
  /** The points that the sender's wallet needs, and its balance. */
  need: bigint
  have: bigint
  min: bigint
  max: bigint
  /** Null without a daily limit. */
  left_today: bigint | null
}

/** Quotes a transfer. The rules are the database function's, beside those of post_transfers. */
export async function quoteTransfer(deps: Core, app_id: bigint, amount: bigint): Promise<TransferQuote> {
  const settings = await deps.settings.read()
  const { rows } = await sql<TransferQuote>`
    select * from quote_transfer(
      ${app_id}::bigint, ${amount}::bigint, ${deps.clock()}::timestamptz,
      ${byLevel(settings, 'points_transfer_fee_rate')}::numeric[],
      ${byLevel(settings, 'points_transfer_min_amount')}::bigint[],
      ${byLevel(settings, 'points_transfer_max_amount')}::bigint[],
      ${byLevel(settings, 'points_transfer_daily_limit')}::bigint[]
    )`.execute(deps.db)
  return rows[0]!
}
