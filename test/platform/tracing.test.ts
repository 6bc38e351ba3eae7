/**
 * The spans of requests at a collector, the data that they never contain, and that no request waits for a collector.
 * operations/process sees when a process loads the library.
 */
import type { ServerResponse } from 'node:http'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBatcher } from '../../src/database/batcher.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { type Loss, openTracing } from '../../src/platform/trace-export.ts'
import { inCall, type Tracing } from '../../src/platform/tracing.ts'
import { makePerson } from '../harness/cast.ts'
import { type Collector, type ReceivedSpan, startCollector } from '../harness/collector.ts'
import { makeShop, type Reply, type Shop, send } from '../harness/gateway-shop.ts'
import { browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { type Receiver, startReceiver } from '../harness/notify-receiver.ts'
import { until } from '../harness/waiting.ts'
import { authorize, exchange, getJson, makeParty, refresh } from '../identity/relying-party.ts'

const [SERVER, CLIENT] = [2, 3]
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'

let collector: Collector
let receiver: Receiver
let spans: ReceivedSpan[]
let sent: string
/** The private values in requests and answers of the walk. */
const secrets = new Map<string, string>()
let payment_id: string
let request_id: unknown

/** Records every value of a request or an answer. */
function keepSecrets(test: TestApp): void {
  const keep = (name: string, value: string) => {
    // Words of the protocols are also names of tables, and the number of a request reveals nothing.
    if (value.length >= 8 && !['grant_type', 'request_id'].includes(name) && value !== payment_id)
      secrets.set(value, name)
  }
  const keepAll = (query: string) => {
    for (const [name, value] of new URLSearchParams(query)) keep(name, value)
  }
  const inject = test.app.inject.bind(test.app) as (options: InjectOptions) => Promise<LightMyRequestResponse>
  const recorded = async (given: string | InjectOptions) => {
    const options = typeof given === 'string' ? { url: given } : given
    keepAll(String(options.url).split('?')[1] ?? '')
    keepAll(String(options.payload ?? ''))
    for (const name of ['cookie', 'authorization'])
      for (const part of String(options.headers?.[name] ?? '').split(/[ ;=]+/)) keep(name, part)
    const answer = await inject(options)
    for (const { name, value } of answer.cookies) keep(name, value)
    keepAll(String(answer.headers.location ?? '').split('?')[1] ?? '')
    for (const [id] of answer.body.matchAll(/txn_[a-z0-9]{24}/g)) keep('transaction_id', id)
    if (answer.body.startsWith('{'))
      for (const [name, value] of Object.entries(answer.json()))
        if (typeof value === 'string') keep(name, value)
    return answer
  }
  test.app.inject = recorded as unknown as TestApp['app']['inject']
}

/** A sign-in, tokens, and a paid order of each API with its notification. */
async function walk(test: TestApp, shop: Shop): Promise<void> {
  const alice = await makePerson(test, { points: 100_000n })
  const guess = browser(test)
  await guess.submit(await guess.get('/sign-in'), '/sign-in', {
    username: alice.username,
    password: 'a wrong guess',
  })
  const buyer = await alice.signIn()

  const party = await makeParty(test)
  const { code } = await authorize(buyer, party, { nonce: 'a-nonce-of-the-walk' })
  const tokens = (await exchange(test, party, code)).body as Record<string, string>
  await getJson(test, '/oauth2/userinfo', { authorization: `Bearer ${tokens.access_token}` })
  await refresh(test, party, tokens.refresh_token)

  const order = await shop.process({
    order_id: 'hmac-order-1',
    amount: '120',
    description: 'A secret present',
  })
  const pages = [new URL(String(order.body.payment_url)).pathname]
  const trade = shop.signRsa({
    pid: shop.pidText,
    type: 'alipay',
    out_trade_no: 'gateway-order-1',
    notify_url: `${receiver.url}/notify/secret-of-the-path?key=secret-of-the-query`,
    return_url: 'https://shop.example/return',
    name: 'Another present',
    money: '0.10',
    clientip: '203.0.113.9',
    timestamp: String(Math.floor(test.clock.now().getTime() / 1000)),
  })
  const opened = (await send(test, 'POST', '/payment/api/pay/create', trade)).json() as Reply
  pages.push(/\/payment\/pay\/txn_[a-z0-9]{24}/.exec(JSON.stringify(opened))![0])
  for (const page of pages) expect((await buyer.submit(await buyer.get(page), page)).status).toBe(303)
  await shop.query({ order_id: 'hmac-order-1' })
  await until(() => receiver.received.length > 0)
}

beforeAll(async () => {
  ;[collector, receiver] = await Promise.all([startCollector(), startReceiver()])
  const test = await startTestApp({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key, x-tenant=forum',
    OTEL_SERVICE_NAME: 'forum-wallet',
    NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
  })
  const shop = await makeShop(test)
  payment_id = shop.payment_id
  keepSecrets(test)
  test.deps.notifier.start(test.app.log)
  await walk(test, shop)
  for (const credential of [shop.token, shop.merchant_key, 'correct horse battery'])
    secrets.set(credential, 'key')

  const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=secret-of-a-caller' }
  request_id = (await test.app.inject({ url: '/docs?q=1', headers })).headers['x-request-id']
  await test.app.inject({ url: '/nowhere?no=1', headers: { traceparent: `00-${TRACE}-0000000000000000-01` } })
  await test.app.inject('/no/such/secret-of-a-path?a=1')
  await test.app.inject('/healthz')
  // Closing sends the last spans.
  await test.close()
  spans = collector.spans()
  sent = collector.requests.map(({ body }) => body).join('\n')
})
afterAll(() => Promise.all([collector.close(), receiver.close()]))

function only(name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name)
  expect(found.length, name).toBeGreaterThan(0)
  return found.at(-1)!
}

