/** The gateway, V1 and V2, described. gateway.md 1–3. */
import { z } from 'zod'
import { PARAM_LENGTH_MAX, TYPE, URL_LENGTH_MAX } from '../payment/gateway/create.ts'
import { MONEY } from '../payment/gateway/money.ts'
import { OUT_TRADE_NO } from '../payment/gateway/trade.ts'
import { type Answer, type Operation, said } from './operation.ts'

const Pid = said(z.string(), 'The number of the application, on its page.', '应用页面上的商户 ID。')
const Sign = said(
  z.string(),
  'Over every non-empty parameter but sign and sign_type, sorted by name, joined as a=1&b=2. V1: the lower-case MD5 of that with the KEY behind it. V2: SHA256withRSA, base64.',
  '除 sign、sign_type 外全部非空参数按名称排序拼成 a=1&b=2。V1：其后直接接上 KEY，取小写 MD5。V2：SHA256withRSA，base64。',
)
const SignType = said(
  z.enum(['MD5', 'RSA']).optional(),
  'RSA is V2, anything else V1.',
  'RSA 为 V2，其他均为 V1。',
)
const signed = { sign: Sign, sign_type: SignType }
const Timestamp = said(
  z
    .string()
    .regex(/^\d{10}$/)
    .optional(),
  'Needed with RSA: seconds since 1970, at most 300 off.',
  '使用 RSA 时必填：1970 年以来的秒数，偏差不超过 300 秒。',
)
const outTradeNo = said(
  z.string().regex(OUT_TRADE_NO),
  'Your own number; the same again is the same trade.',
  '商户订单号；重复提交得到同一笔交易。',
)
const money = said(
  z.string().regex(MONEY),
  'In your currency; converted at the application’s rate.',
  '商户货币金额，按应用汇率换算成积分。',
)
const address = z.url().max(URL_LENGTH_MAX)
const trade = {
  pid: Pid,
  type: said(z.string().regex(TYPE).optional(), 'Echoed back.', '原样返回。'),
  out_trade_no: outTradeNo,
  notify_url: said(
    address,
    'Asked by GET when the trade is paid; the last line of the answer must be success.',
    '付款后以 GET 通知；回复的最后一行须为 success。',
  ),
  return_url: said(address.optional(), 'The buyer comes back here.', '买家付款后返回的地址。'),
  name: said(z.string().min(1), 'Cut to 127 bytes.', '超过 127 字节会被截断。'),
  money,
  param: said(z.string().max(PARAM_LENGTH_MAX).optional(), 'Echoed back.', '原样返回。'),
}
const named = {
  trade_no: z.string().optional(),
  out_trade_no: outTradeNo.optional(),
}
const TRADE = {
  type: 'alipay',
  out_trade_no: 'mug-1001',
  notify_url: 'https://shop.example/notify',
  return_url: 'https://shop.example/return',
  name: 'Mug',
  money: '9.90',
}

const Refusal = z.object({ code: z.int(), msg: z.string() }).loose()
/** JSON endpoints answer 200 whatever becomes of the request: `code` tells. */
function answered(schema: z.ZodType, example: unknown, en: string, zh: string): Record<number, Answer> {
  return { 200: { about: { en, zh }, schema: z.union([schema, Refusal]), example } }
}

const signedAnswer = { timestamp: z.string(), sign: z.string(), sign_type: z.literal('RSA') }
const v2 = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ code: z.literal(0), msg: z.string(), ...shape, ...signedAnswer })
const signature = { timestamp: '1767323045', sign: 'bGlrZSB0aGlz…', sign_type: 'RSA' }

const rowV2 = {
  trade_no: z.string(),
  out_trade_no: z.string(),
  api_trade_no: z.string(),
  type: z.string().optional(),
  pid: z.int(),
  addtime: z.string(),
  endtime: z.string().optional(),
  name: z.string(),
  money: z.string(),
  status: said(z.int(), '0 not paid, 1 paid, 2 refunded.', '0 未付款，1 已付款，2 已退款。'),
  trade_status: z.literal('TRADE_SUCCESS').optional(),
  param: z.string().optional(),
  buyer: z.string().optional(),
}

