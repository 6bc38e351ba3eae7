/**
 * An OpenTelemetry collector for traces: a real HTTP server that keeps the received spans, and answers as the test
 * sets it.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Value = { stringValue?: string; intValue?: number | string; boolValue?: boolean }
type Attribute = { key: string; value: Value }
type WireSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  links?: { traceId: string; spanId: string }[]
  events?: unknown[]
  status?: { code: number }
}

export type ReceivedSpan = Omit<WireSpan, 'attributes' | 'links'> & {
  attributes: Record<string, string | number>
  /** IDs of spans. */
  links: string[]
}

export type Collector = {
  url: string
  requests: { path: string | undefined; headers: IncomingMessage['headers']; body: string }[]
  answer: (response: ServerResponse) => void
  spans(): ReceivedSpan[]
  /** The attributes of the resource that all spans name. */
  resource(): Record<string, string | number>
  close(): Promise<void>
}

export async function startCollector(): Promise<Collector> {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    collector.requests.push({ path: request.url, headers: request.headers, body })
    collector.answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const parts = () => collector.requests.flatMap(({ body }) => JSON.parse(body).resourceSpans)
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer: (response) => void response.setHeader('content-type', 'application/json').end('{}'),
    spans: () =>
      parts()
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans as WireSpan[])
        .map((span) => ({
          ...span,
          attributes: attributesOf(span.attributes),
          links: (span.links ?? []).map(({ spanId }) => spanId),
        })),
    resource: () => attributesOf(parts()[0].resource.attributes),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return collector
}

function attributesOf(list: Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    list.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? NaN)]),
  )
}
