/** Describes the operations of the HMAC API. */
import { z } from 'zod'
import {
  LIMIT_DEFAULT,
  LIMIT_MAX,
  OpenedOrder,
  OrderAnswer,
  OrderFields,
  OrderPage,
  OrdersRequest,
  ProcessRequest,
  QueryRequest,
  Refusal,
  RefusalError,
  TipFields,
  TransferAnswer,
  TransferFields,
  TransferPage,
  TransferRequest,
  TransfersRequest,
  UnknownApplication,
} from '../../payment/hmac/shapes.ts'
import { DRIFT_SECONDS_MAX } from '../../payment/wire-fields/fields.ts'
import { PAYMENT_CODES } from './codes.ts'
import { described, type Operation, text, withWords } from './operation.ts'
import { NOW, SAMPLE_ORDER } from './samples.ts'

export const SIGNED = {
  timestamp: text(
    `Seconds since 1970. When sent it is signed too, and must be within ${DRIFT_SECONDS_MAX} seconds of the time of the server.`,
    `1970 年以来的秒数。一旦发送就参与签名，与服务器时间相差不能超过 ${DRIFT_SECONDS_MAX} 秒。`,
  ),
  signature: text(
    'HMAC-SHA-256 in hexadecimal over every other parameter, sorted by name and joined as a=1&b=2, values as they are; the key is the Secret Key as text.',
    'HMAC-SHA-256（十六进制）：其余全部参数按名称排序，用原始值拼成 a=1&b=2；密钥是 Secret Key 这串文本。',
  ),
}
export const ORDER_ID = text(
  'Your own number. The same number again is the same order or transfer, never a second one.',
  '商户自己的订单号。重复提交得到同一笔订单或转账，不会产生第二笔。',
)
/** The number of an order or a transfer, and whether the request was carried out. */
export const TRANSACTION_ID = text(
  'The number of the order or transfer, given by this site.',
  '本站的交易号。',
)
export const SUCCESS = text('Always true. A refusal has false.', '固定为 true；被拒绝时为 false。')
const OWN_NUMBER = text('Your order_id.', '商户的 order_id。')
/** Describes a moment: what happens then, and how it is written. */
export const moment = (en: string, zh: string) =>
  text(`${en} UTC, to the second.`, `${zh}UTC 时间，精确到秒。`)
export const EXPIRES = moment('When the time to pay ends.', '付款截止时间。')
export const ORDER_AMOUNT = text('What the buyer pays, in points.', '买家支付的积分。')
const STATUS = text(
  'pending: not paid; expired says whether its time is over. completed: paid, also when a part was refunded. cancelled: closed. refunded: refunded in full.',
  'pending：尚未付款，是否已过付款时间见 expired。completed：已付款，包括部分退款。cancelled：已关闭。refunded：已全额退款。',
)

export const ABOUT_ORDER = {
  transaction_id: TRANSACTION_ID,
  order_id: OWN_NUMBER,
  description: text('What the buyer reads.', '买家看到的说明。'),
  error_message: text('Always null.', '固定为 null。'),
  status: STATUS,
  amount: ORDER_AMOUNT,
  platform_fee: text(
    'A share of the amount, rounded down; 0 until paid.',
    '金额的一部分，向下取整；付款前为 0。',
  ),
  merchant_points: text('What the merchant received: amount less the fee.', '商户实收：金额减去手续费。'),
  external_reference: text('The order_id again, as in the callback.', '即 order_id，与回调中的相同。'),
  created_at: moment('When the order was created.', '订单创建时间。'),
  updated_at: moment('When it was last changed.', '最后变更时间。'),
  paid_at: moment('When it was paid; null before.', '付款时间；付款前为 null。'),
  expires_at: EXPIRES,
  expired: text(
    'Whether the time to pay is over. The status stays pending: the same order_id sent again opens the order for another window.',
    '付款时间是否已过。状态仍为 pending；用同一 order_id 再次发起会重新打开该订单。',
  ),
  refunded_amount: text('What the buyer got back so far, in points.', '买家至今收到的退款积分。'),
  frozen: text('Frozen by an administrator: it cannot be paid.', '被管理员冻结，不能付款。'),
  mandate_id: text(
    'Of a charge, its mandate; null for an order that was paid by hand.',
    '扣款所依据的预授权；由买家付款的订单为 null。',
  ),
  tip: text('Only of a tip, in the site’s own application.', '仅打赏订单（站点自己的打赏应用）才有。'),
}
const Tip = described(TipFields, {
  to_user_id: text('The author, who received it.', '收到打赏的作者。'),
  to_username: text('The same member by name.', '同一成员的用户名。'),
  post: text('The path of the post at the forum; null without one.', '论坛帖子的路径；没有则为 null。'),
})

