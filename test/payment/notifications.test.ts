/**
 * Notifications to a receiver that is a real server: success, the schedule, claims, fairness, the egress guard.
 * spec/payment-api 5.3 and spec/gateway 4.1.
 */
import { createHash, createPublicKey, createVerify } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { setDefaultCACertificates } from 'node:tls'
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import type { AttemptOutcome } from '../../src/database/tables/notifications.ts'
import { readNotifications } from '../../src/payment/notifications/redelivery.ts'
import { openNotifier } from '../../src/payment/notifications/worker.ts'
import { certificateOf, endedCertificateOf, type KeyAndCertificate } from '../harness/certificate.ts'
import { messages } from '../harness/messages.ts'
import { type Receiver, startReceiver, succeed } from '../harness/notify-receiver.ts'
import { startNotifyWorld } from '../harness/notify-world.ts'
import { payOrder, placeOrder, refund } from '../harness/orders.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { until } from '../harness/waiting.ts'
import { feignWrongClock } from '../harness/wrong-clock.ts'

const MINUTE_MS = 60_000
/** The time limit of an attempt without an answer. An answered one must not take as long, on any machine. */
const TIMEOUT_MS = 5_000

const world = await startNotifyWorld({ timeout_ms: TIMEOUT_MS })
const { receiver, test } = world
afterAll(() => world.close())

/** Expects how the attempt at an address ends. */
const expectOutcome = async (url: string, outcome: AttemptOutcome, detail: string | null) =>
  expect(await world.outcomeAt(url)).toMatchObject({ outcome, detail })

/** Holds back the answer to the next notification, and all later ones succeed at once. */
function holdAnswer() {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>()
  receiver.answer = (_, response) => {
    receiver.answer = succeed
    resolve(response)
  }
  return { asked: promise, answer: async () => (await promise).end('success') }
}

/** Answers of servers that print warnings before the body. */
const WARNED = [
  'Warning: Undefined array key "a" in notify.php on line 3\nsuccess',
  '<br />\r\n<b>Notice</b>: x\r\n<br />\r\nSUCCESS\r\n\r\n',
  'Deprecated: y\n\n\ufeff"success"\n',
  'z\rsuccess',
]

