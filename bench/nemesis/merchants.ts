/** The servers of the shops: one that always behaves, and one that may hang, lie, or answer megabytes. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gatewayText, md5 } from '../../test/harness/gateway-shop.ts'
import type { Recorder } from './recorder.ts'

export type Behaviour = 'well' | 'hang' | 'lie' | 'flood'

export type Merchants = {
  urls: { good: string; bad: string }
  /** The names of the shops whose server misbehaves at times. */
  faulty: Set<string>
  /** What a shop verifies with, by its name. */
  keys: Map<string, { merchant_key: string; event_secret: string }>
  /** The transaction of a trade, by shop and out_trade_no. */
  trades: Map<string, string>
  misbehave(how: Behaviour, ms: number): Promise<void>
  close(): Promise<void>
}

const FLOOD_CHUNKS = 8
const CHUNK = Buffer.alloc(1_048_576, 'success ')
/** The status says what came of an event; the body says what came of a notification of the gateway. */
const LIES = [
  { status: 200, body: 'fail' },
  { status: 500, body: 'success' },
  { status: 302, body: 'success' },
]

export async function startMerchants(recorder: Recorder): Promise<Merchants> {
  let behaviour: Behaviour = 'well'
  let lies = 0
  const answers: Record<Behaviour, (response: ServerResponse, lie: (typeof LIES)[number]) => void> = {
    well: (response) => void response.end('success'),
    // Until the caller gives up.
    hang: () => {},
    lie: (response, { status, body }) => void response.writeHead(status, { location: '/success' }).end(body),
    flood(response) {
      for (let n = 0; n < FLOOD_CHUNKS; n += 1) response.write(CHUNK)
      response.end()
    },
  }
  const serve = async (isGood: boolean, request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {})
    const from = recorder.now()
    const body = await text(request)
    const how = isGood ? 'well' : behaviour
    const lie = LIES[lies++ % LIES.length]!
    const isEvent = request.url!.startsWith('/events/')
    const isTaken = how === 'well' || (isEvent && (how === 'flood' || (how === 'lie' && lie.status === 200)))
    record(request, body, isTaken ? 1 : 0, from)
    answers[how](response, lie)
  }
  /** The path names the shop: /notify/tea for the gateway, /events/tea for events. */
  const record = (request: IncomingMessage, body: string, taken: number, from: number) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://shop')
    const [, kind, shop = ''] = pathname.split('/')
    const key = merchants.keys.get(shop)
    if (key === undefined) return
    const notice = kind === 'notify' ? trade(shop, key, searchParams) : event(shop, key, request, body)
    if (notice !== undefined) {
      const { subject, told } = notice
      recorder.add({
        client: shop,
        kind: 'notice',
        subject,
        from,
        to: recorder.now(),
        outcome: 'done',
        status: 200,
        process: '',
        asked: { shop },
        told: { ...told, taken },
      })
    }
  }
  const trade = (shop: string, { merchant_key }: { merchant_key: string }, query: URLSearchParams) => {
    const fields = Object.fromEntries(query)
    const subject = merchants.trades.get(`${shop}/${fields.out_trade_no}`)
    if (subject === undefined) return undefined
    const genuine = md5(gatewayText(fields) + merchant_key) === fields.sign ? 1 : 0
    const status = fields.trade_status === 'TRADE_SUCCESS' ? 'completed' : String(fields.trade_status)
    return { subject, told: { status, genuine } }
  }
  const event = (
    _shop: string,
    { event_secret }: { event_secret: string },
    { headers }: IncomingMessage,
    body: string,
  ) => {
    const { type, timestamp, data } = JSON.parse(body)
    if (!String(type).startsWith('order.')) return undefined
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(event_secret.replace('whsec_', ''), 'base64')
    const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
    const genuine = headers['webhook-signature'] === signature ? 1 : 0
    return { subject: data.transaction_id, told: { status: data.status, at: Date.parse(timestamp), genuine } }
  }
  const servers = [true, false].map((isGood) =>
    createServer((request, response) => {
      serve(isGood, request, response).catch(() => response.destroy())
    }).listen(0, '127.0.0.1'),
  )
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const [good, bad] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const merchants: Merchants = {
    urls: { good: good!, bad: bad! },
    faulty: new Set(),
    keys: new Map(),
    trades: new Map(),
    async misbehave(how, ms) {
      behaviour = how
      await sleep(ms)
      behaviour = 'well'
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      }
    },
  }
  return merchants
}