export const gatewayOperations: Operation[] = [
  {
    area: 'v1',
    method: 'get',
    path: '/payment/api/submit.php',
    about: { en: 'Send a buyer’s browser to pay', zh: '页面跳转支付' },
    request: { in: 'query', schema: z.object({ ...trade, ...signed }), example: TRADE },
    answers: {
      302: { about: { en: 'To the pay page.', zh: '跳转到支付页。' } },
      400: { about: { en: 'A page that says what is wrong.', zh: '说明错误的页面。' } },
    },
  },
  {
    area: 'v1',
    method: 'post',
    path: '/payment/api/mapi.php',
    about: { en: 'Open a trade', zh: 'API 下单' },
    request: { in: 'form', schema: z.object({ ...trade, ...signed }), example: TRADE },
    answers: answered(
      z.object({ code: z.literal(1), msg: z.string(), trade_no: z.string(), payurl: z.url() }),
      {
        code: 1,
        msg: 'success',
        trade_no: '1767323045123456789',
        payurl: 'https://pay.example.org/payment/pay/txn_8f2k4m6n8p0q2r4s6t8v0w2x',
      },
      'code 1: send the buyer to payurl. A negative code: refused, msg says why.',
      'code 为 1：把买家带到 payurl。负数：被拒绝，msg 说明原因。',
    ),
  },
  {
    area: 'v1',
    method: 'post',
    path: '/payment/api/api.php?act=order',
    about: { en: 'Ask about a trade', zh: '查询单个订单' },
    request: {
      in: 'form',
      schema: z.object({
        pid: Pid,
        key: said(z.string().optional(), 'The KEY itself, or a sign instead.', '商户 KEY，或改用 sign。'),
        ...named,
      }),
      example: { out_trade_no: TRADE.out_trade_no },
    },
    answers: answered(
      z.object({
        code: z.literal(1),
        msg: z.string(),
        trade_no: z.string(),
        out_trade_no: z.string(),
        api_trade_no: z.string(),
        type: z.string(),
        pid: z.int(),
        addtime: z.string(),
        endtime: z.string(),
        name: z.string(),
        money: z.string(),
        status: said(z.int(), '1 paid, 0 not.', '1 已付款，0 未付款。'),
        param: z.string(),
        buyer: z.string(),
      }),
      {
        code: 1,
        msg: 'success',
        trade_no: '1767323045123456789',
        out_trade_no: 'mug-1001',
        api_trade_no: 'txn_8f2k4m6n8p0q2r4s6t8v0w2x',
        type: 'alipay',
        pid: 1001,
        addtime: '2026-01-02 11:04:05',
        endtime: '2026-01-02 11:05:00',
        name: 'Mug',
        money: '9.90',
        status: 1,
        param: '',
        buyer: 'alice',
      },
      'Times are of China (+08:00).',
      '时间为北京时间。',
    ),
  },
  {
    area: 'v1',
    method: 'post',
    path: '/payment/api/api.php?act=query',
    about: { en: 'Are my settings right?', zh: '查询商户信息' },
    request: { in: 'form', schema: z.object({ pid: Pid, key: z.string() }), example: {} },
    answers: answered(
      z
        .object({
          code: z.literal(1),
          pid: z.int(),
          key: z.string(),
          active: z.int(),
          money: z.string(),
          orders: z.int(),
        })
        .loose(),
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
      },
      'money is the balance in your currency.',
      'money 是折算成商户货币的余额。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/pay/create',
    about: { en: 'Open a trade', zh: '统一下单' },
    request: {
      in: 'form',
      schema: z.object({
        ...trade,
        method: said(z.string().optional(), 'Ignored.', '忽略。'),
        timestamp: Timestamp,
        ...signed,
      }),
      example: { method: 'web', ...TRADE, out_trade_no: 'mug-2001' },
    },
    answers: answered(
      v2({
        trade_no: z.string(),
        pay_type: z.literal('jump'),
        pay_info: z.url(),
        pid: z.int(),
        out_trade_no: z.string(),
        money: z.string(),
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
      'code 0: send the buyer to pay_info. Every answer is signed: verify it. code 1: paid before.',
      'code 为 0：把买家带到 pay_info。所有应答都带签名，请验签。code 为 1：已经付款。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/pay/query',
    about: { en: 'Ask about a trade', zh: '查询订单' },
    request: {
      in: 'form',
      schema: z.object({ pid: Pid, ...named, timestamp: Timestamp, ...signed }),
      example: { out_trade_no: 'mug-2001' },
    },
    answers: answered(
      v2(rowV2),
      {
        code: 0,
        msg: 'success',
        trade_no: '1767323045123456789',
        out_trade_no: 'mug-2001',
        api_trade_no: 'txn_8f2k4m6n8p0q2r4s6t8v0w2x',
        type: 'alipay',
        pid: 1001,
        addtime: '2026-01-02 11:04:05',
        endtime: '2026-01-02 11:05:00',
        name: 'Mug',
        money: '9.90',
        status: 1,
        trade_status: 'TRADE_SUCCESS',
        buyer: 'alice',
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
    about: { en: 'Close an unpaid trade', zh: '关闭未付款订单' },
    request: {
      in: 'form',
      schema: z.object({ pid: Pid, ...named, timestamp: Timestamp, ...signed }),
      example: { out_trade_no: 'mug-2001' },
    },
    answers: answered(
      v2({}),
      { code: 0, msg: 'success', ...signature },
      'Closed, now or before.',
      '已关闭（本次或之前）。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/merchant/info',
    about: { en: 'The application and its takings', zh: '商户信息' },
    request: { in: 'form', schema: z.object({ pid: Pid, timestamp: Timestamp, ...signed }), example: {} },
    answers: answered(
      v2({
        pid: z.int(),
        status: z.int(),
        pay_status: z.int(),
        settle_status: z.int(),
        money: z.string(),
        order_num: z.int(),
        order_num_today: z.int(),
        order_num_lastday: z.int(),
        order_money_today: z.string(),
        order_money_lastday: z.string(),
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
    about: { en: 'List trades', zh: '订单列表' },
    request: {
      in: 'form',
      schema: z.object({
        pid: Pid,
        offset: z
          .string()
          .regex(/^\d{1,9}$/)
          .optional(),
        limit: said(z.string().optional(), 'At most 50.', '最多 50。'),
        timestamp: Timestamp,
        ...signed,
      }),
      example: { offset: '0', limit: '10' },
    },
    answers: answered(
      v2({ count: z.int(), data: z.array(z.object(rowV2)) }),
      { code: 0, msg: 'success', count: 0, data: [], ...signature },
      'data itself is not part of what is signed.',
      'data 不参与签名。',
    ),
  },
]
