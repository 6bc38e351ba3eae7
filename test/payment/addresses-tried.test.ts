/** Trying an address: the result in plain words, never into the internal network, limited and on record. */
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { addressesOf } from '../../src/payment/merchant/addresses.page.ts'
import { freePort } from '../harness/free-port.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders, type Receiver, startReceiver } from '../harness/notify-receiver.ts'
import { addHay } from '../harness/orders.ts'
import { rowsOf } from '../harness/rows.ts'
import { rowsReadBy } from '../harness/rows-read.ts'

// The first loopback address is allowed, as an address of an intranet would be. The others are not.
const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.1/32' })
const merchant = await makeMerchant(test)
const owner = await merchant.owner.signIn()
const receiver = await startReceiver()
const path = `/payment/applications/${merchant.payment_id}/addresses`
afterAll(() => receiver.close())

async function attempt(url: string) {
  const page = await owner.submit(await owner.get(path), path, { url })
  return { status: page.status, text: textOf(page.body) }
}

it('an address is called once, empty, and judged by its answer', async () => {
  const url = `${receiver.url}?shop=1`
  const told = async (answer: Receiver['answer']) => {
    receiver.answer = answer
    return (await attempt(url)).text
  }
  expect(await told((_request, response) => void response.end('fail'))).toContain('Reached.')
  expect(receiver.received).toHaveLength(1)
  expect(receiver.received[0]!.fields).toEqual({ shop: '1' })
  expect(await told((_request, response) => void response.end('success'))).toContain(
    messages.en.merchantAddresses.tooEasy,
  )
  expect(await told((_request, response) => void response.writeHead(502).end('bad'))).toMatch(
    /Reached, but your shop fails there\..*HTTP 502/,
  )
  expect(await told((_request, response) => void response.writeHead(302, { location: '/x' }).end())).toMatch(
    /Reached, but it redirects to another address.*HTTP 302/,
  )
  expect((await attempt(`http://127.0.0.1:${await freePort()}/notify`)).text).toContain(
    messages.en.notifications.outcomes.refused,
  )
  // Addresses that only the service could reach are refused.
  for (const inside of [
    url.replace('127.0.0.1', '127.0.0.2'),
    'http://169.254.169.254/',
    'http://[::1]:8080/',
  ])
    expect((await attempt(inside)).text).toContain(messages.en.notifications.outcomes.blocked)
  expect((await attempt('ftp://shop.example/')).text).toContain(
    messages.en.notifications.reasons.bad_address.scheme,
  )
  expect((await attempt('nonsense')).text).toContain(messages.en.notifications.reasons.bad_address.unreadable)
  expect((await attempt(' ')).status).toBe(400)
  expect(receiver.received).toHaveLength(4)
  const entries = await rowsOf(test, 'audit_log', { action: 'payment_app.try_address' })
  expect(entries).toHaveLength(10)
  expect(entries[0]!.detail).toEqual({ host: new URL(url).host, outcome: 'wrong_body' })
})

it('the known addresses are offered, and tries are limited by hour', async () => {
  await makeGatewayOrders(test, merchant, { notify_url: 'https://shop.example/notify' })
  const { body } = await owner.get(path)
  expect(body).toContain(merchant.callbackUrl)
  expect(body).toContain('https://shop.example/notify')
  const tries = await Promise.all(Array.from({ length: 12 }, () => attempt('nonsense')))
  expect(tries.filter(({ status }) => status === 429)).toHaveLength(2)
})

it('those of a shop are looked for among its own orders alone', async () => {
  const [shop, other] = [await makeMerchant(test), await makeMerchant(test)]
  const sold = 3_000
  await addHay(test, shop, sold)
  await makeGatewayOrders(test, other, { count: sold, notify_url: 'https://other.example/' })
  await sql`analyze orders`.execute(test.db)
  const read = await rowsReadBy(test, 'orders', async (tx) => {
    const callback_url = 'https://shop.example/'
    expect(await addressesOf(tx, { id: shop.id, callback_url, notify_url: null })).toEqual([
      { kind: 'callback', url: callback_url },
    ])
  })
  expect(read).toBeLessThanOrEqual(sold)
})
