/**
 * The invariants of the ledger, one query each. A query returns every checked row with its ids, its figures and whether it
 * is `broken`. `invariantsSince` returns the queries over all rows, or over the rows that journals after one of them concern.
 */

import { BIGGEST_ID } from '../database/connection.ts'

/** The conditions that leave only the rows of new journals. `since` is their bound, and null lets every row pass. */
type Scope = {
  /** The journal of a row is new. */
  isNew(journal_id: string): string
  /** A new journal moved points of the account. All its entries are checked then, because a balance is the sum of all. */
  isMoved(account_id: string): string
  /** A new journal paid or refunded the order. */
  isActedOn(order_id: string): string
  isCharged(mandate_id: string): string
  isSent(transfer_id: string): string
  /** A new journal paid an order of the link. All its sales are checked then, because they continue one sum. */
  isSold(link_id: string): string
  /** Totals of takings until this moment may hold a new journal's payment, or were counted since. */
  isCounted(until: string): string
  /** The sums of this day may hold a new journal's payment, or were counted since. Later refunds of older orders are left out. */
  isSummed(day: string): string
  /** The orders that may be in those sums. */
  summedOrders: string
}

const EVERYTHING: Scope = {
  isNew: () => 'true',
  isMoved: () => 'true',
  isActedOn: () => 'true',
  isCharged: () => 'true',
  isSent: () => 'true',
  isSold: () => 'true',
  isCounted: () => 'true',
  isSummed: () => 'true',
  summedOrders: 'orders',
}

/** A total is counted so long after its time at most: the payments in it are settled first. */
const COUNTED_WITHIN = '1 hour'
/** The sums of a day are counted so long after it at most. */
const SUMMED_WITHIN = '2 days'

/** The day of an order in the time zone of the sums of sales. */
const DAY_OF_ORDER = `(o.created_at at time zone (select zone from sales_counted))::date`

const newerThan = (since: bigint): Scope => ({
  isNew: (journal_id) => `${journal_id} > ${since}`,
  isMoved: (account_id) => `${account_id} in (select account_id from entries where journal_id > ${since})`,
  isActedOn: (order_id) => `${order_id} in (
    select id from orders where journal_id > ${since} union all select order_id from refunds where journal_id > ${since}
  )`,
  isCharged: (mandate_id) => `${mandate_id} in (select mandate_id from orders where journal_id > ${since})`,
  isSent: (transfer_id) => `${transfer_id} in (
    select id from transfers where journal_id > ${since}
    union all
    select reversed.id from journal as new join transfers as reversed on reversed.transaction_id = new.reference
    where new.kind = 'reversal' and new.id > ${since}
  )`,
  isSold: (link_id) => `${link_id} in (
    select sale.link_id from orders join link_orders as sale on sale.order_id = orders.id where orders.journal_id > ${since}
  )`,
  isCounted: (until) =>
    `${until} > (select posted_at from journal where id = ${since}) - interval '${COUNTED_WITHIN}'`,
  isSummed: (day) => `${day} >= ${summedSince(since)}`,
  summedOrders: `(
    select late.* from payment_apps a
    cross join lateral (
      select * from orders where (app_id, id) >= (a.id, first_order_since(a.id, ${summedSince(since)} - interval '1 day'))
        and (app_id, id) < (a.id, ${BIGGEST_ID})
    ) late
  )`,
})

const summedSince = (since: bigint) =>
  `((select posted_at from journal where id = ${since}) - interval '${SUMMED_WITHIN}')`

/** Returns each query. @param since checks only what journals after this one concern. Null checks all. */
export function invariantsSince(since: bigint | null): Record<LedgerInvariant, string> {
  const scope = since === null ? EVERYTHING : newerThan(since)
  return Object.fromEntries(
    Object.entries(INVARIANTS).map(([name, query]) => [name, query(scope)]),
  ) as Record<LedgerInvariant, string>
}

/** The points that a journal moved, by party. `others` counts entries of accounts that are not part of the act. */
const moved = (first: string, second: string) => `
  cross join lateral (
    select coalesce(sum(e.amount) filter (where a.user_id = ${first}), 0) as first,
      coalesce(sum(e.amount) filter (where a.user_id = ${second}), 0) as second,
      coalesce(sum(e.amount) filter (where a.kind = 'fee'), 0) as fee,
      count(*) filter (where a.kind = 'issuance' or a.user_id not in (${first}, ${second})) as others
    from entries e join ledger_accounts a on a.id = e.account_id
    where e.journal_id = j.id
  ) as moved`

