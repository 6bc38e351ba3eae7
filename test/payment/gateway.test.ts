/**
 * The gateway from outside, by the tables of the protocol: every parameter, both versions on each other's paths, both
 * shapes of answer, the life of a trade, and every refusal. spec/gateway 1.1–1.9, 2.1–2.4 and 3.1–3.3.
 */
import { sql } from 'kysely'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { SettingName } from '../../src/core/setting-values.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { resetMerchantKey } from '../../src/payment/apps/key-changes.ts'
import { switchVersions } from '../../src/payment/apps/own-app.ts'
import { makeCreateTrade } from '../../src/payment/gateway/create.ts'
import { GATEWAY_ERRORS } from '../../src/payment/gateway/errors.ts'
import { makePlaceOrder } from '../../src/payment/orders/place.ts'
import { makeFindPaidOrder } from '../../src/payment/orders/return.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { expectFairQueue } from '../harness/fair-queue.ts'
import {
  type Fields,
  gatewayText,
  makeShop,
  md5,
  type Reply,
  type Shop,
  secondsAt,
  send,
} from '../harness/gateway-shop.ts'
import { browser, setSetting, startTestApp, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { COUNTED_APART, inOneProcess } from '../harness/one-process.ts'
import { refund } from '../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'

const MAPI = '/payment/api/mapi.php'
const API = '/payment/api/api.php'
const SUBMIT = '/payment/api/submit.php'
const CREATE = '/payment/api/pay/create'
/** Chinese, with the names of standards in it. */
const HAN_AND_NAMES =
  /^[\p{Script=Han}，]+(?: (?:UTF-8|Content-Type|application\/x-www-form-urlencoded)(?:[ ，]?[\p{Script=Han}，]+)?)*$/u

const itCounts = it.skipIf(inOneProcess(COUNTED_APART))

const seen = new Set<string>()

const test = await useTestApp()
const shop = await makeShop(test)
const other = await makeShop(test, { newKey: true })
const alice = await makePerson(test, { points: 1_000_000n })
const buyer = await alice.signIn()
afterAll(() => expectSoundBooks(test.db))

const seconds = (offset = 0) => secondsAt(test, offset)
const { trade } = shop
const signedBy = (fields: Fields) => ({ text: gatewayText(fields), reader: { needs: [], takes: {} } })
/** What every signed answer ends with. */
const signature = () => ({ timestamp: seconds(), sign: expect.any(String), sign_type: 'RSA' })
const without = (fields: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))

async function ask(path: string, fields: Fields | string, method: 'GET' | 'POST' = 'POST'): Promise<Reply> {
  const response = await send(test, method, path, fields)
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-type']).toMatch(/^application\/json/)
  expect(response.headers['cache-control']).toBe('no-store')
  expect(response.headers['set-cookie']).toBeUndefined()
  return response.json()
}
const createV1 = (fields: Fields) => ask(MAPI, shop.signMd5(fields))
const createV2 = (fields: Fields) => ask(CREATE, shop.signRsa(fields))
const askV2 = (path: string, fields: Fields = {}, seller = shop) =>
  ask(`/payment/api/${path}`, seller.signRsa({ pid: seller.pidText, timestamp: seconds(), ...fields }))
const askApi = (act: string, fields: Fields = {}, seller = shop) =>
  ask(`${API}?act=${act}`, { pid: seller.pidText, key: seller.merchant_key, ...fields })

const tradeOf = (out_trade_no: string, seller = shop) =>
  rowOf(test, 'orders', { app_id: seller.id, door: 'gateway', order_id: out_trade_no })
const countOrders = async () => (await rowsOf(test, 'orders')).length

/** The shape of an answer: by the path, and signed on V1's paths if the request used RSA. */
type Shape = 'v1' | 'v1 signed' | 'v2'

/**
 * Expects a refusal in the shape of a version. Answers to RSA and on V2's paths must be signed with the given key.
 */
function expectRefusal(reply: Reply, version: Shape, code: string, msg?: string, signer: Shop | null = shop) {
  const wire = GATEWAY_ERRORS[code]!
  expect(reply).toMatchObject({ code: wire[version === 'v2' ? 'v2' : 'v1'], msg: msg ?? wire.msg })
  expect(reply.msg).toMatch(reply.code === -5 ? /./ : HAN_AND_NAMES)
  expect(reply).not.toHaveProperty('status')
  const isSigned = version !== 'v1' && signer !== null
  expect(Object.keys(reply).sort()).toEqual(
    isSigned ? ['code', 'msg', 'sign', 'sign_type', 'timestamp'] : ['code', 'msg'],
  )
  if (isSigned) expect(reply).toMatchObject({ sign_type: 'RSA', timestamp: seconds() })
  if (isSigned) expect(signer!.isGenuine(reply)).toBe(true)
  seen.add(code)
}

/** Expects a refusal that is not signed. */
const expectUnsigned = (reply: Reply, version: Shape, code: string) =>
  expectRefusal(reply, version, code, undefined, null)

/** Pays as the payer in a browser. Returns the address after it. */
async function pay(out_trade_no: string, seller = shop): Promise<URL> {
  const path = `/payment/pay/${(await tradeOf(out_trade_no, seller)).transaction_id}`
  const paid = await buyer.submit(await buyer.get(path), path)
  expect(paid.status).toBe(303)
  return new URL(paid.location!)
}

const set = (name: SettingName, value: string) => setSetting(test, name, value)

describe('a create', () => {
  it.each([
    ['mapi.php', 'POST', MAPI, 'v1'],
    ['mapi.php', 'GET', MAPI, 'v1'],
    ['pay/create', 'POST', CREATE, 'v2'],
  ] as const)(
    'at %s by %s is answered by path, and verified by sign_type',
    async (_, method, path, shape) => {
      for (const protocol of ['v1', 'v2'] as const) {
        const fields = trade({
          param: 'uid=42;note=测试',
          device: 'pc',
          clientip: '0',
          sitename: 'My Shop',
          cid: '',
        })
        const signed = protocol === 'v1' ? shop.signMd5(fields) : shop.signRsa(fields)
        const reply = await ask(path, signed, method)
        const row = await tradeOf(fields.out_trade_no!)
        const payurl = `${test.url}/payment/pay/${row.transaction_id}`
        if (shape === 'v1') {
          const answer = { code: 1, msg: 'success', trade_no: row.trade_no, payurl }
          expect(reply).toEqual(protocol === 'v1' ? answer : { ...answer, ...signature() })
          expect(shop.isGenuine(reply)).toBe(protocol === 'v2')
        } else {
          expect(reply).toEqual({
            code: 0,
            msg: 'success',
            trade_no: row.trade_no,
            pay_type: 'jump',
            pay_info: payurl,
            pid: Number(shop.pid),
            out_trade_no: fields.out_trade_no,
            money: '9.90',
            ...signature(),
          })
          expect(shop.isGenuine(reply)).toBe(true)
          expect(shop.isGenuine({ ...reply, money: '9.9' })).toBe(false)
        }
        expect(row).toMatchObject({
          protocol,
          door: 'gateway',
          status: 'unpaid',
          amount: 990n,
          money: '9.90',
          rate: '100.000000',
          type: 'alipay',
          param: 'uid=42;note=测试',
          description: 'VIP membership',
          pid_sent: shop.pidText,
          notify_url: fields.notify_url,
          return_url: fields.return_url,
          trade_no: expect.stringMatching(/^\d{19}$/),
        })
        expect(row.expires_at.getTime() - test.clock.now().getTime()).toBe(30 * 60_000)
      }
    },
  )

  it.each([
    ['submit.php', 'GET', SUBMIT],
    ['submit.php', 'POST', SUBMIT],
    ['pay/submit', 'GET', '/payment/api/pay/submit'],
    ['pay/submit', 'POST', '/payment/api/pay/submit'],
  ] as const)('at %s by %s sends the buyer on to the pay page', async (_, method, path) => {
    for (const sign of [shop.signMd5, shop.signRsa]) {
      const fields = trade()
      const response = await send(test, method, path, sign(fields))
      const { transaction_id } = await tradeOf(fields.out_trade_no!)
      const url = `${test.url}/payment/pay/${transaction_id}`
      expect(response).toMatchObject({
        statusCode: 302,
        headers: { location: url, 'cache-control': 'no-store' },
      })
      expect(response.headers['content-type']).toMatch(/^text\/html/)
      expect(response.headers['set-cookie']).toBeUndefined()
      expect(response.body).toContain(url)
      expect(response.body.length).toBeLessThan(400)
    }
  })

  it('reads the query that names a pid, else the body', async () => {
    const [inQuery, inBody] = [shop.signMd5(trade()), shop.signMd5(trade())]
    await ask(`${MAPI}?${new URLSearchParams(inQuery)}`, inBody)
    await tradeOf(inQuery.out_trade_no!)
    await expect(tradeOf(inBody.out_trade_no!)).rejects.toThrow()
    await ask(`${MAPI}?money=0.01&sitename=x`, inBody)
    expect((await tradeOf(inBody.out_trade_no!)).money).toBe('9.90')
    const { money = '', ...rest } = shop.signMd5(trade())
    expectRefusal(await ask(`${MAPI}?money=${money}`, rest), 'v1', 'invalid_signature')
  })

  it('takes multipart and JSON like a form, and nothing else', async () => {
    const fields = trade({ name: '会员 一年 🎉' })
    const form = new FormData()
    for (const [name, value] of Object.entries(shop.signRsa(fields))) form.append(name, value)
    const encoded = new Response(form)
    const post = (payload: string, type: string, path = CREATE) =>
      test.app.inject({ method: 'POST', url: path, headers: { 'content-type': type }, payload })
    const first = await post(await encoded.text(), encoded.headers.get('content-type')!)
    expect(first.json()).toMatchObject({ code: 0 })
    const json = JSON.stringify({ ...shop.signRsa(fields), pid: Number(shop.pid) })
    expect((await post(json, 'application/json')).json()).toMatchObject({
      code: 0,
      trade_no: first.json().trade_no,
    })
    const before = await countOrders()
    const others: [payload: string, type: string][] = [
      ['pid=1001', 'text/plain'],
      ['<pid>1001</pid>', 'application/xml'],
      ['{"pid":', 'application/json'],
      ['[1]', 'application/json'],
      ['"pid"', 'application/json'],
      ['x', 'multipart/form-data'],
    ]
    for (const [payload, type] of others) {
      const isOtherType = ['text/plain', 'application/xml'].includes(type)
      const code = isOtherType ? 'wrong_content_type' : 'malformed_request'
      for (const [path, version] of [
        [MAPI, 'v1'],
        [CREATE, 'v2'],
        [API, 'v1'],
      ] as const) {
        const response = await post(payload, type, path)
        expect(response.statusCode).toBe(200)
        expectUnsigned(response.json(), version, code)
        if (isOtherType) expect(response.json().msg).toContain('Content-Type')
      }
      expect((await post(payload, type, SUBMIT)).statusCode).toBe(400)
    }
    const nested = JSON.stringify({ ...shop.signRsa(fields), name: { x: 1 } })
    expectRefusal((await post(nested, 'application/json')).json(), 'v2', 'malformed_request')
    expect(await countOrders()).toBe(before)
  })
})

