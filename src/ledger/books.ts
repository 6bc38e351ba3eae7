/**
 * The proof: every invariant of the ledger, counted over the whole database in one snapshot. `npm run books`
 * prints it and fails when one does not hold.
 */
import { sql } from 'kysely'
import { loadConfig } from '../config.ts'
import { type Db, openDatabase } from '../database/connection.ts'
import { withDatabaseUrl } from '../database/url.ts'

export type Invariant = {
  name: string
  /** Rows looked at. */
  checked: bigint
  /** Rows that break the invariant. */
  broken: bigint
}

/** One query an invariant, each giving the rows looked at and those that break it. */
const invariants: Record<string, string> = {
  'all entries of a book sum to zero': `
    select count(*) as checked, count(*) filter (where total <> 0) as broken
    from (select book, sum(amount) as total from entries group by book) as books`,
  'every journal sums to zero': `
    select count(*) as checked, count(*) filter (where total <> 0) as broken
    from (select j.id, coalesce(sum(e.amount), 0) as total from journal j left join entries e on e.journal_id = j.id group by j.id) as journals`,
  'every stored balance is the sum of its entries': `
    select count(*) as checked, count(*) filter (where a.balance <> coalesce(e.total, 0)) as broken
    from ledger_accounts a left join (select account_id, sum(amount) as total from entries group by account_id) e on e.account_id = a.id
    where a.kind <> 'fee'`,
  'no wallet and no fee account is below zero': `
    select count(*) as checked, count(*) filter (where total < 0) as broken
    from (
      select a.id, coalesce(sum(e.amount), 0) as total from ledger_accounts a left join entries e on e.account_id = a.id
      where a.kind <> 'issuance' group by a.id
    ) as accounts`,
  'no journal mixes books': `
    select count(*) as checked, count(*) filter (where e.book <> j.book or a.book <> j.book) as broken
    from entries e join journal j on j.id = e.journal_id join ledger_accounts a on a.id = e.account_id`,
  'every paid order has its payment journal, with the right amounts': `
    select count(*) as checked, count(*) filter (where j.id is null or payer.total is distinct from expected.payer
        or merchant.total is distinct from expected.merchant or fees.total is distinct from o.fee) as broken
    from orders o
    join payment_apps p on p.id = o.app_id
    left join journal j on j.id = o.journal_id and j.kind = 'payment' and j.reference = o.transaction_id and j.book = o.book
    cross join lateral (select
      case when o.payer_id = p.applicant_id then o.merchant_points - o.amount else -o.amount end as payer,
      case when o.payer_id = p.applicant_id then o.merchant_points - o.amount else o.merchant_points end as merchant) as expected
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.user_id = o.payer_id) as payer
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.user_id = p.applicant_id) as merchant
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.kind = 'fee') as fees
    where o.paid_at is not null`,
  'every payment journal belongs to one paid order': `
    select count(*) as checked, count(*) filter (where o.id is null) as broken
    from journal j left join orders o on o.journal_id = j.id and o.paid_at is not null
    where j.kind = 'payment'`,
  'every order has been refunded by the sum of its refunds': `
    select count(*) as checked, count(*) filter (where o.refunded_amount <> coalesce(r.total, 0)
        or o.fee < coalesce(r.fee_total, 0)) as broken
    from orders o
    left join (select order_id, sum(amount) as total, sum(fee_part) as fee_total from refunds group by order_id) r on r.order_id = o.id
    where o.paid_at is not null`,
  'every refund has its journal, with the right amounts': `
    select count(*) as checked, count(*) filter (where j.id is null or fees.total is distinct from -f.fee_part
        or wallets.total is distinct from f.fee_part) as broken
    from refunds f
    left join journal j on j.id = f.journal_id and j.kind = 'refund' and j.book = f.book
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.kind = 'fee') as fees
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.kind = 'wallet') as wallets`,
  'every refund journal belongs to one refund': `
    select count(*) as checked, count(*) filter (where f.id is null) as broken
    from journal j left join refunds f on f.journal_id = j.id
    where j.kind = 'refund'`,
  'every transfer has its journal, with the right amounts': `
    select count(*) as checked, count(*) filter (where j.id is null or sender.total is distinct from -(t.amount + t.fee)
        or recipient.total is distinct from t.amount or fees.total is distinct from t.fee) as broken
    from transfers t
    left join journal j on j.id = t.journal_id and j.kind = 'transfer' and j.reference = t.transaction_id and j.book = t.book
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.user_id = t.from_user_id) as sender
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.user_id = t.to_user_id) as recipient
    cross join lateral (select coalesce(sum(e.amount), 0) as total from entries e join ledger_accounts a on a.id = e.account_id
      where e.journal_id = j.id and a.kind = 'fee') as fees`,
  'every reversed transfer has its reversal, and no other has one': `
    select count(*) as checked, count(*) filter (where (t.status = 'reversed') <> (r.id is not null)) as broken
    from transfers t left join journal r on r.kind = 'reversal' and r.reference = t.transaction_id and r.id = t.reversal_journal_id`,
  'every transfer journal belongs to one transfer': `
    select count(*) as checked, count(*) filter (where t.id is null) as broken
    from journal j left join transfers t on t.journal_id = j.id
    where j.kind = 'transfer'`,
}

/** Checks every invariant in one repeatable snapshot. */
export async function proveBooks(db: Db): Promise<Invariant[]> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const results: Invariant[] = []
      for (const [name, query] of Object.entries(invariants)) {
        const { rows } = await sql.raw<Omit<Invariant, 'name'>>(query).execute(tx)
        results.push({ name, ...rows[0]! })
      }
      return results
    })
}

async function printBooks(url: string): Promise<boolean> {
  const db = openDatabase(url, { max: 1, onBroken: () => {} })
  try {
    const results = await proveBooks(db)
    for (const { name, checked, broken } of results) {
      process.stdout.write(
        `${broken === 0n ? 'ok    ' : 'BROKEN'}  ${name}: ${checked} checked, ${broken} broken\n`,
      )
    }
    const isSound = results.every((result) => result.broken === 0n)
    process.stdout.write(isSound ? 'The books pass.\n' : 'The books do NOT pass.\n')
    return isSound
  } finally {
    await db.destroy()
  }
}

if (import.meta.main) {
  const isSound = await withDatabaseUrl(loadConfig(), printBooks)
  process.exitCode = isSound ? 0 : 1
}
