/**
 * The round of a payment: created, paid, notified, confirmed, and back at the shop. A merchant sees of one order how far it came,
 * and makes one in test mode without a program.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { signedReturn } from '../buyer/order.ts'
import { placeNumbered } from '../gateway/create.ts'
import type { Deliver } from '../notifications/delivery.ts'
import { hopsOf, type Step } from '../notifications/hops.ts'
import { readNotifications } from '../notifications/redelivery.ts'
import type { PaymentDeps } from '../notifications/worker.ts'
import { isExpired, type Order } from '../orders/orders.ts'
import type { PlaceOrder } from '../orders/place.ts'
import { makeFindPaidOrder } from '../orders/return.ts'
import { countTestOrder } from '../orders/test-mode.ts'
import { APPLICATIONS } from '../rights/owned.ts'
import { type Actor, audit, getPermitted, type Permitted } from '../rights/rights.ts'
import { pointsOf } from '../wire-fields/money.ts'
import { withNumber } from './orders.ts'

/** What is asked of a test order. With `gateway` it is a trade of the gateway, notified and returned to these addresses. */
export type TestOrder = {
  description: string
  amount: bigint
  gateway?: { notify_url: string | null; return_url: string | null }
}

/**
 * Creates an order of a test application, as its shop would. Throws conflict for a live or suspended application, and what
 * getPermitted, countTestOrder and placeOrder throw.
 */
export async function createTestOrder(
  deps: Core,
  placeOrder: PlaceOrder,
  payment_id: string,
  { description, amount, gateway }: TestOrder,
  actor: Actor,
): Promise<Order> {
  const app = await getPermitted(deps.db, payment_id, actor.user_id, 'addresses.try')
  if (app.book !== 'test' || app.status !== 'approved')
    throw new AppError('conflict', 'Only a usable test application has test orders')
  const order_id = `test-${randomText(10, LOWER_ALNUM)}`
  const asked = { app_id: app.id, order_id, description }
  const requireAllowed = () => countTestOrder(deps, app)
  const order =
    gateway === undefined
      ? await placeOrder({ ...asked, amount }, requireAllowed)
      : await placeTrade(deps, placeOrder, app, { ...asked, ...gateway }, requireAllowed)
  await deps.db.transaction().execute(async (tx) => {
    await audit(tx, 'payment_app.test_order', payment_id, { order_id }, actor)
  })
  return order
}

async function placeTrade(
  deps: Core,
  placeOrder: PlaceOrder,
  { id, pid }: Permitted,
  {
    notify_url,
    return_url,
    ...asked
  }: { app_id: bigint; order_id: string; description: string } & NonNullable<TestOrder['gateway']>,
  requireAllowed: () => Promise<void>,
): Promise<Order> {
  const { exchange_rate: rate } = await deps.db
    .selectFrom('payment_apps')
    .where('id', '=', id)
    .select(sql<string>`trim_scale(exchange_rate)::text`.as('exchange_rate'))
    .executeTakeFirstOrThrow()
  const money = smallMoney(rate)
  const facts = { protocol: 'v1', pid_sent: String(pid), money, rate, type: null, param: null } as const
  const trade = { ...asked, amount: pointsOf(money, rate), gateway: { ...facts, notify_url, return_url } }
  return (await placeNumbered(deps, placeOrder, trade, requireAllowed)).order
}

const SMALL = ['1.00', '10.00', '100.00', '1000.00', '10000.00', '1000000.00', '0.10', '0.01'] as const
const SMALL_POINTS_MAX = 100n

/** Money that is worth few points, and at least one. */
function smallMoney(rate: string): string {
  const worths = SMALL.map((money) => ({ money, points: pointsOf(money, rate) })).filter(
    ({ points }) => points >= 1n,
  )
  return (worths.find(({ points }) => points <= SMALL_POINTS_MAX) ?? worths.at(-1)!).money
}

/** One step of the round. `idle`: the steps before it are not done. `open`: it may still come, or nobody has looked. */
export type RoundStep =
  | { step: 'created'; state: 'good'; verdict: 'created' }
  | { step: 'paid'; state: 'good' | 'open' | 'bad'; verdict: 'paid' | 'unpaid' | 'expired' | 'closed' }
  | { step: 'sent'; state: 'idle'; verdict: 'idle' }
  | { step: 'sent'; state: 'good' | 'open' | 'bad'; verdict: 'sent' | 'waiting' | 'noAddress' }
  | { step: 'sent'; state: 'bad'; verdict: 'unreached'; outcome: AttemptOutcome; hop: Step }
  | { step: 'confirmed'; state: 'idle'; verdict: 'idle' }
  | { step: 'confirmed'; state: 'good'; verdict: 'confirmed' }
  | {
      step: 'confirmed'
      state: 'bad'
      verdict: 'unconfirmed'
      outcome: AttemptOutcome
      response_status: number | null
      hop: Step
    }
  | { step: 'returned'; state: 'open' | 'good'; verdict: 'untried' | 'noReturn' | 'overview' }
  | { step: 'returned'; state: 'good'; verdict: 'answers'; response_status: number }
  /** `isSigned`: it was called as the browser of a buyer does, and not without parameters. */
  | { step: 'returned'; state: 'bad'; verdict: 'error'; response_status: number; isSigned: boolean }
  | { step: 'returned'; state: 'bad'; verdict: 'unreachable'; outcome: AttemptOutcome }