const long = (character: string, length: number) => character.repeat(length)

/** Valid values of a create: the parameter, the value, and the stored value. */
const GOOD: [name: string, value: string, kept?: unknown][] = [
  ['type', ''],
  ['type', '   ', null],
  ['type', 'usdt.trc20_x-1'],
  ['type', long('x', 32)],
  ['type', '0'],
  ['out_trade_no', `${long('x', 100)}-A.z_9|${long('0', 21)}`],
  ['out_trade_no', '1'],
  ['notify_url', 'http://shop.example:8080/n?x=1&out_trade_no=2#f'],
  ['notify_url', 'https://商店.example/通知'],
  ['notify_url', `https://shop.example/${long('x', 979)}`],
  ['return_url', '', null],
  ['return_url', 'https://shop.example/#/order/1'],
  ['name', '会员 & <b>"100%"</b> + #1 \\ 🎉'],
  ['name', ' padded '],
  ['name', long('x', 127)],
  ['name', long('x', 128), long('x', 127)],
  ['name', long('会', 60), long('会', 42)],
  ['name', `${long('x', 125)}🎉!`, long('x', 125)],
  ['money', '0.01'],
  ['money', '00099.5'],
  ['money', '99999999.99'],
  ['money', '9.900'],
  ['money', '0.10000000'],
  ['money', '29.700000000000003'],
  ['money', '0.10500'],
  ['money', '.5'],
  ['money', '1.'],
  ['money', `12345678.${long('9', 20)}`],
  ['param', ''],
  ['param', '\t ', null],
  ['param', '0'],
  ['param', '{"a":[1,"二"]}&b'],
  ['param', long('字', 500)],
  ['unknown', '什么 & = + %41'],
  ['pid', 'PAYMENT_ID'],
  ['pid', ' PAYMENT_ID\n'],
  ['pid', ' PID '],
]

const MISSING = 'parameter_missing'
const INVALID = 'parameter_invalid'

type Bad = [name: string, value: string | undefined, code: string, msg: string | undefined]
/** Invalid values of a parameter (undefined: not sent) with their code and its message. */
const bad = (name: string, values: (string | undefined)[], code: string, msg?: string): Bad[] =>
  values.map((value) => [name, value, code, msg])
const EMPTY = [undefined, '', ' ', '\u3000\n']
const NO_ADDRESSES = [
  ...'shop.example/n //shop.example/n /n ftp://shop.example/n javascript:alert(1) https://'.split(' '),
  ...'https:///shop.example https://user@shop.example/n https://user:pass@shop.example/n'.split(' '),
  ...'https://sh\\op.example/n https://shop.example:99999/ https://[::1/'.split(' '),
  ...['https://shop.example/a b', 'https://shop.example/\n', `https://shop.example/${long('x', 980)}`],
]
const NO_MONEY = [
  ...`. 9.0.0 .${long('1', 21)} -1 +1 1e3 9,90 １０ 0x10 NaN 100000000`.split(' '),
  ...[' 9', '9 ', `12345678.${long('0', 21)}`],
]
const NO_PID = '0 1000 01001 1e3 １００１ -1001 99999999999999999999 pay_x x'.split(' ')

const BAD: Bad[] = [
  ...bad('out_trade_no', EMPTY, MISSING, '商户订单号不能为空'),
  ...bad('name', EMPTY, MISSING, '商品名称不能为空'),
  ...bad('money', EMPTY, MISSING, '商品金额不能为空'),
  ...bad(
    'out_trade_no',
    [' a', 'a b', 'a\n', ...`a&b 订单 a/b a' 0 ${long('x', 129)}`.split(' ')],
    INVALID,
    '商户订单号格式无效',
  ),
  ...bad('money', NO_MONEY, INVALID, '商品金额格式无效'),
  ...bad('money', ['0', '0.00', '0.', '.0', '0.00499999999999999999'], 'amount_too_small'),
  ...bad('notify_url', NO_ADDRESSES, INVALID, '异步通知地址格式无效'),
  ...bad('return_url', NO_ADDRESSES, INVALID, '跳转通知地址格式无效'),
  ...bad('type', ['支付宝', 'a b', 'a&b', '<b>', long('x', 33)], INVALID, '支付方式格式无效'),
  ...bad('param', [long('x', 501)], INVALID, '业务扩展参数格式无效'),
  ...bad('name', ['0'], INVALID, '商品名称格式无效'),
  ...bad('pid', [undefined], 'nothing_sent'),
  ...bad('pid', ['', ' '], 'nothing_sent', '商户号不能为空'),
  ...bad('pid', [...NO_PID, long('9', 8000)], 'unknown_application'),
]

/** Another shop's notification inside a value: spec/gateway 1.5. */
const SMUGGLED =
  'x&out_trade_no=VICTIM&pid=1001&timestamp=1767225600&trade_no=T&trade_status=TRADE_SUCCESS&type=alipay'
/** Values that look like a field, and have one meaning. */
const NESTED: Fields[] = [
  { name: 'Tea&type=green', param: 'uid=5&type=vip' },
  { param: '{"back":"https://shop.example/?uid=5&type=vip"}' },
]

const WAYS = [
  ['MD5 at mapi.php', MAPI, 'v1', (fields: Fields) => shop.signMd5(fields)],
  ['RSA at mapi.php', MAPI, 'v1 signed', (fields: Fields) => shop.signRsa(fields)],
  ['MD5 at pay/create', CREATE, 'v2', (fields: Fields) => shop.signMd5(fields)],
  ['RSA at pay/create', CREATE, 'v2', (fields: Fields) => shop.signRsa(fields)],
] as const

