// @ts-check
/**
 * A shop with one product, and a small but complete integration with Tessera: visitors sign in with their forum account
 * (sign-in.js) and pay in forum points (payment.js). It needs only Node, and keeps everything in memory: a real shop uses
 * a database in place of the Map.
 *
 * Run it: TESSERA_URL=… CLIENT_ID=… CLIENT_SECRET=… PAYMENT_ID=… PAYMENT_TOKEN=… node shop.js
 */
import { randomBytes } from 'node:crypto'
import { homePage, messagePage, orderPage } from './pages.js'
import { openPayments } from './payment.js'
import { openSignIn, SignInError } from './sign-in.js'
import { redirect, send, startServer, startSession } from './web.js'

/** @import { Handler, Visit } from './web.js' */
/**
 * @typedef {{ transaction_id: string, paid_at: string, platform_fee: number, merchant_points: number }} Payment
 * @typedef {{
 *   id: string, buyer: string, description: string, amount: number, created_at: string,
 *   transaction_id?: string, payment_url?: string, payment?: Payment
 * }} Order
 */

const PRODUCT = {
  name: 'Sticker pack',
  text: 'Twelve weatherproof stickers, cut to shape, for laptops, bottles and bicycles.',
  amount: 120,
}

const { SHOP_PORT = '4000', HOST = '127.0.0.1' } = process.env
const { SHOP_URL = `http://127.0.0.1:${SHOP_PORT}` } = process.env
const TESSERA_URL = setting('TESSERA_URL')
const { TESSERA_PAYMENT_URL = TESSERA_URL } = process.env

const signIn = openSignIn({
  url: TESSERA_URL,
  clientId: setting('CLIENT_ID'),
  clientSecret: setting('CLIENT_SECRET'),
  redirectUri: `${SHOP_URL}/login/callback`,
})
const payments = openPayments({
  url: TESSERA_PAYMENT_URL,
  paymentId: setting('PAYMENT_ID'),
  token: setting('PAYMENT_TOKEN'),
})

/** @type {Map<string, Order>} by id */
const orders = new Map()

/** @type {Record<string, Handler>} */
const routes = {
  'GET /': home,
  'GET /login': beginSignIn,
  'GET /login/callback': finishSignIn,
  'POST /sign-out': signOut,
  'POST /buy': buy,
  'GET /payment/callback': acceptPayment,
}

startServer(
  { host: HOST, port: Number(SHOP_PORT), url: SHOP_URL, formTarget: TESSERA_PAYMENT_URL },
  (method, path) => {
    if (method === 'GET' && path.startsWith('/orders/')) return showOrder
    return routes[`${method} ${path}`]
  },
)

/** @param {Visit} visit */
function home({ session, response }) {
  const own = [...orders.values()].filter((order) => order.buyer === session.member?.sub)
  send(response, 200, homePage(session, PRODUCT, own.reverse()))
}

/** @param {Visit} visit */
function beginSignIn({ session, response }) {
  const { attempt, location } = signIn.begin()
  session.attempt = attempt
  redirect(response, location)
}

/** @param {Visit} visit */
async function finishSignIn({ url, session, response }) {
  const { attempt } = session
  delete session.attempt
  try {
    const member = await signIn.finish(url.searchParams, attempt)
    startSession(response, { replaces: session, member })
    redirect(response, '/')
  } catch (error) {
    if (!(error instanceof SignInError)) throw error
    if (error.isDenied) {
      const text =
        'You, or a rule of Tessera, did not let us know who you are. You can try again at any time.'
      return send(response, 200, messagePage(session, { title: 'You are not signed in', text }))
    }
    const text = `${error.message}. Please start again.`
    send(response, 400, messagePage(session, { title: 'The sign-in did not work', text }))
  }
}

/** @param {Visit} visit */
function signOut({ session, response }) {
  startSession(response, { replaces: session })
  redirect(response, '/')
}

/** @param {Visit} visit */
async function buy({ session, response }) {
  if (session.member === undefined) return redirect(response, '/login')
  const order = {
    id: `order_${randomBytes(6).toString('hex')}`,
    buyer: session.member.sub,
    description: PRODUCT.name,
    amount: PRODUCT.amount,
    created_at: new Date().toISOString(),
  }
  // The shop saves the order before it opens the payment, so every callback finds its order.
  orders.set(order.id, order)
  const { payment_url, transaction_id } = await payments.start(order)
  Object.assign(order, { payment_url, transaction_id })
  redirect(response, payment_url)
}

/**
 * The payer's browser returns after the payment. Anyone can open this address, so only the signature proves the payment.
 * @param {Visit} visit
 */
function acceptPayment({ url, session, response }) {
  const callback = payments.verifyCallback(url.searchParams)
  const order = callback && orders.get(callback.external_reference ?? '')
  if (callback === undefined || order === undefined || !settle(order, callback)) {
    const text = 'This address does not prove a payment to us. If you have paid, open your order in the shop.'
    return send(response, 400, messagePage(session, { title: 'Payment not accepted', text }))
  }
  send(response, 200, orderPage(session, order))
}

/**
 * Shows an order to its payer. It queries Tessera while the order is unpaid, because a closed browser sends no callback.
 * @param {Visit} visit
 */
async function showOrder({ url, session, response }) {
  const order = orders.get(url.pathname.slice('/orders/'.length))
  if (order === undefined || order.buyer !== session.member?.sub) {
    const text = 'There is no such order of yours. Are you signed in?'
    return send(response, 404, messagePage(session, { title: 'No such order', text }))
  }
  if (order.payment === undefined && order.transaction_id !== undefined) {
    settle(order, await payments.query(order.transaction_id))
  }
  send(response, 200, orderPage(session, order))
}

/**
 * Marks an order paid if this verified record says so. Returns whether the order is paid. Repeated reports of a payment,
 * by callback or by query, send the goods only once.
 * @param {Order} order
 * @param {Record<string, any>} record
 */
function settle(order, record) {
  if (record.status !== 'completed' || Number(record.amount) !== order.amount) return false
  if (order.payment === undefined) {
    order.payment = {
      transaction_id: record.transaction_id,
      paid_at: record.paid_at,
      platform_fee: Number(record.platform_fee),
      merchant_points: Number(record.merchant_points),
    }
    // A real shop sends the goods here, and only here.
  }
  return true
}

/** @param {string} name */
function setting(name) {
  const value = process.env[name]
  if (value) return value
  console.error(`Set ${name}: the shop cannot do without it.`)
  process.exit(1)
}