/** Describes the members of the tip that an order may be. */
function withTip<Fields extends z.ZodObject<typeof OrderFields.shape>>(fields: Fields): Fields {
  return fields.safeExtend({ tip: withWords(Tip.optional(), ABOUT_ORDER.tip) } as never) as unknown as Fields
}

const ABOUT_TRANSFER = {
  transaction_id: TRANSACTION_ID,
  order_id: OWN_NUMBER,
  status: text(
    'completed: the member has the points. reversed: an administrator took them back.',
    'completed：成员已收到积分。reversed：已被管理员冲正。',
  ),
  from_user_id: text('The owner of the application, who pays.', '付出积分的成员：应用的所有者。'),
  from_username: text('The same member by name.', '同一成员的用户名。'),
  to_user_id: text('The member who receives.', '收到积分的成员。'),
  to_username: text('The same member by name.', '同一成员的用户名。'),
  amount: text('What the member receives, in points.', '成员收到的积分。'),
  fee: text('By the trust level of the owner, rounded up.', '按所有者的信任等级计算，向上取整。'),
  total_deduction: text('What the sender lost: amount and fee.', '转出方共扣除：金额加手续费。'),
  paid_at: moment('When the transfer was made.', '转账时间。'),
}
export const Order = withTip(described(OrderFields, ABOUT_ORDER))
export const Transfer = described(TransferFields, ABOUT_TRANSFER)

export const ONLY = text('Only those with this status.', '只列出此状态的。')
export const ROWS = text('The rows of this page.', '本页的各行。')
export const NEXT = text(
  'The cursor of the next page, also after one with fewer lines than asked for; null at the end.',
  '下一页的 cursor，本页条数不足时也可能有；到末尾为 null。',
)

const lines = (language: 'en' | 'zh') =>
  PAYMENT_CODES.map(({ code, about }) => `${code} ${about[language]}`).join('\n')

// Programs read the codes in the schema; on the pages they are a table of their own.
const RefusalErrors = z.array(described(RefusalError, { code: text(lines('en'), lines('zh')) }))
export const AnyRefusal = described(Refusal.extend({ errors: RefusalErrors }), {
  success: text('Always false.', '固定为 false。'),
  error: text('What is wrong, in English.', '错误说明（英文）。'),
  message: text('The same as error.', '与 error 相同。'),
  errors: text(
    'One object: its code, and what is wrong in detail.',
    '只有一个对象：code 和详细说明 detail。',
  ),
  data: text(
    'With 1001: signed_string, the text that should have been signed, and hint, the likely mistake, which errors[].detail says too. With 1002: server_time. With 1006: status, and transaction_id or mandate_id. With 1010, 1013, 1022, 1023 and 1024: the figures or words of the refusal.',
    '1001 时包含 signed_string（应当签名的文本）和 hint（可能的错误，errors[].detail 中也有）；1002 时包含 server_time；1006 时包含 status 和 transaction_id（或 mandate_id）；1010、1013、1022、1023、1024 时包含相应的数值或状态。',
  ),
})