describe.each(WAYS)('parameters, %s', (_, path, version, sign) => {
  it('are kept as they were sent, up to their bounds', async () => {
    for (const [name, sent, kept = sent] of GOOD) {
      const value = sent.replace('PAYMENT_ID', shop.payment_id).replace('PID', shop.pidText)
      const fields = trade({
        [name]: name === 'out_trade_no' ? `${Math.random()}`.slice(2, 10) + value.slice(8) : value,
      })
      const reply = await ask(path, sign(fields))
      expect(reply, `${name}=${value}`).toMatchObject({ code: version === 'v2' ? 0 : 1 })
      const row = await tradeOf(fields.out_trade_no!)
      const columns: Record<string, unknown> = { ...row, name: row.description, pid: row.pid_sent }
      if (name in columns)
        expect(columns[name]).toBe(name === 'pid' ? value.trim() : kept === '' ? null : kept)
      const pid = value.includes(shop.payment_id) ? shop.payment_id : Number(shop.pid)
      if (name === 'pid' && version === 'v2') expect(reply.pid).toBe(pid)
      if (name === 'money' && version === 'v2') expect(reply.money).toBe(value)
    }
    for (const nested of NESTED) {
      const fields = trade(nested)
      await ask(path, sign(fields))
      const { name = 'VIP membership', param = null } = nested
      expect(await tradeOf(fields.out_trade_no!)).toMatchObject({ description: name, param })
    }
  })

  it('are refused when missing, empty, malformed or too large, without trace', async () => {
    const before = await countOrders()
    for (const [name, value, code, msg] of BAD) {
      const fields = value === undefined ? without(trade(), name) : trade({ [name]: value })
      const signer = name === 'pid' ? null : shop
      expectRefusal(await ask(path, sign(fields)), version, code, msg, signer)
    }
    const ambiguous = (label: string) => `${label}有歧义，签名原文还可读成另一组参数`
    const refusals: [Fields, string, string][] = [
      [{ name: SMUGGLED }, 'parameter_ambiguous', ambiguous('商品名称')],
      [{ param: `x&out_trade_no=VICTIM&pid=1001` }, 'parameter_ambiguous', ambiguous('商品名称')],
      [{ type: SMUGGLED }, INVALID, '支付方式格式无效'],
    ]
    for (const [fields, code, msg] of refusals)
      expectRefusal(await ask(path, sign(trade(fields))), version, code, msg)
    expect(await countOrders()).toBe(before)
  })

  it('are refused when doubled, bracketed, too many or too long', async () => {
    const before = await countOrders()
    const signed = sign(trade())
    for (const name of [...Object.keys(signed), 'unknown']) {
      const text = `${new URLSearchParams({ ...signed, unknown: 'x' })}&${name}=${encodeURIComponent(signed[name] ?? 'x')}`
      expectRefusal(
        await ask(path, text),
        version,
        'malformed_request',
        undefined,
        name === 'pid' ? null : shop,
      )
    }
    for (const name of ['a[]', 'a[b]', 'a&b', 'money=1&x', '=', ']']) {
      expectRefusal(await ask(path, sign(trade({ [name]: '1' }))), version, 'malformed_request')
    }
    for (const text of ['pid=%FF%FE', 'pid=1001&name=a%00b', `pid=1001&name=%B2%E8`]) {
      const reply = await ask(path, text)
      expectUnsigned(reply, version, 'not_utf8')
      expect(reply.msg).toContain('UTF-8')
    }
    const bodies = [
      Array.from({ length: 101 }, (_, i) => `p${i}=1`).join('&'),
      `${long('n', 65)}=1`,
      `pid=1001&name=${long('x', 8_193)}`,
      long('x', 70_000),
    ]
    for (const text of bodies) expectUnsigned(await ask(path, text), version, 'malformed_request')
    expect(await countOrders()).toBe(before)
  })

  it('are covered by the signature, each of them', async () => {
    const before = await countOrders()
    const signed = sign(trade({ param: 'p', extra: 'x' }))
    for (const name of Object.keys(signed)) {
      if (name === 'pid' || name === 'sign' || name === 'sign_type') continue
      for (const tampered of [{ ...signed, [name]: `${signed[name]}1` }, without(signed, name)]) {
        expectRefusal(await ask(path, tampered), version, 'invalid_signature')
      }
    }
    const bare = sign(trade())
    for (const name of ['added', 'param', 'return_url', 'clientip', 'device'])
      expectRefusal(await ask(path, { ...bare, [name]: 'later' }), version, 'invalid_signature')
    expectRefusal(
      await ask(path, { ...signed, pid: other.pidText }),
      version,
      'invalid_signature',
      undefined,
      other,
    )
    const strange = `x 0 ${long('0', 32)} ${long('A', 344)} ${signed.sign}x 会 ${long('x', 8_000)}`.split(' ')
    for (const value of ['', ' ', `${signed.sign} `, ...strange])
      expectRefusal(await ask(path, { ...signed, sign: value }), version, 'invalid_signature')
    expectRefusal(await ask(path, without(signed, 'sign')), version, 'invalid_signature')
    expect(await countOrders()).toBe(before)
    expect(await ask(path, signed)).toMatchObject({ code: version === 'v2' ? 0 : 1 })
  })
})

describe('sign_type', () => {
  it('is RSA exactly or MD5, and the caller chooses nothing else', async () => {
    for (const path of [MAPI, CREATE]) {
      const version = path === MAPI ? 'v1' : 'v2'
      for (const name of ['MD5', 'rsa', 'RSA2', 'RSA ', 'SHA256', 'none', '', '0']) {
        const md5Signed = { ...shop.signMd5(trade()), sign_type: name }
        expect(await ask(path, md5Signed)).toMatchObject({ code: version === 'v1' ? 1 : 0 })
        const rsaSigned = { ...shop.signRsa(trade()), sign_type: name }
        expectRefusal(await ask(path, rsaSigned), version, 'invalid_signature')
      }
      const { sign_type: _, ...unnamed } = shop.signMd5(trade())
      expect(await ask(path, unnamed)).toMatchObject({ code: version === 'v1' ? 1 : 0 })
      expectRefusal(
        await ask(path, { ...shop.signMd5(trade()), sign_type: 'RSA' }),
        path === MAPI ? 'v1 signed' : 'v2',
        'invalid_signature',
      )
    }
  })

  it('of V1 takes hex in any case, and signatures without blanks', async () => {
    const signed = shop.signMd5(trade({ param: ' ' }))
    expect(await ask(MAPI, { ...signed, sign: signed.sign!.toUpperCase() })).toMatchObject({ code: 1 })
    const { param: _, ...rest } = trade({ param: ' ' })
    const trimmed = md5(gatewayText(rest) + shop.merchant_key)
    expect(await ask(MAPI, { ...rest, param: ' ', sign: trimmed })).toMatchObject({ code: 1 })
    expect((await tradeOf(rest.out_trade_no!)).param).toBeNull()
  })

  it('of V2 takes a + that arrives as a space', async () => {
    const signed = Object.entries(shop.signRsa(trade()))
    const text = signed
      .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2B', '+')}`)
      .join('&')
    expect(await ask(CREATE, text)).toMatchObject({ code: 0 })
  })

  it('of V2 needs a ten-digit timestamp within 300 seconds, V1 none', async () => {
    for (const timestamp of [seconds(300), seconds(-300)]) {
      expect(await createV2(trade({ timestamp }))).toMatchObject({ code: 0 })
    }
    const strange = `NaN 1e9 0 ${seconds()}000 0${seconds()} １７６７２２５６００`.split(' ')
    const bad = [seconds(301), seconds(-301), '', ' ', `${seconds()} `, ...strange]
    for (const timestamp of bad) {
      for (const [path, version] of [
        [CREATE, 'v2'],
        [MAPI, 'v1 signed'],
      ] as const) {
        expectRefusal(await ask(path, shop.signRsa(trade({ timestamp }))), version, 'stale_timestamp')
        expect(await ask(path, shop.signMd5(trade({ timestamp })))).toMatchObject({
          code: version === 'v2' ? 0 : 1,
        })
      }
    }
    expectRefusal(await createV2(without(trade(), 'timestamp')), 'v2', 'stale_timestamp')
    expect(await createV1(without(trade(), 'timestamp'))).toMatchObject({ code: 1 })
  })

  it('names a version without key or switched off, and hears so', async () => {
    const actor = { user_id: shop.owner.id, ip: '127.0.0.1' }
    await switchVersions(test.deps, shop.payment_id, { v1: false, v2: true }, actor)
    expectRefusal(await createV1(trade()), 'v1', 'version_off')
    expectRefusal(await askApi('query'), 'v1', 'version_off')
    expect(await createV2(trade())).toMatchObject({ code: 0 })
    await switchVersions(test.deps, shop.payment_id, { v1: true, v2: false }, actor)
    expectRefusal(await createV2(trade()), 'v2', 'version_off')
    expect(await createV1(trade())).toMatchObject({ code: 1 })
    await switchVersions(test.deps, shop.payment_id, { v1: true, v2: true }, actor)
    const endKeys = async (valid_to: Date | null) => {
      for (const kind of ['merchant_key', 'merchant_public_key'] as const)
        await setRows(test, 'payment_app_keys', { app_id: other.id, kind }, { valid_to })
    }
    await endKeys(test.clock.now())
    const fields = trade({ pid: other.pidText })
    expectRefusal(await ask(CREATE, other.signRsa(fields)), 'v2', 'version_off', '商户未配置公钥', other)
    // Without a KEY, anyone could make the MD5 of the bare string.
    const forged = { ...fields, sign: md5(gatewayText(fields)) }
    expectRefusal(await ask(MAPI, forged), 'v1', 'version_off', '商户未配置密钥')
    await endKeys(null)
  })

  it('of an old KEY is refused from the moment of a reset', async () => {
    const seller = await makeShop(test)
    const fields = trade({ pid: seller.pidText })
    await resetMerchantKey(test.deps, seller.payment_id, { user_id: seller.owner.id, ip: '127.0.0.1' })
    expectRefusal(await ask(MAPI, seller.signMd5(fields)), 'v1', 'invalid_signature')
    expectRefusal(await askApi('query', {}, seller), 'v1', 'wrong_key')
  })
})

