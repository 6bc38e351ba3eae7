/** The receiver of notifications: a real HTTP server whose answers a test sets, and paid orders to notify of. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { LOWER_ALNUM, randomText } from '../../src/platform/secrets.ts'
import type { TestApp } from './harness.ts'

export type Received = {
  path: string
  headers: IncomingMessage['headers']
  fields: Record<string, string>
  body: string
}

export type Receiver = {
  url: string
  port: number
  received: Received[]
  /** The answer to a notification. The default is `success`. */
  answer: (request: Received, response: ServerResponse) => void
  close(): Promise<void>
}

export const succeed: Receiver['answer'] = (_request, response) => void response.end('success')

type Listening = {
  /** Creates the server, for TLS. */
  create?: (listener: RequestListener) => ReturnType<typeof createServer>
  host?: string
  port?: number
}

export async function startReceiver({
  create = createServer,
  host = '127.0.0.1',
  port: wanted = 0,
}: Listening = {}): Promise<Receiver> {
  const server = create(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://receiver')
    const fields = Object.fromEntries(searchParams)
    const each = { path: pathname, headers: request.headers, fields, body: await text(request) }
    receiver.received.push(each)
    receiver.answer(each, response)
  }).listen(wanted, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://${host}:${port}`,
    port,
    received: [],
    answer: succeed,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** Creates unpaid orders of the gateway that differ only in their numbers. Returns their transaction IDs. */
export async function makeGatewayOrders(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  app: { id: bigint; pid: bigint },
  { count = 1, notify_url, protocol = 'v1' }: { count?: number; notify_url: string; protocol?: 'v1' | 'v2' },
): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({
    app_id: app.id,
    door: 'gateway' as const,
    order_id: randomText(20, LOWER_ALNUM),
    transaction_id: `txn_${randomText(24, LOWER_ALNUM)}`,
    description: 'Tea',
    amount: 100n,
    expires_at: new Date(clock.now().getTime() + 30 * 60_000),
    created_at: clock.now(),
    trade_no: `${randomInt(1e9, 1e10)}${randomInt(1e9)}`,
    protocol,
    pid_sent: String(app.pid),
    money: '1.00',
    rate: '100',
    notify_url,
  }))
  for (let start = 0; start < count; start += 500)
    await db
      .insertInto('orders')
      .values(rows.slice(start, start + 500))
      .execute()
  return rows.map(({ transaction_id }) => transaction_id)
}