type LastAttempt = {
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  is_tls: boolean
  started_at: Date
}

/** What the address for returns answered: of a paid order to its signed return, of another to a call without parameters. */
export type TriedReturn = { outcome: AttemptOutcome; response_status: number | null; isSigned: boolean }

type Judged = {
  order: Pick<Order, 'status' | 'paid_at' | 'expires_at'>
  /** Where buyers return, or null when they stay at the receipt. */
  returnsTo: string | null
  /** The notification of the payment: none when there is no address for it. */
  notification: { last: LastAttempt | undefined } | undefined
  tried: TriedReturn | undefined
  /** A test order without an address for its notification harms no buyer. */
  isTest: boolean
  /** The address of the application's overview, where buyers of a test application without a callback return. */
  overview: string
}

/** The steps of a call that fail before the shop's program has it. */
const BEFORE_PROGRAM: readonly (Step | undefined)[] = ['dns', 'connect', 'tls']

/** Judges each step of a round. Pure. */
export function judgeRound({ order, notification, isTest, ...back }: Judged, now: Date): RoundStep[] {
  const isPaid = order.paid_at !== null
  return [
    { step: 'created', state: 'good', verdict: 'created' },
    paidStep(order, now),
    ...(isPaid
      ? notifiedSteps(notification, isTest)
      : ([
          { step: 'sent', state: 'idle', verdict: 'idle' },
          { step: 'confirmed', state: 'idle', verdict: 'idle' },
        ] as const)),
    returnStep(back),
  ]
}

function paidStep(order: Judged['order'], now: Date): RoundStep {
  if (order.paid_at !== null) return { step: 'paid', state: 'good', verdict: 'paid' }
  if (order.status === 'closed') return { step: 'paid', state: 'bad', verdict: 'closed' }
  return isExpired(order, now)
    ? { step: 'paid', state: 'bad', verdict: 'expired' }
    : { step: 'paid', state: 'open', verdict: 'unpaid' }
}

function notifiedSteps(notification: Judged['notification'], isTest: boolean): RoundStep[] {
  const idle = { step: 'confirmed', state: 'idle', verdict: 'idle' } as const
  if (notification === undefined)
    return [{ step: 'sent', state: isTest ? 'open' : 'bad', verdict: 'noAddress' }, idle]
  const { last } = notification
  const hop = last && hopsOf({ ...last, step_ms: null }).find(({ state }) => state === 'bad')?.step
  const sent = { step: 'sent', state: 'good', verdict: 'sent' } as const
  if (last?.outcome === 'delivered') return [sent, { step: 'confirmed', state: 'good', verdict: 'confirmed' }]
  // Not sent yet, or stopped on our side, which sends it again.
  if (last === undefined || hop === undefined)
    return [{ step: 'sent', state: 'open', verdict: 'waiting' }, idle]
  const { outcome, response_status } = last
  if (BEFORE_PROGRAM.includes(hop))
    return [{ step: 'sent', state: 'bad', verdict: 'unreached', outcome, hop }, idle]
  return [sent, { step: 'confirmed', state: 'bad', verdict: 'unconfirmed', outcome, response_status, hop }]
}

function returnStep({
  returnsTo,
  tried,
  overview,
}: Pick<Judged, 'returnsTo' | 'tried' | 'overview'>): RoundStep {
  if (returnsTo === null) return { step: 'returned', state: 'good', verdict: 'noReturn' }
  if (returnsTo === overview) return { step: 'returned', state: 'good', verdict: 'overview' }
  if (tried === undefined) return { step: 'returned', state: 'open', verdict: 'untried' }
  const { response_status, outcome, isSigned } = tried
  if (response_status === null) return { step: 'returned', state: 'bad', verdict: 'unreachable', outcome }
  return response_status < 400
    ? { step: 'returned', state: 'good', verdict: 'answers', response_status }
    : { step: 'returned', state: 'bad', verdict: 'error', response_status, isSigned }
}

export type Round = {
  order: Pick<
    Order,
    'transaction_id' | 'order_id' | 'amount' | 'created_at' | 'notify_url' | 'return_url'
  > & { door: 'hmac' | 'gateway' }
  returnsTo: string | null
  steps: RoundStep[]
}

