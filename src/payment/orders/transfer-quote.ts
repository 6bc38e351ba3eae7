/** Quotes a transfer for the page that shows its cost before it is sent. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { BIGGEST_ID } from '../../database/connection.ts'
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

/** Quotes a transfer by the owner's trust level, as post_transfers computes it. Reserves nothing. */
export async function quoteTransfer(deps: Core, app_id: bigint, amount: bigint): Promise<TransferQuote> {
  const settings = await deps.settings.read()
  const { rows } = await sql<TransferQuote>`
    select fee, ${amount}::bigint + fee as need, have, min, max,
      -- Keeps null without a limit, because greatest and least ignore null.
      case when left_today is not null then greatest(left_today, 0) end as left_today
    from payment_apps as app
    join users as sender on sender.id = app.applicant_id
    cross join lateral (select sender.trust_level + 1 as level) as its
    cross join lateral (select (${deps.clock()}::timestamptz at time zone 'Asia/Shanghai')::date as day) as today
    -- The last transfer of a day carries the sender's sum of that day.
    left join lateral (
      select last.day, last.day_points from transfers as last
      where (last.from_user_id, last.book, last.id) > (sender.id, app.book, 0)
        and (last.from_user_id, last.book, last.id) < (sender.id, app.book, ${BIGGEST_ID}::bigint)
      order by last.from_user_id desc, last.book desc, last.id desc limit 1
    ) as sent on true
    cross join lateral (select
      transfer_fee(${amount}::bigint, (${byLevel(settings, 'points_transfer_fee_rate')}::numeric[])[level]) as fee,
      (${byLevel(settings, 'points_transfer_min_amount')}::bigint[])[level] as min,
      (${byLevel(settings, 'points_transfer_max_amount')}::bigint[])[level] as max,
      coalesce((select balance from ledger_accounts
        where user_id = sender.id and book = app.book and kind = 'wallet'), 0) as have,
      least(
        (${byLevel(settings, 'points_transfer_daily_limit')}::bigint[])[level]
          - case when sent.day >= today.day then sent.day_points::bigint else 0 end,
        app.daily_transfers_max - (
          select coalesce(sum(amount), 0)::bigint from transfers
          where app_id = app.id and paid_at >= today.day::timestamp at time zone 'Asia/Shanghai')
      ) as left_today
    ) as figures
    where app.id = ${app_id}`.execute(deps.db)
  return rows[0]!
}
