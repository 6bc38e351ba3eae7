/**
 * Real clients, each written independently from the facts of its source, by what they disagree about (spec/payment-api 2.2): what
 * it hashes, what it checks, how it reads an answer. Each buys, verifies its callback and queries it. Those that
 * transfer do so too.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant, recipientFields } from '../harness/merchant.ts'

let count = 0

const test = await useTestApp()
const merchant = await makeMerchant(test)
const buyer = await makePerson(test, { points: 100_000n })
const browser = await buyer.signIn()

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const mac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex')
const SEVEN = 'amount external_reference merchant_points paid_at platform_fee status transaction_id'.split(
  ' ',
)

type Client = {
  name: string
  /** The only credential that its owner pasted. */
  credential: (merchant: Merchant) => string
  requestKey: (credential: string) => string
  /** The keys that it tries on a callback, one after another. */
  callbackKeys: ((credential: string) => string)[]
  /** Whether it signs a fixed list of seven fields with reformatted numbers, or all received fields. */
  callbackOver: 'seven' | 'all'
  adds?: () => Record<string, string>
  transfers?: 'amount' | 'points'
  body?: 'json'
}

const token = ({ token }: Merchant) => token
const secretKey = ({ secret_key }: Merchant) => secret_key
const raw = (credential: string) => credential
const now = () => ({ timestamp: String(Math.floor(test.clock.now().getTime() / 1000)) })

/** Verifies callbacks over seven fields, or over all that it received, by the keys that it tries. */
const seven = (...callbackKeys: ((credential: string) => string)[]) =>
  ({ callbackOver: 'seven', callbackKeys }) as const
const all = (...callbackKeys: ((credential: string) => string)[]) =>
  ({ callbackOver: 'all', callbackKeys }) as const
const byToken = { credential: token, requestKey: sha }
const bySecret = { credential: secretKey, requestKey: sha }
const rawSecret = { credential: secretKey, requestKey: raw }

const clients: Client[] = [
  { name: 'hashes the token for both', ...byToken, ...seven(sha), transfers: 'amount' },
  {
    name: 'hashes the Secret Key for requests, uses it raw for callbacks',
    ...{ ...bySecret, ...seven(raw), transfers: 'amount' },
  },
  { name: 'hashes the token, verifies over all it received', ...byToken, ...all(sha) },
  { name: 'uses the Secret Key raw for both', ...rawSecret, ...all(raw) },
  { name: 'hashes the Secret Key, tries raw then hashed', ...bySecret, ...all(raw, sha) },
  {
    name: 'signs a timestamp too, and calls the amount of a transfer points',
    ...{ ...byToken, ...all(raw, sha, (key) => sha(sha(key))), adds: now, transfers: 'points' },
  },
  { name: 'sends JSON with integers', ...rawSecret, ...all(raw), body: 'json', transfers: 'amount' },
]

function senderOf(client: Client) {
  return async (path: string, fields: Record<string, string>) => {
    const all = { ...fields, ...client.adds?.() }
    const text = Object.keys(all)
      .sort()
      .map((name) => `${name}=${all[name as keyof typeof all]}`)
      .join('&')
    const signature = mac(client.requestKey(client.credential(merchant)), text)
    const isJson = client.body === 'json'
    const asNumbers = Object.entries(all).map(([k, v]) => [k, /^\d{1,15}$/.test(v) ? Number(v) : v])
    const payload = isJson
      ? JSON.stringify({ ...Object.fromEntries(asNumbers), signature })
      : new URLSearchParams({ ...all, signature }).toString()
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
    const response = await test.app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': type },
      payload,
    })
    return { status: response.statusCode, body: response.json() }
  }
}

describe.each(clients)('a client that $name', (client) => {
  const send = senderOf(client)

  it('sells, verifies its callback and finds the payment', async () => {
    const order_id = `client_${++count}`
    const initiated = await send(`/payment/pay/${merchant.payment_id}/process`, {
      amount: '100',
      description: '购买 VIP: ×1',
      order_id,
    })
    expect(initiated).toMatchObject({ status: 200, body: { success: true, status: 'pending', amount: 100 } })
    expect(initiated.body.error).toBeUndefined()
    const path = new URL(initiated.body.payment_url).pathname
    const paid = await browser.submit(await browser.get(path), path)
    const query = new URL(paid.location!).searchParams
    const received = Object.fromEntries(query)

    const over =
      client.callbackOver === 'all'
        ? Object.keys(received)
            .filter((name) => name !== 'signature')
            .sort()
        : SEVEN
    const value = (name: string) =>
      /^(amount|platform_fee|merchant_points)$/.test(name) && client.callbackOver === 'seven'
        ? String(Number.parseInt(received[name] ?? '', 10))
        : (received[name] ?? '')
    const text = over.map((name) => `${name}=${value(name)}`).join('&')
    const signature = Buffer.from(received.signature ?? '')
    const fits = client.callbackKeys
      .map((keyOf) => keyOf(client.credential(merchant)))
      .map((key) => timingSafeEqual(signature, Buffer.from(mac(key, text))))
    expect(fits).toContain(true)
    expect(received).toMatchObject({ external_reference: order_id, amount: '100', status: 'completed' })

    const asked = await send(`/payment/query/${merchant.payment_id}`, {
      transaction_id: received.transaction_id!,
    })
    expect(asked).toMatchObject({
      status: 200,
      body: { status: 'completed', external_reference: order_id, expired: false },
    })
    const again = await send(`/payment/pay/${merchant.payment_id}/process`, {
      amount: '100',
      description: 'x',
      order_id,
    })
    expect(again.body).toMatchObject({
      success: false,
      message: 'Order already exists with status completed',
      data: { status: 'completed' },
    })
  })
})

describe.each(clients.filter(({ transfers }) => transfers !== undefined))('a client that $name', (client) => {
  const send = senderOf(client)

  it('transfers, and repeats it without a second charge', async () => {
    const fields = { ...recipientFields(buyer), [client.transfers!]: '5', order_id: `withdrawal_${++count}` }
    const first = await send(`/payment/transfer/${merchant.payment_id}`, fields)
    expect(first).toMatchObject({
      status: 200,
      body: { success: true, status: 'completed', amount: 5, fee: 1, total_deduction: 6 },
    })
    expect(await send(`/payment/transfer/${merchant.payment_id}`, fields)).toEqual(first)
  })
})
