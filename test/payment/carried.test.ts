/**
 * Parameters that a payer's browser carries are signed by the shop's own keys. They are valid only for their own
 * purpose.
 */
import { expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Fields, makeShop, type Reply, send } from '../harness/gateway-shop.ts'
import { useTestApp } from '../harness/harness.ts'
import { post } from '../harness/merchant.ts'
import { placeOrder } from '../harness/orders.ts'

const test = await useTestApp()
const shop = await makeShop(test)
const alice = await makePerson(test, { points: 100_000n })
const buyer = await alice.signIn()

const ENDPOINTS = ['pay/query', 'pay/close', 'merchant/info', 'merchant/orders', 'transfer/balance']

const trade = () => shop.trade({ money: '0.10' })

/** Pays at this address, and returns the query of the return. */
async function carriedBack(address: string): Promise<Fields> {
  const path = new URL(address, test.url).pathname
  const paid = await buyer.submit(await buyer.get(path), path)
  const back = paid.location!.startsWith('https:') ? paid : await buyer.get(`${path}/return`)
  return Object.fromEntries(new URL(back.location!).searchParams)
}

/** Other fields with the same signed text: fields of these names inside the values of the fields before them. */
function folded(fields: Fields, names: string[], unsigned: string[]): Fields {
  const sent: [string, string][] = []
  for (const name of Object.keys(fields).sort()) {
    if (unsigned.includes(name)) continue
    const before = sent.at(-1)
    if (before !== undefined && names.includes(name)) before[1] += `&${name}=${fields[name]}`
    else sent.push([name, fields[name]!])
  }
  return Object.fromEntries([...sent, ...unsigned.map((name) => [name, fields[name]!])])
}

async function expectNothingOpened(fields: Fields): Promise<void> {
  const names = ['name', 'notify_url', 'trade_status']
  for (const sent of [fields, folded(fields, names, ['sign', 'sign_type'])])
    for (const path of ENDPOINTS) {
      const answer = (await send(test, 'POST', `/payment/api/${path}`, sent)).json() as Reply
      expect(answer, path).toMatchObject({ code: -3, msg: '签名不是为该接口生成的' })
      expect(Object.keys(answer).sort(), path).toEqual(['code', 'msg', 'sign', 'sign_type', 'timestamp'])
    }
}

it('a V1 pay link and its return open and close nothing', async () => {
  const link = shop.signMd5(trade())
  await expectNothingOpened(link)
  const opened = (await send(test, 'POST', '/payment/api/mapi.php', link)).json()
  expect(opened.code).toBe(1)
  const back = await carriedBack(opened.payurl)
  expect(back).toMatchObject({ trade_status: 'TRADE_SUCCESS', sign_type: 'MD5' })
  await expectNothingOpened(back)
})

it('nor does a V2 link, as long as its timestamp is fresh', async () => {
  const timestamp = String(Math.floor(test.clock.now().getTime() / 1000))
  const link = shop.signRsa({ ...trade(), timestamp })
  expect((await send(test, 'GET', '/payment/api/pay/submit', link)).statusCode).toBe(302)
  await expectNothingOpened(link)
})

it('a callback of the HMAC API is no request', async () => {
  const { path } = await placeOrder(shop)
  const paid = await buyer.submit(await buyer.get(path), path)
  const fields = Object.fromEntries(new URL(paid.location!).searchParams)
  expect((await shop.receive(paid.location!)).isGenuine).toBe(true)
  const names = ['external_reference', 'merchant_points', 'paid_at', 'platform_fee', 'status']
  for (const sent of [fields, folded(fields, names, ['signature'])])
    for (const door of ['query', 'orders', 'transfers', 'transfer']) {
      const { status, body: refused } = await post(test, `/payment/${door}/${shop.payment_id}`, sent)
      expect(status, door).toBe(401)
      expect(refused).toMatchObject({
        errors: [{ code: 1001 }],
        data: { hint: expect.stringContaining('callback') },
      })
    }
})
