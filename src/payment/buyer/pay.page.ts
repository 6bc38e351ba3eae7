/** The payer's page at payment_url: it confirms and pays an order, or shows the state of the order. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { encodeQR } from 'qr'
import { z } from 'zod'
import { earningForum } from '../../accounts/forum/points.ts'
import { isFresh, signInAgainUrl } from '../../accounts/session/reauthentication.ts'
import { browserScope, requireUser, type Session, sessionOf } from '../../accounts/session/session.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Db } from '../../database/connection.ts'
import { balanceAfter, walletOf } from '../../ledger/wallet.ts'
import { AppError } from '../../platform/errors.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { type Delivered, deliveryOf } from '../links/delivery.ts'
import { removeMessage } from '../links/messages.ts'
import { pictureOf } from '../links/pictures.ts'
import { publicIdOf } from '../mandates/mandates.ts'
import type { PaymentDeps } from '../notifications/worker.ts'
import { leaveOrder, payUrl, RETURNS } from '../orders/orders.ts'
import type { Judged, Pay, PayOutcome } from '../orders/pay.ts'
import { refundRequestsOf } from '../orders/refund-requests.ts'
import { refundsOf } from '../orders/refunds.ts'
import { expireNow, forceFault, openPlayWallet, refillPlayPoints } from '../orders/test-mode.ts'
import { TRANSACTION_ID } from '../wire-fields/fields.ts'
import {
  hasReturn,
  isFor,
  isPlacedBy,
  type LoadedOrder,
  makeOrderPages,
  type OrderPages,
  type State,
  shopOf,
  signedReturn,
  stateFor,
} from './order.ts'
import { noteView } from './payments.page.ts'
import { type NotifyFault, notifyAgain, shopNotificationOf } from './shop-notification.ts'

/** How long the payer waits for the first notification before the return to the shop. spec/gateway 4.1. */
const FIRST_NOTIFY_MS = 2_000
/** The last part of the time to pay, in which a clock counts down. spec/pages 2.3. */
const COUNTDOWN_SHARE = 0.25
/** The delay before a receipt redirects to the shop. */
const RETURN_SECONDS = 5
/** The white margin that scanners need around the code. */
const QUIET_ZONE_MODULES = 2

/** The outcomes that a tester may force besides a payment. The ones of a notification need a notification address. */
const TEST_OUTCOMES = ['expired', 'notify_refused', 'notify_slow', 'notify_twice', 'refill'] as const

const TestForm = z.object({ outcome: z.enum(TEST_OUTCOMES) })

const PayForm = z.object({ expected_amount: z.string().regex(/^\d{1,16}$/) })

type PayRequest = FastifyRequest<{ Params: { transaction_id: string }; Querystring: Record<string, unknown> }>

type Refusal = PayOutcome | 'stale_sign_in'

type NotificationState = {
  notification: Awaited<ReturnType<typeof shopNotificationOf>>
  tellFault: NotifyFault | undefined
}

declare module '../../web/views.ts' {
  interface PageData {
    'payment/buyer/pay': {
      user: Session['user']
      order: LoadedOrder
      /** The path of the picture of what a link sells. */
      picture: string | undefined
      shop: string
      /** Of a tip: the points that the author receives after the fee. */
      authorGets: bigint | undefined
      balance: bigint
      /** Whether leaving the page ends the order. */
      endsByLeaving: boolean
      frozenReason: string | null
      now: Date
      countdownSeconds: number
      payUrl: string
      earnUrl: string | undefined
      hasChanged: boolean
      isPaused: boolean
      signInUrl: string | undefined
      testOutcomes: readonly (typeof TEST_OUTCOMES)[number][]
    }
    'payment/buyer/pay-state':
      | { state: 'notFound'; order: undefined; requestId: string }
      | (NotificationState & {
          state: State
          order: LoadedOrder
          returnUrl: string
          isReturning: boolean
          /** What an order of a link has delivered. */
          delivered: Delivered | undefined
          /** The payer's balance after the payment. Undefined where too many newer movements would have to be added up. */
          balanceAfter: bigint | undefined
          refunds: Awaited<ReturnType<typeof refundsOf>>
          requests: Awaited<ReturnType<typeof requestsForPayer>>
          /** The mandate under which the shop charged it. */
          mandateId: string | null
          /** The address of the receipt, and its host. */
          address: string
          host: string
          now: Date
        })
  }
  interface PartData {
    'payment/buyer/receipt': {
      order: LoadedOrder
      /** What an order of a link has delivered, which paper shows too. */
      delivered: Delivered | undefined
      refunds: Awaited<ReturnType<typeof refundsOf>>
      address: string
      host: string
      now: Date
    }
    'payment/buyer/shop-notification': NotificationState & { order: LoadedOrder }
    /** Without pictures, all rows have the same height. */
    'payment/buyer/payee': { order: LoadedOrder; isPlain?: boolean }
    'payment/buyer/back': { order: LoadedOrder; delivered: Delivered | undefined; returnUrl: string }
    'payment/buyer/pay-facts': { order: LoadedOrder }
    'payment/links/delivered': {
      delivered: Delivered
      /** The merchant's thanks, and the shop that says it. */
      thanks: string
      from: Pick<LoadedOrder, 'app_name' | 'app_logo_url' | 'applicant_username'>
      isRefunded: boolean
    }
  }
}

