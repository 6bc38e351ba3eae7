/**
 * No signed text is accepted with two meanings. Code that shares nothing with src/ searches for second meanings by
 * brute force, and asks the gateway's own reading without a database.
 */
import { createPrivateKey, createPublicKey, createSign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeCreateTrade } from '../../src/payment/gateway/create.ts'
import { tradeParameters } from '../../src/payment/gateway/messages.ts'
import { isPlain, STARTS_MAX } from '../../src/payment/gateway/readings.ts'
import { authenticate, requireInquiry } from '../../src/payment/gateway/request.ts'
import type { GatewayApp } from '../../src/payment/signing/gateway-apps.ts'
import { type Fields, gatewayText, md5 } from '../harness/gateway-shop.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/gateway')
const pem = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const KEY = 'Wq7kT2vN8pXz4LrB6sYd1HcF9mJg3RtE'
const privateKey = createPrivateKey(pem('merchant-private-key.pem'))
const publicKey = createPublicKey(privateKey)
const platform_key = createPrivateKey(pem('platform-private-key.pem'))
const NOW = new Date(1_767_225_600_000)
const TIMESTAMP = '1767225600'

const app = {
  id: 1n,
  book: 'live',
  payment_id: 'pay_aaaaaaaaaaaaaaaaaaaa',
  pid: 1001n,
  status: 'approved',
  exchange_rate: '100',
  allowed_addresses: [],
  accepts: { v1: true, v2: true },
  merchant_key: KEY,
} as unknown as GatewayApp
const deps = {
  clock: () => NOW,
  limits: { take: async () => {} },
  config: {},
  gatewayKeys: {
    findApp: async ({ pid }: { pid: string }) => (['1001', app.payment_id].includes(pid) ? app : undefined),
    merchantPublicKey: async () => publicKey,
  },
} as unknown as Parameters<typeof authenticate>[2]

type Protocol = 'v1' | 'v2'
type Placed = { order_id: string; description: string; trade: Record<string, string | null> }
/** The result for parameters: the placed order, or the code and text of the refusal. */
type Verdict = { placed?: Placed; code?: string; message?: string }

function signOf(text: string, protocol: Protocol): Fields {
  if (protocol === 'v1') return { sign: md5(text + KEY), sign_type: 'MD5' }
  return { sign: createSign('sha256').update(text).sign(privateKey, 'base64'), sign_type: 'RSA' }
}

async function judged(act: () => Promise<Placed>): Promise<Verdict> {
  try {
    return { placed: await act() }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === undefined) throw error
    return { code, message }
  }
}

const request = { ip: '127.0.0.1', method: 'POST', url: '/' } as Parameters<typeof authenticate>[0]
/** The gateway's verdict on a create. */
const create = (fields: Fields, signature: Fields) =>
  judged(async () => {
    const asked = await authenticate(request, { ...fields, ...signature }, deps, { byBrowser: true })
    let placed: Placed | undefined
    await makeCreateTrade(deps, async (order) => {
      const { trade_no: _, ...trade } = order.gateway!
      placed = { order_id: order.order_id, description: order.description, trade } as unknown as Placed
      return { status: 'unpaid', money: order.gateway!.money, frozen_at: null } as never
    })(asked)
    return placed!
  })

/** All sets of parameters in byte order that form a text. */
function splits(text: string): Fields[] {
  const parts = text.split('&')
  const found: Fields[] = []
  const from = (index: number, fields: [string, string][]): void => {
    if (index === parts.length) {
      if (fields.every(([, value]) => value !== '')) found.push(Object.fromEntries(fields))
      return
    }
    const [, name, value] = /^([^=]*)=(.*)$/s.exec(parts[index]!) ?? []
    const before = fields.at(-1)
    const isAscending =
      name !== undefined &&
      (before === undefined || Buffer.compare(Buffer.from(before[0]), Buffer.from(name)) < 0)
    if (isAscending && name !== 'sign' && name !== 'sign_type') from(index + 1, [...fields, [name, value!]])
    if (before !== undefined)
      from(index + 1, [...fields.slice(0, -1), [before[0], `${before[1]}&${parts[index]}`]])
  }
  from(0, [])
  return found
}