describe('an attempt', () => {
  it('is the signed GET of V1 or V2 under its key', async () => {
    const v1 = await world.payOne(`${receiver.url}/signed/v1?shop=7`)
    const v2 = await world.payOne(`${receiver.url}/signed/v2`, { protocol: 'v2' })
    await world.told([v1, v2])
    // The address's own parameter belongs to the merchant.
    const canonical = ({ sign: _sign, sign_type: _type, shop: _shop, ...fields }: Record<string, string>) =>
      Object.keys(fields)
        .sort()
        .map((name) => `${name}=${fields[name]}`)
        .join('&')
    const [first] = world.requestsTo('/signed/v1')
    expect(first!.fields).toMatchObject({ shop: '7', trade_status: 'TRADE_SUCCESS', sign_type: 'MD5' })
    const expected = createHash('md5').update(canonical(first!.fields) + world.merchant.merchant_key)
    expect(first!.fields.sign).toBe(expected.digest('hex'))
    expect(first!.headers).toMatchObject({ host: `127.0.0.1:${receiver.port}`, connection: 'close' })
    expect(first!.headers['user-agent']).toBe(`Tessera (+${test.url})`)

    const [second] = world.requestsTo('/signed/v2')
    const app = await test.deps.gatewayKeys.findApp({ app_id: world.merchant.id })
    const key = createPublicKey(await test.deps.gatewayKeys.platformKey(app!))
    const { sign, api_trade_no, timestamp } = second!.fields
    expect(createVerify('sha256').update(canonical(second!.fields)).verify(key, sign!, 'base64')).toBe(true)
    expect(api_trade_no).toBe(v2)
    expect(timestamp).toBe(String(test.clock.now().getTime() / 1000))
    // The log keeps the request as sent.
    const [attempt] = await world.attemptsOf(v1)
    expect(new URL(attempt!.url!).searchParams.get('sign')).toBe(first!.fields.sign)
    expect(attempt).toMatchObject({ outcome: 'delivered', response_status: 200, response_body: 'success' })
    const ms = expect.any(Number)
    expect(attempt!.step_ms).toEqual({ dns: ms, connect: ms, answer: ms })
  })

  it('succeeds by a 2xx whose last line is the word success', async () => {
    const right = [
      'success',
      'SUCCESS',
      'Success',
      ' success\r\n',
      '"success"',
      '"SUCCESS"\n',
      '\ufeffsuccess',
      '\ufeff "success" ',
      '\n\n\tsuccess',
      ...WARNED,
    ]
    const wrong = [
      '',
      'ok',
      'fail',
      'successful',
      'not success',
      '<b>success</b>',
      "'success'",
      '""success""',
      '"success',
      '{"result":"success"}',
      'ſucceſs',
      'success\nfail',
      'fail success',
      'Warning: x\n<b>success</b>',
      'success\n<!-- rendered in 12 ms -->',
    ]
    const bodies = [...right, ...wrong]
    const given = new Map<string, string>()
    receiver.answer = ({ fields }, response) => {
      given.set(fields.out_trade_no!, bodies[given.size]!)
      response.writeHead(given.size % 2 === 0 ? 200 : 202).end(given.get(fields.out_trade_no!))
    }
    await world.told(await world.payOrders(`${receiver.url}/spellings`, { count: bodies.length }))
    receiver.answer = succeed
    const { rows: notifications } = await readNotifications(
      test.db,
      { role: 'administrator' },
      {},
      bodies.length,
    )
    const outcomes = new Map(notifications.map((each) => [given.get(each.order_id)!, each.log[0]!.outcome]))
    expect(right.map((body) => [body, outcomes.get(body)])).toEqual(right.map((body) => [body, 'delivered']))
    expect(wrong.map((body) => [body, outcomes.get(body)])).toEqual(wrong.map((body) => [body, 'wrong_body']))
    const details = new Map(notifications.map((each) => [given.get(each.order_id)!, each.log[0]!.detail]))
    expect(WARNED.map((body) => details.get(body))).toEqual([
      'Warning: Undefined array key "a" in notify.php on line 3',
      '<br />\n<b>Notice</b>: x\n<br />',
      'Deprecated: y',
      'z',
    ])
    expect(details.get('success')).toBeNull()
  })

  type Misbehaviour = [
    what: string,
    answer: Receiver['answer'],
    outcome: AttemptOutcome,
    facts?: { detail?: string | null; response_status?: number | null; response_body?: string | null },
  ]
  const drip = (response: ServerResponse) => {
    const timer = setInterval(() => response.write('s'), 20)
    response.on('close', () => clearInterval(timer))
  }
  const status =
    (code: number, headers: Record<string, string | number> = {}, body = ''): Receiver['answer'] =>
    (_, response) =>
      void response.writeHead(code, headers).end(body)
  const endless: Receiver['answer'] = (_, response) => {
    response.on('error', () => {})
    const more = () => {
      while (response.write(' '.repeat(10_000)));
      response.once('drain', more)
    }
    more()
  }
  const half: Receiver['answer'] = (_, response) => {
    response.writeHead(200, { 'content-length': 7 }).write('succ')
    setTimeout(() => response.destroy(), 20)
  }
  const long = `<html>${'x'.repeat(5_000)}`
  const misbehaviours: Misbehaviour[] = [
    ['500', status(500, {}, 'success'), 'bad_status', { response_status: 500, response_body: 'success' }],
    [
      '403 of a challenge',
      status(403, { 'cf-mitigated': 'challenge' }),
      'bad_status',
      { detail: 'challenge' },
    ],
    ['403 of a program', status(403), 'bad_status', { detail: null }],
    ['520', status(520), 'bad_status', { detail: 'origin' }],
    ['526', status(526), 'bad_status', { detail: 'origin' }],
    ['527', status(527), 'bad_status', { detail: null }],
    ['405 for all but POST', status(405, { allow: 'POST, OPTIONS' }), 'bad_status', { detail: 'post_only' }],
    ['405 without a list', status(405), 'bad_status', { detail: null }],
    ['404 in a page', status(404, {}, long), 'bad_status', { response_body: long.slice(0, 2_048) }],
    ['301', status(301, { location: `${receiver.url}/elsewhere` }), 'redirect', { response_status: 301 }],
    ['302 without a target', status(302), 'redirect', { detail: null }],
    [
      '64 KiB and a byte',
      status(200, {}, `success${' '.repeat(65_530)}`),
      'too_large',
      { response_status: 200 },
    ],
    ['a body without end', endless, 'too_large'],
    ['nothing, ever', () => {}, 'timeout', { detail: 'answer', response_status: null }],
    ['one byte at a time', (_, r) => drip(r), 'timeout', { detail: 'body' }],
    ['500, and then the same', (_, r) => drip(r.writeHead(500)), 'bad_status', { response_status: 500 }],
    ['half a body, then the connection ends', half, 'cut'],
    ['no answer, and the connection ends', (_, r) => void r.destroy(), 'cut', { detail: 'ECONNRESET' }],
    ['no HTTP', (_, r) => void r.socket!.end('hello\r\n\r\n'), 'malformed'],
    [
      'endless headers',
      status(200, { x: 'x'.repeat(20_000) }),
      'malformed',
      { detail: 'HPE_HEADER_OVERFLOW' },
    ],
    [
      'text that Postgres could not store',
      (_, r) => r.end(Buffer.from([0, 115, 0xff, 0, 0xe6, 0x88])),
      ...(['wrong_body', { response_body: 's\ufffd' }] as const),
    ],
    [
      'compressed success',
      (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from('1f8b', 'hex')),
      'wrong_body',
    ],
  ]

  it('that failed names its address, and shows what preceded success', async () => {
    receiver.answer = ({ path }, response) =>
      void response.end(path === '/warned' ? 'Warning: <old> PHP\nsuccess' : 'fail')
    const orders = await Promise.all(
      ['own?shop=7', 'plain', 'warned'].map((path) => world.payOne(`${receiver.url}/${path}`)),
    )
    await world.told(orders)
    receiver.answer = succeed
    const client = await world.merchant.owner.signIn()
    const pageOf = async (transaction_id: string | undefined, language: string) => {
      const path = `/payment/applications/${world.merchant.payment_id}/notifications`
      const page = await client.get(`${path}?${new URLSearchParams({ transaction_id: transaction_id! })}`, {
        'accept-language': language,
      })
      expect(page.status).toBe(200)
      return page.body
    }
    const [own, plain, warned] = orders
    const ownQuery = (names: string[]) => messages.en.notifications.ownQuery(names)
    expect(await pageOf(own, 'en')).toContain(ownQuery(['notify_url']))
    expect(await pageOf(own, 'zh-CN')).toContain(messages['zh-CN'].notifications.ownQuery(['notify_url']))
    expect(await pageOf(plain, 'en')).not.toContain(ownQuery(['notify_url']))
    expect(await pageOf(warned, 'en')).toContain(
      `${messages.en.notifications.beforeSuccess} <code>Warning: &lt;old&gt; PHP<`,
    )
    await setRows(test, 'orders', { transaction_id: own! }, { return_url: 'https://shop.example/?a=1' })
    expect(await pageOf(own, 'en')).toContain(ownQuery(['notify_url', 'return_url']))
  })

  it('fails by any other answer, each for its reason', async () => {
    receiver.answer = (request, response) =>
      misbehaviours[Number(request.path.split('/').pop())]![1](request, response)
    const orders: [string, Misbehaviour][] = []
    for (const [i, each] of misbehaviours.entries())
      orders.push([await world.payOne(`${receiver.url}/bad/${i}`), each])
    const deaf = createTcpServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    const { port } = deaf.address() as AddressInfo
    const handshake = await world.payOne(`https://127.0.0.1:${port}/`)
    orders.push([handshake, ['no handshake', succeed, 'timeout', { detail: 'tls' }]])
    world.dns.silent.add('silent.test')
    const unnamed = await world.payOne('http://silent.test/')
    await world.told([unnamed, ...orders.map(([id]) => id)])
    receiver.answer = succeed
    expect((await world.attemptsOf(unnamed))[0]!.outcome).toMatch(/^(dns|timeout)$/)
    for (const [id, [what, , outcome, facts = {}]] of orders) {
      const [attempt] = await world.attemptsOf(id)
      expect({ what, ...attempt }).toMatchObject({ what, outcome, ...facts })
      expect(await world.rowOf(id)).toMatchObject({ status: 'due', attempts: 1 })
    }
    deaf.close()
    expect(world.requestsTo('/elsewhere')).toEqual([])
    expect(world.requestsTo('/bad/2')).toHaveLength(1)
  })

  it('fails where nobody listens, and where the address is none', async () => {
    const gone = await startReceiver()
    await gone.close()
    await expectOutcome(`${gone.url}/`, 'refused', 'ECONNREFUSED')
    await expectOutcome('http://nowhere.test/', 'dns', 'ENOTFOUND')
    await expectOutcome('http://127.0.0.1:22/', 'bad_address', 'port')
    await expectOutcome('not an address', 'bad_address', 'unreadable')
  })
})