const below = (span: ReceivedSpan) => spans.filter(({ parentSpanId }) => parentSpanId === span.spanId)

describe('a traced request', () => {
  it('is a span by route, status, request id and safe path', () => {
    expect(only('POST /payment/pay/:payment_id/process')).toMatchObject({
      kind: SERVER,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/payment/pay/:payment_id/process',
        'url.path': `/payment/pay/${payment_id}/process`,
        'url.scheme': 'http',
        'http.response.status_code': 200,
        'tessera.request_id': expect.stringMatching(/^req-/),
      },
    })
    const page = only('GET /payment/pay/:transaction_id').attributes
    expect(page['url.path']).toBe('/payment/pay/:transaction_id')
    expect(only('POST /sign-in').attributes['http.response.status_code']).toBe(303)
    expect(only('GET').attributes).not.toHaveProperty(['url.path'])
    expect(spans.filter(({ attributes }) => attributes['http.route'] === '/healthz')).toEqual([])
  })

  it('continues the trace of its caller, if that is one', () => {
    const continued = only('GET /docs')
    expect(continued).toMatchObject({ traceId: TRACE, parentSpanId: CALLER })
    expect(continued.attributes['tessera.request_id']).toBe(request_id)
    expect(spans.filter(({ traceId }) => traceId === TRACE).every(({ name }) => name !== 'GET')).toBe(true)
    expect(only('GET').parentSpanId ?? '').toBe('')
  })

  it('shows the statements, batches and password that it waited for', () => {
    const signIn = only('POST /sign-in')
    const names = below(signIn).map(({ name }) => name)
    expect(names).toContain('hash password')
    expect(names).toContain('SELECT users')
    const statement = below(signIn).find(({ name }) => name === 'SELECT users')!
    expect(statement).toMatchObject({
      kind: CLIENT,
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': 'SELECT',
        'db.query.summary': 'SELECT users',
      },
    })
    expect(BigInt(statement.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(signIn.startTimeUnixNano))
    expect(BigInt(statement.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(signIn.endTimeUnixNano))

    const pay = only('POST /payment/pay/:transaction_id')
    const batch = below(pay).find(({ name }) => name === 'batch pay orders')!
    expect(batch).toMatchObject({ links: [pay.spanId], attributes: { 'tessera.batch.items': 1 } })
    expect(pay.links).toContain(batch.spanId)
    expect(below(batch).map(({ name }) => name)).toContain('SELECT pay_orders')
    const exchanged = spans.filter(({ name }) => name === 'POST /oauth2/token')
    expect(exchanged.flatMap(below).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['batch claim codes', 'batch claim refresh tokens']),
    )
  })

  it('names a called shop’s host and result; the shop hears nothing', () => {
    const [call] = spans.filter(({ attributes }) => 'server.address' in attributes)
    expect(call).toMatchObject({ name: 'GET', kind: CLIENT })
    expect(call!.attributes).toEqual({
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': receiver.port,
      'http.response.status_code': 200,
    })
    expect(call!.parentSpanId ?? '').toBe('')
    expect(Object.keys(receiver.received[0]!.headers)).not.toContain('traceparent')
  })

  it('tells nothing that was a secret of those who took part', () => {
    expect(new Set(secrets.values())).toEqual(
      new Set([
        ...secrets.values(),
        'password',
        'code',
        'access_token',
        'refresh_token',
        'id_token',
        'authorization',
      ]),
    )
    expect(new Set(secrets.values())).toEqual(
      new Set([
        ...secrets.values(),
        'cookie',
        'signature',
        'sign',
        'transaction_id',
        'notify_url',
        'nonce',
        'key',
      ]),
    )
    expect([...secrets].filter(([value]) => sent.includes(value))).toEqual([])
    expect(sent).not.toMatch(/secret-of|txn_|present|alice|203\.0\.113/)
    expect(JSON.stringify(spans)).not.toContain('://')
  })

  it('has names from a small list, whatever is asked', () => {
    const shape =
      /^(?:(?:GET|POST)(?: \/[a-z0-9/:_.-]*)?|batch [a-z -]+|hash password|[A-Z]+(?: [a-z_0-9]+)?)$/
    expect(spans.filter(({ name }) => !shape.test(name)).map(({ name }) => name)).toEqual([])
    expect(spans.filter(({ events = [] }) => events.length > 0)).toEqual([])
  })
})

