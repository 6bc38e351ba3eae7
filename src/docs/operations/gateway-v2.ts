/** Describes the operations of V2 of the gateway. */
import { z } from 'zod'
import {
  ApplicationAnswer,
  ApplicationRequest,
  BalanceAnswer,
  ClosedAnswer,
  CreateRequest,
  NamedTradeRequest,
  OpenedV2,
  TradeAnswer,
  TradeRequest,
  TradesAnswer,
  TradesRequest,
  TradeV2,
} from '../../payment/gateway/shapes.ts'
import {
  ABOUT_TRADE,
  ANSWERED,
  answered,
  BALANCE,
  COUNT,
  NAMED,
  newTrade,
  PAGE,
  PID,
  REDIRECTED,
  TIMED,
  TRADE,
  TRADE_EXAMPLE,
  TRADES,
} from './gateway.ts'
import { described, type Operation, text } from './operation.ts'
import { SAMPLE_TRADES } from './samples.ts'

const ABOUT_V2 = {
  ...ABOUT_TRADE,
  status: text('0 not paid, 1 paid, 2 refunded.', '0 未付款，1 已付款，2 已退款。'),
  refundmoney: text('The amount refunded, in your currency.', '已退金额（商户货币）。'),
}
const signature = { timestamp: '1767323045', sign: 'bGlrZSB0aGlz…', sign_type: 'RSA' }

const ROW = { ...TRADE_EXAMPLE, trade_status: 'TRADE_SUCCESS' }