describe('TLS', () => {
  const listen = (options: KeyAndCertificate) =>
    startReceiver({ create: (listener) => createTlsServer(options, listener) })

  it('is verified, for the name in the address and no other', async () => {
    const valid = certificateOf('shop.test')
    const stale = endedCertificateOf('shop.test')
    for (const name of ['shop.test', 'other.test']) world.dns.names.set(name, ['127.0.0.1'])
    const [good, expired] = [await listen(valid), await listen(stale)]
    const address = `https://shop.test:${good.port}/`
    await expectOutcome(address, 'tls', 'DEPTH_ZERO_SELF_SIGNED_CERT')
    setDefaultCACertificates([valid.cert, stale.cert])
    const { step_ms, ...end } = await world.outcomeAt(address)
    expect(end).toMatchObject({ outcome: 'delivered' })
    expect(Object.keys(step_ms ?? {}).sort()).toEqual(['answer', 'connect', 'dns', 'tls'])
    expect(good.received[0]!.headers.host).toBe(`shop.test:${good.port}`)
    await expectOutcome(address.replace('shop', 'other'), 'tls', 'ERR_TLS_CERT_ALTNAME_INVALID')
    await expectOutcome(`https://shop.test:${expired.port}/`, 'tls', 'CERT_HAS_EXPIRED')
    await expectOutcome(`https://127.0.0.1:${receiver.port}/`, 'tls', 'ERR_SSL_WRONG_VERSION_NUMBER')
    expect(good.received).toHaveLength(1)
    expect(expired.received).toHaveLength(0)
    await good.close()
    await expired.close()
  })
})