it('the collector gets the name of the sender, and the headers that it wants', () => {
  expect(collector.requests[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'content-type': 'application/json', 'x-key': 'a key', 'x-tenant': 'forum' },
  })
  expect(collector.resource()).toMatchObject({ 'service.name': 'forum-wallet' })
})

describe('a batch', () => {
  it('is one span linked to its callers, and failures reach each', async () => {
    const [own, gates] = [await startCollector(), [] as (() => void)[]]
    const tracing = await tracingTo(own)
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      run: async (numbers) => {
        await new Promise<void>((resolve) => gates.push(resolve))
        if (numbers.includes(13)) throw Object.assign(new Error('secret of a message'), { code: '23505' })
        return numbers
      },
    })
    const call = (n: number) =>
      inCall(
        tracing,
        { method: `CALL${n}`, url: null },
        () => submit(n),
        () => end,
      )
    const first = call(1)
    await until(() => gates.length > 0)
    const all = Promise.allSettled([first, call(2), call(13), submit(3)])
    // The first item runs alone. The others then fail together, and run one by one.
    for (let turn = 0; turn < 5; turn += 1) {
      await until(() => gates.length > turn)
      gates[turn]!()
    }
    expect((await all).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    await tracing.close()
    await own.close()

    const found = own.spans()
    const callers = [1, 2, 13].map((n) => found.find(({ name }) => name === `CALL${n}`)!)
    const batches = found.filter(({ name }) => name === 'batch numbers')
    const [one, two, thirteen] = callers.map(({ spanId }) => spanId)
    expect(batches.map(({ links }) => links)).toEqual([[one], [two, thirteen], [two], [thirteen]])
    expect(batches.map(({ attributes }) => attributes)).toEqual([
      { 'tessera.batch.items': 1 },
      { 'tessera.batch.items': 3, 'error.type': '23505' },
      { 'tessera.batch.items': 1 },
      { 'tessera.batch.items': 1, 'error.type': '23505' },
    ])
    expect(batches[1]).toMatchObject({ parentSpanId: two, status: { code: 2 } })
    expect(callers[2]!.links).toEqual([batches[1]!.spanId, batches[3]!.spanId])
    expect(own.requests.map(({ body }) => body).join()).not.toContain('secret')
  })
})

