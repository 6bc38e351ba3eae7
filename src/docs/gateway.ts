/** The gateway, V1 and V2, described. gateway.md 1–3. */
import { z } from 'zod'
import { NAME_BYTES_MAX, PARAM_LENGTH_MAX, TYPE, URL_LENGTH_MAX } from '../payment/gateway/create.ts'
import { COUNT, TRADES_DEFAULT, TRADES_MAX } from '../payment/gateway/inquiry.ts'
import { DRIFT_SECONDS_MAX } from '../payment/gateway/request.ts'
import { type describeV1, type describeV2, OUT_TRADE_NO } from '../payment/gateway/trade.ts'
import { MONEY } from '../payment/values/money.ts'
import { gatewayCodes } from './codes.ts'
import { type Answer, type Operation, said } from './operation.ts'
import { NOW, SAMPLE_TRADE, SAMPLE_TRADES } from './samples.ts'

const Pid = said(
  z.string(),
  'The number on the page of the application. Its Payment ID works too; callbacks repeat what was sent.',
  '应用页面上的商户 ID；也可使用 Payment ID，回调中按创建时的写法返回。',
)
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
  `Required with RSA: seconds since 1970, at most ${DRIFT_SECONDS_MAX} seconds from the time of the server.`,
  `使用 RSA 时必填：1970 年以来的秒数，与服务器时间相差不超过 ${DRIFT_SECONDS_MAX} 秒。`,
)
const outTradeNo = said(
  z.string().regex(OUT_TRADE_NO),
  'Your own number for the order. The same number again is the same trade. 0 is refused.',
  '商户订单号；重复提交得到同一笔交易。不能为 0。',
)
const money = said(
  z.string().regex(MONEY),
  'An amount in your currency, converted at the rate of the application and rounded half up to whole points. Under one point is refused. Every answer and callback repeats it as you sent it.',
  '商户货币金额，按应用汇率换算，四舍五入为整数积分；不足 1 积分会被拒绝。应答和回调中按提交的写法返回。',
)
const address = z.url().max(URL_LENGTH_MAX)
const trade = {
  pid: Pid,
  type: said(
    z.string().regex(TYPE).optional(),
    'Any value, such as alipay. It is repeated in answers and callbacks and changes nothing: buyers pay in points.',
    '任意值，例如 alipay；应答和回调中原样返回，不影响支付方式，买家一律用积分付款。',
  ),
  out_trade_no: outTradeNo,
  notify_url: said(
    address,
    'An absolute http or https address. The service sends a GET there when the trade is paid; the last line of the answer must be success.',
    'http 或 https 的完整地址；付款后以 GET 通知，回复的最后一行须为 success。',
  ),
  return_url: said(
    address.optional(),
    'The buyer returns here after paying. Without it the buyer returns to the callback URL of the application.',
    '买家付款后返回的地址；未填写时返回应用的回调地址。',
  ),
  name: said(
    z.string().min(1),
    `What the buyer reads. Text beyond ${NAME_BYTES_MAX} bytes of UTF-8 is cut off. It may contain & and =.`,
    `买家看到的商品名称；UTF-8 超过 ${NAME_BYTES_MAX} 字节的部分会被截断。可以包含 & 和 =。`,
  ),
  money,
  param: said(
    z.string().max(PARAM_LENGTH_MAX).optional(),
    'Your own text, repeated in callbacks and queries. It may contain & and =.',
    '商户自定义内容，在回调和查询中原样返回。可以包含 & 和 =。',
  ),
}
const named = {
  trade_no: said(
    z.string().optional(),
    'The number of the platform: at most 19 digits. One of the two numbers is required; trade_no wins.',
    '平台订单号，最多 19 位数字。两个订单号至少填一个，同时填写时以 trade_no 为准。',
  ),
  out_trade_no: outTradeNo.optional(),
}
const newTrade = () => ({ ...SAMPLE_TRADE, out_trade_no: `mug-${NOW}` })

const refusalOf = (version: 'v1' | 'v2') => {
  const lines = (language: 'en' | 'zh') =>
    gatewayCodes(version)
      .map(({ code, msg, about }) => `${code} ${msg}: ${about[language]}`)
      .join('\n')
  const code = said(z.int(), lines('en'), lines('zh'))
  return z.object({ code, msg: z.string() }).loose()
}
const REFUSALS = { v1: refusalOf('v1'), v2: refusalOf('v2') }

/** JSON endpoints answer 200 for every outcome: `code` says which. */
function answered(
  version: 'v1' | 'v2',
  schema: z.ZodType,
  example: unknown,
  en: string,
  zh: string,
): Record<number, Answer> {
  return { 200: { about: { en, zh }, schema: z.union([schema, REFUSALS[version]]), example } }
}

const count = z.string().regex(COUNT).optional()
const page = {
  limit: said(
    count,
    `How many: ${TRADES_DEFAULT} without it, at most ${TRADES_MAX}.`,
    `条数：默认 ${TRADES_DEFAULT}，最多 ${TRADES_MAX}。`,
  ),
  offset: said(count, 'How many of the newest to pass over.', '跳过最新的多少条。'),
  page: said(count, 'Instead of offset: the page, from 1.', '代替 offset：页码，从 1 开始。'),
  status: said(
    z.enum(['0', '1', '2']).optional(),
    'Only these: 0 not paid, 1 paid, 2 refunded.',
    '只列出：0 未付款，1 已付款，2 已退款。',
  ),
}