const refused = {
  about: { en: 'The request was refused. Nothing was changed.', zh: '请求被拒绝，没有任何改变。' },
  schema: AnyRefusal,
  example: {
    success: false,
    error: 'Missing parameter: amount',
    message: 'Missing parameter: amount',
    errors: [{ code: 1004, detail: 'Missing parameter: amount' }],
    data: null,
  },
}
const wrongSignature = {
  about: { en: 'The signature or the timestamp is wrong.', zh: '签名或时间戳错误。' },
  schema: AnyRefusal,
}
const unknown = {
  about: {
    en: 'No application has this Payment ID. The body has no errors and no data.',
    zh: 'Payment ID 不存在；响应里没有 errors 和 data。',
  },
  schema: UnknownApplication,
}
export const refusals = { 400: refused, 401: wrongSignature, 404: unknown }

export const ORDER = {
  transaction_id: 'txn_8f2k4m6n8p0q2r4s6t8v0w2x',
  order_id: 'order-1001',
  status: 'completed',
  amount: 120,
  platform_fee: 6,
  merchant_points: 114,
  description: 'Sticker pack',
  external_reference: 'order-1001',
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:05:00Z',
  paid_at: '2026-01-02T03:05:00Z',
  expires_at: '2026-01-02T03:34:05Z',
  expired: false,
  error_message: null,
  refunded_amount: 0,
  frozen: false,
  mandate_id: null,
}
export const TRANSFER = {
  transaction_id: 'txn_0a1b2c3d4e5f6g7h8i9j0k1l',
  order_id: 'cashback-1001',
  status: 'completed',
  amount: 10,
  fee: 1,
  total_deduction: 11,
  from_user_id: 2,
  from_username: 'bob',
  to_user_id: 1,
  to_username: 'alice',
  paid_at: '2026-01-02T03:06:00Z',
}

export const PAGE = {
  limit: text(
    `How many, 1 to ${LIMIT_MAX}; ${LIMIT_DEFAULT} without it.`,
    `条数，1 到 ${LIMIT_MAX}；默认 ${LIMIT_DEFAULT}。`,
  ),
  cursor: text('next_cursor of the page before.', '上一页的 next_cursor。'),
  order: text('Newest first (desc) if absent.', '默认新的在前（desc）。'),
  since: text('From this second on (since 1970).', '从这一秒起（1970 年以来）。'),
  until: text('Before this second.', '早于这一秒。'),
  ...SIGNED,
}