/** The message that the platform signs for the shop once an order is paid. */
async function noticeOf({ order_id, description, trade }: Placed, protocol: Protocol): Promise<Fields> {
  const facts = {
    ...(trade as Record<'pid_sent' | 'money', string> & Record<'type' | 'param', string | null>),
    order_id,
    description,
    trade_no: '1767225600123456789',
    transaction_id: 'txn_01J0000000000000000000000',
    created_at: NOW,
    paid_at: NOW,
    buyer: 'A&B',
  }
  const signer =
    protocol === 'v1' ? ({ protocol, merchant_key: KEY } as const) : ({ protocol, platform_key } as const)
  const { sign: _, sign_type: __, ...fields } = await tradeParameters(facts, signer, NOW)
  return fields
}

const MAY_BE_MISSING = ['type', 'param', 'buyer']
/** Whether a create is possible: without one of these fields it is refused first. */
const isCreate = (fields: Fields) => ['pid', 'money', 'name', 'out_trade_no'].every((name) => name in fields)
const PROTOCOL = new Set(
  `addtime api_trade_no auth_code buyer channel_id cid clientip device endtime method money name notify_url openid
  out_trade_no param pid return_url sitename sub_appid sub_openid timestamp trade_no trade_status type`.split(
    /\s+/,
  ),
)
/** Whether an unknown name stands behind a name or a param, which hold it. */
const isTorn = (fields: Fields) => {
  const names = Object.keys(fields)
  return names.some((name, i) => !PROTOCOL.has(name) && ['name', 'param'].includes(names[i - 1]!))
}
/** A shop that checks every field. */
const isNotice = (fields: Fields, told: Fields) =>
  fields.trade_status === 'TRADE_SUCCESS' &&
  Object.keys(told).every((name) => MAY_BE_MISSING.includes(name) || name in fields) &&
  /^[A-Za-z0-9._\-|]{1,128}$/.test(fields.out_trade_no!) &&
  (fields.api_trade_no === undefined || /^txn_\w+$/.test(fields.api_trade_no)) &&
  /^\w+$/.test(fields.pid!)
/** A shop that credits the order, and reads `7&x` as 7. */
const isCarelessNotice = (fields: Fields) =>
  fields.trade_status === 'TRADE_SUCCESS' && fields.out_trade_no !== undefined
const lead = (value = '') => value.split('&')[0]
const pick = (fields: Fields, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, fields[name]]))

/** Another meaning of the signed text of these parameters, if the gateway or a shop accepts one. */
async function otherMeaning(fields: Fields, placed: Placed, protocol: Protocol): Promise<unknown> {
  const text = gatewayText(fields)
  const told = await noticeOf(placed, protocol)
  const names = Object.keys(told)
  for (const other of splits(gatewayText(told))) {
    const isOther = JSON.stringify(pick(other, names)) !== JSON.stringify(pick(told, names))
    if (isNotice(other, told) && isOther && !isTorn(other)) return { told, other }
    const isSame =
      lead(other.out_trade_no) === told.out_trade_no &&
      lead(other.money ?? told.money) === told.money &&
      lead(other.trade_no ?? told.trade_no) === told.trade_no
    if (isCarelessNotice(other) && !isSame) return { told, careless: other }
  }
  if (protocol === 'v2') return undefined
  const forged = splits(text).find(isCarelessNotice)
  if (forged) return { forged }
  const signature = signOf(gatewayText(told), protocol)
  for (const other of splits(gatewayText(told)).filter(isCreate)) {
    // The fields of a notification are those of a create too, which is refused because it reads as a notification.
    if ((await create(other, signature)).placed) return { told, create: other }
  }
  return undefined
}

const NAMES =
  `act buyer clientip device endtime foo limit money name note notify_url openid option order out_trade_no page
  param part phone pid ref return_url sitename status t timestamp token trade_no trade_status type vip z Zed 0`.split(
    /\s+/,
  )
const VALUES = ['', ...`1 x 1001 O-1 O-2 9.90 0.01 ${TIMESTAMP} TRADE_SUCCESS https://e.example/n`.split(' ')]
const piece = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES))
  .map(([name, value]) => `&${name}=${value}`)
const behind = (bases: string[]) =>
  fc
    .tuple(fc.constantFrom(...bases), fc.array(piece, { maxLength: 3 }))
    .map(([base, pieces]) => base + pieces.join(''))