const signedAnswer = { timestamp: z.string(), sign: z.string(), sign_type: z.literal('RSA') }
const v2 = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ code: z.literal(0), msg: z.string(), ...shape, ...signedAnswer })
const signature = { timestamp: '1767323045', sign: 'bGlrZSB0aGlz…', sign_type: 'RSA' }

/** Typed by what describeV1 answers, so that a field that is added there is described here. */
const rowV1 = {
  trade_no: z.string(),
  out_trade_no: z.string(),
  api_trade_no: z.string(),
  type: z.string(),
  pid: z.int(),
  addtime: z.string(),
  endtime: z.string(),
  name: z.string(),
  money: z.string(),
  status: said(z.int(), '1 paid, 0 anything else.', '1 已付款，0 其他。'),
  param: z.string(),
  buyer: z.string(),
} satisfies Record<keyof ReturnType<typeof describeV1>, z.ZodType>

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
  refundmoney: said(
    z.string().optional(),
    'What was given back, in your currency.',
    '已退金额（商户货币）。',
  ),
} satisfies Record<keyof ReturnType<typeof describeV2>, z.ZodType>

export const gatewayOperations: Operation[] = [
  {
    area: 'v1',
    method: 'get',
    path: '/payment/api/submit.php',
    about: { en: 'Send the browser of a buyer to pay (GET or POST)', zh: '页面跳转支付（GET 或 POST）' },
    request: { in: 'query', schema: z.object({ ...trade, ...signed }), example: newTrade },
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
    request: { in: 'form', schema: z.object({ ...trade, ...signed }), example: newTrade },
    answers: answered(
      'v1',
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
      example: () => ({ out_trade_no: SAMPLE_TRADES.asked }),
    },
    answers: answered(
      'v1',
      z.object({ code: z.literal(1), msg: z.string(), ...rowV1 }),
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
    request: { in: 'form', schema: z.object({ pid: Pid, key: z.string() }), example: () => ({}) },
    answers: answered(
      'v1',
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
    area: 'v1',
    method: 'post',
    path: '/payment/api/api.php?act=orders',
    about: { en: 'List trades', zh: '批量查询订单' },
    request: {
      in: 'form',
      schema: z.object({ pid: Pid, key: z.string(), ...page }),
      example: () => ({ limit: '10' }),
    },
    answers: answered(
      'v1',
      z.object({ code: z.literal(1), msg: z.string(), count: z.int(), data: z.array(z.object(rowV1)) }),
      { code: 1, msg: 'success', count: 0, data: [] },
      'The newest first.',
      '最新的在前。',
    ),
  },
  {
    area: 'v2',
    method: 'get',
    path: '/payment/api/pay/submit',
    about: { en: 'Send the browser of a buyer to pay (GET or POST)', zh: '页面跳转支付（GET 或 POST）' },
    request: {
      in: 'query',
      schema: z.object({ ...trade, timestamp: Timestamp, ...signed }),
      example: newTrade,
    },
    answers: {
      302: { about: { en: 'To the pay page.', zh: '跳转到支付页。' } },
      400: { about: { en: 'A page that says what is wrong.', zh: '说明错误的页面。' } },
    },
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
      example: () => ({ method: 'web', ...newTrade() }),
    },
    answers: answered(
      'v2',
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
      example: () => ({ out_trade_no: SAMPLE_TRADES.asked }),
    },
    answers: answered(
      'v2',
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
      example: () => ({ out_trade_no: SAMPLE_TRADES.closed }),
    },
    answers: answered(
      'v2',
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
    request: {
      in: 'form',
      schema: z.object({ pid: Pid, timestamp: Timestamp, ...signed }),
      example: () => ({}),
    },
    answers: answered(
      'v2',
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
        ...page,
        timestamp: Timestamp,
        ...signed,
      }),
      example: () => ({ offset: '0', limit: '10' }),
    },
    answers: answered(
      'v2',
      v2({ count: z.int(), data: z.array(z.object(rowV2)) }),
      { code: 0, msg: 'success', count: 0, data: [], ...signature },
      'data itself is not part of what is signed.',
      'data 不参与签名。',
    ),
  },
  {
    area: 'v2',
    method: 'post',
    path: '/payment/api/transfer/balance',
    about: { en: 'The balance, and what a transfer costs', zh: '余额与转账费率' },
    request: {
      in: 'form',
      schema: z.object({ pid: Pid, timestamp: Timestamp, ...signed }),
      example: () => ({}),
    },
    answers: answered(
      'v2',
      v2({ available_money: z.string(), transfer_rate: z.string() }),
      { code: 0, msg: 'success', available_money: '10.00', transfer_rate: '3', ...signature },
      'available_money is in your currency, transfer_rate in percent. The HMAC API makes the transfers.',
      'available_money 为商户货币，transfer_rate 为百分比。转账请使用 HMAC 接口。',
    ),
  },
]