describe('the same out_trade_no again', () => {
  const again = async (fields: Fields) => [await createV1(fields), await createV2(fields)] as const

  it('is the same trade, of either version, whatever else is sent now', async () => {
    const fields = trade()
    const first = await createV2(fields)
    const others = {
      name: 'other',
      param: 'x',
      type: '',
      notify_url: 'https://other.example/',
      return_url: '',
    }
    for (const reply of await again({ ...fields, ...others, money: '9.9' })) {
      expect(reply).toMatchObject({ trade_no: first.trade_no })
    }
    expect(await tradeOf(fields.out_trade_no!)).toMatchObject({
      protocol: 'v2',
      money: '9.90',
      description: 'VIP membership',
      type: 'alipay',
      param: null,
      notify_url: fields.notify_url,
      return_url: fields.return_url,
    })
  })

  it('for other money is refused, and the trade stays as it is', async () => {
    const fields = trade()
    await createV1(fields)
    for (const money of ['9.91', '0.01', '99.00', '9.900000000000001']) {
      const [v1, v2] = await again({ ...fields, money })
      expectRefusal(v1, 'v1', 'order_changed')
      expectRefusal(v2, 'v2', 'order_changed')
    }
    expect(await tradeOf(fields.out_trade_no!)).toMatchObject({
      money: '9.90',
      amount: 990n,
      status: 'unpaid',
    })
  })

  it('of a paid one is code 1; other money changes nothing', async () => {
    const fields = trade()
    await createV1(fields)
    await pay(fields.out_trade_no!)
    const { trade_no, transaction_id } = await tradeOf(fields.out_trade_no!)
    const payurl = `${test.url}/payment/pay/${transaction_id}?from=shop`
    for (const money of ['9.90', '1.00']) {
      const [v1, v2] = await again({ ...fields, money })
      expect(v1).toEqual({ code: 1, msg: '订单已支付', trade_no, payurl })
      expect(v2).toEqual({ code: 1, msg: '订单已支付', trade_no, ...signature() })
      expect(shop.isGenuine(v2)).toBe(true)
    }
    const submitted = await send(test, 'GET', SUBMIT, shop.signMd5(fields))
    expect(submitted).toMatchObject({ statusCode: 302, headers: { location: payurl } })
    const path = `/payment/pay/${transaction_id}`
    const page = await buyer.get(payurl.slice(test.url.length))
    expect(page.body).toContain('>Back to ')
    expect(page.body).toContain(messages.en.pay.converted('9.90', '990', '100'))
    // The page leads back by itself, without a script. Opened later, it stays. It leads no other member away.
    expect(page.headers.refresh).toBe(`5; url=${path}/return`)
    expect(page.body).toContain(messages.en.pay.returning)
    expect((await buyer.get(path)).headers.refresh).toBeUndefined()
    const stranger = await (await makePerson(test, { username: 'mallory' })).signIn()
    expect((await stranger.get(`${path}?from=shop`)).headers.refresh).toBeUndefined()
  })

  it('of a closed or refunded one is refused', async () => {
    const [closed, refunded] = [trade(), trade()]
    await createV1(closed)
    await createV1(refunded)
    await askV2('pay/close', { out_trade_no: closed.out_trade_no! })
    await pay(refunded.out_trade_no!)
    await giveBack(refunded.out_trade_no!, 990n)
    for (const [fields, msg] of [
      [closed, '订单已关闭'],
      [refunded, '订单已退款'],
    ] as const) {
      const [v1, v2] = await again(fields)
      expectRefusal(v1, 'v1', 'order_exists', msg)
      expectRefusal(v2, 'v2', 'order_exists', msg)
    }
  })

  it('never has another’s trade_no: a taken one is drawn again', async () => {
    const taken = String((await createV1(trade())).trade_no)
    const place = makePlaceOrder(test.deps)
    const app = (await test.deps.gatewayKeys.findApp({ pid: shop.pidText }))!
    const unseen = () => ({ method: 'POST', path: '/', ip: '::1', parameters: [], left_out: 0 })
    const create = async (collisions: number) => {
      let tries = 0
      const createTrade = makeCreateTrade(test.deps, (order) => {
        tries += 1
        const trade_no = tries <= collisions ? taken : order.gateway!.trade_no
        return place({ ...order, gateway: { ...order.gateway!, trade_no } })
      })
      const { log } = test.app
      const parameters = trade()
      const signed = signedBy(parameters)
      const order = await createTrade({ app, parameters, protocol: 'v1', signed, asReceived: unseen, log })
      return { order, tries }
    }
    const { order, tries } = await create(2)
    expect(tries).toBe(3)
    expect(order.trade_no).not.toBe(taken)
    await expect(create(3)).rejects.toMatchObject({ constraint: 'orders_trade_no_key' })
  })

  it('with a query in its address is logged once, without it', async () => {
    const createTrade = makeCreateTrade(test.deps, makePlaceOrder(test.deps))
    const app = (await test.deps.gatewayKeys.findApp({ pid: shop.pidText }))!
    const asReceived = () => ({ method: 'POST', path: '/', ip: '::1', parameters: [], left_out: 0 })
    const warn = vi.spyOn(test.app.log, 'warn')
    const create = (parameters: Fields) =>
      createTrade({
        app,
        parameters,
        protocol: 'v1',
        signed: signedBy(parameters),
        asReceived,
        log: test.app.log,
      })
    await create(trade({ notify_url: 'https://shop.example/notify', return_url: 'https://shop.example/' }))
    expect(warn).not.toHaveBeenCalled()

    const parameters = trade({
      notify_url: 'https://shop.example/notify?key=hush',
      return_url: 'https://shop.example/?key=hush',
    })
    const { transaction_id } = await create(parameters)
    await create(parameters)
    const about = { payment_id: app.payment_id, transaction_id, addresses: ['notify_url', 'return_url'] }
    expect(warn.mock.calls).toEqual([[about, expect.stringContaining('query of their own')]])
    expect(JSON.stringify(warn.mock.calls)).not.toMatch(/hush|shop\.example/)
    warn.mockRestore()
  })

  it('of another application, or of the HMAC API, is another order', async () => {
    const fields = trade()
    const mine = await createV1(fields)
    const theirs = await ask(MAPI, other.signMd5({ ...fields, pid: other.pidText }))
    expect(theirs.trade_no).not.toBe(mine.trade_no)
    const hmac = await shop.process({ amount: '5', description: 'x', order_id: fields.out_trade_no! })
    expect(hmac.status).toBe(200)
    const { transaction_id } = await tradeOf(fields.out_trade_no!)
    expect((await shop.query({ transaction_id })).status).toBe(400)
    expect(await askV2('pay/query', { out_trade_no: fields.out_trade_no! })).toMatchObject({ money: '9.90' })
  })
})

const giveBack = async (out_trade_no: string, amount: bigint, seller = shop) =>
  refund(test, await tradeOf(out_trade_no, seller), amount)

