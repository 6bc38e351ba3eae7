/** What a charge reads: a few rows by index, however many orders and mandates there are. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { Tx } from '../../../src/database/connection.ts'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { makePerson } from '../../harness/cast.ts'
import { useTestApp } from '../../harness/harness.ts'
import { chargeOf, makeMandate, makeMandateMerchant, switchMandates } from '../../harness/mandates.ts'

/** The tables that grow with charges, and those that such a row refers to. */
const GROWING = [
  ...['orders', 'mandates', 'mandate_refusals', 'charge_notices', 'journal', 'entries', 'ledger_accounts'],
  ...['notifications', 'users', 'payment_apps', 'payment_app_days', 'access_tokens'],
]
const CHARGES = 1_000
const CAPS = { charge_max: 1n, period_max: 10_000n }

const test = await useTestApp()
await switchMandates(test)
const merchant = await makeMandateMerchant(test)

type Reads = { table: string; whole_reads: number; rows: number }

/** What this connection has read so far, of each table that grows. */
async function readSoFar(tx: Tx): Promise<Reads[]> {
  const { rows } = await sql<Reads>`
    select relname as "table", seq_scan::integer as whole_reads, coalesce(idx_tup_fetch, 0)::integer as rows
    from pg_stat_xact_user_tables where relname = any (${GROWING}) order by relname`.execute(tx)
  expect(rows).toHaveLength(GROWING.length)
  return rows
}

/** What a charge reads, with all checks of its commit. */
async function readsOf(mandate_id: string): Promise<Reads[]> {
  return test.db.transaction().execute(async (tx) => {
    const before = await readSoFar(tx)
    await makeChargeMandate({ ...test.deps, db: tx })(chargeOf(merchant, mandate_id, 1n))
    await sql`set constraints all immediate`.execute(tx)
    const after = await readSoFar(tx)
    return after.map((each, index) => ({
      table: each.table,
      whole_reads: each.whole_reads - before[index]!.whole_reads,
      rows: each.rows - before[index]!.rows,
    }))
  })
}

it('a charge reads no table whole, and no more rows after a thousand charges', async () => {
  const mandates = await Promise.all(
    Array.from({ length: 20 }, async () =>
      makeMandate(test, merchant, await makePerson(test, { points: 10_000n }), { caps: CAPS }),
    ),
  )
  const charge = makeChargeMandate(test.deps)
  const fill = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, i) => charge(chargeOf(merchant, mandates[i % mandates.length]!, 1n))),
    )
  await fill(100)
  // Plans of a connection are made with its first charge.
  await readsOf(mandates[0]!)
  const few = await readsOf(mandates[0]!)
  for (let done = 0; done < CHARGES; done += 500) await fill(500)
  await sql`analyze`.execute(test.db)
  await readsOf(mandates[0]!)
  const many = await readsOf(mandates[0]!)
  expect(many.map(({ table, whole_reads }) => [table, whole_reads])).toEqual(
    GROWING.toSorted().map((table) => [table, 0]),
  )
  for (const [index, { table, rows }] of many.entries())
    expect(rows, table).toBeLessThanOrEqual(few[index]!.rows + 2)
  expect(many.find(({ table }) => table === 'orders')!.rows).toBeGreaterThan(0)
})
