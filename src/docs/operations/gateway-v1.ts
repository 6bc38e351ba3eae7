/** Describes the operations of V1 of the gateway. */
import { z } from 'zod'
import {
  OpenedV1,
  OrderActAnswer,
  OrderActRequest,
  OrdersActAnswer,
  OrdersActRequest,
  QueryActAnswer,
  QueryActRequest,
  SettleActAnswer,
  TradeRequest,
  TradeV1,
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

/** How a caller of api.php proves itself. */
const PROVEN = {
  key: text('The KEY itself, or a sign instead.', '商户 KEY，或改用 sign。'),
  ...TIMED,
}
const ROW = { ...TRADE_EXAMPLE, param: '' }
const ABOUT_ROW = {
  ...ABOUT_TRADE,
  status: text('1 paid, 0 anything else.', '1 已付款，0 其他。'),
  refunded: text(
    '1 if the order was refunded in full; otherwise absent.',
    '全额退款后为 1；否则没有该字段。',
  ),
}

export const v1Operations: Operation[] = [
  {
    area: 'v1',
    method: 'get',
    alsoBy: 'post',
    path: '/payment/api/submit.php',
    about: { en: 'Redirect a buyer to pay (GET or POST)', zh: '页面跳转支付（GET 或 POST）' },
    introduction: {
      en: 'The shop redirects the buyer’s browser here with signed parameters. The service creates the order and shows its pay page.',
      zh: '商店用已签名的参数把买家的浏览器跳转到这里。服务创建订单并显示支付页。',
    },
    request: { in: 'query', schema: described(TradeRequest, { ...TRADE, ...TIMED }), example: newTrade },
    answers: REDIRECTED,
  },
  {
    area: 'v1',
    method: 'post',
    alsoBy: 'get',
    path: '/payment/api/mapi.php',
    about: { en: 'Create an order', zh: 'API 下单' },
    introduction: {
      en: 'The shop’s server creates an order and gets the address of its pay page.',
      zh: '由商店的服务器创建订单，并得到支付页地址。',
    },
    request: { in: 'form', schema: described(TradeRequest, { ...TRADE, ...TIMED }), example: newTrade },
    answers: answered(
      'v1',
      described(OpenedV1, {
        ...ANSWERED.v1,
        trade_no: ABOUT_TRADE.trade_no,
        payurl: text('Send the buyer here.', '把买家带到这里。'),
      }),
      {
        code: 1,
        msg: 'success',
        trade_no: '1767323045123456789',
        payurl: 'https://pay.example.org/payment/pay/txn_8f2k4m6n8p0q2r4s6t8v0w2x',
      },
      'code 1: send the buyer to payurl. A negative code: refused, msg says why. With sign_type=RSA the answer is the same, and signed.',
      'code 为 1：把买家带到 payurl。负数：被拒绝，msg 说明原因。sign_type=RSA 时响应内容相同，并带签名。',
    ),
  },
  {
    area: 'v1',
    method: 'post',
    alsoBy: 'get',
    path: '/payment/api/api.php?act=order',
    about: { en: 'Get an order', zh: '查询单个订单' },
    introduction: {
      en: 'Returns one order and whether it is paid. Query it before you deliver, and when no notification arrived.',
      zh: '返回一笔订单及其是否已付款。发货前，或没有收到通知时，请查询。',
    },
    request: {
      in: 'form',
      schema: described(OrderActRequest, {
        pid: PID,
        ...NAMED,
        ...PROVEN,
      }),
      example: () => ({ out_trade_no: SAMPLE_TRADES.asked }),
    },
    answers: answered(
      'v1',
      described(OrderActAnswer, { ...ABOUT_ROW, ...ANSWERED.v1 }),
      { code: 1, msg: 'success', ...ROW },
      'Times are of China (+08:00).',
      '时间为北京时间。',
    ),
  },
  {
    area: 'v1',
    method: 'post',
    alsoBy: 'get',
    path: '/payment/api/api.php?act=query',
    about: { en: 'Test credentials', zh: '测试凭据' },
    introduction: {
      en: 'Answers with the balance and the number of paid orders if pid and KEY belong together, so it shows whether the shop is set up correctly.',
      zh: 'pid 与 KEY 匹配时返回余额和已付款的订单数，可用来检查商店的配置。',
    },
    request: { in: 'form', schema: described(QueryActRequest, { pid: PID, ...PROVEN }), example: () => ({}) },
    answers: answered(
      'v1',
      described(QueryActAnswer, {
        ...ANSWERED.v1,
        pid: ABOUT_TRADE.pid,
        key: text('The KEY that was sent.', '请求中的 KEY。'),
        active: text('1 while the application can be paid, else 0.', '应用可以收款时为 1，否则为 0。'),
        money: BALANCE,
        type: text('Always 1. Points need no settlement.', '固定为 1；积分无需结算。'),
        account: text('Always empty.', '固定为空。'),
        username: text('Always empty.', '固定为空。'),
        orders: text('Paid orders in all.', '已付款的订单总数。'),
        order_today: text('Those of today.', '今天的订单数。'),
        orders_today: text('The same, under its other name.', '与 order_today 相同。'),
        order_lastday: text('Those of yesterday.', '昨天的订单数。'),
        orders_lastday: text('The same, under its other name.', '与 order_lastday 相同。'),
      }),
      {
        code: 1,
        pid: 1001,
        key: 'Wq7kT2…',
        active: 1,
        money: '10.00',
        type: 1,
        account: '',
        username: '',
        orders: 3,
        order_today: 1,
        orders_today: 1,
        order_lastday: 2,
        orders_lastday: 2,
      },
      'money is the balance in your currency. The numbers of orders count paid ones only.',
      'money 是折算成商户货币的余额。各订单数只计已付款的订单。',
    ),
  },
  {
    area: 'v1',
    method: 'post',
    alsoBy: 'get',
    path: '/payment/api/api.php?act=orders',
    about: { en: 'List orders', zh: '批量查询订单' },
    introduction: {
      en: 'Lists the orders of the application, newest first.',
      zh: '列出应用的订单，新的在前。',
    },
    request: {
      in: 'form',
      schema: described(OrdersActRequest, { pid: PID, ...PAGE, ...PROVEN }),
      example: () => ({ limit: '10' }),
    },
    answers: answered(
      'v1',
      described(OrdersActAnswer.extend({ data: z.array(described(TradeV1, ABOUT_ROW)) }), {
        ...ANSWERED.v1,
        count: COUNT,
        data: TRADES,
      }),
      { code: 1, msg: 'success', count: 1, data: [ROW] },
      'The newest first.',
      '最新的在前。',
    ),
  },
  {
    area: 'v1',
    method: 'post',
    alsoBy: 'get',
    path: '/payment/api/api.php?act=settle',
    about: { en: 'List settlements', zh: '查询结算记录' },
    introduction: {
      en: 'Some plugins ask for it. The list is always empty: points stay in the wallet and are not paid out.',
      zh: '部分插件会查询。列表始终为空：积分留在钱包里，没有结算。',
    },
    request: { in: 'form', schema: described(QueryActRequest, { pid: PID, ...PROVEN }), example: () => ({}) },
    answers: answered(
      'v1',
      described(SettleActAnswer, {
        ...ANSWERED.v1,
        data: text('Always empty. Points need no settlement.', '固定为空；积分无需结算。'),
      }),
      { code: 1, msg: 'success', data: [] },
      'Always an empty list.',
      '始终为空列表。',
    ),
  },
]