const sometimes = (value: fc.Arbitrary<string>) => fc.option(value, { nil: '' })
const address = behind(['https://s.example/n', 'https://s.example/n?a=1', 'https://s.example/#/o'])
const requests = fc
  .record({
    pid: fc.constantFrom('1001', '1001', app.payment_id),
    out_trade_no: fc.constant('O-1'),
    money: fc.constantFrom('9.90', '0.01'),
    timestamp: fc.constant(TIMESTAMP),
    name: behind(['Tea', 'x', 'A & B', '{"a":1}']),
    notify_url: address,
    param: sometimes(behind(['uid=5', 'a', '{"url":"https://s.example/?a=1&b=2"}'])),
    return_url: sometimes(address),
    type: fc.constantFrom('', 'alipay'),
    device: sometimes(behind(['pc'])),
    sitename: sometimes(behind(['Shop'])),
    token: sometimes(behind(['t'])),
    nonce: sometimes(fc.constant('n')),
  })
  .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')) as Fields)
  // The brute force tries all splits.
  .filter((fields) => gatewayText(fields).split('&').length <= 14)

describe.each([
  ['v1', 300],
  ['v2', 60],
] as const)('of %s', (protocol, numRuns) => {
  it('no two creates or notifications share a text with different meanings', async () => {
    let [taken, refused] = [0, 0]
    await fc.assert(
      fc.asyncProperty(requests, async (fields) => {
        const signature = signOf(gatewayText(fields), protocol)
        const { placed, code, message } = await create(fields, signature)
        const others: Placed[] = []
        const candidates: Fields[] = []
        for (const split of splits(gatewayText(fields)).filter(isCreate)) {
          const other = await create(split, signature)
          if (other.placed) others.push(other.placed)
          // Its fields are valid, whatever else can be read from its own notification.
          if (other.placed || other.code === 'parameter_ambiguous') candidates.push(split)
        }
        // For any input, at most one meaning is accepted.
        expect(new Set(others.map((other) => JSON.stringify(other))).size).toBeLessThan(2)
        if (placed) {
          taken += 1
          expect(others).toContainEqual(placed)
          expect(await otherMeaning(fields, placed, protocol)).toBeUndefined()
          return
        }
        // Only a request with another meaning is refused.
        expect(code).toBe('parameter_ambiguous')
        expect(message).toMatch(/^\p{Script=Han}+有歧义，签名原文还可读成另一组参数$/u)
        refused += 1
        const { pid, out_trade_no, name, type = null, param = null, money } = fields
        const kept = [...name!].slice(0, 127).join('')
        const own = {
          order_id: out_trade_no!,
          description: kept,
          trade: { pid_sent: pid!, money: money!, type, param },
        }
        const read = ['pid', 'out_trade_no', 'money', 'name', 'notify_url', 'return_url', 'param', 'type']
        const differing = candidates.filter(
          (other) => JSON.stringify(pick(other, read)) !== JSON.stringify(pick(fields, read)),
        )
        if (differing.length === 0) expect(await otherMeaning(fields, own, protocol)).toBeDefined()
      }),
      { numRuns },
    )
    expect(taken).toBeGreaterThan(numRuns / 20)
    expect(refused).toBeGreaterThan(numRuns / 20)
  })
})

const ORDER: Fields = {
  pid: '1001',
  type: 'alipay',
  out_trade_no: 'O-1',
  notify_url: 'https://s.example/notify',
  return_url: 'https://s.example/return',
  name: 'Tea',
  money: '9.90',
  timestamp: TIMESTAMP,
}

describe.each(['v1', 'v2'] as const)('a create of %s', (protocol) => {
  const sent = (over: Fields) => {
    const fields = { ...ORDER, ...over }
    return create(fields, signOf(gatewayText(fields), protocol))
  }

  it.each<Fields>([
    { param: 'uid=5&type=vip' },
    { name: 'Tea&type=green' },
    { param: '{"back":"https://s.example/?uid=5&type=vip&status=1"}' },
    { param: 'a=1&trade_status=TRADE_SUCCESS' },
    { param: 'uid=5&ref=abc&page=2' },
    { name: 'x&type=' },
    { name: 'A & B = C&D' },
    { return_url: 'https://s.example/?a=1&token=2&uid=3' },
    { notify_url: 'https://s.example/?plugin=epay&order=5&out_trade_no=7' },
    { return_url: 'https://s.example/?a=1', sitename: 'Shop' },
    { param: 'uid=5&pid=12' },
    { param: 'uid=5&pid=1001' },
    { param: 'uid=5&phone=138' },
    { name: 'Tea&option=2' },
    { return_url: 'https://s.example/ret?order_id=5&status=ok' },
  ])('takes %j, which has one meaning', async (over) => {
    expect((await sent(over)).placed).toBeDefined()
  })

  it.each<[Fields, string]>([
    [{ name: 'x&out_trade_no=O-2&pid=1001&trade_no=T&trade_status=TRADE_SUCCESS&type=alipay' }, '商品名称'],
    // A shop that reads only the number and the status.
    [{ name: 'x&out_trade_no=O-2&r=' }, '商品名称'],
    // An unknown name that the value before it could have held.
    [{ name: 'Tea', note: '2' }, '商品名称'],
    [{ param: 'uid=5', phone: '1' }, '业务扩展参数'],
    [{ return_url: 'https://s.example/r&sitename=Shop' }, '跳转通知地址'],
    [{ return_url: 'https://s.example/?a=1', shop: '7' }, '跳转通知地址'],
  ])('refuses %j, and names the field', async (over, label) => {
    const message = `${label}有歧义，签名原文还可读成另一组参数`
    expect(await sent(over)).toEqual({ code: 'parameter_ambiguous', message })
  })

  it('is refused with more places for a parameter than are looked into', async () => {
    expect((await sent({ foo: `x${'&a=1'.repeat(STARTS_MAX - 9)}` })).placed).toBeDefined()
    expect(await sent({ foo: `x${'&a=1'.repeat(STARTS_MAX)}` })).toEqual({
      code: 'parameter_ambiguous',
      message: '请求参数中与号过多，无法判断签名原文的含义',
    })
  })
})

