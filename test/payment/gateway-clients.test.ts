/**
 * Real clients, each written independently from those facts: how
 * it appends paths, sends, reads, parses a query in its language, signs and checks. Each creates a trade that is paid
 * in a browser, gets a real notification, receives the returning payer, and queries the trade.
 */
import { createPrivateKey, createSign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import forge from 'node-forge'
import { afterAll, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Fields, makeShop, md5, send } from '../harness/gateway-shop.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { rowOf } from '../harness/rows.ts'

/** The raw query that came to each path, as each client's language receives it. */
const told = new Map<string, string>()
/** The verifier of the client at each path. */
const verifiers = new Map<string, (query: string) => boolean>()

const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
test.startNotifier()
const shop = await makeShop(test)
const buyer = await (await makePerson(test, { points: 1_000_000n })).signIn()
await setSetting(test, 'gateway_at_root', 'on')
const receiver = createServer((request, response) => {
  const [path = '', query = ''] = request.url!.split('?')
  told.set(path, query)
  response.end(verifiers.get(path)?.(query) ? 'success' : 'fail')
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
afterAll(async () => {
  receiver.close()
})

/** PHP's $_GET: of two the last, dots and spaces in names become underscores, a `+` is a space. */
function php(query: string): Fields {
  const fields: Fields = {}
  for (const part of query.split('&').filter(Boolean)) {
    const [name = '', ...value] = part.split('=')
    const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
    fields[decode(name).replace(/[. ]/g, '_')] = decode(value.join('='))
  }
  return fields
}

/** Go's url.ParseQuery with Get: of two the first. */
function go(query: string): Fields {
  const fields: Fields = {}
  for (const [name, value] of new URLSearchParams(query)) fields[name] ??= value
  return fields
}

/** A client that refuses a repeated name. */
function strict(query: string): Fields {
  const pairs = [...new URLSearchParams(query)]
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length) throw new Error('a name is there twice')
  return Object.fromEntries(pairs)
}

const bytewise = (a: string, b: string) => (a < b ? -1 : 1)
const isSignature = (name: string) => name === 'sign' || name === 'sign_type'

/** `k=v&…` without signatures and without the values that this client drops. */
function join(fields: Fields, isDropped: (value: string) => boolean): string {
  const names = Object.keys(fields).filter((name) => !isSignature(name) && !isDropped(fields[name]!))
  return names
    .sort(bytewise)
    .map((name) => `${name}=${fields[name]}`)
    .join('&')
}
const empty = (value: string) => value === ''
const nothing = () => false

const signedMd5 = (fields: Fields): Fields => ({
  ...fields,
  sign: md5(join(fields, empty) + shop.merchant_key),
  sign_type: 'MD5',
})

/** Removes backslashes from the signed text, but not from the sent values. */
const strippedMd5 =
  (isDropped: (value: string) => boolean) =>
  (fields: Fields): Fields => {
    const sign = md5(join(fields, isDropped).replace(/\\(.?)/g, '$1') + shop.merchant_key)
    return { ...fields, sign, sign_type: 'MD5' }
  }

const now = () => String(Math.floor(test.clock.now().getTime() / 1000))

/** PHP's openssl_sign with the pasted text, wrapped as the SDKs do. */
function signedRsa(fields: Fields): Fields {
  const all = { ...fields, timestamp: now() }
  const key = createPrivateKey(shop.privatePem)
  const text = join(all, (value) => value.trim() === '')
  return { ...all, sign: createSign('sha256').update(text).sign(key, 'base64'), sign_type: 'RSA' }
}

/** Verifies with another implementation than the one that signs. */
function isByPlatform(fields: Fields): boolean {
  if (!(Math.abs(Number(now()) - Number(fields.timestamp)) <= 300)) return false
  const digest = forge.md.sha256.create().update(join(fields, empty), 'utf8').digest().getBytes()
  return forge.pki.publicKeyFromPem(shop.platformPem).verify(digest, forge.util.decode64(fields.sign!))
}

type Json = Record<string, unknown>
type Order = { number: string; money: string; name: string; notify: string; back: string }
type Check = (fields: Fields, order: Order) => boolean
/** The members that a typed language decodes. A member of another type fails the whole answer. */
type Types = Record<string, 'int' | 'string'>

/** Only what a client does otherwise than the others is named. */
type Client = {
  name: string
  /** The request that creates a trade. A browser follows the link or form of submit.php. */
  create: `${'GET' | 'POST'} ${string}`
  /** Parameters beside those that every client sends. */
  adds?: Fields
  sendsNoType?: true
  signs?: (fields: Fields) => Fields
  types?: Types
  /** What it needs of the answer to its create, beside the code and a genuine signature. */
  needs?: (reply: Json, order: Order) => boolean
  /** How its language parses a query. */
  reads: (query: string) => Fields
  /** What it checks of a notification and a return, beside the signature. */
  checks?: Check[]
  /** Its notation of its price. The default is 9.90. */
  money?: string
  notifyQuery?: string
  /** The request by which it asks for the trade, by this number, and what it needs of the answer beside status 1. */
  asks?: {
    path: `${'GET' | 'POST'} ${string}`
    by: 'trade_no' | 'out_trade_no'
    isSigned?: true
    types?: Types
    needs?: (reply: Json, order: Order) => boolean
  }
}

/** Clients on Guzzle, axios or `response.ok` accept only 2xx. */
async function call(request: string, fields: Fields, types: Types = {}): Promise<Json> {
  const [method, path] = request.split(' ') as ['GET' | 'POST', string]
  const response = await send(test, method, path, fields)
  if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`HTTP ${response.statusCode}`)
  const reply: Json = response.json()
  for (const [name, type] of Object.entries(types)) {
    const value = reply[name]
    if (value === undefined) continue
    if (type === 'int' ? !Number.isInteger(value) : typeof value !== 'string')
      throw new Error(`json: cannot unmarshal ${typeof value} into ${name} of type ${type}`)
  }
  return reply
}

/** Whether the platform signed the scalars of an answer, where integers are their digits. */
function isGenuine(reply: Json): boolean {
  const scalars = Object.entries(reply).filter(([, value]) => ['string', 'number'].includes(typeof value))
  return isByPlatform(Object.fromEntries(scalars.map(([name, value]) => [name, String(value)])))
}

/** Creates a trade. Returns the address of the pay page and, if the client learns it now, the trade_no. */
async function create(client: Client, order: Order) {
  const { create, adds, sendsNoType, signs = signedMd5, types, needs } = client
  const { number: out_trade_no, notify: notify_url, back: return_url, name, money } = order
  const common = { pid: shop.pidText, out_trade_no, notify_url, return_url, name, money }
  const fields = signs({ ...common, ...(!sendsNoType && { type: 'alipay' }), ...adds })
  const [method, path = ''] = create.split(' ')
  if (path.endsWith('submit.php')) {
    const response = await send(test, method as 'GET' | 'POST', path, fields)
    expect(response.statusCode).toBe(302)
    return { url: response.headers.location!, trade_no: undefined }
  }
  const reply = await call(create, fields, types)
  const isGood = reply.code === (path.endsWith('pay/create') ? 0 : 1) && (needs?.(reply, order) ?? true)
  if (!isGood || (signs === signedRsa && !isGenuine(reply))) throw new Error(String(reply.msg))
  return { url: String(reply.payurl ?? reply.pay_info), trade_no: reply.trade_no }
}

/** Whether the client accepts the query of a notification or return. */
function accepts(
  { reads, signs = signedMd5, checks = [], notifyQuery = '' }: Client,
  query: string,
  order: Order,
) {
  const all = reads(query)
  const own = Object.keys(reads(notifyQuery.slice(1)))
  const fields = Object.fromEntries(Object.entries(all).filter(([name]) => !own.includes(name)))
  const isSigned = signs === signedRsa ? isByPlatform(fields) : signs(fields).sign === fields.sign
  return isSigned && checks.every((check) => check(fields, order))
}

/** Whether the platform confirms the payment to the client. */
async function confirms({ asks, signs = signedMd5 }: Client, order: Order, trade_no: string) {
  const { path, by, isSigned, types, needs } = asks!
  const number = by === 'trade_no' ? trade_no : order.number
  const fields: Fields = {
    pid: shop.pidText,
    [by]: number,
    ...(path.endsWith('api.php') && { act: 'order' }),
  }
  const reply = await call(path, isSigned ? signs(fields) : { ...fields, key: shop.merchant_key }, types)
  const isRight = signs !== signedRsa || isGenuine(reply)
  return isRight && reply.status === 1 && (needs?.(reply, order) ?? true)
}

const successful: Check = ({ trade_status }) => trade_status === 'TRADE_SUCCESS'
const ownNumber: Check = ({ out_trade_no }, order) => out_trade_no === order.number
const ownPid: Check = ({ pid }) => pid === shop.pidText
const sameMoney: Check = ({ money }, order) => money === order.money
const equalMoney: Check = ({ money }, order) => Number(money) === Number(order.money)
const sixFields: Check = (form) =>
  ['type', 'trade_no', 'out_trade_no', 'name', 'money', 'trade_status'].every((name) => form[name])

const BY_V2 = { path: 'POST /payment/api/pay/query', by: 'out_trade_no', isSigned: true } as const
const GO_TYPES: Types = {
  ...{ code: 'int', msg: 'string', trade_no: 'string', payurl: 'string', pay_info: 'string' },
  ...{ pay_type: 'string', timestamp: 'string' },
}
const GO_TRADE: Types = {
  ...{ code: 'int', status: 'int', pid: 'int' },
  ...{ money: 'string', trade_no: 'string', timestamp: 'string' },
}

const clients: Client[] = [
  {
    name: 'the PHP SDK of V1: a form to submit.php, every $_GET, status and nothing else',
    create: 'POST /payment/api/submit.php',
    reads: php,
    checks: [successful, ownNumber],
    asks: { path: 'GET /payment/api/api.php', by: 'trade_no' },
  },
  {
    name: 'the PHP SDK of V1 by mapi.php',
    create: 'POST /payment/api/mapi.php',
    adds: { type: 'wxpay', clientip: '192.0.2.1', device: 'pc' },
    reads: php,
  },
  {
    name: 'the PHP SDK of V2: api/pay/create below its base, replies and callbacks within 300 s',
    create: 'POST /payment/api/pay/create',
    adds: { method: 'web', clientip: '192.0.2.1' },
    signs: signedRsa,
    reads: php,
    checks: [successful, ownNumber],
    asks: { ...BY_V2, by: 'trade_no', needs: ({ code }) => code === 0 },
  },
  {
    name: 'go-epay, as new-api and Veloera use it: a form with device=pc, and six fields it must have',
    create: 'POST /payment/submit.php',
    adds: { device: 'pc' },
    reads: go,
    checks: [sixFields, successful],
  },
  {
    name: 'the other Go library with types, MD5',
    create: 'POST /payment/api/mapi.php',
    adds: { clientip: '192.0.2.1', device: 'pc', method: 'web' },
    types: GO_TYPES,
    reads: go,
    asks: {
      ...{ path: 'POST /payment/api/api.php', by: 'trade_no', types: GO_TRADE },
      needs: ({ money }, order) => money === order.money,
    },
  },
  {
    name: 'the other Go library with types, RSA: its base with api/ twice',
    create: 'POST /payment/api/api/pay/create',
    adds: { clientip: '192.0.2.1', device: 'pc', method: 'web' },
    signs: signedRsa,
    types: GO_TYPES,
    reads: go,
    asks: {
      ...{ path: 'POST /payment/api/api/pay/query', by: 'trade_no', isSigned: true, types: GO_TRADE },
      needs: ({ money }, order) => money === order.money,
    },
  },
  {
    name: 'the Go SDK that asks by GET: mapi.php and a signed api.php, pid an integer, all else text',
    create: 'GET /payment/api/mapi.php',
    types: { code: 'int', payurl: 'string', qrcode: 'string' },
    reads: go,
    asks: {
      ...{ path: 'GET /payment/api/api.php', by: 'out_trade_no', isSigned: true },
      types: { pid: 'int', status: 'int' },
      needs: ({ code: _, pid: __, status: ___, ...rest }) =>
        Object.values(rest).every((value) => typeof value === 'string'),
    },
  },
  {
    name: 'sub2api: mapi.php with an extra cid, everything of api.php in the body',
    create: 'POST /payment/api/mapi.php',
    adds: { clientip: '192.0.2.1', cid: '7' },
    types: { code: 'int', trade_no: 'string', payurl: 'string' },
    needs: ({ payurl }) => String(payurl).startsWith('http'),
    reads: go,
    checks: [ownPid, successful],
    asks: {
      ...{ path: 'POST /payment/api/api.php', by: 'out_trade_no', types: GO_TRADE },
      // It would decode `data` as an object, and reads a trade_status if there is one.
      needs: (reply, order) =>
        !('data' in reply) &&
        (reply.trade_status ?? 'TRADE_SUCCESS') === 'TRADE_SUCCESS' &&
        Number(reply.money) === Number(order.money),
    },
  },
  {
    name: 'the sub2api of V2: a base without a path, every reply verified, nothing twice',
    create: 'POST /api/pay/create',
    adds: { method: 'jump' },
    signs: signedRsa,
    needs: ({ pid, pay_info, trade_no }) =>
      String(pid) === shop.pidText && /^https?:/.test(String(pay_info)) && trade_no !== undefined,
    reads: strict,
    checks: [ownPid, successful, sameMoney],
    asks: {
      ...{ path: 'POST /api/pay/query', by: 'trade_no', isSigned: true },
      needs: ({ pid, trade_no, out_trade_no, money }, order) =>
        ![pid, trade_no].includes(undefined) && out_trade_no === order.number && money === order.money,
    },
  },
  {
    name: 'v2board and Xboard: a link without type, money as PHP prints it, all that arrives, without backslashes',
    money: '9.9',
    create: 'GET /payment/api/submit.php',
    sendsNoType: true,
    signs: strippedMd5(nothing),
    reads: php,
    checks: [ownNumber],
  },
  {
    name: 'dujiaoka: a form by GET, money as a float, a loose comparison, two decimals',
    money: '9.9',
    create: 'GET /payment/api/submit.php',
    reads: php,
    checks: [({ trade_no }) => Boolean(trade_no), equalMoney],
  },
  {
    name: 'SSPanel: base and mapi.php glued together, code === 1 and a payurl',
    create: 'POST /payment/api/mapi.php',
    adds: { sitename: 'SSPanel' },
    signs: strippedMd5(empty),
    needs: ({ payurl }) => Boolean(payurl),
    reads: php,
  },
  {
    name: 'Blesta: an empty type, its own parameters on the addresses',
    notifyQuery: '?route=epay&company_id=1',
    create: 'GET /payment/api/submit.php',
    adds: { type: '', param: 'client_id=7' },
    reads: php,
    checks: [({ param }) => param === 'client_id=7'],
    asks: { path: 'GET /payment/api/api.php', by: 'trade_no', needs: ({ code }) => code === 1 },
  },
  {
    name: 'perfect-panel: ignores code, binds pid to an integer',
    create: 'GET /payment/api/submit.php',
    reads: go,
    checks: [({ pid }) => /^\d{1,18}$/.test(pid!), successful],
    asks: { path: 'GET /payment/api/api.php', by: 'out_trade_no', types: GO_TRADE },
  },
  {
    name: 'ldc-shop: type epay, code === 1 as a number',
    create: 'POST /payment/submit.php',
    adds: { type: 'epay' },
    reads: strict,
    checks: [successful, equalMoney],
    asks: { path: 'GET /payment/api.php', by: 'out_trade_no', needs: ({ code }) => code === 1 },
  },
  {
    name: 'cdk: money as the very text that it sent',
    money: '10.00',
    create: 'GET /payment/submit.php',
    adds: { type: 'epay' },
    reads: go,
    checks: [sameMoney],
  },
  {
    name: 'the TypeScript SDKs: code and status by ===, null and empty dropped, no redirect followed',
    create: 'POST /payment/api/pay/create',
    adds: { param: '' },
    signs: signedRsa,
    reads: (query) => Object.fromEntries(new URLSearchParams(query)),
    checks: [successful, ownNumber],
    asks: { ...BY_V2, needs: ({ code }) => code === 0 },
  },
  // NOTE: its own check of MD5 compares an upper-case sign with a lower-case one and never passes: not played.
  ...([signedRsa, signedMd5] as const).map(
    (signs): Client => ({
      name: `gitstore with ${signs === signedRsa ? 'an RSA key' : 'a KEY: MD5 with a timestamp on the path of V2'}`,
      create: 'POST /payment/api/pay/create',
      adds: { type: 'nodeloc', method: 'web', timestamp: now() },
      signs,
      types: { code: 'int', timestamp: 'string', pay_info: 'string' },
      needs: ({ pay_type }) => pay_type === 'jump',
      reads: go,
    }),
  ),
  {
    name: 'NodeMail: jump, cents, one origin, nothing twice, the trade_no of the create',
    create: 'POST /payment/api/pay/create',
    adds: { method: 'jump', type: 'nodeloc' },
    signs: signedRsa,
    needs: (reply, order) => {
      const { origin, pathname, href } = new URL(String(reply.pay_info))
      const isOurs = origin === test.url && pathname.startsWith('/payment/') && href.length <= 512
      const isSame = reply.out_trade_no === order.number && reply.money === order.money
      return (
        isOurs &&
        isSame &&
        String(reply.pid) === shop.pidText &&
        /^[\w-]{1,128}$/.test(String(reply.trade_no))
      )
    },
    reads: strict,
    checks: [ownPid, ownNumber, equalMoney, successful, ({ sign_type }) => sign_type === 'RSA'],
    asks: { ...BY_V2, needs: ({ trade_status }) => trade_status === 'TRADE_SUCCESS' },
  },
]

it.each(clients.map((client, i) => ({ client, i })))('$client.name', async ({ client, i }) => {
  const { money = '9.90', notifyQuery = '', signs = signedMd5 } = client
  // What is signed without its backslashes must have none.
  const isPlain = signs === signedMd5 || signs === signedRsa
  const order: Order = {
    number: `C-${i}`,
    money,
    name: isPlain ? "会员 & Bob's \\ 100% +1 🎉" : "会员 & Bob's 100% +1 🎉",
    notify: `${address}/notify/${i}${notifyQuery}`,
    back: `${address}/return/${i}${notifyQuery}`,
  }
  verifiers.set(`/notify/${i}`, (query) => accepts(client, query, order))
  const { url, trade_no } = await create(client, order)
  const { pathname, origin } = new URL(url)
  expect(origin).toBe(test.url)
  const row = await rowOf(test, 'orders', { order_id: order.number })
  if (trade_no !== undefined) expect(trade_no).toBe(row.trade_no)
  if (client.asks) expect(await confirms(client, order, row.trade_no!)).toBe(false)

  const paid = await buyer.submit(await buyer.get(pathname), pathname)
  expect(paid.status).toBe(303)
  const back = new URL(paid.location!)
  expect(`${back.origin}${back.pathname}`).toBe(`${address}/return/${i}`)
  expect(accepts(client, back.search.slice(1), order)).toBe(true)
  const notification = await rowOf(test, 'notifications', { order_id: row.id })
  // The shop received the notification and answered success before its payer returned.
  expect(notification.status).toBe('delivered')
  const query = told.get(`/notify/${i}`)!
  expect(accepts(client, query, order)).toBe(true)
  for (const [from, to] of [
    ['TRADE_SUCCESS', 'TRADE_SUCCES'],
    [`out_trade_no=${order.number}`, 'out_trade_no=C-x'],
    ['money=', 'money=1'],
  ]) {
    expect(query).toContain(from)
    expect(accepts(client, query.replace(from!, to!), order)).toBe(false)
  }
  if (client.asks) expect(await confirms(client, order, row.trade_no!)).toBe(true)
})