/** The order whose round is asked for by one of its numbers, or the newest one. */
export type Asked = { number?: string | undefined; tried?: TriedReturn }

/** Reads the round of one order. Undefined without such an order. */
export async function roundOf(
  { db, clock, config }: Core,
  app: Pick<Permitted, 'id' | 'payment_id' | 'callback_url' | 'book'>,
  user_id: bigint,
  { number, tried }: Asked = {},
): Promise<Round | undefined> {
  const order = await findOrder(db, app.id, number)
  if (order === undefined) return undefined
  const filter = { payment_id: app.payment_id, transaction_id: order.transaction_id }
  const { rows: sent } = await readNotifications(db, { role: 'team', user_id }, filter, NOTIFICATIONS_MAX)
  const notification = sent.find(({ isOfPayment }) => isOfPayment)
  const last = notification?.log.at(-1)
  const returnsTo = returnOf(order, app)
  const steps = judgeRound(
    {
      order,
      returnsTo,
      notification: notification && {
        last: last && { ...last, is_tls: last.url?.startsWith('https:') ?? false },
      },
      tried,
      isTest: app.book === 'test',
      overview: `${config.PUBLIC_URL}${APPLICATIONS}/${app.payment_id}`,
    },
    clock(),
  )
  return { order, returnsTo, steps }
}

/** An order of a payment link. Its buyer gets the receipt, so it has no round. spec/links 3.4. */
export const OF_LINK = 'link'

/** Reads the round of one order, or that it is of a payment link. Without a number, an order that a shop placed comes first. */
export async function checkRound(
  core: Core,
  app: Parameters<typeof roundOf>[1],
  user_id: bigint,
  number: string | undefined,
): Promise<Round | typeof OF_LINK | undefined> {
  const round = await roundOf(core, app, user_id, { number })
  if (round !== undefined) return round
  const named = number === undefined ? undefined : await withNumber(core.db, app.id, number)
  if (named?.length === 0) return undefined
  const ofLink = await core.db
    .selectFrom('orders')
    .where(rowsOfApp('orders', app.id))
    .$if(named !== undefined, (orders) => orders.where('id', 'in', named!))
    .where('door', '=', 'link')
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return ofLink && OF_LINK
}

/**
 * Calls the address to which the buyer of the order returns, as their browser does after paying, and reads the round with what it
 * answered. Of an order that is not paid there is no signed return, so it is called without parameters. Throws forbidden, and
 * too_many_attempts.
 */
export async function tryReturn(
  deps: PaymentDeps,
  deliver: Deliver,
  { payment_id }: Pick<Permitted, 'payment_id'>,
  { number, ...actor }: Actor & Asked,
): Promise<Round | undefined> {
  const app = await getPermitted(deps.db, payment_id, actor.user_id, 'addresses.try')
  const order = await findOrder(deps.db, app.id, number)
  const url = order === undefined ? null : returnOf(order, app)
  if (url === null) return roundOf(deps, app, actor.user_id, { number })
  await deps.limits.hit('address_tries', app.id.toString())
  const paid = await makeFindPaidOrder(deps)(order!.transaction_id)
  const isSigned = paid !== undefined
  const answer = await deliver({ url: isSigned ? await signedReturn(deps, paid) : url })
  const tried = { ...answer, isSigned }
  await deps.db.transaction().execute(async (tx) => {
    const detail = { host: URL.parse(url)?.host ?? null, outcome: tried.outcome }
    await audit(tx, 'payment_app.try_address', payment_id, detail, actor)
  })
  return roundOf(deps, app, actor.user_id, { number, tried })
}

/** The notifications of one order that are looked at. */
const NOTIFICATIONS_MAX = 20

/** Returns where the buyer of an order returns, or null when the buyer stays at the receipt. */
function returnOf(
  { door, return_url }: Pick<Order, 'door' | 'return_url'>,
  { callback_url }: Pick<Permitted, 'callback_url'>,
): string | null {
  return door === 'gateway' ? return_url : callback_url
}

async function findOrder(db: Db, app_id: bigint, number: string | undefined) {
  const named = number === undefined ? undefined : await withNumber(db, app_id, number)
  if (named?.length === 0) return undefined
  return (
    db
      .selectFrom('orders')
      .where(rowsOfApp('orders', app_id))
      .$if(named !== undefined, (orders) => orders.where('id', 'in', named!))
      // An order of a link is placed by no shop, and has no return.
      .where('door', 'in', ['hmac', 'gateway'])
      .orderBy('app_id', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .select([
        'transaction_id',
        'order_id',
        'door',
        'status',
        'amount',
        'created_at',
        'paid_at',
        'expires_at',
      ])
      .select(['notify_url', 'return_url'])
      .$narrowType<{ door: 'hmac' | 'gateway' }>()
      .executeTakeFirst()
  )
}