describe('paying', () => {
  it.each(['v1', 'v2'] as const)(
    'a trade of %s moves points less fee, and returns signed',
    async (version) => {
      const fields = trade({
        param: 'uid=42',
        return_url: 'https://shop.example/r?trade_no=theirs&x=1#/done',
      })
      await (version === 'v1' ? createV1(fields) : createV2(fields))
      const before = {
        buyer: await balanceOf(test.db, alice.id),
        seller: await balanceOf(test.db, shop.owner.id),
      }
      const url = await pay(fields.out_trade_no!)
      expect(await balanceOf(test.db, alice.id)).toBe(before.buyer - 990n)
      expect(await balanceOf(test.db, shop.owner.id)).toBe(before.seller + 941n)
      const row = await tradeOf(fields.out_trade_no!)
      const told = Object.fromEntries(url.searchParams)
      const common = {
        x: '1',
        pid: shop.pidText,
        trade_no: row.trade_no,
        out_trade_no: fields.out_trade_no,
        type: 'alipay',
        name: 'VIP membership',
        money: '9.90',
        trade_status: 'TRADE_SUCCESS',
        param: 'uid=42',
      }
      const { x: _, ...own } = told
      if (version === 'v1') {
        expect(told).toEqual({ ...common, sign_type: 'MD5', sign: md5(gatewayText(own) + shop.merchant_key) })
      } else {
        const time = '2026-01-01 08:00:00'
        expect(told).toEqual({
          ...common,
          api_trade_no: row.transaction_id,
          addtime: time,
          endtime: time,
          buyer: alice.username,
          timestamp: seconds(),
          sign_type: 'RSA',
          sign: expect.any(String),
        })
        expect(shop.isGenuine(own)).toBe(true)
        expect(other.isGenuine(own)).toBe(false)
      }
      expect(url.hash).toBe('#/done')
      expect([...url.searchParams.keys()].length).toBe(Object.keys(told).length)
      const { rows: outbox } = await sql`select status from notifications where order_id = ${row.id}`.execute(
        test.db,
      )
      expect(outbox).toEqual([{ status: 'due' }])
    },
  )

  it('shows money, points and rate first, and takes the form once', async () => {
    const fields = trade({ money: '0.5', name: '<i>会员</i> & 友' })
    await createV1(fields)
    const { transaction_id } = await tradeOf(fields.out_trade_no!)
    const path = `/payment/pay/${transaction_id}`
    const page = await buyer.get(path)
    expect(page.body).toContain(messages.en.pay.converted('0.5', '50', '100'))
    expect(page.body).toContain('&lt;i&gt;会员&lt;/i&gt; &amp; 友')
    expect(page.body).toContain('href="https://shop.example"')
    const chinese = await buyer.get(path, { 'accept-language': 'zh-CN' })
    expect(chinese.body).toContain(messages['zh-CN'].pay.converted('0.5', '50', '100'))
    const before = await balanceOf(test.db, alice.id)
    const [first, second] = [await buyer.submit(page, path), await buyer.submit(page, path)]
    expect([first.status, second.status]).toEqual([303, 303])
    expect(await balanceOf(test.db, alice.id)).toBe(before - 50n)
  })

  it('leads back anew whenever its payer asks, and nobody else', async () => {
    const fields = trade({ return_url: '' })
    await createV2(fields)
    await pay(fields.out_trade_no!)
    const path = `/payment/pay/${(await tradeOf(fields.out_trade_no!)).transaction_id}`
    const receipt = await buyer.get(path)
    expect(receipt.body).toContain(`href="${path}/return"`)
    expect(receipt.body).not.toContain('sign=')
    test.clock.advance(3_600_000)
    const back = new URL((await buyer.get(`${path}/return`)).location!)
    // Without a return_url, the payer returns to the application's own address.
    expect(back.href.startsWith(shop.callbackUrl)).toBe(true)
    expect(back.searchParams.get('timestamp')).toBe(seconds())
    expect(shop.isGenuine(Object.fromEntries(back.searchParams))).toBe(true)

    expect((await browser(test).get(`${path}/return`)).location).toMatch(/^\/sign-in/)
    const stranger = await (await makePerson(test, { username: 'mallory' })).signIn()
    const refused = await stranger.get(`${path}/return`)
    expect(refused).toMatchObject({ status: 200, location: undefined })
    expect(refused.body).toContain(messages.en.pay.states.paidByOther)
    expect(refused.body).not.toContain('sign=')
    await giveBack(fields.out_trade_no!, 990n)
    const afterwards = await buyer.get(`${path}/return`)
    expect(afterwards).toMatchObject({ status: 200, location: undefined })
    const { transaction_id } = await tradeOf(fields.out_trade_no!)
    expect(await makeFindPaidOrder(test.deps)(transaction_id)).toBeUndefined()
  })

  it('leads to the callback address with its own query, which is unsigned', async () => {
    const asking = await makeShop(test)
    const callback_url = `${asking.callbackUrl}?shop=7`
    await test.db.updateTable('payment_apps').set({ callback_url }).where('id', '=', asking.id).execute()
    const fields = asking.trade({ return_url: '' })
    await ask(MAPI, asking.signMd5(fields))
    const back = await pay(fields.out_trade_no!, asking)
    expect(back.href.startsWith(`${callback_url}&`)).toBe(true)
    const { sign, sign_type: _, ...signed } = without(Object.fromEntries(back.searchParams), 'shop')
    expect(sign).toBe(asking.signMd5(signed).sign)
  })

  it('signs nothing for a trade that is not paid, for any caller', async () => {
    const fields = trade()
    await createV1(fields)
    const { transaction_id, trade_no } = await tradeOf(fields.out_trade_no!)
    const back = await buyer.get(`/payment/pay/${transaction_id}/return`)
    expect(back).toMatchObject({ status: 200, location: undefined })
    expect(back.body).toContain(messages.en.pay.submit('990', 990n, false))
    expect(await makeFindPaidOrder(test.deps)(transaction_id)).toBeUndefined()
    // The trade_no can be guessed, so it opens no page.
    expect((await buyer.get(`/payment/pay/${trade_no}`)).status).toBe(404)
  })

  it('leaves for an http return address, and names its host', async () => {
    const fields = trade({ return_url: 'http://shop.example:8080/r' })
    await createV1(fields)
    const page = await buyer.get(`/payment/pay/${(await tradeOf(fields.out_trade_no!)).transaction_id}`)
    expect(page.headers['content-security-policy']).toContain(
      "form-action 'self' https: http://shop.example:8080;",
    )
    expect((await pay(fields.out_trade_no!)).origin).toBe('http://shop.example:8080')
  })
})

