/**
 * Fills the site of the pages with the lists of years: a merchant with half of all orders, a member with a third of them, and an
 * administrator's lists. The statements write the rows without triggers; every check holds, and the books of the rows are right.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../src/database/connection.ts'
import { countSales } from '../../src/payment/orders/sales.ts'
import { countTakings } from '../../src/payment/orders/takings.ts'
import type { TestApp } from '../../test/harness/harness.ts'
import { addFilledCodes, sellingOf } from './selling.ts'
import type { Site } from './site.ts'

const PRICE = 100n

export type Size = {
  /** The days over which the rows are spread. */
  days: number
  orders: number
  /** Members beside those of the world. */
  members: number
  /** The rows of each list of the site that people make by hand: applications, requests, proposals and the like. */
  others: number
  /** The rows of each list that one member makes by hand: sessions, alerts, authorised applications and the like. */
  own: number
}

/** The tables whose first ids belong to the filled rows. */
const NUMBERED = [
  'users',
  'ledger_accounts',
  'journal',
  'entries',
  'orders',
  'notifications',
  'transfers',
  'refunds',
  'payment_apps',
  'oauth_apps',
  'links',
  'payouts',
]

/** Keeps the first ids of each list for the filled rows, because a list is in the order of its ids, and they are its oldest rows. */
export async function reserveIds({ db }: Pick<TestApp, 'db'>, size: Size): Promise<void> {
  const first = 10 * size.orders + size.members + 1_000_000
  for (const table of NUMBERED)
    await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${first})`.execute(db)
}

/** Writes the rows. The world was made after its ids were reserved. */
export async function fill(world: Site, size: Size): Promise<void> {
  const { db, clock, deps } = world.test
  await db.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection)
    // A statement that fills ten million rows takes longer than any of the application may.
    await sql`set statement_timeout = 0`.execute(connection)
    const facts = { ...(await readFacts(connection, world)), days: size.days }
    for (const statement of [
      ...peopleOf(facts, size),
      ...appsOf(facts, size),
      ...ordersOf(facts, size),
      ...messagesOf(facts, size),
      ...othersOf(facts, size),
      ...sellingOf(facts, size),
    ])
      await statement.execute(connection)
    // Ids rise with the time of creation, so the world's own orders are the newest.
    await sql`update orders set created_at = ${facts.now} where id > ${size.orders}`.execute(connection)
    await sql`set session_replication_role = default`.execute(connection)
    await addFilledCodes(world, size)
    await sql`vacuum (analyze)`.execute(connection)
    await sql`reset statement_timeout`.execute(connection)
  })
  const counting = { ...deps, databaseTime: async () => clock.now() }
  await countTakings(counting)
  await countSales(counting)
  await sql`
    vacuum (analyze) payment_app_takings, payment_app_sales, payment_app_products, payment_app_product_sales, sales_counted`.execute(
    db,
  )
}

export type Facts = {
  now: Date
  days: number
  /** The merchant's application, and the ids of members. */
  app: bigint
  buyer: bigint
  merchant: bigint
  careful: bigint
  admin: bigint
  colleague: bigint
  oauth: bigint
}

async function readFacts(db: Db, { test, people, merchant, oauth }: Site): Promise<Omit<Facts, 'days'>> {
  const idOf = async (statement: RawBuilder<{ id: bigint }>) => (await statement.execute(db)).rows[0]!.id
  return {
    now: test.clock.now(),
    app: await idOf(sql`select id from payment_apps where payment_id = ${merchant.payment_id}`),
    buyer: people.buyer.id,
    merchant: people.merchant.id,
    careful: people.careful.id,
    admin: people.admin.id,
    colleague: await idOf(sql`select id from users where is_admin and id <> ${people.admin.id} limit 1`),
    oauth: await idOf(sql`select id from oauth_apps where client_id = ${oauth.open.client_id}`),
  }
}

/** The numbers from 1 to `count`, as `i`. */
const numbers = (count: number) => sql`generate_series(1, ${count}::int) as i`
/** A moment for the `i`-th of `count` rows, in their order. */
const momentOf = ({ now, days }: Facts, count: number) =>
  sql`(${now}::timestamptz - ${days} * interval '1 day' + i * (${days} * interval '1 day' / ${count + 1}))`
/** A public id of 24 characters. */
const publicId = (prefix: string) => sql`${prefix} || lpad(i::text, 24, '0')`
const someMember = ({ members }: Size, factor = 1) => sql`(1 + i * ${factor}::bigint % ${members})`

function peopleOf(facts: Facts, size: Size): RawBuilder<unknown>[] {
  const { now, buyer, merchant, careful, oauth } = facts
  const { members, own } = size
  const session = (user_id: RawBuilder<unknown>, prefix: string, count: number) => sql`
    insert into sessions (token_hash, user_id, auth_time, amr, ip, agent, expires_at, last_seen_at, sid)
    select sha256((${prefix} || i)::bytea), ${user_id}, ${now}, '{pwd}', '203.0.113.' || i % 250, 'Firefox',
      ${now}::timestamptz + interval '30 days', ${now}, left(md5(${prefix} || i), 22)
    from ${numbers(count)}`
  return [
    sql`
      insert into users (id, username, name, email, password_hash, forum_id, trust_level, created_at)
      overriding system value
      select i, 'member' || i, 'Member ' || i, 'member' || i || '@example.org', case when i % 2 = 0 then 'x' end,
        case when i % 2 = 1 then i end, i % 4, ${momentOf(facts, members)}
      from ${numbers(members)}`,
    sql`
      insert into forum_members (user_id, username, checked_at, next_check_at, score_due_at)
      select id, username, created_at, created_at, created_at from users where forum_id is not null`,
    sql`
      insert into user_groups (user_id, name, from_forum, forum_group_id, local_group_id)
      select m.id, g.name, g.from_forum, g.forum_group_id, g.local_group_id
      from (select * from user_groups where user_id = ${careful} limit 1) as g cross join users as m where m.id <= ${members}`,
    session(someMember(size), 'session', members),
    session(sql`${buyer}::bigint`, 'buyer', own),
    session(sql`${merchant}::bigint`, 'merchant', own),
    sql`
      insert into consents (user_id, app_id, scopes) select i, ${oauth}, '{openid}' from ${numbers(members)}`,
    sql`
      insert into grants (app_id, user_id, scopes, auth_time, amr, expires_at)
      select ${oauth}, i, '{openid}', ${now}, '{pwd}', ${now}::timestamptz + interval '30 days' from ${numbers(members)}`,
  ]
}

function appsOf(facts: Facts, size: Size): RawBuilder<unknown>[] {
  const { now, buyer, merchant, admin } = facts
  return [
    sql`
      insert into payment_apps (id, payment_id, applicant_id, name, callback_url, status, reviewed_by, reviewed_at, created_at)
      overriding system value
      select i, 'pay_' || lpad(i::text, 20, '0'), ${someMember(size)}, 'Shop ' || i, 'https://shop.example/paid',
        case when i % 2 = 0 then 'approved' else 'pending' end, case when i % 2 = 0 then ${admin}::bigint end,
        case when i % 2 = 0 then ${now}::timestamptz end, ${momentOf(facts, size.others)}
      from ${numbers(size.others)}`,
    sql`
      insert into oauth_apps (id, client_id, owner_id, name, redirect_uris, reviewed_at, reviewed_by, homepage, is_listed, created_at)
      overriding system value
      select i, 'client_' || i, case when i <= ${size.own} then ${merchant}::bigint else ${someMember(size)} end, 'Application ' || i,
        '{https://app.example/callback}', case when i % 2 = 0 then ${now}::timestamptz end, case when i % 2 = 0 then ${admin}::bigint end,
        'https://app.example/', i % 2 = 0, ${momentOf(facts, size.others)}
      from ${numbers(size.others)}`,
    sql`
      insert into consents (user_id, app_id, scopes)
      select ${buyer}, i, '{openid}' from ${numbers(size.own)} on conflict do nothing`,
  ]
}

/** The journals in their order: a grant to each member, the payments, the refunds, and the transfers. */
function ordersOf(facts: Facts, size: Size): RawBuilder<unknown>[] {
  const { now, app, buyer, merchant, admin } = facts
  const { orders, members, others } = size
  const at = momentOf(facts, orders)
  const payer = sql`case when i % 3 = 0 then ${buyer}::bigint else ${someMember(size, 7)} end`
  const owner = sql`case when app.id = ${app} then ${merchant}::bigint else app.applicant_id end`
  const granted = 1_000_000_000n
  const wallet = (user_id: RawBuilder<unknown>) =>
    sql`(select id from ledger_accounts where user_id = ${user_id} and book = 'live' and kind = 'wallet')`
  const platform = (kind: string) =>
    sql`(select id from ledger_accounts where kind = ${kind} and book = 'live')`
  // Journals have the order of their times: an order's payment, its refund, and the transfer of each tenth order.
  const payment = (order: RawBuilder<unknown>) => sql`${members + 2} + 3 * ${order}`
  const refund = (order: RawBuilder<unknown>) => sql`${payment(order)} + 1`
  const transfer = (order: RawBuilder<unknown>) => sql`${payment(order)} + 2`
  return [
    sql`
      insert into ledger_accounts (id, book, kind, user_id, balance) overriding system value
      select 100 + i, 'live', 'wallet', i, 0 from ${numbers(members)}`,
    sql`
      insert into journal (id, book, kind, reference, actor_id, reason, posted_at) overriding system value
      select i, 'live', 'grant', 'filled-' || i, ${admin}, 'Filled', ${now}::timestamptz - ${size.days} * interval '1 day'
      from ${numbers(members + 2)}`,
    sql`
      insert into entries (id, journal_id, book, account_id, amount) overriding system value
      select 3 * i + n, i, 'live', account, case when account = ${platform('issuance')} then -${granted}::bigint else ${granted}::bigint end
      from ${numbers(members + 2)} cross join lateral unnest(array[
        ${platform('issuance')},
        case i when ${members + 1} then ${wallet(sql`${buyer}`)} when ${members + 2} then ${wallet(sql`${merchant}`)} else 100 + i end
      ]) with ordinality as line (account, n)`,
    // Half of the orders are the merchant's; the others lie between them.
    sql`
      insert into orders (id, app_id, door, order_id, transaction_id, description, amount, status, expires_at, trade_no, protocol,
        pid_sent, money, rate, notify_url, payer_id, payee_id, fee, merchant_points, paid_at, journal_id, refunded_amount, created_at)
      overriding system value
      select i, app.id, door, 'order-' || i, ${publicId('txn_')}, 'Sticker pack, series ' || i % 5000, ${PRICE}::bigint,
        case when is_paid then 'paid' when i % 2 = 0 then 'expired' else 'closed' end, ${at} + interval '30 minutes',
        case when door = 'gateway' then i end, case when door = 'gateway' then 'v1' end, case when door = 'gateway' then '1' end,
        case when door = 'gateway' then '1.00' end, case when door = 'gateway' then 100 end,
        case when door = 'gateway' then 'https://shop.example.org/notify' end,
        case when is_paid then ${payer} end, case when is_paid then ${owner} end, case when is_paid then 5 end,
        case when is_paid then 95 end, case when is_paid then ${at} + interval '1 minute' end,
        case when is_paid then ${payment(sql`i`)} end, case when is_paid and i % 50 = 4 then 10 else 0 end, ${at}
      from ${numbers(orders)}
      cross join lateral (select case when i % 2 = 0 then ${app}::bigint else 2 * (i / 2 % ${Math.floor(others / 2)}) + 2 end as app_id,
        case when i % 3 = 1 then 'hmac' when i % 12 = 6 then 'link' else 'gateway' end as door, i % 10 > 1 as is_paid) as chosen
      join payment_apps as app on app.id = chosen.app_id
      order by i`,
    sql`
      insert into refunds (id, order_id, book, amount, fee_part, reason, actor_id, refunded_at, journal_id) overriding system value
      select id, id, 'live', 10, 0, 'Filled', ${admin}, paid_at + interval '1 minute', ${refund(sql`id`)}
      from orders where id <= ${orders} and refunded_amount > 0`,
    sql`
      insert into transfers (id, app_id, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id, to_username,
        paid_at, day, day_points, journal_id)
      overriding system value
      select i / 10, ${app}, 'transfer-' || i, ${publicId('txn_')}, 10, 1, ${merchant}, 'merchant',
        case when i % 20 = 0 then ${buyer}::bigint else ${someMember(size)} end, 'member', ${at}, (${at} at time zone 'Asia/Shanghai')::date,
        10, ${transfer(sql`i`)}
      from generate_series(10, ${orders}::int, 10) as i`,
    sql`
      insert into journal (id, book, kind, reference, actor_id, reason, posted_at) overriding system value
      select journal_id, 'live', 'payment', transaction_id, payer_id, null, paid_at from orders where id <= ${orders} and paid_at is not null
      union all
      select journal_id, 'live', 'refund', 'filled-' || id, ${admin}, 'Filled', refunded_at from refunds where id <= ${orders}
      union all
      select journal_id, 'live', 'transfer', transaction_id, from_user_id, null, paid_at from transfers where id <= ${orders}
      order by 1`,
    sql`analyze ledger_accounts, orders, refunds, transfers`,
    sql`
      insert into entries (id, journal_id, book, account_id, amount) overriding system value
      select 3 * journal_id + n, journal_id, 'live', account, amount
      from (
        select o.journal_id, array[payer.id, payee.id, ${platform('fee')}] as accounts, array[-${PRICE}::bigint, 95, 5] as amounts
        from orders as o ${walletsOf('o.payer_id', 'o.payee_id')} where o.id <= ${orders} and o.paid_at is not null
        union all
        select f.journal_id, array[payer.id, payee.id], '{10, -10}'
        from refunds as f join orders as o on o.id = f.order_id and o.payer_id <> o.payee_id
        ${walletsOf('o.payer_id', 'o.payee_id')} where f.id <= ${orders}
        union all
        select t.journal_id, array[payer.id, payee.id, ${platform('fee')}], '{-11, 10, 1}'
        from transfers as t ${walletsOf('t.from_user_id', 't.to_user_id')} where t.id <= ${orders}
      ) as moved
      cross join lateral unnest(accounts, amounts) with ordinality as line (account, amount, n)
      order by 1`,
    sql`
      update ledger_accounts as a set balance = sums.total
      from (select account_id, sum(amount) as total from entries group by account_id) as sums
      where sums.account_id = a.id and a.kind <> 'fee'`,
    sql`
      insert into order_views (user_id, order_id, viewed_at)
      select ${buyer}, id, created_at from orders where id <= ${orders} and id % 3 = 0`,
  ]
}

/** Joins the wallets from which and to which points move. */
const walletsOf = (from: string, to: string) => sql`
  join ledger_accounts as payer on payer.user_id = ${sql.ref(from)} and payer.book = 'live'
  join ledger_accounts as payee on payee.user_id = ${sql.ref(to)} and payee.book = 'live'`

/** Confirmed notifications, and one in a hundred that waits or has failed. */
function messagesOf(
  { now, buyer, merchant, careful, app, oauth }: Facts,
  { orders, others, own }: Size,
): RawBuilder<unknown>[] {
  return [
    sql`
      insert into notifications (id, order_id, app_id, host, status, attempts, claims, next_attempt_at, created_at, updated_at)
      overriding system value
      select id, id, app_id, 'shop.example.org', status, case status when 'delivered' then 1 else 2 end, 2,
        case when status = 'due' then ${now}::timestamptz + interval '1 hour' end, paid_at, paid_at
      from (
        select id, app_id, paid_at, case when id % 200 = 0 then 'failed' when id % 200 = 2 then 'due' else 'delivered' end as status
        from orders where id <= ${orders} and paid_at is not null and door = 'gateway' order by id
      ) as paid`,
    sql`
      insert into notification_attempts (notification_id, claim, url, started_at, duration_ms, outcome, response_status)
      select n.id, claim, 'https://shop.example.org/notify', n.created_at, 40,
        case when n.status = 'delivered' and claim = 2 then 'delivered' else 'bad_status' end,
        case when n.status = 'delivered' and claim = 2 then 200 else 502 end
      from notifications as n cross join generate_series(1, 2) as claim
      where n.id <= ${orders} and (claim = 2 or n.status <> 'delivered') order by n.id`,
    ...[merchant, careful].map(
      (user_id) => sql`
      insert into alerts (user_id, app_id, kind, cause, facts, raised_at)
      select ${user_id}, app_id, kind, 'filled-' || i, facts, ${now} from ${numbers(own)}
      cross join (select app_id, kind, facts from alerts where user_id = ${careful} and app_id is not null limit 1) as one`,
    ),
    sql`
      insert into logout_deliveries (app_id, user_id, is_bulk, attempted_at, outcome, ended_at)
      select ${oauth}, ${buyer}, false, ${now}, 'delivered', ${now} from ${numbers(others)}`,
    sql`
      insert into refused_requests (app_id, door, path, address, network, code, message, fields_encrypted, at)
      select app_id, door, path, address, network, code, message, fields_encrypted, at
      from ${numbers(others)} cross join (select * from refused_requests where app_id = ${app} limit 1) as one`,
  ]
}

function othersOf(facts: Facts, size: Size): RawBuilder<unknown>[] {
  const { now, app, buyer, merchant, admin, colleague } = facts
  const { orders, others } = size
  return [
    sql`
      insert into audit_log (actor_id, action, subject, created_at)
      select case when i % 2 = 0 then ${merchant}::bigint else ${admin}::bigint end,
        case when i % 20 = 0 then 'setting.change' else 'payment_app.edit' end, 'user:' || i % 100, ${momentOf(facts, orders)}
      from ${numbers(orders)}`,
    sql`
      insert into security_events (kind, user_id, client_id, address, network, detail, at)
      select case when i % 2 = 0 then 'sign_in' else 'passkey_added' end,
        case when i % 2 = 0 then ${buyer}::bigint else ${someMember(size)} end, null, '203.0.113.7', '203.0.113.7', '{}', ${momentOf(facts, orders)}
      from ${numbers(orders)}`,
    sql`
      insert into sign_in_attempts (account, address, attempted_at)
      select 'member' || i, '203.0.113.7', ${now} from ${numbers(others)}`,
    sql`
      insert into refund_requests (order_id, amount, reason, asked_by, asked_at, status, answer, decided_by, decided_at)
      select id, 10, 'Filled', ${merchant}, ${now},
        case when id % 20 = 0 then 'open' else 'declined' end, case when id % 20 <> 0 then 'Filled' end,
        case when id % 20 <> 0 then ${admin}::bigint end, case when id % 20 <> 0 then ${now}::timestamptz end
      from orders
      where id <= ${orders} and app_id = ${app} and paid_at is not null order by id limit ${others}`,
    sql`
      insert into proposals (kind, act, reason, key, proposed_by, proposed_at, expires_at)
      select 'setting', '{"setting": "second_approver", "value": "off"}', 'Filled', 'filled-' || i, ${colleague}, ${now},
        ${now}::timestamptz + interval '7 days'
      from ${numbers(others)}`,
    sql`
      insert into recovery_requests (name, language, ip, agent, requested_at)
      select 'member' || i, 'en', '203.0.113.7', 'Firefox', ${now} from ${numbers(others)}`,
    sql`
      insert into mandates (mandate_id, app_id, book, reference, kind, purpose, period, asked_charge_max, asked_period_max, with_token,
        charge_max, period_max, starts_on, ends_on, agreed_on, user_id, payee_id, status, accepted_at, ended_reason, ended_at, offer_expires_at, notice)
      select ${publicId('mdt_')}, ${app}, 'live', 'filled-' || i, 'up_to', 'Filled', 'month', 100, 1000, false, 100, 1000,
        ${now}::date - 1, ${now}::date + 300, ${now}::date - 1, case when i % 2 = 0 then ${buyer}::bigint else ${someMember(size)} end, ${merchant},
        case when i % 4 = 0 then 'ended' else 'active' end, ${now},
        case when i % 4 = 0 then 'member' end, case when i % 4 = 0 then ${now}::timestamptz end, ${now}, 'each'
      from ${numbers(others)}`,
    sql`
      insert into books_days (day, closed_at, journals, paid, transferred, given_back, fees, issued)
      select ${now}::date - i, ${now}, 1, 1, 1, 1, 1, 1 from ${numbers(size.days)} on conflict do nothing`,
  ]
}