export const paymentOperations: Operation[] = [
  {
    area: 'payment',
    method: 'post',
    path: '/payment/pay/{payment_id}/process',
    about: { en: 'Create an order', zh: '创建订单' },
    introduction: {
      en: 'Creates an order and answers the address of its pay page. Send the buyer there. After the payment, the browser returns to your callback address with a signed result.',
      zh: '创建订单并返回支付页地址。把买家带到支付页；付款后，浏览器带着签名结果回到你的回调地址。',
    },
    request: {
      in: 'form',
      schema: described(ProcessRequest, {
        amount: text('Whole points, at most 9007199254740991.', '整数积分，最多 9007199254740991。'),
        description: text('What the buyer reads.', '买家看到的说明。'),
        order_id: ORDER_ID,
        ...SIGNED,
      }),
      example: () => ({ ...SAMPLE_ORDER, order_id: `order-${NOW}` }),
    },
    answers: {
      200: {
        about: {
          en: 'The new order, or the existing order with this order_id.',
          zh: '新建的订单，或此 order_id 已有的订单。',
        },
        schema: described(OpenedOrder, {
          success: SUCCESS,
          transaction_id: TRANSACTION_ID,
          payment_url: text('Send the buyer here.', '把买家带到这里。'),
          status: STATUS,
          amount: ORDER_AMOUNT,
          expires_at: EXPIRES,
        }),
        example: {
          success: true,
          payment_url: 'https://pay.example.org/payment/pay/txn_8f2k4m6n8p0q2r4s6t8v0w2x',
          transaction_id: 'txn_8f2k4m6n8p0q2r4s6t8v0w2x',
          status: 'pending',
          amount: 120,
          expires_at: '2026-01-02T03:34:05Z',
        },
      },
      ...refusals,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/query/{payment_id}',
    about: { en: 'Get an order', zh: '查询订单' },
    introduction: {
      en: 'Returns the state of one order. Query it before you deliver, and when no callback arrived.',
      zh: '返回一笔订单的状态。发货前，或没有收到回调时，请查询。',
    },
    request: {
      in: 'form',
      schema: described(QueryRequest, {
        transaction_id: text(
          'Give this or order_id. With both, this one counts.',
          '填写它或 order_id；都填写时以它为准。',
        ),
        order_id: OWN_NUMBER,
        ...SIGNED,
      }),
      example: () => ({ order_id: SAMPLE_ORDER.order_id }),
    },
    answers: {
      200: {
        about: { en: 'The order.', zh: '完整的订单信息。' },
        schema: withTip(described(OrderAnswer, { success: SUCCESS, ...ABOUT_ORDER })),
        example: { success: true, ...ORDER },
      },
      ...refusals,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/transfer/{payment_id}',
    about: {
      en: 'Send a transfer',
      zh: '发起转账',
    },
    introduction: {
      en: 'Sends points from the wallet of the application’s owner to a member. If the answer is lost, repeat the request with the same order_id: the points move once.',
      zh: '从应用所有者的钱包向成员转积分。没有收到响应时，用同一 order_id 重复请求，只会转一次。',
    },
    request: {
      in: 'form',
      schema: described(TransferRequest, {
        to_user_id: text('The member’s number: sub of the sign-in.', '成员编号，即登录信息中的 sub。'),
        to_username: text('Must be the same member.', '必须是同一个成员。'),
        amount: text('What the member receives; the fee comes on top.', '成员实收；手续费另计。'),
        order_id: ORDER_ID,
        ...SIGNED,
      }),
      example: ({ member }) => ({
        to_user_id: member.id,
        to_username: member.username,
        amount: '10',
        order_id: `cashback-${NOW}`,
      }),
    },
    answers: {
      200: {
        about: {
          en: 'The transfer is complete, by this request or an earlier one.',
          zh: '已完成（本次或之前的请求）。',
        },
        schema: described(TransferAnswer, { success: SUCCESS, ...ABOUT_TRANSFER }),
        example: { success: true, ...TRANSFER },
      },
      400: refused,
      401: wrongSignature,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/orders/{payment_id}',
    about: { en: 'List orders', zh: '列出订单' },
    introduction: {
      en: 'Lists the orders of the application page by page, for example to compare them with the orders of your shop.',
      zh: '分页列出应用的订单，例如用来与商店的订单对账。',
    },
    request: {
      in: 'form',
      schema: described(OrdersRequest, {
        status: ONLY,
        mandate_id: text('Only the charges of this mandate.', '只列出此预授权的扣款。'),
        ...PAGE,
      }),
      example: () => ({ limit: '50', order: 'asc', status: 'pending' }),
    },
    answers: {
      200: {
        about: { en: 'One page of orders.', zh: '一页订单。' },
        schema: described(OrderPage.extend({ data: z.array(Order) }), {
          success: SUCCESS,
          data: ROWS,
          next_cursor: NEXT,
        }),
        example: { success: true, data: [ORDER], next_cursor: null },
      },
      ...refusals,
    },
  },
  {
    area: 'payment',
    method: 'post',
    path: '/payment/transfers/{payment_id}',
    about: { en: 'List transfers', zh: '列出转账' },
    introduction: {
      en: 'Lists the transfers of the application page by page, for example to compare them with your own records.',
      zh: '分页列出应用的转账，例如用来与自己的记录对账。',
    },
    request: {
      in: 'form',
      schema: described(TransfersRequest, { status: ONLY, ...PAGE }),
      example: () => ({ limit: '50' }),
    },
    answers: {
      200: {
        about: { en: 'One page of transfers.', zh: '一页转账。' },
        schema: described(TransferPage.extend({ data: z.array(Transfer) }), {
          success: SUCCESS,
          data: ROWS,
          next_cursor: NEXT,
        }),
        example: { success: true, data: [TRANSFER], next_cursor: null },
      },
      ...refusals,
    },
  },
]