/** GET and POST /payment/pay/:transaction_id, and below it …/return, …/state, …/qr.svg, …/leave, …/message, …/tell and …/test. */
export function payPages(app: FastifyInstance, deps: PaymentDeps, payOrder: Pay): void {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const pages = makeOrderPages(deps)
  app.nextSteps.push(makeDescribeOrder(pages))

  app.get('/payment/pay/:transaction_id', async (request: PayRequest, reply) =>
    showOrder(request, reply, pages),
  )

  app.post('/payment/pay/:transaction_id', async (request: PayRequest, reply) =>
    pay(request, reply, pages, payOrder),
  )

  app.post('/payment/pay/:transaction_id/test', async (request: PayRequest, reply) => {
    const form = TestForm.safeParse(request.body)
    const { book, transaction_id } = await getOrder(request, pages)
    if (!form.success || book !== 'test') throw new AppError('not_found', 'There is no such test')
    const { outcome } = form.data
    const actor = { user_id: sessionOf(request).user.id, ip: request.ip }
    if (outcome !== 'expired' && outcome !== 'refill') {
      await forceFault(deps, transaction_id, outcome, actor)
      return pay(request, reply, pages, payOrder)
    }
    const path = `/payment/pay/${transaction_id}`
    if (outcome === 'expired') {
      await expireNow(deps, transaction_id, actor)
      return reply.redirect(path, 303)
    }
    await refillPlayPoints(deps, actor.user_id)
    const { t, points } = request.locale
    const { balance } = await walletOf(deps.db, actor.user_id, 'test')
    return reply.done(path, { text: t.pay.test.refilled(points(balance), balance) })
  })

  payAids(app, pages)
}

/** Pays the order and redirects the payer to the shop, or shows the reason of a refusal. */
async function pay(
  request: PayRequest,
  reply: FastifyReply,
  pages: OrderPages,
  payOrder: Pay,
): Promise<FastifyReply> {
  const { deps } = pages
  const form = PayForm.safeParse(request.body)
  const { transaction_id } = request.params
  const session = sessionOf(request)
  const payer_id = session.user.id
  const expected_amount = BigInt(form.data?.expected_amount ?? 0)
  // payOrder pays only the expected amount, so this check covers the paid amount.
  if (await needsFreshSignIn(session, expected_amount, deps))
    return showOrder(request, reply, pages, 'stale_sign_in')
  const { outcome, order }: Judged =
    form.success && TRANSACTION_ID.test(transaction_id)
      ? await payOrder({ transaction_id, payer_id, expected_amount })
      : { outcome: 'changed' }
  if (order?.door === 'tip') deps.metrics?.tips.inc({ outcome })
  if (order !== undefined && !hasReturn(order)) {
    if (outcome === 'paid' && order.events_url !== null) deps.notifier.nudge()
    return reply.redirect(`/payment/pay/${transaction_id}`, 303)
  }
  if (order !== undefined) {
    // Many shops read their own records as soon as the payer is back, so the notification should come first.
    if (outcome === 'paid' && order.notify_url !== null)
      await deps.notifier.attempted(order.id, FIRST_NOTIFY_MS)
    else if (outcome === 'paid' && order.events_url !== null) deps.notifier.nudge()
    // The tester wants no notification, so the payer does not return to the shop either.
    if (order.forced === 'notify_refused') return reply.redirect(`/payment/pay/${transaction_id}`, 303)
    return reply.redirect(await signedReturn(deps, order), 303)
  }
  return showOrder(request, reply, pages, outcome)
}