describe('the way there', () => {
  it('leads to no private address, written out or by name', async () => {
    world.dns.names.set('inside.test', ['10.0.0.1', '::1', '::ffff:10.0.0.1', '169.254.169.254'])
    for (const host of ['inside.test', '10.0.0.1', '[::1]', '169.254.169.254'])
      await expectOutcome(`http://${host}/`, 'blocked', null)
  })

  it('uses the judged address, whatever the name says a moment later', async () => {
    // Both addresses are allowed, so only the pinned address decides which one is called.
    const other = await startReceiver({ host: '127.0.0.2', port: receiver.port })
    world.dns.questions.length = 0
    world.dns.names.set('rebind.test', () => [world.dns.questions.length <= 2 ? '127.0.0.1' : '127.0.0.2'])
    receiver.answer = (_, response) => response.end('not yet')
    const transaction_id = await world.payOne(`http://rebind.test:${receiver.port}/rebind`)
    await world.told([transaction_id])
    expect(world.dns.questions.toSorted()).toEqual(['A rebind.test', 'AAAA rebind.test'])
    expect(world.requestsTo('/rebind')).toHaveLength(1)
    expect(other.received).toEqual([])

    // Each attempt checks the address again.
    world.dns.names.set('rebind.test', ['192.168.0.1'])
    test.clock.advance(MINUTE_MS)
    await world.told([transaction_id], 2)
    receiver.answer = succeed
    const attempts = await world.attemptsOf(transaction_id)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['wrong_body', 'blocked'])
    await other.close()
  })
})

