/** The descriptions that both versions of the gateway share. */
import { z } from 'zod'
import { GATEWAY_ERRORS } from '../../payment/gateway/errors.ts'
import { NAME_BYTES_MAX, Refusal, TRADES_DEFAULT, TRADES_MAX } from '../../payment/gateway/shapes.ts'
import { DRIFT_SECONDS_MAX } from '../../payment/wire-fields/fields.ts'
import { gatewayCodes } from './codes.ts'
import { type Answer, described, text } from './operation.ts'
import { NOW, SAMPLE_TRADE } from './samples.ts'

export const SIGNED = {
  sign: text(
    'Over every non-empty parameter but sign and sign_type, sorted by name, joined as a=1&b=2. V1: the lower-case MD5 of that with the KEY behind it. V2: SHA256withRSA, base64.',
    '除 sign、sign_type 外全部非空参数按名称排序拼成 a=1&b=2。V1：其后直接接上 KEY，取小写 MD5。V2：SHA256withRSA，base64。',
  ),
  sign_type: text(
    'RSA is V2, anything else V1. The address sets the shape of the answer, whatever this says.',
    'RSA 为 V2，其他均为 V1。响应的格式只取决于地址。',
  ),
}
export const TIMED = {
  timestamp: text(
    `Required with RSA: seconds since 1970, at most ${DRIFT_SECONDS_MAX} seconds from the time of the server.`,
    `使用 RSA 时必填：1970 年以来的秒数，与服务器时间相差不超过 ${DRIFT_SECONDS_MAX} 秒。`,
  ),
  ...SIGNED,
}
export const PID = text(
  'The number on the page of the application. Its Payment ID works too; callbacks repeat what was sent.',
  '应用页面上的商户 ID；也可使用 Payment ID，回调中按创建时的写法返回。',
)
const OUT_TRADE_NO = text(
  'Your own number for the order. The same number again is the same trade. 0 is refused.',
  '商户订单号；重复提交得到同一笔交易。不能为 0。',
)
export const TRADE = {
  pid: PID,
  type: text(
    'Any value, such as alipay. It is repeated in answers and callbacks and changes nothing: buyers pay in points.',
    '任意值，例如 alipay；响应和回调中原样返回，不影响支付方式，买家一律用积分付款。',
  ),
  out_trade_no: OUT_TRADE_NO,
  notify_url: text(
    'An absolute http or https address. The service sends a GET there when the trade is paid; the last line of the answer must be success. Without it the service uses the notification address of the application. With neither it notifies nobody, and the query tells. The port is 80, 443, or 1024 and above. A private IP address is refused here, except one of this machine outside production. A name that leads to one is refused when the service calls it. A query of its own is not signed, so give it none.',
    'http 或 https 的完整地址；付款后以 GET 通知，响应的最后一行须为 success。未填写时使用应用的异步通知地址；两者都没有则不通知，可主动查询。端口须为 80、443 或不小于 1024。内网 IP 地址在此被拒绝，非生产环境下本机地址除外；指向内网的域名在通知时被拒绝。请不要自带查询参数：它不参与签名。',
  ),
  return_url: text(
    'The buyer returns here after paying. Without it the buyer returns to the callback URL of the application. A query of its own is not signed, in either address.',
    '买家付款后返回的地址；未填写时返回应用的回调地址。两者自带的查询参数都不参与签名。',
  ),
  name: text(
    `What the buyer reads. Text beyond ${NAME_BYTES_MAX} bytes of UTF-8 is cut off. It may contain & and =.`,
    `买家看到的商品名称；UTF-8 超过 ${NAME_BYTES_MAX} 字节的部分会被截断。可以包含 & 和 =。`,
  ),
  money: text(
    'An amount in your currency, in plain digits: up to 8 before the point and 20 after it. It is converted at the exchange rate of the application and rounded half up to whole points. Under one point is refused. Every answer and callback repeats it as you sent it.',
    '商户货币金额，用普通数字书写：小数点前最多 8 位，小数点后最多 20 位。按应用的兑换比例换算，四舍五入为整数积分；不足 1 积分会被拒绝。响应和回调中按提交的写法返回。',
  ),
  param: text(
    'Your own text, repeated in callbacks and queries. It may contain & and =.',
    '商户自定义内容，在回调和查询中原样返回。可以包含 & 和 =。',
  ),
}
export const NAMED = {
  trade_no: text(
    'The number of the platform: at most 19 digits. Send trade_no or out_trade_no; trade_no wins.',
    '平台订单号，最多 19 位数字。填写 trade_no 或 out_trade_no；同时填写时以 trade_no 为准。',
  ),
  out_trade_no: OUT_TRADE_NO,
}
/** The fields of a trade in answers, lists and messages. */
export const ABOUT_TRADE = {
  pid: text('As the shop sent it.', '与下单时相同。'),
  trade_no: text('The number of the platform.', '平台订单号。'),
  out_trade_no: text('Your number.', '商户订单号。'),
  api_trade_no: text('The transaction_id of the order.', '订单的交易号。'),
  type: text('As the shop sent it.', '与下单时相同。'),
  name: text(
    `As the shop sent it, cut to ${NAME_BYTES_MAX} bytes.`,
    `与下单时相同，超过 ${NAME_BYTES_MAX} 字节的部分会被截断。`,
  ),
  money: text('As the shop sent it. Compare it with your order.', '与下单时相同；请与订单核对。'),
  trade_status: text('Paid.', '已付款。'),
  param: text('As the shop sent it.', '与下单时相同。'),
  addtime: text('When it was created, in China (+08:00).', '创建时间（北京时间）。'),
  endtime: text('When it was paid, in China (+08:00).', '付款时间（北京时间）。'),
  buyer: text('The username of the buyer.', '买家用户名。'),
  sign_type: text('The kind of the signature.', '签名算法。'),
}
export const TRADE_EXAMPLE = {
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
  buyer: 'alice',
}
/** The fields that every answer of a version has. */
const answeredBy = (code: 0 | 1) => ({
  code: text(`${code}: the request was carried out.`, `${code}：请求成功。`),
  msg: text('The outcome in a word.', '结果说明。'),
  sign_type: text('Present if the answer is signed.', '响应带签名时才有。'),
  timestamp: text('When the answer was signed, in seconds since 1970.', '响应签名时的秒数（1970 年以来）。'),
  sign: text(
    'By the platform key of the application, over every non-empty value but lists, sign and sign_type.',
    '用应用的平台密钥对除列表、sign、sign_type 外的全部非空字段签名。',
  ),
})
export const ANSWERED = { v1: answeredBy(1), v2: answeredBy(0) }
export const COUNT = text('How many rows data has.', 'data 中的条数。')
export const TRADES = text('The trades, newest first.', '交易列表，最新的在前。')
export const BALANCE = text('The balance of the owner, in your currency.', '所有者的余额，折算成商户货币。')
export const newTrade = () => ({ ...SAMPLE_TRADE, out_trade_no: `mug-${NOW}` })

