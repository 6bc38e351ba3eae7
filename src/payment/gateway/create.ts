/** Creates a trade: checks its parameters, and handles an out_trade_no that was used before. */
import { randomInt } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { FairQueue } from '../../platform/fair-queue.ts'
import { findOrder, type Order } from '../orders/orders.ts'
import type { GatewayFacts, NewOrder, PlaceOrder } from '../orders/place.ts'
import { countTestOrder } from '../orders/test-mode.ts'
import { gatewayString } from '../signing/gateway.ts'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { callRefusal } from '../wire-fields/addresses.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'
import { isSameMoney, pointsOf } from '../wire-fields/money.ts'
import { NOTICE, requireNoReading, requireOneNotice, requireOneReading } from './ambiguity.ts'
import { refusal } from './errors.ts'
import type { FindTrade } from './inquiry.ts'
import { tradeFields } from './messages.ts'
import { isPlain, type Reader } from './readings.ts'
import { type Authenticated, requireUsable } from './request.ts'
import { CreateRequest, NAME_BYTES_MAX } from './shapes.ts'
import { labelOf } from './trade.ts'

const TRADE_NO_KEY = 'orders_trade_no_key'
const TRADE_NO_TAIL = 1_000_000_000
/** At a thousand trades a second, two numbers collide once in half an hour; three collisions in a row never happen. */
const TRADE_NO_TRIES_MAX = 3

/** Why an address can never be called. */
const NEVER_CALLED = { port: '的端口不允许使用', host: '不是公网地址，无法通知' }

export type NewTrade = {
  out_trade_no: string
  name: string
  money: string
  type: string | null
  param: string | null
  notify_url: string | null
  return_url: string | null
}

export type CreateTrade = (asked: Authenticated) => Promise<Order>

/** The dependencies of the gateway's routes. */
export type GatewayVerbs = {
  deps: GatewayCore
  createTrade: CreateTrade
  findTrade: FindTrade
  /** The queue for reading lists. */
  queue: FairQueue
}

/**
 * Makes the createTrade of this process. It creates a trade, or returns the trade of the same out_trade_no. An unpaid one
 * with the same money keeps its points and facts, and gets a new window if it has expired; a paid one is returned as it is.
 * Throws order_changed for other money, order_exists for a closed or refunded trade, order_frozen, amount_too_small,
 * parameter_missing, parameter_invalid, parameter_ambiguous and application_unusable. spec/gateway 1.6–1.8.
 */
export function makeCreateTrade(
  deps: Pick<GatewayCore, 'db' | 'clock' | 'limits' | 'config'>,
  placeOrder: PlaceOrder,
): CreateTrade {
  return async (request) => {
    const { app, parameters, protocol, asReceived, log } = request
    requireUsable(app, 'ask')
    const newTrade = readNewTrade(parameters)
    if (newTrade.notify_url !== null) requireCallable(newTrade.notify_url, deps.config)
    requireOneMeaning(request, newTrade, deps.clock())
    const { out_trade_no, name, money, ...facts } = newTrade
    const rate = app.exchange_rate
    const points = pointsOf(money, rate)
    // An existing trade keeps its points, so its money may be worth less than a point now.
    const amount = points < 1n ? await pointsBefore(deps, app, out_trade_no) : points
    const requireAllowed = async () => {
      requireUsable(app, 'sell')
      if (amount < 1n) throw refusal('amount_too_small')
      await countTestOrder(deps, app)
    }
    const gateway = { ...facts, money, protocol, pid_sent: parameters.pid!.trim(), rate }
    const asked = { app_id: app.id, order_id: out_trade_no, description: name, amount, gateway }
    const { order, isNew } = await placeNumbered(
      deps,
      placeOrder,
      { ...asked, received: asReceived() },
      requireAllowed,
    )
    if (isNew) logOwnQueries(log, app, order)
    if (order.status === 'paid') return order
    if (order.status === 'closed') throw refusal('order_exists', '订单已关闭')
    if (order.status === 'refunded') throw refusal('order_exists', '订单已退款')
    if (!isSameMoney(order.money!, money)) throw refusal('order_changed')
    if (order.frozen_at !== null) throw refusal('order_frozen')
    return order
  }
}

/** Throws parameter_invalid for an address that no notification can ever reach. */
function requireCallable(notify_url: string, config: GatewayCore['config']): void {
  const fault = callRefusal(notify_url, config)
  if (fault !== undefined)
    throw refusal('parameter_invalid', `${labelOf('notify_url')}${NEVER_CALLED[fault]}`)
}

/** Logs the names of a new trade's addresses that have their own query, without the query. */
function logOwnQueries(log: FastifyBaseLogger, { payment_id }: GatewayApp, order: Order): void {
  const { transaction_id, notify_url, return_url } = order
  const addresses = Object.entries({ notify_url, return_url }).filter(([, url]) => url?.includes('?'))
  if (addresses.length === 0) return
  const about = { payment_id, transaction_id, addresses: addresses.map(([name]) => name) }
  log.warn(
    about,
    'addresses of this order have a query of their own: a shop that verifies all of the query refuses them',
  )
}

