/** The number of SQL statements of frequent requests about payments. */
import { describe, expect } from 'vitest'
import { makeFindTrade } from '../../src/payment/gateway/inquiry.ts'
import { makeFindGatewayApp } from '../../src/payment/signing/gateway-apps.ts'
import { makePerson } from '../harness/cast.ts'
import { makeShop, send } from '../harness/gateway-shop.ts'
import { useTestApp } from '../harness/harness.ts'
import { recipientFields } from '../harness/merchant.ts'
import { rowOf } from '../harness/rows.ts'
import { expectStatements, itCounts, statementsOf } from '../harness/statements.ts'

let count = 0

const test = await useTestApp()
const shop = await makeShop(test)
const alice = await makePerson(test, { points: 100_000n })
const buyer = await alice.signIn()
// A token's use is noted once a minute, a session's every ten minutes, and RSA keys are read once.

const newOrder = () => ({ amount: '100', description: 'Tea', order_id: `hmac-${++count}` })
const order = async () => String((await shop.process(newOrder())).body.transaction_id)

const createV1 = (fields = shop.trade()) => send(test, 'POST', '/payment/api/mapi.php', shop.signMd5(fields))
const createV2 = () => send(test, 'POST', '/payment/api/pay/create', shop.signRsa(shop.trade()))

async function trade(version: 'v1' | 'v2'): Promise<string> {
  const fields = shop.trade()
  await shop.create(version, fields)
  return (await rowOf(test, 'orders', { order_id: fields.out_trade_no! })).transaction_id
}

async function pay(transaction_id: string) {
  const path = `/payment/pay/${transaction_id}`
  const page = await buyer.get(path)
  return () => buyer.submit(page, path)
}

await order()
await trade('v2')
await pay(await order())

describe('a member', () => {
  itCounts('pays an order of either door with two statements: session and payment', async () => {
    for (const transaction_id of [await order(), await trade('v1'), await trade('v2')]) {
      const { location } = await expectStatements(2, await pay(transaction_id), 303)
      expect(location).toMatch(/[?&]sign(ature)?=/)
    }
  })

  itCounts('pays a paid order again with two statements', async () => {
    const paid = await pay(await order())
    await paid()
    await expectStatements(2, paid, 303)
  })

  itCounts('follows the link back to the shop with two statements', async () => {
    for (const transaction_id of [await order(), await trade('v1'), await trade('v2')]) {
      await (await pay(transaction_id))()
      await expectStatements(2, () => buyer.get(`/payment/pay/${transaction_id}/return`), 303)
    }
  })

  itCounts('opens an order to pay with four: session, order, wallet, view', async () => {
    const path = `/payment/pay/${await order()}`
    await expectStatements(4, () => buyer.get(path))
  })
})

describe('a shop', () => {
  itCounts('places an order with two statements: caller and order', async () => {
    const fields = newOrder()
    await expectStatements(2, () => shop.process(fields))
    await expectStatements(2, () => shop.process(fields))
  })

  itCounts('queries an order with two', async () => {
    const transaction_id = await order()
    await expectStatements(2, () => shop.query({ transaction_id }))
  })

  itCounts('transfers with two', async () => {
    await (await pay(await order()))()
    const to = recipientFields(alice)
    await expectStatements(2, () => shop.transfer({ ...to, amount: '1', order_id: 'transfer' }))
  })

  itCounts('creates and queries a trade with two', async () => {
    const fields = shop.trade()
    await expectStatements(2, () => createV1(fields))
    await expectStatements(2, createV2)
    const { pidText: pid, merchant_key: key } = shop
    const asked = { act: 'order', pid, key, out_trade_no: fields.out_trade_no! }
    await expectStatements(2, () => send(test, 'GET', '/payment/api.php', asked))
  })

  itCounts('asks for twenty trades at once, by either number, with two statements', async () => {
    const placed = Array.from({ length: 20 }, () => shop.trade())
    const trade_nos = await Promise.all(
      placed.map(async (fields) => {
        const created = await send(test, 'POST', '/payment/api/mapi.php', shop.signMd5(fields))
        return String(created.json().trade_no)
      }),
    )
    const asked = placed.map(({ out_trade_no }, n) =>
      n % 2 === 0 ? { trade_no: trade_nos[n]! } : { out_trade_no: out_trade_no! },
    )
    const findApp = makeFindGatewayApp(test.deps)
    const findTrade = makeFindTrade(test.deps)
    // The verbs are called in one tick of the event loop, so all requests share a batch on any machine.
    const [apps, toFindApps] = await statementsOf(() =>
      Promise.all(asked.map(() => findApp({ pid: shop.pidText }))),
    )
    expect(toFindApps).toHaveLength(1)
    const [trades, toFindTrades] = await statementsOf(() =>
      Promise.all(asked.map((numbers, n) => findTrade(apps[n]!, numbers))),
    )
    expect(trades.map(({ trade_no }) => trade_no)).toEqual(trade_nos)
    expect(toFindTrades).toHaveLength(1)
  })
})