/** Describes the answer of a JSON endpoint. The status is always 200, and `code` names the outcome. */
export function answered(
  version: 'v1' | 'v2',
  schema: z.ZodType,
  example: unknown,
  en: string,
  zh: string,
): Record<number, Answer> {
  return { 200: { about: { en, zh }, schema: z.union([schema, REFUSALS[version]]), example } }
}

const refusalOf = (version: 'v1' | 'v2') => {
  const lines = (language: 'en' | 'zh') =>
    gatewayCodes(version)
      .map(({ code, msg, about }) => `${code} ${msg}: ${about[language]}`)
      .join('\n')
  return described(Refusal, { code: text(lines('en'), lines('zh')) })
}
const REFUSALS = { v1: refusalOf('v1'), v2: refusalOf('v2') }

/** A refusal with another HTTP status than 200. The schema of each operation explains the codes. */
export const AnyRefusal = described(Refusal, {
  code: text('Negative, of the table of error codes.', '负数，见错误码表。'),
  msg: text('What is wrong, in Chinese.', '错误说明（中文）。'),
})
/** The answers of an address that a buyer's browser opens. */
export const REDIRECTED: Record<number, Answer> = {
  302: { about: { en: 'To the pay page.', zh: '跳转到支付页。' } },
  400: {
    about: {
      en: 'A page that says what is wrong. A caller that does not ask for HTML gets JSON; without a pid, any caller gets a text.',
      zh: '说明错误的页面。调用方未请求 HTML 时返回 JSON；没有 pid 时一律返回纯文本。',
    },
    schema: AnyRefusal,
    example: { code: -3, msg: GATEWAY_ERRORS.invalid_signature!.msg },
  },
}

export const PAGE = {
  limit: text(
    `How many: ${TRADES_DEFAULT} without it, at most ${TRADES_MAX}.`,
    `条数：默认 ${TRADES_DEFAULT}，最多 ${TRADES_MAX}。`,
  ),
  offset: text('How many of the newest to pass over.', '跳过最新的多少条。'),
  page: text('Instead of offset: the page, from 1.', '代替 offset：页码，从 1 开始。'),
  status: text(
    'Only these: 0 not paid, 1 paid, 2 refunded. A row of V1 tells 2 as status 0 with refunded 1.',
    '只列出：0 未付款，1 已付款，2 已退款。V1 的列表中，2 表示为 status 0 和 refunded 1。',
  ),
}