describe('api.php', () => {
  const described = async (out_trade_no: string) => {
    const row = await tradeOf(out_trade_no)
    return {
      trade_no: row.trade_no,
      out_trade_no,
      api_trade_no: row.transaction_id,
      type: 'alipay',
      pid: Number(shop.pid),
      addtime: expect.stringMatching(/^2026-01-01 \d\d:\d\d:\d\d$/),
      endtime: row.paid_at === null ? '' : expect.stringMatching(/^2026-01-01 \d\d:\d\d:\d\d$/),
      name: 'VIP membership',
      money: '9.90',
      status: row.status === 'paid' ? 1 : 0,
      param: '',
      buyer: row.payer_id === null ? '' : alice.username,
    }
  }

  it('tells a trade by either number, key or signature, either way', async () => {
    const fields = trade()
    const { trade_no } = await createV1(fields)
    const { out_trade_no = '' } = fields
    const { pidText: pid, merchant_key: key } = shop
    const number = { out_trade_no }
    const asked: Fields[] = [
      number,
      { trade_no: String(trade_no) },
      { trade_no: String(trade_no), out_trade_no: 'wrong' },
    ]
    const expected = { code: 1, msg: 'success', ...(await described(out_trade_no)) }
    for (const by of asked) {
      const byKey = { act: 'order', pid, key, ...by }
      const bySign = { act: 'order', pid, ...by, timestamp: seconds() }
      expect(await ask(API, byKey, 'GET')).toEqual(expected)
      expect(await ask(API, byKey)).toEqual(expected)
      expect(await ask(`${API}?act=order`, { pid, key, ...by })).toEqual(expected)
      expect(await ask(`${API}?${new URLSearchParams(byKey)}`, byKey)).toEqual(expected)
      expect(await ask(API, shop.signMd5(bySign), 'GET')).toEqual(expected)
      const byRsa = await ask(API, shop.signRsa(bySign))
      expect(byRsa).toEqual({ ...expected, ...signature() })
      expect(shop.isGenuine(byRsa)).toBe(true)
      // sign_type=RSA means V2 here too, and the KEY is no signature of V2.
      const both = await ask(API, { ...byKey, sign_type: 'RSA' })
      expectRefusal(both, 'v1 signed', 'invalid_signature')
    }
    await pay(out_trade_no)
    expect(await askApi('order', number)).toEqual({
      ...expected,
      ...(await described(out_trade_no)),
      status: 1,
    })
    await giveBack(out_trade_no, 990n)
    expect(await askApi('order', number)).toMatchObject({ code: 1, status: 0 })
  })

  it('tells of the application: balance in money, trades today and yesterday', async () => {
    const seller = await makeShop(test)
    const { pidText: pid } = seller
    const sell = async (money: string) => {
      const fields = trade({ pid, money })
      await ask(MAPI, seller.signMd5(fields))
      await pay(fields.out_trade_no!, seller)
    }
    await sell('1.00')
    await sell('2.50')
    test.clock.advance(86_400_000)
    await sell('0.99')
    await ask(MAPI, seller.signMd5(trade({ pid })))
    const figures = { orders: 3, order_today: 1, orders_today: 1, order_lastday: 2, orders_lastday: 2 }
    // 449 points came in. The platform gets floor(5 %) of each order.
    const about = { active: 1, money: '4.28', type: 1, account: '', username: '' }
    expect(await askApi('query', {}, seller)).toEqual({
      code: 1,
      pid: Number(pid),
      key: seller.merchant_key,
      ...about,
      ...figures,
    })
    expect(await askV2('merchant/info', {}, seller)).toEqual({
      code: 0,
      msg: 'success',
      pid: Number(pid),
      status: 1,
      pay_status: 1,
      settle_status: 0,
      money: '4.28',
      order_num: 3,
      order_num_today: 1,
      order_num_lastday: 2,
      order_money_today: '0.99',
      order_money_lastday: '3.50',
      ...signature(),
    })
    const balance = await askV2('transfer/balance', {}, seller)
    expect(balance).toMatchObject({ code: 0, available_money: '4.28', transfer_rate: '3' })
    // Midnight is that of Shanghai.
    test.clock.advance(16 * 3_600_000 - 1_860_000 - (test.clock.now().getTime() % 86_400_000) + 1_860_000)
    expect(await askApi('query', {}, seller)).toMatchObject({ orders_today: 0, orders_lastday: 1 })
    const byPaymentId = await askApi('query', { pid: seller.payment_id }, seller)
    expect(byPaymentId.pid).toBe(seller.payment_id)
  })

  it('lists trades, newest first, by limit, offset or page, and status', async () => {
    const seller = await makeShop(test)
    const { pidText: pid } = seller
    const all: Fields[] = []
    for (let i = 0; i < 12; i += 1) {
      all.unshift(trade({ pid }))
      await ask(MAPI, seller.signMd5(all[0]!))
    }
    await pay(all[3]!.out_trade_no!, seller)
    const numbers = async (fields: Fields) => {
      const reply = await askApi('orders', fields, seller)
      const rows = reply.data as Record<string, unknown>[]
      expect(reply).toMatchObject({ code: 1, count: rows.length })
      const signed = await askV2('merchant/orders', fields, seller)
      expect(signed).toMatchObject({ code: 0, count: rows.length })
      expect(seller.isGenuine(signed)).toBe(true)
      expect((signed.data as typeof rows).map((row) => row.trade_no)).toEqual(rows.map((row) => row.trade_no))
      return rows.map((row) => all.findIndex(({ out_trade_no }) => out_trade_no === row.out_trade_no))
    }
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
    expect(await numbers({})).toEqual(range(0, 10))
    expect(await numbers({ limit: '3', offset: '9' })).toEqual(range(9, 12))
    expect(await numbers({ limit: '5', page: '2' })).toEqual(range(5, 10))
    expect(await numbers({ limit: '9999', page: '0' })).toEqual(range(0, 12))
    expect(await numbers({ limit: '0' })).toEqual([])
    expect(await numbers({ offset: '9999999' })).toEqual([])
    expect(await numbers({ status: '1' })).toEqual([3])
    expect(await numbers({ status: '0', limit: '50' })).toEqual(range(0, 12).filter((i) => i !== 3))
    expect(await numbers({ status: '2' })).toEqual([])
    const { out_trade_no = '' } = all[3]!
    await giveBack(out_trade_no, 990n, seller)
    expect(await numbers({ status: '2' })).toEqual([3])
    expect(await numbers({ status: '1' })).toEqual([])
    const refunded = (await askApi('orders', { status: '2' }, seller)).data as object[]
    expect(refunded).toMatchObject([{ out_trade_no, status: 0, refunded: 1 }])
    expect(await askApi('order', { out_trade_no }, seller)).toMatchObject({ status: 0, refunded: 1 })
    const unpaid = (await askApi('orders', { status: '0' }, seller)).data as object[]
    for (const row of unpaid) expect(row).not.toHaveProperty('refunded')
    for (const fields of [
      { limit: '-1' },
      { limit: 'x' },
      { offset: '1e9' },
      { page: '12345678' },
      { status: '9' },
      { status: '__proto__' },
      { status: 'constructor' },
    ]) {
      const msg = 'status' in fields ? '订单状态格式无效' : undefined
      expectRefusal(await askApi('orders', fields, seller), 'v1', INVALID, msg)
      expectRefusal(await askV2('merchant/orders', fields, seller), 'v2', INVALID, msg, seller)
    }
    expect(await askApi('orders')).not.toMatchObject({ data: expect.arrayContaining([{ pid: Number(pid) }]) })
  })

  it('lists in turn, so a crowd far down has one connection', async () => {
    const asked = shop.signMd5({ act: 'orders', pid: shop.pidText, offset: '9999999' })
    await expectFairQueue(test, async (process) => ({
      ask: async () => (await send(process, 'POST', API, asked)).statusCode,
    }))
  })

  it('settles nothing and refunds nothing', async () => {
    expect(await askApi('settle', { limit: '50', offset: '0' })).toEqual({
      code: 1,
      msg: 'success',
      data: [],
    })
    const fields = trade()
    await createV1(fields)
    await pay(fields.out_trade_no!)
    const refund = await askApi('refund', { out_trade_no: fields.out_trade_no!, money: '9.90' })
    expectRefusal(refund, 'v1', 'not_supported', '不支持自动退款，请联系管理员处理')
    const { pidText: pid, merchant_key: key } = shop
    const bare = { pid, key, out_trade_no: fields.out_trade_no!, money: '9.90' }
    expectRefusal(await ask(API, bare), 'v1', 'not_supported', '不支持自动退款，请联系管理员处理')
    expectRefusal(await ask(API, { ...bare, key: 'x' }), 'v1', 'wrong_key')
    expectRefusal(await ask(API, shop.signMd5(trade())), 'v1', 'unknown_action', 'No Act!')
    expect((await tradeOf(fields.out_trade_no!)).status).toBe('paid')
  })

  it('refuses unknown acts, unknown merchants, and another’s trades', async () => {
    const { pidText: pid, merchant_key: key } = shop
    expectRefusal(await ask(API, '', 'GET'), 'v1', 'nothing_sent')
    expectRefusal(await ask(API, ''), 'v1', 'nothing_sent')
    for (const act of ['', 'pay', 'Order', '__proto__', 'constructor', 'toString']) {
      expectRefusal(await askApi(act), 'v1', 'unknown_action', 'No Act!')
    }
    const byRsa = await ask(`${API}?act=pay`, shop.signRsa({ pid, timestamp: seconds() }))
    expect(byRsa).toMatchObject({ code: -5, msg: 'No Act!', sign_type: 'RSA' })
    expect(shop.isGenuine(byRsa)).toBe(true)
    expectRefusal(
      await ask(`${API}?act=order`, { act: 'query', pid, key }),
      'v1',
      'unknown_action',
      'No Act!',
    )
    expectRefusal(
      await ask(`${API}?act=order&pid=${pid}`, { pid: other.pidText, key }),
      'v1',
      'malformed_request',
    )
    expectRefusal(
      await ask(`${API}?act=order&out_trade_no=1`, { pid, key, out_trade_no: '2' }),
      'v1',
      'malformed_request',
    )
    expectRefusal(await ask(`${API}?act=order`, { key }), 'v1', 'nothing_sent')
    expectRefusal(await askApi('order', { pid: '999999', out_trade_no: 'x' }), 'v1', 'unknown_application')
    for (const wrong of [other.merchant_key, key.toLowerCase(), `${key} `, 'x', shop.secret_key]) {
      expectRefusal(await askApi('query', { key: wrong }), 'v1', 'wrong_key')
    }
    expectRefusal(await askApi('query', { key: '' }), 'v1', 'invalid_signature')
    // A right signature does not replace a wrong key.
    expectRefusal(await ask(API, shop.signMd5({ act: 'query', pid, key: 'x' })), 'v1', 'wrong_key')
    expectRefusal(await askApi('order'), 'v1', 'order_number_missing')
    const unnamed = shop.signRsa({ act: 'order', pid, timestamp: seconds() })
    expectRefusal(await ask(API, unnamed), 'v1 signed', 'order_number_missing')
    expectRefusal(await askApi('order', { trade_no: ' ', out_trade_no: '' }), 'v1', 'order_number_missing')
    const fields = trade({ pid: other.pidText })
    const { trade_no } = await ask(MAPI, other.signMd5(fields))
    for (const by of [
      { trade_no: String(trade_no) },
      { out_trade_no: fields.out_trade_no! },
      { out_trade_no: '订' },
      { trade_no: 'x' },
    ]) {
      expectRefusal(await askApi('order', by), 'v1', 'order_not_found')
      expectRefusal(await askV2('pay/query', by), 'v2', 'order_not_found')
      expectRefusal(await askV2('pay/close', by), 'v2', 'order_not_found')
    }
  })
})