describe('the schedule', () => {
  it('runs at once, then after 1, 5, 30, 120 and 720 minutes', async () => {
    receiver.answer = ({ path }, response) => response.end(path === '/schedule' ? 'no' : 'success')
    const transaction_id = await world.payOne(`${receiver.url}/schedule`, { protocol: 'v2' })
    const [paid_at, sent_at] = [test.clock.now(), [] as number[]]
    for (const [i, minutes] of [0, 1, 5, 30, 120, 720].entries()) {
      if (minutes > 0) {
        test.clock.advance(minutes * MINUTE_MS - 1)
        await world.everybodyElseIsTold()
        expect(await world.rowOf(transaction_id)).toMatchObject({ attempts: i, claims: i })
        test.clock.advance(1)
      }
      sent_at.push(test.clock.now().getTime())
      await world.told([transaction_id], i + 1)
    }
    expect(await world.rowOf(transaction_id)).toMatchObject({
      status: 'failed',
      attempts: 6,
      next_attempt_at: null,
    })
    const attempts = await world.attemptsOf(transaction_id)
    expect(attempts.map(({ outcome, started_at }) => [outcome, started_at.getTime()])).toEqual(
      sent_at.map((at) => ['wrong_body', at]),
    )
    // Each was signed at its own time. Otherwise strict verifiers would refuse the later ones.
    const requests = world.requestsTo('/schedule')
    expect(requests.map(({ fields }) => Number(fields.timestamp) * 1000)).toEqual(
      sent_at.map((at) => Math.floor(at / 1000) * 1000),
    )
    expect(new Set(requests.map(({ fields }) => fields.sign)).size).toBe(6)
    expect(sent_at.at(-1)! - paid_at.getTime()).toBe((1 + 5 + 30 + 120 + 720) * MINUTE_MS)

    test.clock.advance(7 * 24 * 60 * MINUTE_MS)
    await world.everybodyElseIsTold()
    expect(world.requestsTo('/schedule')).toHaveLength(6)
    receiver.answer = succeed
  })

  it('rests while the clock of its process is wrong', async () => {
    const clock = feignWrongClock(test.deps.clockCheck)
    const transaction_id = await world.payOne(`${receiver.url}/rested`)
    const asked = clock.asked()
    test.deps.notifier.nudge()
    await until(() => clock.asked() >= asked + 2)
    expect(await world.rowOf(transaction_id)).toMatchObject({
      status: 'due',
      attempts: 0,
      claimed_until: null,
    })
    clock.end()
    await world.told([transaction_id])
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered' })
  })

  it('drops an attempt that ended by a wrong clock, and repeats it', async () => {
    const held = holdAnswer()
    const transaction_id = await world.payOne(`${receiver.url}/dropped`)
    test.deps.notifier.nudge()
    await held.asked
    const clock = feignWrongClock(test.deps.clockCheck)
    await held.answer()
    const asked = clock.asked()
    await until(() => clock.asked() >= asked + 2)
    clock.end()
    const { claimed_until } = await world.rowOf(transaction_id)
    test.clock.advance(claimed_until!.getTime() - test.clock.now().getTime())
    await world.told([transaction_id])
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered' })
    expect(world.requestsTo('/dropped')).toHaveLength(2)
  })

  it('ends with the first success', async () => {
    receiver.answer = (_, response) => response.writeHead(503).end()
    const transaction_id = await world.payOne(`${receiver.url}/second-try`)
    await world.told([transaction_id])
    receiver.answer = succeed
    test.clock.advance(MINUTE_MS)
    await world.told([transaction_id], 2)
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered', next_attempt_at: null })
    test.clock.advance(24 * 60 * MINUTE_MS)
    await world.everybodyElseIsTold()
    expect(world.requestsTo('/second-try')).toHaveLength(2)
  })

  it('ends without a word when the order has been given back meanwhile', async () => {
    receiver.answer = (_, response) => response.writeHead(503).end()
    const transaction_id = await world.payOne(`${receiver.url}/given-back`)
    await world.told([transaction_id])
    receiver.answer = succeed
    await refund(test, { transaction_id }, 100n)
    test.clock.advance(MINUTE_MS)
    await world.told([transaction_id], 2)
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'failed', next_attempt_at: null })
    expect((await world.attemptsOf(transaction_id))[1]).toMatchObject({ outcome: 'withdrawn', url: null })
    expect(world.requestsTo('/given-back')).toHaveLength(1)
  })

  it('knows nothing of orders of the HMAC API, which sends no event', async () => {
    const count = async () => (await rowsOf(test, 'notifications')).length
    const [before, received] = [await count(), receiver.received.length]
    await payOrder(test, await placeOrder(world.merchant), world.buyer)
    expect(await count()).toBe(before)
    await world.everybodyElseIsTold()
    expect(receiver.received.length).toBe(received + 1)
  })
})