/** The other routes of the page and of its receipt. */
function payAids(app: FastifyInstance, pages: OrderPages): void {
  const { deps } = pages

  // Signs when the link is followed, because a signature in the page would be stale too soon.
  app.get('/payment/pay/:transaction_id/return', async (request: PayRequest, reply) => {
    const order = await pages.findPaidOrder(request.params.transaction_id)
    if (order?.payer_id !== sessionOf(request).user.id || !hasReturn(order))
      return showOrder(request, reply, pages)
    return reply.redirect(await signedReturn(deps, order), 303)
  })

  app.get('/payment/pay/:transaction_id/state', async (request: PayRequest, reply) => {
    const order = await getOrder(request, pages)
    const state = stateFor(order, sessionOf(request).user.id, deps.clock()) ?? 'open'
    return reply.header('cache-control', 'no-store').send({ state })
  })

  app.get('/payment/pay/:transaction_id/qr.svg', async (request: PayRequest, reply) => {
    const { transaction_id } = await getOrder(request, pages)
    const code = encodeQR(payUrl(deps, transaction_id), 'svg', { border: QUIET_ZONE_MODULES })
    // A saved file may be shown on any background.
    const svg = code.replace(/(<svg[^>]*>)/, '$1<rect width="100%" height="100%" fill="#fff"/>')
    return reply.header('cache-control', 'no-store').type('image/svg+xml').send(svg)
  })

  // A member ends an order of a link or a tip by leaving it. A payment that came first leads to its receipt.
  app.post('/payment/pay/:transaction_id/leave', async (request: PayRequest, reply) => {
    const order = await getOrder(request, pages)
    const { transaction_id } = order
    const user_id = sessionOf(request).user.id
    if (!isPlacedBy(order, user_id)) throw new AppError('not_found', 'There is no payment at this address')
    const isLeft = await leaveOrder(deps, { transaction_id, user_id })
    if (!isLeft) return reply.redirect(`/payment/pay/${transaction_id}`, 303)
    const next = shopOf(deps, order)
    // The post of a tip is at the forum, which shows no report.
    if (!next.startsWith('/')) return reply.redirect(next, 303)
    return reply.done(next, { text: request.locale.t.pay.left })
  })

  app.post('/payment/pay/:transaction_id/message', async (request: PayRequest, reply) => {
    const { transaction_id } = await getOrder(request, pages)
    await removeMessage(deps.db, { user_id: sessionOf(request).user.id, transaction_id })
    return reply.done(`/payment/pay/${transaction_id}`, {
      text: request.locale.t.paymentLinks.messageRemoved,
    })
  })

  app.post('/payment/pay/:transaction_id/tell', async (request: PayRequest, reply) => {
    const { id: order_id, transaction_id } = await getOrder(request, pages)
    const user_id = sessionOf(request).user.id
    const fault = await notifyAgain(deps, { user_id, transaction_id, ip: request.ip })
    if (fault !== undefined) return showOrder(request, reply, pages, undefined, fault)
    await deps.notifier.attempted(order_id, FIRST_NOTIFY_MS)
    const notified = await shopNotificationOf(deps, { user_id, transaction_id })
    const { doneConfirmed, doneSent } = request.locale.t.pay.notification
    const isConfirmed = notified?.status === 'delivered'
    return reply.done(`/payment/pay/${transaction_id}#shop`, {
      text: isConfirmed ? doneConfirmed : doneSent,
      tone: isConfirmed ? 'good' : 'warn',
    })
  })
}

async function getOrder(request: PayRequest, { loadOrder }: OrderPages): Promise<LoadedOrder> {
  const order = await loadOrder(request.params.transaction_id)
  if (order === undefined || !isFor(order, sessionOf(request).user.id))
    throw new AppError('not_found', 'There is no payment at this address')
  return order
}

