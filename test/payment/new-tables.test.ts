/**
 * Acts on a new installation. Its tables are empty when Postgres plans the statements, and each connection keeps the plans.
 * An act must not read more rows when its application has more orders. spec/limits 3.2.
 */
import { expect, it } from 'vitest'
import type { Db } from '../../src/database/connection.ts'
import { makeFindTrade } from '../../src/payment/gateway/inquiry.ts'
import { makeChargeMandate } from '../../src/payment/mandates/charge.ts'
import { makeFindTransaction } from '../../src/payment/orders/orders.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { type GatewayFacts, makePlaceOrder } from '../../src/payment/orders/place.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import type { GatewayApp } from '../../src/payment/signing/gateway-apps.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { chargeOf, makeMandate, makeMandateMerchant, switchMandates } from '../harness/mandates.ts'
import { recipient } from '../harness/merchant.ts'
import { rowsOfTables } from '../harness/rows-read.ts'

const FEW = 10
const MANY = 60

const GATEWAY: Omit<GatewayFacts, 'trade_no'> = {
  ...{ protocol: 'v1', pid_sent: '1', money: '1', rate: '1', type: null, param: null },
  ...{ notify_url: 'https://shop.example/notify', return_url: null },
}

it('an act reads no more rows for the sixtieth order of an application than for the tenth', async () => {
  const test = await useTestApp()
  await switchMandates(test)
  const merchant = await makeMandateMerchant(test)
  const member = await makePerson(test, { points: 1_000_000n })
  const terms = { caps: { charge_max: 100n, period_max: 10_000n } }
  const mandate_id = await makeMandate(test, merchant, member, terms)
  const { id: app_id } = merchant
  const app = { id: app_id, book: 'live' } as GatewayApp
  // One transaction is one connection, whose counts can be read at once.
  const read = await test.db.transaction().execute(async (tx) => {
    const deps = { ...test.deps, db: tx as Db }
    const [place, pay, find] = [makePlaceOrder(deps), makePayOrder(deps), makeFindTransaction(deps)]
    const [findTrade, charge, transfer] = [
      makeFindTrade(deps),
      makeChargeMandate(deps),
      makePostTransfer(deps),
    ]
    const counted: Record<string, number>[] = []
    for (let n = 1; n <= MANY; n += 1) {
      const before = await rowsOfTables(tx)
      const order = await place({ app_id, order_id: `o${n}`, description: 'Tea', amount: 1n })
      const { transaction_id } = order
      await place({ app_id, order_id: `o${n}`, description: 'Tea', amount: 1n })
      await find({ app_id, transaction_id })
      await pay({ transaction_id, payer_id: member.id, expected_amount: 1n })
      await charge(chargeOf(merchant, mandate_id, 1n))
      await transfer({ app_id, order_id: `t${n}`, amount: 1n, ...recipient(member) })
      const trade_no = String(n).padStart(20, '0')
      await place({
        app_id,
        order_id: `g${n}`,
        description: 'Tea',
        amount: 1n,
        gateway: { ...GATEWAY, trade_no },
      })
      await findTrade(app, { trade_no })
      await findTrade(app, { out_trade_no: `g${n}` })
      const after = await rowsOfTables(tx)
      counted.push(
        Object.fromEntries([...after].map(([name, rows]) => [name, rows - (before.get(name) ?? 0)])),
      )
    }
    return counted
  })
  const [few, many] = [read[FEW - 1]!, read[MANY - 1]!]
  expect(Object.keys(many).filter((table) => many[table]! > few[table]! + 2)).toEqual([])
})
