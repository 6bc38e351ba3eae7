/**
 * Fills a database with paid orders, their journals and entries, as if payers had paid them over two years. A few
 * statements write them in parts, without the triggers, which would check each row. The proof of the books checks all.
 */
import pg from 'pg'
import { makeSealer } from '../../src/ledger/seal.ts'
import { RECIPIENTS_FROM } from './cases.ts'
import type { World } from './world.ts'

const PART = 100_000
const SPAN_SECONDS = 2 * 365 * 86_400

/** Creates `count` paid orders of members without applications at every shop, and seals their journals. */
export async function fill({ deps, shops, members }: World, url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set session_replication_role = replica; set synchronous_commit = off`)
    const { rows } = await client.query(
      `select (select max(id) from journal) as journal, (select coalesce(max(id), 0) from orders) as orders`,
    )
    const bases = [rows[0].journal, rows[0].orders]
    const app_ids = shops.map(({ app_id }) => app_id)
    const payer_ids = members.slice(RECIPIENTS_FROM).map(({ id }) => id)
    for (let done = 0; done < count; done += PART)
      await client.query(PART_OF_ORDERS, [
        done,
        Math.min(done + PART, count),
        count,
        ...bases,
        app_ids,
        payer_ids,
      ])
    await client.query(REST)
    // A sealer made before the rows would find nothing to seal at first.
    const seal = makeSealer(deps)
    while ((await seal()) !== undefined);
    await client.query('vacuum analyze')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

/** The nth order. Amounts go from 1 to 100 points, each with a fee of 5 %, rounded down. */
const PART_OF_ORDERS = `
  with made as materialized (
    select n, $4::bigint + n as journal_id, $5::bigint + n as order_id,
      'txn_' || substr(md5(n::text) || md5((-n)::text), 1, 24) as transaction_id,
      app.id as app_id, app.applicant_id,
      ($7::bigint[])[1 + n * 7919 % cardinality($7::bigint[])] as payer_id,
      1 + n % 100 as amount, (1 + n % 100) * 5 / 100 as fee,
      now() - make_interval(secs => ${SPAN_SECONDS} * (1 - n::float8 / $3::bigint)) as at
    from generate_series($1::bigint + 1, $2::bigint) as n
    join payment_apps as app on app.id = ($6::bigint[])[1 + n % cardinality($6::bigint[])]
  ), journals as (
    insert into journal (id, book, kind, reference, actor_id, posted_at) overriding system value
    select journal_id, 'live', 'payment', transaction_id, payer_id, at from made order by n
  ), lines as (
    insert into entries (journal_id, book, account_id, amount)
    select made.journal_id, 'live', account.id, line.amount
    from made
    cross join lateral (values
      ('wallet', payer_id, -amount), ('wallet', applicant_id, amount - fee), ('fee', null, fee)
    ) as line (kind, user_id, amount)
    join ledger_accounts as account on account.book = 'live' and account.kind = line.kind
      and account.user_id is not distinct from line.user_id
    where line.amount <> 0
    order by made.n
  )
  insert into orders (
    id, app_id, door, order_id, transaction_id, description, amount, status, expires_at, payer_id, payee_id, fee,
    merchant_points, paid_at, journal_id, created_at, updated_at
  ) overriding system value
  select order_id, app_id, 'hmac', 'past-' || n, transaction_id, 'Something of the shop', amount, 'paid',
    at + interval '30 minutes', payer_id, applicant_id, fee, amount - fee, at, journal_id, at, at
  from made order by n`

const REST = `
  update ledger_accounts as account set balance = total.points
  from (select account_id, sum(amount) as points from entries group by account_id) as total
  where account.id = total.account_id and account.kind <> 'fee';
  select setval(pg_get_serial_sequence('journal', 'id'), max(id)) from journal;
  select setval(pg_get_serial_sequence('orders', 'id'), max(id)) from orders`