/** The outcomes of a payment that are shown as states of the order. */
const STATES: Partial<Record<Refusal, State>> = {
  daily_limit: 'dailyLimit',
  not_on_sale: 'notOnSale',
  not_allowed: 'notAllowed',
  sold_out: 'soldOut',
  member_limit: 'memberLimit',
  tip_refused: 'tipRefused',
  tip_limit: 'tipLimit',
  // Of a tip while tips are off. Otherwise the application says so itself.
  unusable: 'unusable',
}

/** Shows the page for the order's current state. A refused payment gets status 409, or 503 while payments are paused. */
async function showOrder(
  request: PayRequest,
  reply: FastifyReply,
  { deps, loadOrder }: OrderPages,
  refused?: Refusal,
  tellFault?: NotifyFault,
) {
  const order = await loadOrder(request.params.transaction_id)
  const path = `/payment/pay/${request.params.transaction_id}`
  const session = sessionOf(request)
  if (order === undefined || !isFor(order, session.user.id)) {
    const data = { state: 'notFound', order: undefined, requestId: request.id } as const
    return reply.page('payment/buyer/pay-state', data, { status: 404 })
  }
  if (refused !== undefined && order.door === 'tip') deps.metrics?.tips.inc({ outcome: refused })
  const state = stateFor(order, session.user.id, deps.clock()) ?? (refused && STATES[refused])
  if (state !== undefined) return showState(request, reply, deps, { order, state, refused, tellFault })

  if (order.book === 'test') await openPlayWallet(deps.db, session.user.id)
  const now = deps.clock()
  const settings = await deps.settings.read()
  const [wallet, isStale, authorGets] = await Promise.all([
    walletOf(deps.db, session.user.id, order.book),
    needsFreshSignIn(session, order.amount, deps),
    order.door === 'tip' ? pointsAfterFee(deps.db, order.id, settings) : undefined,
    noteView(deps.db, { user_id: session.user.id, order_id: order.id, now }),
  ])
  const data = {
    user: session.user,
    order,
    picture:
      order.link_slug === null
        ? undefined
        : pictureOf({ slug: order.link_slug, picture: order.link_picture }),
    shop: shopOf(deps, order),
    authorGets,
    balance: wallet.balance,
    endsByLeaving: isPlacedBy(order, session.user.id),
    frozenReason: wallet.frozen_reason,
    now,
    countdownSeconds: minutesOf(order, settings) * 60 * COUNTDOWN_SHARE,
    payUrl: payUrl(deps, order.transaction_id),
    earnUrl: earningForum(deps.config, settings),
    hasChanged: refused === 'changed',
    isPaused: settings.payments_read_only === 'on',
    signInUrl: isStale ? signInAgainUrl(session, path) : undefined,
    path,
    testOutcomes: order.book === 'test' ? testOutcomes(order) : [],
  }
  const status = refused === undefined ? 200 : refused === 'paused' ? 503 : 409
  const leaving = data.endsByLeaving && !data.shop.startsWith('/') && data.shop
  return reply.page('payment/buyer/pay', data, {
    status,
    leavesSite: hasReturn(order) ? (order.return_url ?? true) : leaving,
  })
}

/** Returns what the payee of an order receives if it is paid now, in whole points. */
async function pointsAfterFee(db: Db, order_id: bigint, settings: SettingValues): Promise<bigint> {
  const rate = settings.points_payment_fee_rate
  const { net } = await db
    .selectFrom('orders as o')
    .innerJoin('payment_apps as app', 'app.id', 'o.app_id')
    .where('o.id', '=', order_id)
    .select(sql<bigint>`o.amount - payment_fee(o.amount, coalesce(app.fee_rate, ${rate}::numeric))`.as('net'))
    .executeTakeFirstOrThrow()
  return net
}

/** How long a new order of this application can be paid. */
function minutesOf({ order_minutes }: LoadedOrder, { order_expiry_minutes }: SettingValues): number {
  return Math.min(order_minutes ?? order_expiry_minutes, order_expiry_minutes)
}

function testOutcomes({ door, notify_url, events_url }: LoadedOrder) {
  if ((door === 'gateway' ? notify_url : events_url) !== null) return TEST_OUTCOMES
  return TEST_OUTCOMES.filter((outcome) => outcome !== 'notify_slow' && outcome !== 'notify_twice')
}

type Shown = {
  order: LoadedOrder
  state: State
  refused: Refusal | undefined
  tellFault: NotifyFault | undefined
}

