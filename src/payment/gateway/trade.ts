/** The names and values of the protocol for a trade and its times. Pure. */
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { OrderStatus } from '../../database/tables/payments.ts'
import { type Order, payUrl, RETURNS } from '../orders/orders.ts'
import { OutTradeNo } from '../wire-fields/fields.ts'
import { moneyOf } from '../wire-fields/money.ts'
import type { TradeV1, TradeV2 } from './shapes.ts'

/** An order of the gateway with the username of its payer. */
export type Trade = Pick<
  Order,
  | 'id'
  | 'trade_no'
  | 'order_id'
  | 'transaction_id'
  | 'type'
  | 'pid_sent'
  | 'created_at'
  | 'paid_at'
  | 'description'
  | 'money'
  | 'rate'
  | 'status'
  | 'param'
  | 'refunded_amount'
> & { buyer: string | null }

const SHANGHAI_OFFSET_MS = 8 * 3_600_000

/** Whether the text is a valid out_trade_no, the merchant's order number. */
export function isOutTradeNo(text: string): boolean {
  return OutTradeNo.safeParse(text).success
}

/** `YYYY-MM-DD HH:MM:SS` in Asia/Shanghai, the time zone that clients assume. */
export function shanghaiTime(moment: Date): string {
  return new Date(moment.getTime() + SHANGHAI_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ')
}

/** The start of a moment's day in Asia/Shanghai. */
export function startOfDay(moment: Date): Date {
  return new Date(`${shanghaiTime(moment).slice(0, 10)}T00:00:00+08:00`)
}

/** The names of the fields in refusals. */
const LABELS: Readonly<Record<string, string>> = {
  pid: '商户号',
  out_trade_no: '商户订单号',
  trade_no: '平台订单号',
  type: '支付方式',
  name: '商品名称',
  money: '商品金额',
  param: '业务扩展参数',
  notify_url: '异步通知地址',
  return_url: '跳转通知地址',
  trade_status: '交易状态',
  timestamp: '时间戳',
}

/** The name of a field in refusals. */
export function labelOf(field: string): string {
  return LABELS[field] ?? '请求参数'
}

/** V2's status numbers. Expired and closed orders have no number of their own, so they count as unpaid. spec/gateway 3.3. */
const STATUS = { unpaid: 0, expired: 0, closed: 0, paid: 1, refunded: 2 } satisfies Record<
  OrderStatus,
  number
>

/** A pid as JSON: the number, or the Payment ID if the merchant sent that. Drops white space around it. */
export function pidValue(sent: string): number | string {
  const pid = sent.trim()
  return /^\d+$/.test(pid) ? Number(pid) : pid
}

/**
 * Describes a trade for V1: every field is present; `status` is 1 for paid, otherwise 0. A refunded trade alone has `refunded`,
 * because clients credit any other status than 0. spec/gateway 2.4.
 */
export function describeV1(trade: Trade): z.output<typeof TradeV1> {
  return {
    trade_no: trade.trade_no!,
    out_trade_no: trade.order_id,
    api_trade_no: trade.transaction_id,
    type: trade.type ?? '',
    pid: pidValue(trade.pid_sent!),
    addtime: shanghaiTime(trade.created_at),
    endtime: trade.paid_at === null ? '' : shanghaiTime(trade.paid_at),
    name: trade.description,
    money: trade.money!,
    status: trade.status === 'paid' ? 1 : 0,
    ...(trade.status === 'refunded' && { refunded: 1 as const }),
    param: trade.param ?? '',
    buyer: trade.buyer ?? '',
  }
}

/** Fields of V2 before the removal of empty ones. */
export type OrNull<Fields> = { [Name in keyof Fields]: Fields[Name] | null }

/** Describes a trade for V2. spec/gateway 3.3. */
export function describeV2(trade: Trade): OrNull<z.output<typeof TradeV2>> {
  return {
    trade_no: trade.trade_no,
    out_trade_no: trade.order_id,
    api_trade_no: trade.transaction_id,
    type: trade.type,
    pid: pidValue(trade.pid_sent!),
    addtime: shanghaiTime(trade.created_at),
    endtime: trade.paid_at === null ? null : shanghaiTime(trade.paid_at),
    name: trade.description,
    money: trade.money,
    status: STATUS[trade.status],
    trade_status: trade.status === 'paid' ? 'TRADE_SUCCESS' : null,
    param: trade.param,
    buyer: trade.buyer,
    refundmoney: trade.refunded_amount === 0n ? null : moneyOf(trade.refunded_amount, trade.rate!),
  }
}

/** The address of a trade's pay page. The receipt of a paid one redirects to the shop. spec/gateway 1.8. */
export function tradeUrl(
  deps: Pick<Core, 'config'>,
  { transaction_id, status }: Pick<Order, 'transaction_id' | 'status'>,
): string {
  const url = payUrl(deps, transaction_id)
  return status === 'paid' ? `${url}?${RETURNS}` : url
}