export const v2Operations: Operation[] = [
  {
    area: 'v2',
    method: 'get',
    alsoBy: 'post',
    path: '/payment/api/pay/submit',
    about: { en: 'Redirect a buyer to pay (GET or POST)', zh: '页面跳转支付（GET 或 POST）' },
    introduction: {
      en: 'The shop redirects the buyer’s browser here with signed parameters. The service creates the order and shows its pay page.',
      zh: '商店用已签名的参数把买家的浏览器跳转到这里。服务创建订单并显示支付页。',
    },
    request: {
      in: 'query',
      schema: described(TradeRequest, { ...TRADE, ...TIMED }),
      example: newTrade,
    },
    answers: REDIRECTED,
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/pay/create',
    about: { en: 'Create an order', zh: '统一下单' },
    introduction: {
      en: 'The shop’s server creates an order and gets the address of its pay page.',
      zh: '由商店的服务器创建订单，并得到支付页地址。',
    },
    request: {
      in: 'form',
      schema: described(CreateRequest, { ...TRADE, method: text('Ignored.', '忽略。'), ...TIMED }),
      example: () => ({ method: 'web', ...newTrade() }),
    },
    answers: answered(
      'v2',
      described(OpenedV2, {
        ...ANSWERED.v2,
        trade_no: ABOUT_TRADE.trade_no,
        pay_type: text('pay_info is an address.', 'pay_info 是网址。'),
        pay_info: text('Send the buyer here.', '把买家带到这里。'),
        pid: ABOUT_TRADE.pid,
        out_trade_no: ABOUT_TRADE.out_trade_no,
        money: ABOUT_TRADE.money,
      }),
      {
        code: 0,
        msg: 'success',
        trade_no: '1767323045123456789',
        pay_type: 'jump',
        pay_info: 'https://pay.example.org/payment/pay/txn_8f2k4m6n8p0q2r4s6t8v0w2x',
        pid: 1001,
        out_trade_no: 'mug-2001',
        money: '9.90',
        ...signature,
      },
      'code 0: send the buyer to pay_info. Verify the signature. code 1: paid before. A request with MD5 gets the same answer, signed with RSA.',
      'code 为 0：把买家带到 pay_info。请验签。code 为 1：已经付款。用 MD5 签名的请求得到同样的响应，也以 RSA 签名。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/pay/query',
    about: { en: 'Get an order', zh: '查询订单' },
    introduction: {
      en: 'Returns one order and whether it is paid. Query it before you deliver, and when no notification arrived.',
      zh: '返回一笔订单及其是否已付款。发货前，或没有收到通知时，请查询。',
    },
    request: {
      in: 'form',
      schema: described(NamedTradeRequest, { pid: PID, ...NAMED, ...TIMED }),
      example: () => ({ out_trade_no: SAMPLE_TRADES.asked }),
    },
    answers: answered(
      'v2',
      described(TradeAnswer, { ...ABOUT_V2, ...ANSWERED.v2 }),
      {
        code: 0,
        msg: 'success',
        ...ROW,
        ...signature,
      },
      'Empty fields are left out.',
      '空字段不返回。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/pay/close',
    about: { en: 'Close an unpaid order', zh: '关闭未付款订单' },
    introduction: {
      en: 'Closes an order that nobody has paid, so that it can no longer be paid.',
      zh: '关闭一笔未付款的订单，此后不能再付款。',
    },
    request: {
      in: 'form',
      schema: described(NamedTradeRequest, { pid: PID, ...NAMED, ...TIMED }),
      example: () => ({ out_trade_no: SAMPLE_TRADES.closed }),
    },
    answers: answered(
      'v2',
      described(ClosedAnswer, ANSWERED.v2),
      { code: 0, msg: 'success', ...signature },
      'Closed, now or before. A paid trade is refused with code -1 and the msg 订单已支付.',
      '已关闭（本次或之前）。已付款的订单返回 code -1，msg 为“订单已支付”。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/merchant/info',
    about: { en: 'Get the merchant’s details', zh: '查询商户信息' },
    introduction: {
      en: 'Returns the state of the application, its balance, and the numbers and amounts of its paid orders.',
      zh: '返回应用的状态、余额，以及已付款的订单数和金额。',
    },
    request: {
      in: 'form',
      schema: described(ApplicationRequest, { pid: PID, ...TIMED }),
      example: () => ({}),
    },
    answers: answered(
      'v2',
      described(ApplicationAnswer, {
        ...ANSWERED.v2,
        pid: ABOUT_TRADE.pid,
        status: text('1 while the application can be paid, else 0.', '应用可以收款时为 1，否则为 0。'),
        pay_status: text('1 while the application can be paid, else 0.', '应用可以收款时为 1，否则为 0。'),
        settle_status: text('Always 0. Points need no settlement.', '固定为 0；积分无需结算。'),
        money: BALANCE,
        order_num: text('Paid orders in all.', '已付款的订单总数。'),
        order_num_today: text('Those of today.', '今天的订单数。'),
        order_num_lastday: text('Those of yesterday.', '昨天的订单数。'),
        order_money_today: text('What they brought today, in your currency.', '今天收到的金额（商户货币）。'),
        order_money_lastday: text('What they brought yesterday.', '昨天收到的金额（商户货币）。'),
      }),
      {
        code: 0,
        msg: 'success',
        pid: 1001,
        status: 1,
        pay_status: 1,
        settle_status: 0,
        money: '10.00',
        order_num: 3,
        order_num_today: 1,
        order_num_lastday: 2,
        order_money_today: '9.90',
        order_money_lastday: '19.80',
        ...signature,
      },
      'money is the balance in your currency.',
      'money 是折算成商户货币的余额。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/merchant/orders',
    about: { en: 'List orders', zh: '订单列表' },
    introduction: {
      en: 'Lists the orders of the application, newest first.',
      zh: '列出应用的订单，新的在前。',
    },
    request: {
      in: 'form',
      schema: described(TradesRequest, { pid: PID, ...PAGE, ...TIMED }),
      example: () => ({ offset: '0', limit: '10' }),
    },
    answers: answered(
      'v2',
      described(TradesAnswer.extend({ data: z.array(described(TradeV2, ABOUT_V2)) }), {
        ...ANSWERED.v2,
        count: COUNT,
        data: TRADES,
      }),
      { code: 0, msg: 'success', count: 1, data: [ROW], ...signature },
      'data itself is not part of what is signed.',
      'data 不参与签名。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/transfer/balance',
    about: { en: 'Get the balance', zh: '查询余额' },
    introduction: {
      en: 'Returns the balance of the application’s owner in your currency.',
      zh: '返回应用所有者的余额，以商户货币表示。',
    },
    request: {
      in: 'form',
      schema: described(ApplicationRequest, { pid: PID, ...TIMED }),
      example: () => ({}),
    },
    answers: answered(
      'v2',
      described(BalanceAnswer, {
        ...ANSWERED.v2,
        available_money: BALANCE,
        transfer_rate: text('The fee of a transfer, in percent.', '转账手续费率（%）。'),
      }),
      { code: 0, msg: 'success', available_money: '10.00', transfer_rate: '3', ...signature },
      'available_money is in your currency, transfer_rate in percent. The HMAC API makes the transfers.',
      'available_money 为商户货币，transfer_rate 为百分比。转账请使用 HMAC 接口。',
    ),
  },
]
