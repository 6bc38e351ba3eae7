/** What a merchant without a server has after years: links with sales, codes and reports, payouts with lines, and access keys. */
import { type RawBuilder, sql } from 'kysely'
import { LINKS_MAX } from '../../src/payment/links/acts.ts'
import { addCodes } from '../../src/payment/links/codes.ts'
import type { Facts, Size } from './fill.ts'
import type { Site } from './site.ts'

/** The links of the merchant whose pages are opened, and the id of a payout with all the lines that one may have. */
export const SOLD = 'l000000001'
export const WITH_CODES = 'l000000002'
export const LONG_PAYOUT = 1
const LINES_MAX = 1_000

/** Writes the rows. The orders are filled: those of the door `link` are sales. */
export function sellingOf(
  { now, app, merchant, buyer }: Facts,
  { orders, others, own }: Size,
): RawBuilder<unknown>[] {
  const many = sql`generate_series(1, ${others}::int) as i`
  return [
    sql`
      insert into links (id, app_id, book, slug, state, title, description, thanks, amount, suggestions, quantity_max, min_level,
        allow_groups, delivery, shows_stock, low_stock, created_at, updated_at)
      overriding system value
      select i, case when i <= ${LINKS_MAX} then ${app}::bigint else 2 * (i % ${Math.floor(others / 2)}) + 2 end, 'live', 'l' || lpad(i::text, 9, '0'), 'on_sale', 'Sticker pack, series ' || i, '', '', 100, '{}', 1, 0, '{}',
        case when i = 2 then 'codes' else 'none' end, true, 5, ${now}, ${now}
      from ${many}`,
    sql`
      insert into link_orders (order_id, link_id, for_user_id, units, unit_amount, sold_total, member_total,
        taken_total, sold_at, created_at)
      select id, 1, payer_id, 1, amount, row_number() over (order by id), row_number() over (partition by payer_id order by id),
        amount * row_number() over (order by id), paid_at, created_at
      from orders where id <= ${orders} and door = 'link' and paid_at is not null`,
    sql`
      insert into link_orders (order_id, link_id, for_user_id, units, unit_amount, created_at)
      select id, 1, ${buyer}::bigint, 1, amount, created_at from orders where id <= ${orders} and door = 'link' and paid_at is null`,
    sql`
      insert into link_reports (link_id, user_id, text) select 1, i, 'It sells nothing' from ${many}`,
    sql`
      insert into payouts (id, app_id, book, reference, mode, status, reason, owner_id, fingerprint, created_at, updated_at, finished_at)
      overriding system value
      select i, ${app}, 'live', 'filled-' || i, 'all', 'refused', 'lines_refused', ${merchant}, '', ${now}, ${now}, ${now} from ${many}`,
    sql`
      insert into payout_lines (payout_id, n, line_id, to_user_id, to_username, amount, memo, status, outcome, fee)
      select payout.id, n, n, n, 'member' || n, 10, 'Thanks', 'refused', 'unusable', 0
      from payouts as payout cross join lateral generate_series(1, case when payout.id = ${LONG_PAYOUT} then ${LINES_MAX} else 1 end) as n
      where payout.id <= ${others}`,
    sql`
      insert into access_keys (app_id, book, public_id, secret_hash, name, scopes, created_by, created_at, expires_at)
      select ${app}, 'live', 'ak_' || lpad(i::text, 20, '0'), sha256('filled'), 'Script ' || i, '{payouts}', ${merchant}, ${now},
        ${now}::timestamptz + interval '300 days'
      from generate_series(1, ${own}::int) as i`,
  ]
}

/** Gives the link of codes its stock. */
export async function addFilledCodes({ test, merchant }: Site, { others }: Size): Promise<void> {
  const file = Array.from({ length: others }, (_, i) => `CODE-${i}`).join('\n')
  const actor = { user_id: merchant.owner.id, ip: '203.0.113.7' }
  await addCodes(test.deps, merchant.payment_id, { slug: WITH_CODES, file }, actor)
}
