// @ts-check
/**
 * A shop made for an epay gateway, which uses Tessera by its address, pid and keys alone. It sells one product by both
 * versions of the protocol and both ways to open a payment, and shows how it learned of the payment. It needs only Node,
 * and keeps everything in memory: a real shop uses a database in place of the Map.
 *
 * Run it: V1_ADDRESS=… V2_ADDRESS=… PID=… MERCHANT_KEY=… MERCHANT_PRIVATE_KEY=… PLATFORM_PUBLIC_KEY=… node shop.js
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { confirmPage, homePage, messagePage, orderPage } from './pages.js'
import { textsFor } from './texts.js'
import { openV1 } from './v1.js'
import { openV2 } from './v2.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Parameters } from './parameters.js' */
/** @import { Texts } from './texts.js' */
/**
 * @typedef {{ action: string, fields: Parameters }} PaymentForm
 * @typedef {{
 *   form(order: Parameters): PaymentForm,
 *   create(order: Parameters): Promise<string>,
 *   query(out_trade_no: string): Promise<Record<string, any> | undefined>,
 *   verify(query: URLSearchParams): Record<string, string> | undefined
 * }} Gateway one version of the protocol: a form that the payer's browser posts, a payment that the shop opens (resolves
 *   to the address for the payer), the state of an order, and the parameters of a genuine notification or return
 * @typedef {'v1' | 'v2'} Version
 * @typedef {'notify' | 'return' | 'query'} News how the shop learns of a payment
 * @typedef {{ money: string, points: string }} Price in the shop's currency, and in points
 * @typedef {{ id: string, version: Version, money: string, trade_no?: string, heard: News[] }} Order
 */

const MONEY = '9.90'
/** What the pages show, by their paths. */
const FILES = Object.entries({
  '/shop.css': 'text/css',
  '/logo.svg': 'image/svg+xml',
  '/mug.svg': 'image/svg+xml',
}).map(([path, type]) => ({ path, type, content: readFileSync(new URL(`.${path}`, import.meta.url)) }))
const BODY_BYTES_MAX = 4_096
const ORDERS_SHOWN = 20

const { SHOP_PORT = '4002', HOST = '127.0.0.1' } = process.env
const { SHOP_URL = `http://127.0.0.1:${SHOP_PORT}` } = process.env
// Points for 1.00, as the page of the application says. The gateway rounds in the same way.
const { POINTS_RATE = '100' } = process.env
const price = { money: MONEY, points: Math.round(Number(MONEY) * Number(POINTS_RATE)).toLocaleString('en') }
const pid = setting('PID')
const addresses = { v1: setting('V1_ADDRESS'), v2: setting('V2_ADDRESS') }

/** @type {{ [version in Version]: Gateway }} */
const gateways = {
  v1: openV1({ address: addresses.v1, pid, key: setting('MERCHANT_KEY') }),
  v2: openV2({
    address: addresses.v2,
    pid,
    privateKey: setting('MERCHANT_PRIVATE_KEY'),
    platformKey: setting('PLATFORM_PUBLIC_KEY'),
  }),
}

/** @type {Map<string, Order>} by id */
const orders = new Map()

/** A browser checks every redirect of a form against form-action. The gateway may redirect to a forum's sign-in. */
const formTargets = ['https:', ...new Set(Object.values(addresses).map((address) => new URL(address).origin))]
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' ${formTargets.join(' ')}; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const server = createServer((request, response) => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  const t = textsFor(request.headers['accept-language'])
  handle(request, response, t).catch((error) => {
    console.error(error)
    const { title, text } = t.messages.failed
    send(response, 502, messagePage(t, { title, text: `${text} (${error.message})` }))
  })
})
server.on('error', (error) => {
  const isTaken = 'code' in error && error.code === 'EADDRINUSE'
  console.error(isTaken ? `Port ${SHOP_PORT} is taken: set SHOP_PORT to a free one.` : error.message)
  process.exit(1)
})
server.listen(Number(SHOP_PORT), HOST, () => {
  if (process.send === undefined) console.log(`The shop is at ${SHOP_URL}`)
  else process.send('ready')
})
// A shop that another program started ends with that program.
process.on('disconnect', () => process.exit())

/**
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {Texts} t
 */
async function handle(request, response, t) {
  const { pathname, searchParams } = new URL(`http://shop${request.url}`)
  if (request.method === 'POST') {
    if (pathname === '/orders') return placeOrder(await readForm(request), response, t)
  } else {
    if (pathname === '/')
      return send(response, 200, homePage(t, price, [...orders.values()].slice(-ORDERS_SHOWN).reverse()))
    const file = FILES.find(({ path }) => path === pathname)
    if (file !== undefined) return void response.setHeader('content-type', file.type).end(file.content)
    if (pathname === '/notify') return acceptNotification(searchParams, response)
    if (pathname === '/return') return acceptReturn(searchParams, response, t)
    if (pathname.startsWith('/orders/')) return showOrder(pathname.slice('/orders/'.length), response, t)
  }
  send(response, 404, messagePage(t, t.messages.nothing))
}