const end = { status: null, failure: undefined }

/** The number of spans in one request. */
const BATCH = 256

function tracingTo(
  { url }: Collector,
  { env = {}, onLost = (_loss: Loss) => {}, clock = () => new Date() } = {},
): Promise<Tracing> {
  const config = loadConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/own/path`, ...env })
  return openTracing({ config, clock, onLost }) as Promise<Tracing>
}

async function trace(tracing: Tracing, count: number): Promise<void> {
  const call = { method: 'GET', url: null }
  for (let i = 0; i < count; i += 1)
    await inCall(
      tracing,
      call,
      async () => {},
      () => end,
    )
}

describe('a collector', () => {
  it('that answers errors is logged once in ten minutes', async () => {
    const own = await startCollector()
    const refuse = (response: ServerResponse) => void response.writeHead(500).end('secret of the collector')
    let third: ServerResponse | undefined
    own.answer = (response) => {
      if (own.requests.length < 3) refuse(response)
      else third = response
    }
    let now = Date.now()
    const losses: Loss[] = []
    const onLost = (loss: Loss) => losses.push(loss)
    const tracing = await tracingTo(own, { onLost, clock: () => new Date(now) })
    await trace(tracing, 3 * BATCH)
    // Requests are sent one after another, so the second has failed silently by now.
    await until(() => third !== undefined)
    expect(losses).toEqual([{ spans: BATCH, reason: '500' }])
    now += 600_000
    refuse(third!)
    await until(() => losses.length > 1)
    expect(losses[1]).toEqual({ spans: 2 * BATCH, reason: '500' })
    expect(own.requests[0]!.path).toBe('/own/path')
    await tracing.close()
    await own.close()
  })

  it('that never answers costs no time, and bounds its queue', async () => {
    const own = await startCollector()
    own.answer = () => {}
    const tracing = await tracingTo(own)
    await trace(tracing, 10_000)
    await until(() => own.requests.length > 0)
    // Closing sends all waiting spans concurrently.
    await tracing.close()
    expect(own.spans().length).toBeLessThanOrEqual(2_048 + BATCH)
    await own.close()
  })
})

describe('the sampler', () => {
  const sampled = async (env: Record<string, string>, traceparent?: string) => {
    const own = await startCollector()
    const tracing = await tracingTo(own, { env })
    const scopes = Array.from({ length: 64 }, () => tracing.begin('x', {}, tracing.callerOf(traceparent)))
    await tracing.close()
    await own.close()
    return scopes.filter((scope) => scope !== undefined).length
  }

  it('is the one named; callers decide only where it says so', async () => {
    const ratio = (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG: string) => ({
      OTEL_TRACES_SAMPLER,
      OTEL_TRACES_SAMPLER_ARG,
    })
    const wanted = `00-${TRACE}-${CALLER}-01`
    const unwanted = `00-${TRACE}-${CALLER}-00`
    expect(await sampled({})).toBe(64)
    expect(await sampled({}, unwanted)).toBe(0)
    expect(await sampled({ OTEL_TRACES_SAMPLER: 'always_on' }, unwanted)).toBe(64)
    expect(await sampled({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, wanted)).toBe(64)
    expect(await sampled(ratio('parentbased_traceidratio', '0'), wanted)).toBe(64)
    expect(await sampled(ratio('traceidratio', '0'), wanted)).toBe(0)
    // Of 64, neither all nor none: each of these is rarer than one in 10 to the 19th.
    expect([0, 64]).not.toContain(await sampled(ratio('traceidratio', '0.5')))
  })
})
