// @ts-check
/**
 * A shop with one product, and a small but complete integration with Tessera: visitors sign in with their forum account
 * (sign-in.js) and pay in forum points (payment.js). They can also allow the shop to charge them later (mandates.js): a club
 * with a fixed amount every month, and buying with one click. It needs only Node, and keeps everything in memory: a real
 * shop uses a database in place of each Map.
 *
 * Run it: TESSERA_URL=… CLIENT_ID=… CLIENT_SECRET=… PAYMENT_ID=… PAYMENT_TOKEN=… node shop.js
 * EVENTS_SECRET (whsec_…) lets it take events at /events. SITE_NAME_EN and SITE_NAME_ZH tell what the pages call the site where members sign in.
 */
import { verifyEvent } from './events.js'
import { isPlan, openMandates, PLANS } from './mandates.js'
import { newOrderId, orders, saveOrder, settle } from './orders.js'
import { homePage, mandatePage, messagePage, orderPage, reasonOf, refusedPage } from './pages.js'
import { openPayments, Refused } from './payment.js'
import { openSignIn, SignInError } from './sign-in.js'
import { textsFor } from './texts.js'
import { redirect, send, startServer, startSession } from './web.js'

/** @import { Mandate, Plan } from './mandates.js' */
/** @import { Order } from './orders.js' */
/** @import { Handler, Visit } from './web.js' */

const AMOUNT = 120
const TIP = 10
const RENEW_MS = 3_600_000

const { SHOP_PORT = '4000', HOST = '127.0.0.1' } = process.env
const { SHOP_URL = `http://127.0.0.1:${SHOP_PORT}` } = process.env
const TESSERA_URL = setting('TESSERA_URL')
const { TESSERA_PAYMENT_URL = TESSERA_URL } = process.env
/** The member who draws the stickers, and to whom the shop passes tips on. Without one there are no tips. */
const { ARTIST_ID = '', ARTIST_NAME = '' } = process.env

/** Without it the shop learns of a payment by the callback and by a query only. */
const { EVENTS_SECRET = '' } = process.env

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

const mandates = openMandates(payments)

/** @param {Order} order */
const receiptOf = ({ payment }) => `${TESSERA_PAYMENT_URL}/payment/pay/${payment?.transaction_id}`

/** @type {Record<string, Handler>} */
const routes = {
  'GET /': home,
  'GET /login': beginSignIn,
  'GET /login/callback': finishSignIn,
  'POST /sign-out': signOut,
  'POST /buy': buy,
  'GET /payment/callback': acceptCallback,
}

/** @type {[pattern: RegExp, handler: Handler][]} */
const patterns = [
  [/^GET \/orders\/\w+$/, showOrder],
  [/^POST \/orders\/\w+\/pay$/, payByHand],
  [/^GET \/mandates\/\w+$/, showMandate],
  [/^POST \/mandates\/\w+$/, offerMandate],
  [/^POST \/mandates\/\w+\/charge$/, chargeNextMonth],
  [/^POST \/mandates\/\w+\/(?:buy|tip)\/order_[0-9a-f]{12}$/, buyAtOnce],
  [/^POST \/mandates\/\w+\/end$/, endMandate],
]

startServer(
  { host: HOST, port: Number(SHOP_PORT), url: SHOP_URL, formTargets: [TESSERA_URL, TESSERA_PAYMENT_URL] },
  (method, path) =>
    routes[`${method} ${path}`] ?? patterns.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1],
  receiveEvent,
)

setInterval(() => mandates.renew(textsFor(), new Date()), RENEW_MS)

/**
 * An event is the way to learn of each payment: a payer may close the browser before the callback. The shop answers 204 to every
 * genuine event, also about orders that it does not know, because Tessera repeats all others.
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @param {string} body
 */
function receiveEvent(headers, body) {
  if (EVENTS_SECRET === '') return 404
  const event = verifyEvent(EVENTS_SECRET, headers, body)
  if (event === undefined) return 401
  const order = event.type === 'order.paid' && orders.get(event.data.external_reference)
  if (order) settle(order, event.data)
  return 204
}

/** @param {Visit} visit */
function home({ session, response, t }) {
  const buyer = session.member?.sub
  const own = [...orders.values()].filter((order) => order.buyer === buyer)
  const plans = /** @type {Plan[]} */ (Object.keys(PLANS)).map((plan) => ({
    plan,
    terms: PLANS[plan],
    held: mandates.held(buyer, plan),
  }))
  const shown = { amount: AMOUNT, orders: own.reverse(), orderId: newOrderId(), plans }
  send(response, 200, homePage(t, session, shown))
}

/** @param {Visit} visit */
function beginSignIn({ session, response }) {
  const { attempt, location } = signIn.begin()
  session.attempt = attempt
  redirect(response, location)
}