/** Shows the payer's receipt, or the reason why the order cannot be paid. */
async function showState(
  request: PayRequest,
  reply: FastifyReply,
  deps: PaymentDeps,
  { order, state, refused, tellFault }: Shown,
) {
  const { id: order_id, transaction_id } = order
  const user_id = sessionOf(request).user.id
  const isMine = state === 'paid' || state === 'refunded'
  const { book, journal_id } = order
  const [after, notification, refunds, requests, mandateId] = await Promise.all([
    isMine && journal_id !== null ? balanceAfter(deps.db, { user_id, book }, journal_id) : undefined,
    isMine ? shopNotificationOf(deps, { user_id, transaction_id }) : undefined,
    isMine ? refundsOf(deps.db, order_id) : [],
    isMine ? requestsForPayer(deps.db, order_id) : [],
    isMine ? publicIdOf(deps.db, order.mandate_id) : null,
  ])
  const path = `/payment/pay/${transaction_id}`
  const address = payUrl(deps, transaction_id)
  const isReturning = state === 'paid' && hasReturn(order) && request.url.endsWith(`?${RETURNS}`)
  // The refresh header works in every browser, without an element or a script in the page.
  if (isReturning) reply.header('refresh', `${RETURN_SECONDS}; url=${path}/return`)
  if (tellFault?.retry_after_seconds !== undefined) reply.header('retry-after', tellFault.retry_after_seconds)
  const data = {
    order,
    state,
    // Only the payer gets a signed link, because it proves the payment to the shop.
    returnUrl: state === 'paid' && hasReturn(order) ? `${path}/return` : shopOf(deps, order),
    isReturning,
    delivered:
      isMine && order.door === 'link' ? await deliveryOf(deps.db, deps.secrets, order_id) : undefined,
    balanceAfter: after,
    notification,
    tellFault,
    refunds,
    requests,
    mandateId,
    address,
    host: new URL(address).host,
    now: deps.clock(),
    path,
  }
  const faultStatus = tellFault?.code === 'too_many_attempts' ? 429 : 409
  const status = tellFault !== undefined ? faultStatus : refused === undefined ? 200 : 409
  return reply.page('payment/buyer/pay-state', data, { status })
}

/** The open and declined refund requests of the payer's order. Accepted ones show as refunds. */
async function requestsForPayer(db: Db, order_id: bigint) {
  const requests = await refundRequestsOf(db, order_id)
  return requests.flatMap(({ status, ...request }) =>
    status === 'open' || status === 'declined' ? [{ ...request, status }] : [],
  )
}

/** Whether the amount needs a recent sign-in and this session's sign-in is too old. */
export async function needsFreshSignIn(
  session: Session,
  amount: bigint,
  deps: PaymentDeps,
): Promise<boolean> {
  const { reauthenticate_above_points, reauthenticate_minutes } = await deps.settings.read()
  if (reauthenticate_above_points === 0 || amount <= BigInt(reauthenticate_above_points)) return false
  return !isFresh(session, reauthenticate_minutes, deps.clock())
}

const PAY_PAGE = /^\/payment\/pay\/(txn_[a-z0-9]{24})(?![a-z0-9])/
/** No member has this id, so a paid order is somebody else's. */
const NOBODY = 0n

/** Makes the description of pay pages. It names the amount and the product of an order only while it can be paid. */
function makeDescribeOrder({ deps, loadOrder }: OrderPages) {
  return async (path: string): Promise<NextStep | undefined> => {
    const transaction_id = PAY_PAGE.exec(path)?.[1]
    if (transaction_id === undefined) return undefined
    const order = await loadOrder(transaction_id)
    // Only its buyer may see an order of a link, so sign-in names nothing of it.
    return order === undefined || order.door === 'link' ? undefined : describe(deps, order)
  }
}

function describe(deps: PaymentDeps, order: LoadedOrder): NextStep {
  const { amount, description, expires_at, book } = order
  const isPayable = stateFor(order, NOBODY, deps.clock()) === undefined
  return {
    app: { name: order.app_name, logo_url: order.app_logo_url },
    order: isPayable ? { amount, description, expires_at, isTest: book === 'test' } : undefined,
    isPayment: true,
    exit: shopOf(deps, order),
  }
}