it('a V1 link that reads as a notification is refused', async () => {
  const { type: _, timestamp: __, ...bare } = ORDER
  const links: Fields[] = [
    { ...(bare as Fields), sitename: 'Shop&trade_status=TRADE_SUCCESS' },
    { ...(bare as Fields), trade_status: 'TRADE_SUCCESS' },
    { ...ORDER, param: 'x&pid=1001&trade_no=1&trade_status=TRADE_SUCCESS&z=' },
  ]
  for (const link of links)
    expect(await create(link, signOf(gatewayText(link), 'v1'))).toMatchObject({ code: 'parameter_ambiguous' })
  // In V2, the shop's own key signs the link, and its verifier expects the platform's key.
  const fresh = { ...links[0]!, timestamp: TIMESTAMP }
  expect((await create(fresh, signOf(gatewayText(fresh), 'v2'))).placed).toBeDefined()
  const told = { ...ORDER, param: 'a&notify_url=https://e.example/n&out_trade_no=O-2&pid=1001&z=' }
  expect(await create(told, signOf(gatewayText(told), 'v1'))).toMatchObject({ code: 'parameter_ambiguous' })
})

it.each(['v1', 'v2'] as const)(
  'a notification of %s names one trade, even without a pid',
  async (protocol) => {
    const param = 'p&timestamp=1767225600&trade_no=9&trade_status=TRADE_SUCCESS&zz=1'
    const trade = { ...ORDER, timestamp: TIMESTAMP, param }
    const message = '业务扩展参数有歧义，签名原文还可读成另一组参数'
    const answer = await create(trade, signOf(gatewayText(trade), protocol))
    expect(answer).toEqual({ code: 'parameter_ambiguous', message })
  },
)

it.each<[isPlain: boolean, fields: Fields]>([
  [true, ORDER],
  [true, { ...ORDER, param: '茶=1', type: ' ' }],
  [false, { ...ORDER, param: 'a&b' }],
  [false, { ...ORDER, name: 'Tea&type=x' }],
  [false, { ...ORDER, note: 'x' }],
  [false, { ...ORDER, note: ' ' }],
])('only a text of known names, without & in a value, needs no search: %s', (plain, fields) => {
  const present = Object.values(fields).filter((value) => value.trim() !== '')
  expect(isPlain(gatewayText(fields), present)).toBe(plain)
})

it('a query means one thing: a field inside a value is refused', async () => {
  const ask = (fields: Fields) =>
    judged(async () => {
      const signature = signOf(gatewayText(fields), 'v1')
      requireInquiry(await authenticate(request, { ...fields, ...signature }, deps, { byKey: true }))
      return 'asked' as unknown as Placed
    })
  expect(await ask({ act: 'order', out_trade_no: 'O-1', pid: '1001' })).toEqual({ placed: 'asked' })
  expect(await ask({ act: 'order', foo: 'x&out_trade_no=O-2', pid: '1001' })).toMatchObject({
    code: 'parameter_ambiguous',
    message: expect.stringContaining('商户订单号'),
  })
  // A link that a payer carries is no query.
  expect(await ask({ ...ORDER, act: 'order' })).toMatchObject({ code: 'invalid_signature' })
})