/** @param {Visit} visit */
async function finishSignIn({ url, session, response, t }) {
  const { attempt } = session
  delete session.attempt
  try {
    const { member, mandates: granted } = await signIn.finish(url.searchParams, attempt)
    const signedIn = startSession(response, { replaces: session, member })
    if (attempt?.mandate_id === undefined) return redirect(response, '/')
    const mandate = mandates.findById(attempt.mandate_id)
    const isGranted = granted.some(
      ({ identifier, status }) => identifier === mandate?.mandate_id && status === 'active',
    )
    if (mandate !== undefined && isGranted)
      return await begin({ url, session: signedIn, response, t }, mandate)
    send(response, 200, messagePage(t, signedIn, t.messages.signInOnly))
  } catch (error) {
    if (!(error instanceof SignInError)) throw error
    if (error.isDenied) return send(response, 200, messagePage(t, session, t.messages.denied))
    const { title, text } = t.messages.failed
    send(response, 400, messagePage(t, session, { title, text: text(error.message) }))
  }
}

/** @param {Visit} visit */
function signOut({ session, response }) {
  startSession(response, { replaces: session })
  redirect(response, '/')
}

/** @param {Visit} visit */
async function buy({ session, response, t }) {
  if (session.member === undefined) return redirect(response, '/login')
  const facts = { id: newOrderId(), buyer: session.member.sub, description: t.product.name, amount: AMOUNT }
  await openPayment(response, saveOrder(facts))
}

/**
 * @param {Visit['response']} response
 * @param {Order} order
 */
async function openPayment(response, order) {
  const { payment_url } = await payments.start(order)
  order.payment_url = payment_url
  redirect(response, payment_url)
}

/**
 * The browser returns after a payment or after the decision on a mandate. Anyone can open this address, so only the signature
 * proves either.
 * @param {Visit} visit
 */
async function acceptCallback(visit) {
  const { url, session, response, t } = visit
  const callback = payments.verifyCallback(url.searchParams)
  const mandate = mandates.find(callback?.reference ?? '')
  if (mandate !== undefined && callback?.mandate_id === mandate.mandate_id) {
    if (callback.mandate_status === 'active') return begin(visit, mandate)
    return send(response, 200, messagePage(t, session, t.messages.declined))
  }
  const order = callback && orders.get(callback.external_reference ?? '')
  // The signature proves the payment, but this shop keeps its orders in memory alone.
  if (callback?.status === 'completed' && order === undefined)
    return send(response, 200, messagePage(t, session, t.messages.forgotten))
  if (callback === undefined || order === undefined || !settle(order, callback))
    return send(response, 400, messagePage(t, session, t.messages.unproven))
  send(response, 200, orderPage(t, session, order, receiptOf(order)))
}

/**
 * Shows an order to its payer. It queries Tessera while the order is unpaid, because a closed browser sends no callback, and
 * because the answer to a charge may be lost.
 * @param {Visit} visit
 */
async function showOrder({ url, session, response, t }) {
  const order = ownOrder(url, session)
  if (order === undefined) return send(response, 404, messagePage(t, session, t.messages.noOrder))
  if (order.payment === undefined) {
    const record = await payments.query(order.id)
    if (record !== undefined) settle(order, record)
  }
  await passOn(order)
  send(response, 200, orderPage(t, session, order, receiptOf(order)))
}

/**
 * Opens the payment page for an order that was not charged. Its order_id is paid once, by whichever way.
 * @param {Visit} visit
 */
async function payByHand({ url, session, response, t }) {
  const order = ownOrder(url, session)
  if (order === undefined) return send(response, 404, messagePage(t, session, t.messages.noOrder))
  if (order.payment !== undefined) return redirect(response, `/orders/${order.id}`)
  await openPayment(response, order)
}

/**
 * @param {URL} url
 * @param {Visit['session']} session
 */
function ownOrder(url, { member }) {
  const order = orders.get(url.pathname.split('/')[2] ?? '')
  return order !== undefined && order.buyer === member?.sub ? order : undefined
}

/**
 * Offers a mandate. A visitor without a session signs in and allows it on one page; a member allows it on a page of its own.
 * @param {Visit} visit
 */
async function offerMandate({ url, session, response, t }) {
  const plan = url.pathname.split('/')[2] ?? ''
  if (!isPlan(plan)) return send(response, 404, messagePage(t, session, t.messages.nothing))
  const { member } = session
  const held = mandates.held(member?.sub, plan)
  if (held !== undefined) return redirect(response, `/mandates/${held.reference}`)
  try {
    const { mandate_id, mandate_url } = await mandates.offer(plan, t, member)
    if (member !== undefined) return redirect(response, mandate_url)
    const { attempt, location } = signIn.begin(mandate_id)
    session.attempt = attempt
    redirect(response, location)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const text = reasonOf(t, error, { amount: 0 })
    send(response, 409, messagePage(t, session, { title: t.refused.title, text }))
  }
}

/**
 * Makes the first charge under a mandate that the member has just allowed. A callback that is opened again charges nothing
 * more. A member who has such a mandate already keeps that one.
 * @param {Visit} visit
 * @param {Mandate} mandate
 */