describe('V2', () => {
  it('tells a trade in integers and strings, non-empty and all signed', async () => {
    const fields = trade({ type: '', param: '' })
    const { trade_no } = await createV2(fields)
    const { out_trade_no = '' } = fields
    const { transaction_id } = await tradeOf(out_trade_no)
    const unpaid = {
      code: 0,
      msg: 'success',
      trade_no,
      out_trade_no,
      api_trade_no: transaction_id,
      pid: Number(shop.pid),
      addtime: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      name: 'VIP membership',
      money: '9.90',
      status: 0,
      ...signature(),
    }
    for (const by of [{ out_trade_no }, { trade_no: String(trade_no), out_trade_no: 'wrong' }]) {
      const reply = await askV2('pay/query', by)
      expect(reply).toEqual(unpaid)
      expect(shop.isGenuine(reply)).toBe(true)
    }
    await pay(out_trade_no)
    const paid = {
      ...unpaid,
      status: 1,
      trade_status: 'TRADE_SUCCESS',
      buyer: alice.username,
      endtime: unpaid.addtime,
    }
    expect(await askV2('pay/query', { out_trade_no })).toEqual(paid)
    await giveBack(out_trade_no, 90n)
    expect(await askV2('pay/query', { out_trade_no })).toEqual({ ...paid, refundmoney: '0.90' })
    await giveBack(out_trade_no, 900n)
    const { trade_status: _, ...rest } = paid
    expect(await askV2('pay/query', { out_trade_no })).toEqual({ ...rest, status: 2, refundmoney: '9.90' })
  })

  it('tells one that ran out or was closed as unpaid', async () => {
    const fields = trade()
    const { out_trade_no = '' } = fields
    await createV2(fields)
    test.clock.advance(31 * 60_000)
    expect(await askV2('pay/query', { out_trade_no })).toMatchObject({ code: 0, status: 0 })
    expect(await askV2('pay/close', { out_trade_no })).toMatchObject({ code: 0, msg: 'success' })
    expect(await askV2('pay/query', { out_trade_no })).toMatchObject({ code: 0, status: 0 })
    expect(await askApi('order', { out_trade_no })).toMatchObject({ code: 1, status: 0 })
  })

  it('closes what is unpaid, again and again, and nothing else', async () => {
    const fields = trade()
    const { out_trade_no = '' } = fields
    await createV2(fields)
    const { transaction_id } = await tradeOf(out_trade_no)
    const page = await buyer.get(`/payment/pay/${transaction_id}`)
    for (let i = 0; i < 2; i += 1) {
      const reply = await askV2('pay/close', { out_trade_no })
      expect(reply).toEqual({ code: 0, msg: 'success', ...signature() })
    }
    expect(await buyer.submit(page, `/payment/pay/${transaction_id}`)).toMatchObject({ status: 409 })
    const sold = trade()
    await createV2(sold)
    await pay(sold.out_trade_no!)
    expectRefusal(
      await askV2('pay/close', { out_trade_no: sold.out_trade_no! }),
      'v2',
      'order_exists',
      '订单已支付',
    )
    await giveBack(sold.out_trade_no!, 990n)
    expectRefusal(
      await askV2('pay/close', { out_trade_no: sold.out_trade_no! }),
      'v2',
      'order_exists',
      '订单已退款',
    )
    expectRefusal(await askV2('pay/close'), 'v2', 'order_number_missing')
  })

  it("never both closes a trade and takes the buyer's points", async () => {
    for (let round = 0; round < 5; round += 1) {
      const fields = trade()
      await createV2(fields)
      const { transaction_id } = await tradeOf(fields.out_trade_no!)
      const path = `/payment/pay/${transaction_id}`
      const page = await buyer.get(path)
      const before = await balanceOf(test.db, alice.id)
      const [closed, paid] = await Promise.all([
        askV2('pay/close', { out_trade_no: fields.out_trade_no! }),
        buyer.submit(page, path),
      ])
      const { status } = await tradeOf(fields.out_trade_no!)
      expect(status).toBe(closed.code === 0 ? 'closed' : 'paid')
      expect(paid.status).toBe(status === 'paid' ? 303 : 409)
      expect(await balanceOf(test.db, alice.id)).toBe(before - (status === 'paid' ? 990n : 0n))
    }
  })

  it('refuses refunds and payouts, and moves nothing', async () => {
    for (const path of ['pay/refund', 'pay/refundquery']) {
      expectRefusal(
        await askV2(path, { money: '1' }),
        'v2',
        'not_supported',
        '不支持自动退款，请联系管理员处理',
      )
    }
    for (const path of ['transfer/submit', 'transfer/query']) {
      expectRefusal(await askV2(path, { money: '1' }), 'v2', 'not_supported', '未开通代付功能')
    }
  })

  it('takes nothing from a query, and knows no other path', async () => {
    const paths = ['create', 'query', 'close', 'refund', 'refundquery'].map((path) => `pay/${path}`)
    paths.push('merchant/info', 'merchant/orders', 'transfer/submit', 'transfer/query', 'transfer/balance')
    const fields = shop.signRsa(trade())
    const before = await countOrders()
    for (const path of paths) {
      expect((await send(test, 'GET', `/payment/api/${path}`, fields)).statusCode).toBe(405)
      expectUnsigned(
        await ask(`/payment/api/${path}?${new URLSearchParams(fields)}`, ''),
        'v2',
        'nothing_sent',
      )
      // The pid comes first, and without a signature the answer does not say whether it exists.
      expectRefusal(await ask(`/payment/api/${path}`, { pid: shop.pidText }), 'v2', 'invalid_signature')
    }
    for (const path of ['pay/nothing', 'nothing.php', 'pay', '%E4%BC%9A']) {
      expectUnsigned(await ask(`/payment/api/${path}`, fields), 'v2', 'unknown_action')
      expectUnsigned(await ask(`/payment/api/${path}`, fields, 'GET'), 'v2', 'unknown_action')
    }
    expect(await countOrders()).toBe(before)
  })
})

