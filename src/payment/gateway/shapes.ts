/**
 * The shapes of the requests and answers of the gateway. Routes check requests and type answers by them, the reference
 * describes them, and tests check every answer against them. spec/gateway 1.7.
 */
import { z } from 'zod'
import { isMerchantUrl } from '../wire-fields/addresses.ts'
import { NewTradeNo, OutTradeNo, Timestamp, TradeName } from '../wire-fields/fields.ts'
import { MONEY } from '../wire-fields/money.ts'

export const NAME_BYTES_MAX = 127
export const PARAM_LENGTH_MAX = 500
export const TRADES_DEFAULT = 10
export const TRADES_MAX = 50

const MerchantUrl = z.string().refine(isMerchantUrl).meta({ format: 'uri' })
const Pid = z.string()
const signed = { sign: z.string(), sign_type: z.enum(['MD5', 'RSA']).optional() }
/** V2 requires the timestamp. */
const timed = { timestamp: Timestamp.optional(), ...signed }
/** api.php takes the Merchant KEY or a signature. */
const proven = z.object({ key: z.string(), ...timed }).partial().shape

/** The fields of a new trade. */
const trade = {
  pid: Pid,
  type: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,32}$/)
    .optional(),
  out_trade_no: NewTradeNo,
  notify_url: MerchantUrl.optional(),
  return_url: MerchantUrl.optional(),
  name: TradeName,
  money: z.string().regex(MONEY),
  param: z.string().max(PARAM_LENGTH_MAX).optional(),
}
export const TradeRequest = z.object({ ...trade, ...timed })
export const CreateRequest = z.object({ ...trade, method: z.string().optional(), ...timed })

/** The fields that name a trade. */
const named = { trade_no: z.string().optional(), out_trade_no: OutTradeNo.optional() }
export const OrderActRequest = z.object({ pid: Pid, ...named, ...proven })
export const NamedTradeRequest = z.object({ pid: Pid, ...named, ...timed })

const Count = z
  .string()
  .regex(/^\d{1,7}$/)
  .optional()
const page = { limit: Count, offset: Count, page: Count, status: z.enum(['0', '1', '2']).optional() }
export const OrdersActRequest = z.object({ pid: Pid, ...page, ...proven })
export const TradesRequest = z.object({ pid: Pid, ...page, ...timed })

export const QueryActRequest = z.object({ pid: Pid, ...proven })
export const ApplicationRequest = z.object({ pid: Pid, ...timed })

/** A pid as JSON: the number, or the Payment ID if the merchant sent that. */
const PidAnswer = z.union([z.int(), z.string()])

/** The fields of a signed reply: every reply of V2, and a V1 reply to a request with sign_type=RSA. */
export const signature = { timestamp: z.string(), sign: z.string(), sign_type: z.literal('RSA') }
/** V1 signs an answer only if the request has sign_type=RSA. */
const answerV1 = <Members extends z.ZodRawShape>(members: Members) =>
  z.strictObject({ code: z.literal(1), ...members, ...z.object(signature).partial().shape })
const answerV2 = <Members extends z.ZodRawShape>(members: Members) =>
  z.strictObject({ code: z.literal(0), msg: z.string(), ...members, ...signature })

/** A refusal of any endpoint: a negative code, or 1 for a V2 trade that is already paid. */
export const Refusal = z.looseObject({ code: z.int(), msg: z.string() })

export const TradeV1 = z.strictObject({
  trade_no: z.string(),
  out_trade_no: z.string(),
  api_trade_no: z.string(),
  type: z.string(),
  pid: PidAnswer,
  addtime: z.string(),
  endtime: z.string(),
  name: z.string(),
  money: z.string(),
  status: z.int(),
  refunded: z.literal(1).optional(),
  param: z.string(),
  buyer: z.string(),
})
export const OpenedV1 = answerV1({ msg: z.string(), trade_no: z.string(), payurl: z.url() })
export const OrderActAnswer = answerV1({ msg: z.string(), ...TradeV1.shape })
export const OrdersActAnswer = answerV1({ msg: z.string(), count: z.int(), data: z.array(TradeV1) })
export const QueryActAnswer = answerV1({
  pid: PidAnswer,
  key: z.string(),
  active: z.int(),
  money: z.string(),
  type: z.int(),
  account: z.string(),
  username: z.string(),
  orders: z.int(),
  order_today: z.int(),
  orders_today: z.int(),
  order_lastday: z.int(),
  orders_lastday: z.int(),
})
/** The answer of act=settle, which is always an empty list. */
export const SettleActAnswer = answerV1({ msg: z.string(), data: z.array(z.never()) })

export const TradeV2 = z.strictObject({
  trade_no: z.string(),
  out_trade_no: z.string(),
  api_trade_no: z.string(),
  type: z.string().optional(),
  pid: PidAnswer,
  addtime: z.string(),
  endtime: z.string().optional(),
  name: z.string(),
  money: z.string(),
  status: z.int(),
  trade_status: z.literal('TRADE_SUCCESS').optional(),
  param: z.string().optional(),
  buyer: z.string().optional(),
  refundmoney: z.string().optional(),
})
export const OpenedV2 = answerV2({
  trade_no: z.string(),
  pay_type: z.literal('jump'),
  pay_info: z.url(),
  pid: PidAnswer,
  out_trade_no: z.string(),
  money: z.string(),
})
export const TradeAnswer = answerV2(TradeV2.shape)
export const ClosedAnswer = answerV2({})
export const TradesAnswer = answerV2({ count: z.int(), data: z.array(TradeV2) })
export const ApplicationAnswer = answerV2({
  pid: PidAnswer,
  status: z.int(),
  pay_status: z.int(),
  settle_status: z.int(),
  money: z.string(),
  order_num: z.int(),
  order_num_today: z.int(),
  order_num_lastday: z.int(),
  order_money_today: z.string(),
  order_money_lastday: z.string(),
})
export const BalanceAnswer = answerV2({ available_money: z.string(), transfer_rate: z.string() })

/** The parameters of a V1 notification and return. */
export const MessageV1 = z.strictObject({
  pid: z.string(),
  trade_no: z.string(),
  out_trade_no: OutTradeNo,
  type: z.string().optional(),
  name: z.string(),
  money: z.string(),
  trade_status: z.literal('TRADE_SUCCESS'),
  param: z.string().optional(),
  sign: z.string().regex(/^[0-9a-f]{32}$/),
  sign_type: z.literal('MD5'),
})
/** The parameters of a V2 notification and return. */
export const MessageV2 = z.strictObject({
  ...MessageV1.shape,
  api_trade_no: z.string(),
  addtime: z.string(),
  endtime: z.string(),
  buyer: z.string().optional(),
  timestamp: Timestamp,
  sign: z.string(),
  sign_type: z.literal('RSA'),
})
