/** A new trade: what its parameters must be, and what becomes of one whose out_trade_no was used before. */
import { randomInt } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Deps } from '../../deps.ts'
import type { Turns } from '../../turns.ts'
import { findOrder, type Order, type PlaceOrder } from '../orders.ts'
import type { FlatParameters } from '../parameters.ts'
import { countTestOrder } from '../test-mode.ts'
import { refusal } from './errors.ts'
import type { GatewayApp } from './keys.ts'
import { isMoney, isSameMoney, pointsOf } from './money.ts'
import { type Authenticated, requireUsable } from './request.ts'
import { carriesField, isOutTradeNo } from './trade.ts'

export const TYPE = /^[A-Za-z0-9_.-]{1,32}$/
const NAME_BYTES_MAX = 127
export const PARAM_LENGTH_MAX = 500
export const URL_LENGTH_MAX = 1_000
const TRADE_NO_KEY = 'orders_trade_no_key'
const TRADE_NO_TAIL = 1_000_000_000
/** A thousand trades a second meet one of each other once in half an hour; three times in a row, never. */
const TRADE_NO_TRIES_MAX = 3

export type NewTrade = {
  out_trade_no: string
  name: string
  money: string
  type: string | null
  param: string | null
  notify_url: string
  return_url: string | null
}

export type CreateTrade = (asked: Authenticated) => Promise<Order>

/** What the routes of the gateway are made over. */
export type GatewayVerbs = {
  deps: Deps
  createTrade: CreateTrade
  /** In which lists are read. */
  turns: Turns
}

/**
 * Makes the createTrade of this process. It creates a trade, or finds the one of the same out_trade_no: unpaid with the
 * same money it is the same trade, with a new window if its time was over and the points it had; what else is sent now
 * changes nothing. A paid one is answered as it is. Throws order_changed for other money, order_exists for one that was
 * closed or refunded, order_frozen for one that an administrator holds. gateway.md 5.7–5.11.
 */
export function makeCreateTrade(
  deps: Pick<Deps, 'db' | 'clock' | 'limits'>,
  placeOrder: PlaceOrder,
): CreateTrade {
  return async ({ app, parameters, protocol, asReceived, log }) => {
    requireUsable(app, 'ask')
    const { out_trade_no, name, money, ...facts } = readNewTrade(parameters)
    const rate = app.exchange_rate
    const points = pointsOf(money, rate)
    // A trade keeps the points it was created with: what its money is worth today is not judged.
    const amount = points < 1n ? await pointsBefore(deps, app, out_trade_no) : points
    const requireAllowed = async () => {
      requireUsable(app, 'sell')
      if (amount < 1n) throw refusal('amount_too_small')
      await countTestOrder(deps, app)
    }
    const received = asReceived()
    let trade_no = ''
    const order = await withUnusedNumber(() => {
      trade_no = newTradeNo(deps.clock())
      const trade = { ...facts, money, trade_no, protocol, pid_sent: parameters.pid!, rate }
      const asked = { app_id: app.id, order_id: out_trade_no, description: name, amount, received, trade }
      return placeOrder(asked, requireAllowed)
    })
    if (order.trade_no === trade_no) logOwnQueries(log, app, order)
    if (order.status === 'paid') return order
    if (order.status === 'closed') throw refusal('order_exists', '订单已关闭')
    if (order.status === 'refunded') throw refusal('order_exists', '订单已退款')
    if (!isSameMoney(order.money!, money)) throw refusal('order_changed')
    if (order.frozen_at !== null) throw refusal('order_frozen')
    return order
  }
}

/** Says of a new trade which of its addresses have a query of their own, and nothing of what is in it. */
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

/** The points of the trade with this number; 0 if there is none. */
async function pointsBefore({ db }: Pick<Deps, 'db'>, app: GatewayApp, order_id: string): Promise<bigint> {
  const order = await findOrder(db, { app_id: app.id, door: 'gateway', order_id })
  return order?.amount ?? 0n
}

/** Places a trade, again if the trade_no that was drawn for it is another trade's. Throws what else goes wrong. */
async function withUnusedNumber(place: () => Promise<Order>): Promise<Order> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await place()
    } catch (error) {
      const isTaken = (error as { constraint?: string }).constraint === TRADE_NO_KEY
      if (!isTaken || tries === TRADE_NO_TRIES_MAX) throw error
    }
  }
}

/**
 * NOTE: at most 19 digits, so that those who keep it in 64 bits or compare it as a number do so exactly: the second,
 * and nine random digits.
 */
function newTradeNo(now: Date): string {
  return `${Math.floor(now.getTime() / 1000)}${String(randomInt(TRADE_NO_TAIL)).padStart(9, '0')}`
}

/** Reads what a create sends. Throws parameter_missing and parameter_invalid. Pure. */
function readNewTrade(parameters: FlatParameters): NewTrade {
  const { type = null, param = null, return_url = null } = parameters
  const out_trade_no = required(parameters, 'out_trade_no', '商户订单号')
  const notify_url = required(parameters, 'notify_url', '异步通知地址')
  const name = required(parameters, 'name', '商品名称')
  const money = required(parameters, 'money', '商品金额')
  // PHP's readers of a notification would drop a `0`, and find its signature wrong.
  if (!isOutTradeNo(out_trade_no) || out_trade_no === '0') throw invalid('商户订单号')
  if (!isMerchantUrl(notify_url)) throw invalid('异步通知地址')
  if (return_url !== null && !isMerchantUrl(return_url)) throw invalid('跳转通知地址')
  if (!isMoney(money)) throw invalid('商品金额')
  if (type !== null && !TYPE.test(type)) throw invalid('支付方式')
  if (name === '0' || carriesField(name)) throw invalid('商品名称')
  if (param !== null && (param.length > PARAM_LENGTH_MAX || carriesField(param)))
    throw invalid('业务扩展参数')
  return { out_trade_no, name: cutName(name), money, type, param, notify_url, return_url }
}

function required(parameters: FlatParameters, name: string, label: string): string {
  const value = parameters[name]
  if (value === undefined) throw refusal('parameter_missing', `${label}不能为空`)
  return value
}

function invalid(label: string) {
  return refusal('parameter_invalid', `${label}格式无效`)
}

/** At most 127 bytes, never half a character: longer names are cut, not refused. gateway.md 1.2. */
function cutName(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return name
  let bytes = 0
  const kept = [...name].filter((character) => {
    bytes += Buffer.byteLength(character)
    return bytes <= NAME_BYTES_MAX
  })
  return kept.join('')
}

/**
 * An address that a merchant is told at: absolute, http or https, no userinfo. A backslash would be a slash to some
 * readers, and with it another host.
 */
function isMerchantUrl(text: string): boolean {
  if (
    text.length > URL_LENGTH_MAX ||
    !/^https?:\/\/[^/\s\\\p{Cc}][^\s\\\p{Cc}]*$/iu.test(text) ||
    !URL.canParse(text)
  )
    return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}