describe('submit, where a person stands before the answer', () => {
  it('says why it refuses: in a page to browsers, in JSON to programs', async () => {
    for (const path of [SUBMIT, '/payment/api/pay/submit']) {
      for (const method of ['GET', 'POST'] as const) {
        const nothing = await send(test, method, path, '')
        expect(nothing.statusCode).toBe(400)
        expect(nothing.headers['content-type']).toMatch(/^text\/plain/)
        const before = await countOrders()
        const cases: [Fields | string, string][] = [
          [{ ...shop.signMd5(trade()), money: '0.01' }, '签名验证失败'],
          [shop.signMd5(trade({ money: 'x' })), '商品金额格式无效'],
          [
            shop.signMd5(trade({ name: '<script>alert(1)</script>&out_trade_no=2&r=' })),
            '商品名称有歧义，签名原文还可读成另一组参数',
          ],
          [shop.signRsa(trade({ timestamp: '1' })), '时间戳无效或已过期'],
          [trade({ pid: '999999' }), '商户不存在'],
          [`${new URLSearchParams(shop.signMd5(trade()))}&money=1`, '请求参数重复或格式无效'],
          ['pid=1001&name=%FF', '请求参数不是有效的 UTF-8 文本，请以 UTF-8 编码发送'],
        ]
        for (const [fields, msg] of cases) {
          const refused = await send(test, method, path, fields)
          expect(refused.statusCode).toBe(400)
          expect(refused.json()).toMatchObject({ code: expect.any(Number), msg })
          const isByRsa = typeof fields !== 'string' && fields.sign_type === 'RSA'
          expect(shop.isGenuine(refused.json())).toBe(isByRsa)
          const page = await send(test, method, path, fields, 'text/html')
          expect(page.statusCode).toBe(400)
          expect(page.headers['content-type']).toMatch(/^text\/html/)
          expect(page.headers['set-cookie']).toBeUndefined()
          expect(page.headers['content-security-policy']).toContain("default-src 'none'")
          expect(page.body).toContain(`lang="zh-CN">${msg}<`)
          expect(page.body).not.toContain('<script>alert')
        }
        expect(await countOrders()).toBe(before)
      }
    }
    const url = `${SUBMIT}?${new URLSearchParams({ ...shop.signMd5(trade()), money: '0.01' })}`
    const page = await test.app.inject({ url, headers: { accept: 'text/html', 'accept-language': 'en' } })
    expect(page.body).toContain('lang="zh-CN">签名验证失败<')
    expect(page.body).toContain('<strong>The shop’s signature is wrong.</strong>')
    const ways = async (pid: string) => {
      const { body } = await test.app.inject({
        url: `${SUBMIT}?pid=${pid}&money=1`,
        headers: { accept: 'text/html' },
      })
      return [...body.matchAll(/<a class="button [^"]*" href="([^"]*)"/g)].map(([, href]) => href)
    }
    const pid = String(shop.signMd5(trade()).pid)
    await setRows(test, 'payment_apps', { id: shop.id }, { homepage: 'https://shop.example/' })
    expect(await ways(pid)).toEqual(['https://shop.example/', '/'])
    await setRows(test, 'payment_apps', { id: shop.id }, { homepage: null })
    for (const number of [pid, '999999999', '9'.repeat(30), 'x']) expect(await ways(number)).toEqual(['/'])
  })

  it("takes buyers from anywhere; a shop's server only from its addresses", async () => {
    const allow = (allowed_addresses: string[]) =>
      setRows(test, 'payment_apps', { id: shop.id }, { allowed_addresses })
    await allow(['203.0.113.0/24'])
    expect((await send(test, 'GET', SUBMIT, shop.signMd5(trade()))).statusCode).toBe(302)
    expect((await send(test, 'POST', '/payment/api/pay/submit', shop.signRsa(trade()))).statusCode).toBe(302)
    expectRefusal(await createV1(trade()), 'v1', 'address_not_allowed')
    expectRefusal(await createV2(trade()), 'v2', 'address_not_allowed')
    expectRefusal(await askApi('query'), 'v1', 'address_not_allowed')
    await allow(['127.0.0.0/8'])
    expect(await createV1(trade())).toMatchObject({ code: 1 })
    await allow([])
  })
})

describe('an application', () => {
  it('unapproved is refused after its signature; suspended may only query', async () => {
    const seller = await makeShop(test)
    const { pidText: pid } = seller
    const sold = trade({ pid })
    await ask(MAPI, seller.signMd5(sold))
    const become = (status: 'pending' | 'rejected' | 'suspended' | 'approved') =>
      setRows(test, 'payment_apps', { id: seller.id }, { status })
    for (const status of ['pending', 'rejected'] as const) {
      await become(status)
      expectRefusal(await ask(MAPI, { ...seller.signMd5(sold), sign: 'x' }), 'v1', 'invalid_signature')
      const msg = '支付应用尚未启用'
      expectRefusal(await ask(MAPI, seller.signMd5(sold)), 'v1', 'application_unusable', msg)
      expectRefusal(await askApi('query', {}, seller), 'v1', 'application_unusable', msg)
      expectRefusal(await askV2('merchant/info', {}, seller), 'v2', 'application_unusable', msg, seller)
    }
    await become('suspended')
    const unsold = trade({ pid })
    expectRefusal(await ask(MAPI, seller.signMd5(unsold)), 'v1', 'application_unusable')
    expectRefusal(await ask(CREATE, seller.signRsa(unsold)), 'v2', 'application_unusable', undefined, seller)
    expect((await send(test, 'GET', SUBMIT, seller.signMd5(unsold))).body).toContain('商户已被封禁，无法支付')
    expect(await askApi('query', {}, seller)).toMatchObject({ code: 1, active: 0 })
    expect(await askV2('merchant/info', {}, seller)).toMatchObject({ code: 0, status: 0, pay_status: 0 })
    expect(await askV2('pay/query', { out_trade_no: sold.out_trade_no! }, seller)).toMatchObject({ code: 0 })
    await become('approved')
  })

  itCounts('that asks too often gets 429, and impostors use none of it', async () => {
    const seller = await makeShop(test)
    await set('limit_api_requests', '3')
    const info = () =>
      send(
        test,
        'POST',
        '/payment/api/merchant/info',
        seller.signRsa({ pid: seller.pidText, timestamp: seconds() }),
      )
    for (let i = 0; i < 3; i += 1) {
      expectRefusal(await askApi('query', { key: 'x' }, seller), 'v1', 'wrong_key')
    }
    const pretended = await send(test, 'POST', API, { act: 'query', pid: seller.pidText, key: 'x' })
    expect(pretended.statusCode).toBe(429)
    for (let i = 0; i < 3; i += 1) expect((await info()).json()).toMatchObject({ code: 0 })
    const full = await info()
    expect(full.statusCode).toBe(429)
    expect(Number(full.headers['retry-after'])).toBeGreaterThan(0)
    expectUnsigned(full.json(), 'v2', 'too_many_attempts')
    const page = await send(test, 'GET', SUBMIT, seller.signMd5(trade({ pid: seller.pidText })))
    expect(page.statusCode).toBe(429)
    await set('limit_api_requests', '0')
  })
})

describe('a service that is too busy', () => {
  it('says so by 503 with a time, in each shape, unsigned', async () => {
    const deps = { ...test.deps, batching: { itemsMax: 1, queueMax: 1 } }
    const app = await buildApp(deps)
    for (const [path, sign] of [
      [MAPI, shop.signMd5],
      [CREATE, shop.signRsa],
      [SUBMIT, shop.signMd5],
    ] as const) {
      const replies = await Promise.all(
        Array.from({ length: 12 }, () => send({ ...test, app }, 'POST', path, sign(trade()))),
      )
      const busy = replies.filter(({ statusCode }) => statusCode === 503)
      expect(busy.length).toBeGreaterThan(0)
      expect(replies.length - busy.length).toBeGreaterThan(0)
      expect(busy[0]!.headers['retry-after']).toBe('1')
      if (path === SUBMIT) expect(busy[0]!.body).toContain('系统繁忙，请稍后再试')
      else expectUnsigned(busy[0]!.json(), path === MAPI ? 'v1' : 'v2', 'overloaded')
    }
    await app.close()
  })
})

describe('addresses', () => {
  const works = async (v1: string, v2: string) => {
    for (const path of [`${v1}mapi.php`, `${v2}pay/create`]) {
      expect((await send(test, 'POST', path, shop.signMd5(trade()))).json()).toMatchObject({
        trade_no: expect.any(String),
      })
    }
    for (const path of [`${v1}submit.php`, `${v1}pay/submit.php`, `${v2}pay/submit`]) {
      expect((await send(test, 'GET', path, shop.signMd5(trade()))).statusCode).toBe(302)
      expect((await send(test, 'POST', path, shop.signMd5(trade()))).statusCode).toBe(302)
    }
    const { pidText: pid, merchant_key: key } = shop
    expect((await send(test, 'GET', `${v1}api.php`, { act: 'query', pid, key })).json()).toMatchObject({
      code: 1,
    })
    const signed = shop.signRsa({ pid, timestamp: seconds() })
    expect((await send(test, 'POST', `${v2}merchant/info`, signed)).json()).toMatchObject({ code: 0 })
    expect((await send(test, 'POST', `${v2}transfer/balance`, signed)).json()).toMatchObject({ code: 0 })
  }

  it('are those of the specification, and those that libraries build from one base', async () => {
    await works('/payment/api/', '/payment/api/')
    await works('/payment/', '/payment/api/api/')
    await works('/payment/api/api/', '/payment/api/api/')
  })

  it.each(['/payment/api/sumbit.php', '/payment/api/pay/pay.php', '/payment/sumbit.php'])(
    'like %s, which is none, are a page for a browser',
    async (path) => {
      const page = await test.app.inject({ url: path, headers: { accept: 'text/html,*/*' } })
      expect(page.statusCode).toBe(404)
      expect(page.headers['content-type']).toMatch(/^text\/html/)
      const program = await test.app.inject(path)
      expect(program.headers['content-type']).toMatch(/^application\/json/)
    },
  )

  it('with a doubled file name say what the base address is', async () => {
    for (const [path, base] of [
      ['mapi.php/submit.php', '/payment/api/'],
      ['submit.php/mapi.php', '/payment/api/'],
      ['api.php/api.php', '/payment/api/'],
      ['mapi.php/api/pay/create', '/payment/'],
    ]) {
      const url = `/payment/api/${path}`
      const msg = `支付网关地址应填 ${test.url}${base} ，不含文件名`
      for (const method of ['GET', 'POST'] as const)
        expect((await send(test, method, url, shop.signMd5(trade()))).json()).toEqual({ code: -5, msg })
      const page = await send(test, 'GET', url, shop.signMd5(trade()), 'text/html')
      expect(page.statusCode).toBe(404)
      expect(page.headers['content-type']).toMatch(/^text\/html/)
      expect(page.body).toContain(msg)
    }
  })

  it('at the host’s root work only where an administrator enabled them', async () => {
    const paths = [
      '/mapi.php',
      '/submit.php',
      '/pay/submit.php',
      '/api.php',
      '/api/pay/create',
      '/api/pay/submit',
      '/api/merchant/info',
    ]
    for (const path of paths) {
      const base = path.startsWith('/api/') ? '/payment/' : '/payment/api/'
      const response = await send(test, 'POST', path, shop.signMd5(trade()))
      expect(response.statusCode).toBe(404)
      expect(response.json()).toEqual({
        code: -5,
        msg: `支付网关地址是 ${test.url}${base} ，域名根路径由管理员用设置 gateway_at_root 开启`,
      })
      const page = await test.app.inject({ url: path, headers: { accept: 'text/html' } })
      expect(page.statusCode).toBe(404)
      expect(page.headers['content-type']).toMatch(/^text\/html/)
      expect(page.body).toContain(`${test.url}${base} `)
      expect(page.body).toContain('gateway_at_root')
    }
    await set('gateway_at_root', 'on')
    await works('/', '/api/')
    expect((await test.app.inject('/api/apps')).statusCode).toBe(401)
    await set('gateway_at_root', 'off')
  })
})

describe('forgery', () => {
  it('of a request by its reply, or back, finds other keys', async () => {
    const reply = await createV2(trade())
    const asRequest = Object.fromEntries(
      Object.entries(reply).map(([field, value]) => [field, String(value)]),
    )
    expectRefusal(await ask('/payment/api/pay/query', asRequest), 'v2', 'invalid_signature')
    expect(shop.isGenuine(shop.signRsa(trade()))).toBe(false)
  })

  it("has nothing of the caller's in what is signed for a refusal", async () => {
    const marks = {
      pid: shop.pidText,
      timestamp: seconds(),
      name: 'MARK',
      msg: 'MARK',
      act: 'MARK',
      trade_no: 'MARK',
    }
    for (const path of ['pay/create', 'pay/query', 'merchant/orders', 'transfer/submit']) {
      for (const fields of [
        marks,
        shop.signRsa({ ...marks, limit: 'MARK' }),
        shop.signRsa({ ...marks, 'MARK[]': 'x' }),
      ]) {
        const response = await send(test, 'POST', `/payment/api/${path}`, fields)
        expect(response.body).not.toContain('MARK')
      }
    }
  })
})

describe('every answer', () => {
  it('to a fault of ours is 500, JSON, without its details', async () => {
    const second = await startTestApp()
    const seller = await makeShop(second)
    await sql`alter table orders rename to orders_gone`.execute(second.db)
    const timestamp = String(second.clock.now().getTime() / 1000)
    const signed = trade({ pid: seller.pidText, timestamp })
    for (const [path, fields] of [
      [MAPI, seller.signMd5(signed)],
      [CREATE, seller.signRsa(signed)],
    ] as const) {
      const response = await send(second, 'POST', path, fields)
      expect(response.statusCode).toBe(500)
      expect(response.json()).toEqual({ code: -1, msg: '系统错误，请稍后再试' })
    }
    const page = await send(second, 'GET', SUBMIT, seller.signMd5(signed))
    expect(page.statusCode).toBe(500)
    expect(page.body).not.toContain('orders')
    await second.close()
  })

  itCounts('has been provoked for every code there is', () => {
    // Maintenance, frozen orders, another method, and a database that cannot act have test files of their own.
    const elsewhere = ['payments_paused', 'order_frozen', 'method_not_allowed', 'unavailable']
    const unseen = Object.keys(GATEWAY_ERRORS).filter((code) => !seen.has(code) && !elsewhere.includes(code))
    expect(unseen).toEqual([])
  })
})