/** The points of the trade with this out_trade_no; 0 if there is none. */
async function pointsBefore(
  { db }: Pick<GatewayCore, 'db'>,
  app: GatewayApp,
  order_id: string,
): Promise<bigint> {
  const order = await findOrder(db, { app_id: app.id, door: 'gateway', order_id })
  return order?.amount ?? 0n
}

type Unnumbered = Omit<NewOrder, 'gateway'> & { gateway: Omit<GatewayFacts, 'trade_no'> }

/**
 * Places a trade under a new trade_no, and retries if another trade has the drawn one. Throws every other error of placeOrder.
 * Says whether the trade is new.
 */
export async function placeNumbered(
  { clock }: Pick<GatewayCore, 'clock'>,
  placeOrder: PlaceOrder,
  trade: Unnumbered,
  requireAllowed: () => Promise<void>,
): Promise<{ order: Order; isNew: boolean }> {
  for (let tries = 1; ; tries += 1) {
    const trade_no = newTradeNo(clock())
    try {
      const order = await placeOrder({ ...trade, gateway: { ...trade.gateway, trade_no } }, requireAllowed)
      return { order, isNew: order.trade_no === trade_no }
    } catch (error) {
      const isTaken = (error as { constraint?: string }).constraint === TRADE_NO_KEY
      if (!isTaken || tries === TRADE_NO_TRIES_MAX) throw error
    }
  }
}

/**
 * Draws a trade_no: the second and nine random digits. NOTE: it has at most 19 digits, so that clients can keep it in 64
 * bits or compare it as a number.
 */
function newTradeNo(now: Date): string {
  return `${Math.floor(now.getTime() / 1000)}${String(randomInt(TRADE_NO_TAIL)).padStart(9, '0')}`
}

/** The fields of a trade, in the order in which their faults are reported. */
const FIELDS = ['out_trade_no', 'notify_url', 'return_url', 'name', 'money', 'type', 'param'] as const
const NEEDS = ['out_trade_no', 'name', 'money'] as const

/** Whether a value fits the shape of its field. A blank value of an optional field counts as absent. */
const TAKES = Object.fromEntries(
  FIELDS.map((name) => {
    const schema = CreateRequest.shape[name]
    const mayBeAbsent = schema.safeParse(undefined).success
    const isTaken = (value: string) => (mayBeAbsent && value.trim() === '') || schema.safeParse(value).success
    return [name, isTaken]
  }),
) as Record<(typeof FIELDS)[number], (value: string) => boolean>

/** Reads the parameters of a new trade. Throws parameter_missing and parameter_invalid. Pure. */
function readNewTrade(parameters: FlatParameters): NewTrade {
  const { type = null, param = null, notify_url = null, return_url = null } = parameters
  for (const name of NEEDS) {
    if (parameters[name] === undefined) throw refusal('parameter_missing', `${labelOf(name)}不能为空`)
  }
  for (const name of FIELDS) {
    const value = parameters[name]
    if (value !== undefined && !TAKES[name](value))
      throw refusal('parameter_invalid', `${labelOf(name)}格式无效`)
  }
  const { out_trade_no, name, money } = parameters as Record<(typeof NEEDS)[number], string>
  return { out_trade_no, name: cutName(name), money, type, param, notify_url, return_url }
}

/**
 * Throws parameter_ambiguous if the request's signed text, or that of the later notification, has two readings. Pure.
 */
function requireOneMeaning(request: Authenticated, trade: NewTrade, now: Date): void {
  const { parameters, protocol } = request
  const { text } = request.signed!
  // The notification has values of the request and fixed ones, so what is plain here is plain there.
  if (!isPlain(text, Object.values(parameters))) requireOneReadingOfBoth(request, trade, now)
  // The V1 KEY signs requests and notifications, so a request must not read as a notification. The checks of both readings
  // cover the reverse.
  if (protocol === 'v1') requireNoReading(text, parameters, NOTICE)
}

function requireOneReadingOfBoth(
  { parameters, protocol, signed }: Authenticated,
  trade: NewTrade,
  now: Date,
): void {
  const { text, reader } = signed!
  const creates: Reader = {
    ...reader,
    needs: [...reader.needs, ...NEEDS],
    takes: { ...reader.takes, ...TAKES },
  }
  requireOneReading(text, parameters, creates)
  const notice = tradeFields(
    {
      ...trade,
      pid_sent: parameters.pid!.trim(),
      order_id: trade.out_trade_no,
      description: trade.name,
      // Placeholders for values that are not known yet and never contain `&`.
      trade_no: '0',
      transaction_id: 'txn_1',
      created_at: now,
      paid_at: now,
      buyer: '',
    },
    protocol,
    now,
  )
  requireOneNotice(gatewayString(notice), notice)
}

/** Cuts a name to 127 bytes without splitting a character. spec/gateway 1.7. */
function cutName(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return name
  let bytes = 0
  const kept = [...name].filter((character) => {
    bytes += Buffer.byteLength(character)
    return bytes <= NAME_BYTES_MAX
  })
  return kept.join('')
}