describe('the process that was paid in', () => {
  it('notifies at once, and waits for the shop as long as asked', async () => {
    const transaction_id = await world.payOne(`${receiver.url}/at-once`)
    const { order_id } = await world.rowOf(transaction_id)
    await test.deps.notifier.attempted(order_id!, 20_000)
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered' })
    const held = holdAnswer()
    const slow = await world.payOne(`${receiver.url}/slow`)
    await test.deps.notifier.attempted((await world.rowOf(slow)).order_id!, 50)
    expect(await world.rowOf(slow)).toMatchObject({ status: 'due', attempts: 0 })
    await held.asked
    await held.answer()
    await world.told([slow])
  })

  it('learns of an attempt that another process has made', async () => {
    const held = holdAnswer()
    const transaction_id = await world.payOne(`${receiver.url}/elsewhere`)
    test.deps.notifier.nudge()
    await held.asked
    const here = openNotifier(test.deps, { resolver: world.dns.resolver })
    here.start(test.app.log)
    const { order_id } = await world.rowOf(transaction_id)
    const waited = here.attempted(order_id!, 10 * MINUTE_MS)
    await held.answer()
    await waited
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered' })
    await here.stop()
  })

  it('ends the wait in time while the database does not answer the look', async () => {
    const { order_id } = await world.rowOf(await world.payOne(`${receiver.url}/locked`))
    const here = openNotifier(test.deps, { resolver: world.dns.resolver })
    await test.db.transaction().execute(async (tx) => {
      await sql`lock table notifications in access exclusive mode`.execute(tx)
      here.start(test.app.log)
      // Without a bound, the look would wait for the lock that this transaction holds.
      await here.attempted(order_id!, 400)
    })
    await here.stop()
    await world.everybodyElseIsTold()
  })
})
