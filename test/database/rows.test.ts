/** The rows that the service passes to functions of the database, as arrays of composite types. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { type RowType, rowArray } from '../../src/database/rows.ts'
import { ASKED_CHARGE } from '../../src/payment/mandates/charge.ts'
import { ASKED_PAYMENT } from '../../src/payment/orders/pay.ts'
import { ASKED_ORDER } from '../../src/payment/orders/place.ts'
import { ASKED_TRANSFER } from '../../src/payment/orders/transfers.ts'
import { useTestApp } from '../harness/harness.ts'

const test = await useTestApp()

it.each<RowType<string>>([ASKED_PAYMENT, ASKED_TRANSFER, ASKED_CHARGE, ASKED_ORDER])(
  '$type has the columns of the database, in their order',
  async ({ type, columns }) => {
    const { rows } = await sql<{ attname: string }>`
      select attname from pg_attribute as a join pg_class as c on c.oid = a.attrelid
      where c.relname = ${type} and c.relkind = 'c' order by attnum`.execute(test.db)
    expect(columns).toEqual(rows.map(({ attname }) => attname))
  },
)

it('every value reaches the database as it is', async () => {
  const asked = [
    {
      ...{ app_id: 9_007_199_254_740_993n, mandate_id: '', order_id: 'a"b\\c,(d){e}\n茶', amount: 1n },
      ...{ now: new Date('2026-01-02T03:04:05.678Z'), token_hash: Buffer.from([0, 92, 34, 255]) },
    },
    { description: 'null', transaction_id: '\\x' },
  ]
  const { rows } = await sql`select * from unnest(${rowArray(ASKED_CHARGE, asked)})`.execute(test.db)
  const none = Object.fromEntries(ASKED_CHARGE.columns.map((column) => [column, null]))
  expect(rows).toEqual(asked.map((row) => ({ ...none, ...row })))
  const received = { parameters: [['a', '"\\']] }
  const order = await sql<{ received: unknown }>`
    select received from unnest(${rowArray(ASKED_ORDER, [{ received }])})`.execute(test.db)
  expect(order.rows).toEqual([{ received }])
})
