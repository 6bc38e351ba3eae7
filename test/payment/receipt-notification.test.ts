/** "The shop did not react?": the payer reads the attempts to notify the shop, and sends the notification again. */
import { afterAll, describe, expect, it } from 'vitest'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { succeed } from '../harness/notify-receiver.ts'
import { startNotifyWorld } from '../harness/notify-world.ts'
import { placeOrder } from '../harness/orders.ts'
import { rowOf } from '../harness/rows.ts'

let count = 0

const world = await startNotifyWorld()
const buyer = await world.buyer.signIn()
afterAll(() => world.close())

const pathOf = (transaction_id: string) => `/payment/pay/${transaction_id}`

/** A payment whose shop has answered once with this status. */
async function paidAt(status: number): Promise<string> {
  world.receiver.answer = (_request, response) => void response.writeHead(status).end('no')
  count += 1
  const transaction_id = await world.payOne(`${world.receiver.url}/buyer-${count}`)
  await world.told([transaction_id])
  return transaction_id
}

const tell = async (transaction_id: string, client = buyer) =>
  client.submit(await client.get(pathOf(transaction_id)), `${pathOf(transaction_id)}/tell`)
const requestsFor = (transaction_id: string) =>
  world.receiver.received.filter(({ fields }) => fields.api_trade_no === transaction_id).length
/** The text of the page about the shop, without markup. */
const saidOn = (body: string) => textOf(/<details[^>]*id="shop"[^>]*>([\s\S]*?)<\/details>/.exec(body)![1]!)

describe('the receipt', () => {
  it('tells how attempts went and the next time, without an address', async () => {
    const transaction_id = await paidAt(502)
    world.test.clock.advance(60_000)
    await world.told([transaction_id], 2)
    const page = await buyer.get(pathOf(transaction_id))
    expect(page.body).toMatch(/<details class="small" id="shop" open>/)
    const said = saidOn(page.body)
    const t = messages.en.pay.notification
    expect(said).toContain(`${t.nextAttempt} today 08:06`)
    expect(said).toContain(`${t.badStatus(502)} ${t.times(2)} today 08:01`)
    expect(page.body).not.toContain(world.receiver.url)
    expect(page.body).not.toContain('sign=')

    world.receiver.answer = (_request, response) => void response.end('thanks')
    world.test.clock.advance(5 * 60_000)
    await world.told([transaction_id], 3)
    expect(saidOn((await buyer.get(pathOf(transaction_id))).body)).toContain(
      messages.en.pay.notification.outcomes.wrong_body,
    )
    const chinese = await buyer.get(pathOf(transaction_id), {
      cookie: `${cookieHeader(buyer)}; language=zh-CN`,
    })
    expect(saidOn(chinese.body)).toContain(messages['zh-CN'].pay.notification.badStatus(502))
  })

  it('is quiet about confirmed shops, and explains shops without notifications', async () => {
    world.receiver.answer = succeed
    count += 1
    const told = await world.payOne(`${world.receiver.url}/buyer-${count}`)
    await world.told([told])
    const page = await buyer.get(pathOf(told))
    expect(page.body).toMatch(/<details class="small" id="shop">/)
    expect(saidOn(page.body)).toContain(messages.en.pay.notification.delivered)

    const { path } = await placeOrder(world.merchant)
    await buyer.submit(await buyer.get(path), path)
    const receipt = await buyer.get(path)
    expect(saidOn(receipt.body)).toContain(
      messages.en.pay.notification.byBrowser(`Shop of ${world.merchant.owner.username}`),
    )
    expect(receipt.body).not.toContain(`${path}/tell`)
    const { form_token } = receipt.form('/language')
    expect((await buyer.post(`${path}/tell`, { form_token: form_token! })).status).toBe(404)
  })
})

describe('a repeated notification', () => {
  it('happens at once, says how it went, and is logged', async () => {
    const transaction_id = await paidAt(500)
    world.test.clock.advance(61_000)
    world.receiver.answer = succeed
    const answer = await tell(transaction_id)
    expect(answer).toMatchObject({ status: 303, location: `${pathOf(transaction_id)}#shop` })
    await world.told([transaction_id])
    const page = await buyer.get(answer.location!.split('#')[0]!)
    expect(saidOn(page.body)).toContain(messages.en.pay.notification.delivered)
    const entry = await rowOf(world.test, 'audit_log', { subject: transaction_id })
    expect(entry).toMatchObject({
      actor_id: world.buyer.id,
      action: 'notification.redeliver',
      detail: { role: 'payer' },
    })
  })

  it('waits a minute after the last attempt', async () => {
    const transaction_id = await paidAt(500)
    world.test.clock.advance(20_000)
    const before = requestsFor(transaction_id)
    const answer = await tell(transaction_id)
    expect(answer.status).toBe(429)
    expect(answer.headers['retry-after']).toBe('40')
    expect(answer.body).toContain(messages.en.pay.notification.tooSoon(40))
    expect(answer.body).toContain('>Back to ')
    expect(requestsFor(transaction_id)).toBe(before)
  })

  it('is the payer’s alone', async () => {
    const transaction_id = await paidAt(500)
    world.test.clock.advance(61_000)
    const before = requestsFor(transaction_id)
    const stranger = await (await makePerson(world.test)).signIn()
    const theirs = await stranger.get(pathOf(transaction_id))
    expect(theirs.body).not.toContain(`${pathOf(transaction_id)}/tell`)
    const { form_token } = theirs.form('/language')
    expect((await stranger.post(`${pathOf(transaction_id)}/tell`, { form_token: form_token! })).status).toBe(
      404,
    )
    expect((await stranger.post('/payment/pay/txn_x/tell', { form_token: form_token! })).status).toBe(404)
    expect(requestsFor(transaction_id)).toBe(before)
  })
})