async function begin(visit, mandate) {
  const { session, response, t } = visit
  const held = mandates.held(mandate.buyer ?? session.member?.sub, mandate.plan)
  if (held !== undefined && held !== mandate) {
    await mandates.end(mandate, t.mandate.others)
    return redirect(response, `/mandates/${held.reference}`)
  }
  await mandates.refresh(mandate)
  if (mandate.isBegun || mandate.buyer === undefined)
    return redirect(response, `/mandates/${mandate.reference}`)
  mandate.isBegun = true
  if (mandate.plan === 'club')
    return sendCharge(visit, mandate, await mandates.chargeMonth(mandate, t.plans.club.ordered))
  const { buyer, reference } = mandate
  const facts = { buyer, description: t.product.name, amount: AMOUNT, mandate: reference }
  const order = saveOrder({ id: `${reference}_1`, ...facts })
  return sendCharge(visit, mandate, { order, refusal: await mandates.charge(mandate, order) })
}

/** @param {Visit} visit */
async function showMandate({ url, session, response, t }) {
  const mandate = ownMandate(url, session)
  if (mandate === undefined) return send(response, 404, messagePage(t, session, t.messages.noMandate))
  await mandates.refresh(mandate)
  const own = [...orders.values()].filter((order) => order.mandate === mandate.reference)
  const tip = ARTIST_ID === '' ? undefined : { amount: TIP, artist: ARTIST_NAME }
  const shown = {
    mandate,
    orders: own.reverse(),
    orderId: newOrderId(),
    amount: AMOUNT,
    tip,
    url: `${TESSERA_URL}/account/mandates/${mandate.mandate_id}`,
  }
  send(response, 200, mandatePage(t, session, shown))
}

/** @param {Visit} visit */
async function chargeNextMonth(visit) {
  const { url, session, response, t } = visit
  const mandate = ownMandate(url, session)
  if (mandate?.plan !== 'club') return send(response, 404, messagePage(t, session, t.messages.noMandate))
  await sendCharge(visit, mandate, await mandates.chargeMonth(mandate, t.plans.club.ordered))
}

/**
 * Buys the product or gives a tip. The form has the order_id, so a form that is sent twice charges once.
 * @param {Visit} visit
 */
async function buyAtOnce(visit) {
  const { url, session, response, t } = visit
  const [, , , act, id = ''] = url.pathname.split('/')
  const mandate = ownMandate(url, session)
  const known = orders.get(id)
  if (mandate?.plan !== 'one_click' || (known && known.mandate !== mandate.reference))
    return send(response, 404, messagePage(t, session, t.messages.noMandate))
  const common = { id, buyer: String(mandate.buyer), mandate: mandate.reference }
  const order =
    known ??
    (act === 'tip'
      ? saveOrder({ ...common, description: t.tip.name, amount: TIP, isTip: true })
      : saveOrder({ ...common, description: t.product.name, amount: AMOUNT }))
  await sendCharge(visit, mandate, { order, refusal: await mandates.charge(mandate, order) })
}

/**
 * Shows what came of a charge.
 * @param {Visit} visit
 * @param {Mandate} mandate
 * @param {{ order: Order, refusal: Refused | undefined }} charged
 */
async function sendCharge({ session, response, t }, mandate, { order, refusal }) {
  if (refusal !== undefined) {
    const mayPayByHand = orders.has(order.id)
    return send(response, 409, refusedPage(t, session, { refusal, mandate, order }, mayPayByHand))
  }
  await passOn(order)
  redirect(response, `/orders/${order.id}`)
}

/**
 * Passes a paid tip on to the artist, once. The charge pays the shop, and a transfer pays the artist.
 * @param {Order} order
 */
async function passOn(order) {
  const { id, payment } = order
  if (!order.isTip || order.isPassedOn || payment === undefined || ARTIST_ID === '') return
  const to = { to_user_id: ARTIST_ID, to_username: ARTIST_NAME }
  await payments.transfer({ id: `${id}_on`, ...to, amount: payment.merchant_points })
  order.isPassedOn = true
}

/** @param {Visit} visit */
async function endMandate({ url, session, response, t }) {
  const mandate = ownMandate(url, session)
  if (mandate === undefined) return send(response, 404, messagePage(t, session, t.messages.noMandate))
  await mandates.end(mandate, t.plans[mandate.plan].ended)
  redirect(response, `/mandates/${mandate.reference}`)
}

/**
 * @param {URL} url
 * @param {Visit['session']} session
 */
function ownMandate(url, { member }) {
  const mandate = mandates.find(url.pathname.split('/')[2] ?? '')
  return mandate !== undefined && member !== undefined && mandate.buyer === member.sub ? mandate : undefined
}

/** @param {string} name */
function setting(name) {
  const value = process.env[name]
  if (value) return value
  console.error(`Set ${name}: the shop cannot do without it.`)
  process.exit(1)
}