export const INVARIANTS = {
  entries_sum_to_zero: ({ isNew }) => `
    select book, sum(amount) as total, sum(amount) <> 0 as broken from entries where ${isNew('journal_id')} group by book`,

  journals_sum_to_zero: ({ isNew }) => `
    select j.id as journal, j.kind, j.reference, coalesce(sum(e.amount), 0) as total,
      coalesce(sum(e.amount), 0) <> 0 as broken
    from journal j left join entries e on e.journal_id = j.id where ${isNew('j.id')} group by j.id, j.book`,

  balances_are_sums: ({ isMoved }) => `
    select a.id as account, a.book, a.kind, u.username, a.balance, coalesce(e.total, 0) as entries,
      a.balance <> coalesce(e.total, 0) as broken
    from ledger_accounts a left join users u on u.id = a.user_id
    left join (select account_id, sum(amount) as total from entries where ${isMoved('account_id')} group by account_id) e on e.account_id = a.id
    where a.kind <> 'fee' and ${isMoved('a.id')}`,

  none_below_zero: ({ isMoved }) => `
    select a.id as account, a.book, a.kind, u.username, a.balance, coalesce(e.total, 0) as entries,
      coalesce(e.total, 0) < 0 or a.balance < 0 as broken
    from ledger_accounts a left join users u on u.id = a.user_id
    left join (select account_id, sum(amount) as total from entries where ${isMoved('account_id')} group by account_id) e on e.account_id = a.id
    where a.kind <> 'issuance' and ${isMoved('a.id')}`,

  no_journal_mixes_books: ({ isNew }) => `
    select e.id as entry, j.id as journal, j.book as journal_book, e.book as entry_book, a.book as account_book,
      e.book is distinct from j.book or e.book is distinct from a.book as broken
    from entries e left join journal j on j.id = e.journal_id left join ledger_accounts a on a.id = e.account_id
    where ${isNew('e.journal_id')}`,

  // Payments are most of a ledger, so their entries are joined as sets. `moved` looks them up for each row.
  paid_orders_have_journals: ({ isNew }) => `
    select transaction_id, status, amount, fee, journal, payer_moved, merchant_moved, fee_moved,
      journal is null or fee_moved is distinct from fee or others > 0
        or payer_moved is distinct from case when payer_id = payee_id then -fee else -amount end
        or merchant_moved is distinct from case when payer_id = payee_id then -fee else merchant_points end as broken
    from (
      select o.transaction_id, o.status, o.amount, o.fee, o.merchant_points, o.payer_id, o.payee_id, j.id as journal,
        coalesce(sum(e.amount) filter (where a.user_id = o.payer_id), 0) as payer_moved,
        coalesce(sum(e.amount) filter (where a.user_id = o.payee_id), 0) as merchant_moved,
        coalesce(sum(e.amount) filter (where a.kind = 'fee'), 0) as fee_moved,
        count(*) filter (where a.kind = 'issuance' or a.user_id not in (o.payer_id, o.payee_id)) as others
      from orders o
      left join journal j on j.id = o.journal_id and j.kind = 'payment' and j.reference = o.transaction_id and j.book = o.book
      left join (entries e join ledger_accounts a on a.id = e.account_id) on e.journal_id = j.id
      where o.paid_at is not null and ${isNew('o.journal_id')}
      group by o.id, j.id, j.book
    ) as paid`,

  payment_journals_have_orders: ({ isNew }) => `
    select j.id as journal, j.reference, o.status as order_status, o.id is null as broken
    from journal j left join orders o on o.journal_id = j.id and o.paid_at is not null
    where j.kind = 'payment' and ${isNew('j.id')}`,

  orders_are_refunded_by_refunds: ({ isActedOn }) => `
    select o.transaction_id, o.status, o.amount, o.fee, o.refunded_amount,
      coalesce(r.total, 0) as refunds, coalesce(r.fee_total, 0) as fee_parts,
      o.refunded_amount <> coalesce(r.total, 0) or coalesce(r.total, 0) > o.amount
        or coalesce(r.fee_total, 0) > coalesce(o.fee, 0) as broken
    from orders o
    left join (select order_id, sum(amount) as total, sum(fee_part) as fee_total from refunds where ${isActedOn('order_id')} group by order_id) r on r.order_id = o.id
    where (o.paid_at is not null or r.order_id is not null) and ${isActedOn('o.id')}`,

  refunds_have_journals: ({ isNew }) => `
    select f.id as refund, o.transaction_id, f.amount, f.fee_part, j.id as journal,
      moved.first as payer_moved, moved.second as merchant_moved, moved.fee as fee_moved,
      j.id is null or moved.fee <> -f.fee_part or moved.others > 0
        or moved.first is distinct from case when o.payer_id = o.payee_id then f.fee_part else f.amount end
        or moved.second is distinct from case when o.payer_id = o.payee_id then f.fee_part else f.fee_part - f.amount end
        as broken
    from refunds f join orders o on o.id = f.order_id
    left join journal j on j.id = f.journal_id and j.kind = 'refund' and j.book = f.book and j.book = o.book
    ${moved('o.payer_id', 'o.payee_id')}
    where ${isNew('f.journal_id')}`,

  refund_journals_have_refunds: ({ isNew }) => `
    select j.id as journal, j.reference, f.id is null as broken
    from journal j left join refunds f on f.journal_id = j.id
    where j.kind = 'refund' and ${isNew('j.id')}`,

  transfers_have_journals: ({ isNew }) => `
    select t.transaction_id, t.status, t.amount, t.fee, j.id as journal,
      moved.first as sender_moved, moved.second as recipient_moved, moved.fee as fee_moved,
      j.id is null or moved.first <> -(t.amount + t.fee) or moved.second <> t.amount or moved.fee <> t.fee
        or moved.others > 0 as broken
    from transfers t
    left join journal j on j.id = t.journal_id and j.kind = 'transfer' and j.reference = t.transaction_id and j.book = t.book
    ${moved('t.from_user_id', 't.to_user_id')}
    where ${isNew('t.journal_id')}`,

  transfer_journals_have_transfers: ({ isNew }) => `
    select j.id as journal, j.reference, t.id is null as broken
    from journal j left join transfers t on t.journal_id = j.id
    where j.kind = 'transfer' and ${isNew('j.id')}`,

  // A reversal returns the fee or keeps it, by the administrator's choice.
  reversed_transfers_have_reversals: ({ isSent }) => `
    select t.transaction_id, t.status, t.amount, t.fee, j.id as journal,
      moved.first as sender_moved, moved.second as recipient_moved, moved.fee as fee_moved,
      (t.status = 'reversed') <> (j.id is not null) or (j.id is not null and (
        moved.second <> -t.amount or moved.fee not in (0, -t.fee) or moved.first <> t.amount - moved.fee
        or moved.others > 0)) as broken
    from transfers t
    left join journal j on j.id = t.reversal_journal_id and j.kind = 'reversal' and j.reference = t.transaction_id and j.book = t.book
    ${moved('t.from_user_id', 't.to_user_id')}
    where ${isSent('t.id')}`,

  reversal_journals_have_transfers: ({ isNew }) => `
    select j.id as journal, j.reference, t.id is null as broken
    from journal j
    left join transfers t on t.transaction_id = j.reference and t.reversal_journal_id = j.id and t.status = 'reversed'
    where j.kind = 'reversal' and ${isNew('j.id')}`,

  points_come_from_grants: ({ isNew }) => `
    select j.id as journal, j.kind, j.reference, sum(e.amount) filter (where a.kind = 'issuance') as issued,
      case when j.kind in ('grant', 'adjustment') then bool_or(a.kind = 'fee') else bool_or(a.kind = 'issuance') end as broken
    from journal j join entries e on e.journal_id = j.id join ledger_accounts a on a.id = e.account_id
    where ${isNew('j.id')}
    group by j.id, j.book`,

  // A fixed mandate is charged exactly, and once a period.
  charges_are_within_mandates: ({ isNew }) => `
    select o.transaction_id, m.mandate_id, o.amount, o.mandate_charge_max, o.mandate_period_max,
      m.asked_charge_max, m.asked_period_max,
      m.id is null or m.app_id <> o.app_id or m.book <> o.book or m.user_id is distinct from o.payer_id
        or o.door <> 'hmac' or o.paid_at is null or o.amount > o.mandate_charge_max
        or o.mandate_charge_max > m.asked_charge_max or o.mandate_period_max > m.asked_period_max
        or (m.kind = 'fixed' and (o.amount <> m.asked_charge_max or o.mandate_spent <> o.amount))
        or o.paid_at > m.ended_at as broken
    from orders o left join mandates m on m.id = o.mandate_id
    where o.mandate_id is not null and ${isNew('o.journal_id')}`,

  running_sums_are_sums: ({ isCharged }) => `
    select o.transaction_id, m.mandate_id, o.mandate_period, o.mandate_spent, sums.total as charges,
      o.mandate_spent <> sums.total or o.mandate_spent > o.mandate_period_max as broken
    from (
      select id, sum(amount) over (partition by mandate_id, mandate_period order by mandate_spent, id) as total
      from orders where mandate_id is not null and ${isCharged('mandate_id')}
    ) as sums
    join orders o on o.id = sums.id left join mandates m on m.id = o.mandate_id`,

  // A charge never counts in an earlier period than the one before, so a process whose clock is minutes behind counts it in a
  // period that has just begun. A test mandate may be days ahead of the calendar.
  charges_count_when_they_are_paid: ({ isNew }) => `
    select o.transaction_id, m.mandate_id, m.starts_on, m.period, o.mandate_period,
      o.mandate_period < m.starts_on
        or mandate_period(m.starts_on, m.period, o.mandate_period) <> o.mandate_period
        or o.mandate_period not between mandate_period(m.starts_on, m.period, mandate_day(o.paid_at, 0))
          and mandate_period(m.starts_on, m.period, mandate_day(o.paid_at + interval '5 minutes', m.test_days)) as broken
    from orders o join mandates m on m.id = o.mandate_id
    where ${isNew('o.journal_id')}`,

  // Nobody is present at a charge. The payer is the actor of every other payment.
  payments_without_actor_are_charges: ({ isNew }) => `
    select j.id as journal, o.transaction_id, j.actor_id, o.mandate_id,
      (j.actor_id is null) <> (o.mandate_id is not null) as broken
    from journal j join orders o on o.journal_id = j.id
    where j.kind = 'payment' and ${isNew('j.id')}`,

  sales_are_of_links: ({ isNew }) => `
    select o.transaction_id, l.slug, o.door, o.amount, s.units, s.unit_amount, o.payer_id, s.for_user_id,
      s.order_id is null or o.door <> 'link' or o.app_id <> l.app_id or o.amount <> s.units * s.unit_amount
        or (o.paid_at is not null) <> (s.sold_total is not null) or o.payer_id <> s.for_user_id as broken
    from orders o left join link_orders s on s.order_id = o.id left join links l on l.id = s.link_id
    where (o.door = 'link' or s.order_id is not null) and ${isNew('o.journal_id')}`,

  tips_pay_their_authors: ({ isNew }) => `
    select o.transaction_id, o.door, o.payer_id, o.payee_id, t.to_user_id, a.is_tips,
      t.order_id is null or o.door <> 'tip' or o.book <> 'live' or not a.is_tips
        or o.payee_id <> t.to_user_id or o.payer_id = o.payee_id as broken
    from orders o join payment_apps a on a.id = o.app_id left join tips t on t.order_id = o.id
    where (o.door = 'tip' or t.order_id is not null) and ${isNew('o.journal_id')}`,

  sold_units_are_sums: ({ isSold }) => `
    select o.transaction_id, l.slug, s.units, s.sold_total, sums.total, s.member_total, sums.of_member,
      s.taken_total, sums.taken,
      s.sold_total <> sums.total or s.member_total <> sums.of_member or s.taken_total <> sums.taken or s.sold_total > s.stock_max
        or s.member_total > s.member_max as broken
    from (
      select order_id, sum(units) over (partition by link_id order by sold_total, order_id) as total,
        sum(units) over (partition by link_id, for_user_id order by member_total, order_id) as of_member,
        sum(units * unit_amount) over (partition by link_id order by sold_total, order_id) as taken
      from link_orders where sold_total is not null and ${isSold('link_id')}
    ) as sums
    join link_orders s on s.order_id = sums.order_id join links l on l.id = s.link_id join orders o on o.id = s.order_id`,

  sales_have_their_delivery: ({ isNew }) => `
    select o.transaction_id, l.slug, l.delivery, s.units, count(c.id) as codes, s.delivery_id,
      count(c.id) <> case when s.sold_total is not null and l.delivery = 'codes' then s.units else 0 end
        or (s.delivery_id is not null) <> (s.sold_total is not null and l.delivery in ('text', 'url'))
        or count(c.withdrawn_at) > 0 as broken
    from link_orders s join links l on l.id = s.link_id join orders o on o.id = s.order_id
    left join link_codes c on c.order_id = s.order_id
    where ${isNew('o.journal_id')}
    group by s.order_id, o.id, l.id`,

  paid_lines_have_transfers: ({ isNew }) => `
    select p.reference, line.line_id, line.amount, line.to_user_id, t.transaction_id, t.amount as transfer_amount,
      t.to_user_id as recipient,
      t.id is null or t.app_id <> p.app_id or t.order_id <> 'payout:' || p.reference || ':' || line.line_id
        or t.amount <> line.amount or t.fee <> line.fee or t.to_user_id <> line.to_user_id as broken
    from payout_lines line join payouts p on p.id = line.payout_id left join transfers t on t.id = line.transfer_id
    where line.status = 'paid' and ${isNew('t.journal_id')}`,

  // Each continues the one before, so a page trusts the last one alone. The payments are added up once, in the order of their times.
  takings_are_sums: ({ isCounted }) => `
    select a.payment_id, sums.until, sums.payments, sums.points, sums.merchant_points, sums.counted, sums.paid, sums.received,
      (sums.payments, sums.points, sums.merchant_points) <> (sums.counted, sums.paid, sums.received) as broken
    from payment_apps a
    left join lateral (
      select until, payments, points, merchant_points from payment_app_takings
      where app_id = a.id and not (${isCounted('until')}) order by until desc limit 1
    ) known on true
    cross join lateral (
      select until, max(payments) as payments, max(points) as points, max(merchant_points) as merchant_points,
        coalesce(known.payments, 0) + sum(count(amount)) over until_then as counted,
        coalesce(known.points, 0) + coalesce(sum(sum(amount)) over until_then, 0) as paid,
        coalesce(known.merchant_points, 0) + coalesce(sum(sum(received)) over until_then, 0) as received
      from (
        select until, payments, points, merchant_points, null::bigint as amount, null::bigint as received
        from payment_app_takings where app_id = a.id and ${isCounted('until')}
        union all
        select date_bin('5 minutes', paid_at, 'epoch'::timestamptz) + interval '5 minutes', null, null, null, amount, merchant_points
        from orders where app_id = a.id and paid_at >= coalesce(known.until, '-infinity') and door <> 'tip'
      ) each
      group by until window until_then as (order by until)
    ) sums
    where sums.payments is not null`,

  // A day by its application, and a product by its day: what its row adds to the row before. Orders are added up once for both.
  sales_are_sums: ({ isSummed, summedOrders }) => `
    with refunded as (
      select order_id, sum(amount) as amount from refunds
      where refunded_at < (select until from sales_counted) group by order_id
    ),
    made as materialized (
      select o.app_id, ${DAY_OF_ORDER} as day, o.description,
        count(*) filter (where o.created_at < c.until) as orders, count(*) filter (where o.paid_at < c.until) as paid,
        coalesce(sum(o.amount) filter (where o.paid_at < c.until), 0) as points,
        coalesce(sum(o.merchant_points) filter (where o.paid_at < c.until), 0) as received,
        count(r.order_id) as refunds, coalesce(sum(r.amount), 0) as refunded
      from ${summedOrders} o cross join sales_counted c left join refunded r on r.order_id = o.id
      where ${isSummed(DAY_OF_ORDER)}
      group by 1, 2, 3
    ),
    kept as (
      select app_id, day, null as description, orders, paid, points, merchant_points, refunds, refunded
      from payment_app_sales where ${isSummed('day')}
      union all
      select p.app_id, s.day, p.description, null, s.paid, s.points, s.merchant_points, null, s.refunded
      from (
        select product_id, day, refunded, paid - lag(paid, 1, 0::bigint) over before as paid,
          points - lag(points, 1, 0::numeric) over before as points,
          merchant_points - lag(merchant_points, 1, 0::numeric) over before as merchant_points
        from payment_app_product_sales
        where product_id in (select id from payment_app_products where ${isSummed('last_day')})
        window before as (partition by product_id order by day)
      ) s
      join payment_app_products p on p.id = s.product_id
      where ${isSummed('s.day')}
    ),
    summed as (
      select app_id, day, null as description, sum(orders) as orders, sum(paid) as paid, sum(points) as points,
        sum(received) as received, sum(refunds) as refunds, sum(refunded) as refunded
      from made group by app_id, day having sum(orders + paid + refunds) > 0
      union all
      select app_id, day, description, null, paid, points, received, null, refunded from made where paid > 0 or refunded > 0
    )
    select a.payment_id, coalesce(k.day, s.day) as day, coalesce(k.description, s.description) as description,
      k.orders, s.orders as counted, k.paid, s.paid as payments, k.points, s.points as paid_points, k.merchant_points, s.received,
      k.refunds, s.refunds as refunded_orders, k.refunded, s.refunded as refunded_points,
      (k.orders, k.paid, k.points, k.merchant_points, k.refunds, k.refunded)
        is distinct from (s.orders, s.paid, s.points, s.received, s.refunds, s.refunded) as broken
    from kept k
    full join summed s on s.app_id = k.app_id and s.day = k.day and coalesce(s.description, '') = coalesce(k.description, '')
      and (s.description is null) = (k.description is null)
    left join payment_apps a on a.id = coalesce(k.app_id, s.app_id)`,
} as const satisfies Record<string, (scope: Scope) => string>

export type LedgerInvariant = keyof typeof INVARIANTS