/**
 * @param {URLSearchParams} form
 * @param {ServerResponse} response
 * @param {Texts} t
 */
async function placeOrder(form, response, t) {
  const version = form.get('version') === 'v2' ? 'v2' : 'v1'
  /** @type {Order} */
  const order = {
    id: `mug_${randomBytes(8).toString('hex')}`,
    version,
    money: MONEY,
    heard: [],
  }
  // The shop saves the order before it opens the payment, so every notification finds its order.
  orders.set(order.id, order)
  const parameters = {
    out_trade_no: order.id,
    name: t.product.name,
    money: order.money,
    type: 'alipay',
    notify_url: `${SHOP_URL}/notify`,
    return_url: `${SHOP_URL}/return`,
  }
  if (form.get('way') === 'form')
    return send(response, 200, confirmPage(t, order, gateways[version].form(parameters)))
  redirect(response, await gateways[version].create(parameters))
}

/**
 * The gateway's server notifies the shop of a payment. It repeats the notification until it reads `success`, so a
 * notification may come more than once, and also after the return or a query.
 * @param {URLSearchParams} query
 * @param {ServerResponse} response
 */
function acceptNotification(query, response) {
  const isAccepted = findPaid(query, 'notify') !== undefined
  response
    .writeHead(isAccepted ? 200 : 400, { 'content-type': 'text/plain; charset=utf-8' })
    .end(isAccepted ? 'success' : 'fail')
}

/**
 * The payer's browser returns after the payment. Anyone can open this address, so only the signature proves the payment.
 * @param {URLSearchParams} query
 * @param {ServerResponse} response
 * @param {Texts} t
 */
function acceptReturn(query, response, t) {
  const order = findPaid(query, 'return')
  if (order !== undefined) return redirect(response, `/orders/${order.id}`)
  // The signature proves the payment, but this shop keeps its orders in memory alone.
  const isForgotten = !orders.has(query.get('out_trade_no') ?? '')
  if (isForgotten && (gateways.v1.verify(query) ?? gateways.v2.verify(query)) !== undefined)
    return send(response, 200, messagePage(t, t.messages.forgotten))
  send(response, 400, messagePage(t, t.messages.unproven))
}

/**
 * The order that a genuine notification or return pays. The version of the order decides how to verify the message.
 * Otherwise a stolen KEY of V1 could pay orders of V2.
 * @param {URLSearchParams} query
 * @param {News} news
 */
function findPaid(query, news) {
  const order = orders.get(query.get('out_trade_no') ?? '')
  const record = order && gateways[order.version].verify(query)
  return order && record && settle(order, record, news) ? order : undefined
}

/**
 * Shows an order. It queries the gateway while the order is unpaid, because a notification may be late, and a closed
 * browser sends no return.
 * @param {string} id
 * @param {ServerResponse} response
 * @param {Texts} t
 */
async function showOrder(id, response, t) {
  const order = orders.get(id)
  if (order === undefined) return send(response, 404, messagePage(t, t.messages.noOrder))
  if (order.trade_no === undefined) {
    const record = await gateways[order.version].query(id)
    if (record !== undefined) settle(order, record, 'query')
  }
  send(response, 200, orderPage(t, order))
}

/**
 * Marks an order paid if this verified record belongs to it. Returns whether it does. Repeated reports of a payment
 * send the goods only once.
 * @param {Order} order
 * @param {Record<string, any>} record
 * @param {News} news
 */
function settle(order, record, news) {
  // The gateway returns the price exactly as the shop sent it.
  if (record.out_trade_no !== order.id || record.money !== order.money) return false
  if (!order.heard.includes(news)) order.heard.push(news)
  if (order.trade_no === undefined) {
    order.trade_no = record.trade_no
    // A real shop sends the goods here, and only here.
  }
  return true
}

/** @param {IncomingMessage} request */
async function readForm(request) {
  let body = ''
  for await (const chunk of request) {
    body += chunk
    if (body.length > BODY_BYTES_MAX) throw new Error('The form is too long')
  }
  return new URLSearchParams(body)
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {string} page
 */
function send(response, status, page) {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(page)
}

/**
 * @param {ServerResponse} response
 * @param {string} location
 */
function redirect(response, location) {
  response.writeHead(303, { location }).end()
}

/** @param {string} name */
function setting(name) {
  const value = process.env[name]
  if (value) return value
  console.error(`Set ${name}: the shop cannot do without it.`)
  process.exit(1)
}
