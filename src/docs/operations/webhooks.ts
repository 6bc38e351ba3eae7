/**
 * Describes the messages that the service sends: callbacks and returns of the payer's browser, notifications, events.
 * The code that sends callbacks and notifications also builds their examples.
 */
import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { REQUEST_SECONDS_MAX } from '../../egress/request.ts'
import {
  ChargeEvent,
  EventHeaders,
  LinkEvent,
  LinkSaleFields,
  MandateEvent,
  OrderEvent,
  PayoutEvent,
  RefusedCharge,
  RefusedChargeEvent,
  TransferEvent,
} from '../../payment/events/shapes.ts'
import type { EventType } from '../../payment/events/subjects.ts'
import { tradeParameters, withParameters } from '../../payment/gateway/messages.ts'
import { MessageV1, MessageV2 } from '../../payment/gateway/shapes.ts'
import { PAYMENT_ERRORS } from '../../payment/hmac/errors.ts'
import { ATTEMPTS_MAX, RETRY_MINUTES } from '../../payment/notifications/outbox.ts'
import { Callback, MandateCallback, signedCallbackUrl } from '../../payment/signing/hmac.ts'
import type { Text } from '../../web/languages.ts'
import { ABOUT_TRADE } from './gateway.ts'
import { CHARGED, Charged, ENDED_MANDATE, MANDATE, Mandate } from './mandates.ts'
import { described, text } from './operation.ts'
import { ABOUT_ORDER, moment, ORDER, Order, TRANSFER, Transfer } from './payment.ts'
import { PAYOUT, Payout } from './payouts.ts'
import { SAMPLE_TRADE, type Samples } from './samples.ts'

export type Webhook = {
  name: string
  area: 'payment' | 'v1' | 'v2'
  method: 'get' | 'post'
  title: Text
  /** When it is sent. */
  when: Text
  /** The address, and what the receiver does. */
  about: Text
  /** The schema of the query of a GET, or of the JSON body of a POST. */
  schema: z.ZodObject
  headers?: z.ZodObject
  /** The message as it arrives, signed with the sample keys. */
  example: (samples: Samples) => Promise<string>
  answer: Text
}

/** Describes when a failed attempt is repeated. */
export const SCHEDULE: Text = {
  en: `A failed attempt is repeated ${RETRY_MINUTES.map((minutes) => minutesIn('en', minutes)).join(', ')} after the previous one ended: ${ATTEMPTS_MAX} attempts in all, each at most ${REQUEST_SECONDS_MAX} seconds, without following redirects. If the last one fails, the notification has failed, and its page can send it again. The same notification may arrive more than once.`,
  zh: `失败后依次在上一次结束的 ${RETRY_MINUTES.map((minutes) => minutesIn('zh', minutes)).join('、')}后重试：共 ${ATTEMPTS_MAX} 次，每次最长 ${REQUEST_SECONDS_MAX} 秒，不跟随跳转。最后一次仍失败则通知失败，可在通知页面手动重发。同一通知可能到达多次。`,
}

function minutesIn(language: keyof Text, minutes: number): string {
  const [count, en, zh] = minutes < 60 ? [minutes, 'minute', '分钟'] : [minutes / 60, 'hour', '小时']
  return language === 'zh' ? `${count} ${zh}` : `${count} ${en}${count === 1 ? '' : 's'}`
}

const CALLBACK = described(Callback, {
  transaction_id: text('The number of the order.', '订单的交易号。'),
  external_reference: text('Your order_id.', '商户的 order_id。'),
  amount: text(
    'What the buyer paid, in points. Compare it with your order.',
    '买家支付的积分；请与订单核对。',
  ),
  platform_fee: text('The fee, in points.', '手续费（积分）。'),
  merchant_points: text('What you received: amount less fee.', '商户实收积分：金额减去手续费。'),
  status: text('Always completed.', '固定为 completed。'),
  paid_at: moment('When it was paid, with Z at the end.', '付款时间，以 Z 结尾。'),
  signature: text(
    'HMAC-SHA-256 over all other parameters, decoded, sorted by name and joined as a=1&b=2. The key is the Secret Key as text.',
    '对其余全部参数（解码后）按名称排序拼成 a=1&b=2，以 Secret Key 文本为密钥计算 HMAC-SHA-256。',
  ),
})

const MANDATE_CALLBACK = described(MandateCallback, {
  decided_at: moment('When the member decided, with Z at the end.', '成员作出决定的时间，以 Z 结尾。'),
  mandate_id: text('The mandate_id of the offer.', '邀请返回的 mandate_id。'),
  mandate_status: text(
    'active: the member allowed it, perhaps with lower limits. declined: the member refused.',
    'active：成员已允许（限额可能更低）。declined：成员已拒绝。',
  ),
  reference: text('Your own name for the mandate.', '商户自己的编号。'),
  signature: text(
    'As of the callback of an order: over all other parameters, decoded, with the Secret Key as text.',
    '与订单回调相同：对其余全部参数（解码后），以 Secret Key 文本为密钥。',
  ),
})

const MESSAGE_V1 = described(MessageV1, {
  ...ABOUT_TRADE,
  sign: text(
    'The lower-case MD5 of all non-empty parameters but sign and sign_type, decoded, sorted, joined as a=1&b=2, with the KEY behind.',
    '除 sign、sign_type 外的全部非空参数（解码后）排序拼成 a=1&b=2，直接接上 KEY 后的小写 MD5。',
  ),
})
const MESSAGE_V2 = described(MessageV2, {
  ...ABOUT_TRADE,
  timestamp: text(
    'Seconds since 1970 when this message was signed: each attempt is signed anew.',
    '签名时的秒数；每次重试都重新签名。',
  ),
  sign: text(
    'SHA256withRSA over all non-empty parameters but sign and sign_type, decoded, sorted, joined as a=1&b=2, in base64. Verify it with the platform public key on the page of the application.',
    '除 sign、sign_type 外的全部非空参数（解码后）排序拼成 a=1&b=2 的 SHA256withRSA 签名，base64。请用应用页面上的平台公钥验签。',
  ),
})

const HEADERS = described(EventHeaders, {
  'webhook-id': text('The id of the event: the same at each attempt.', '事件编号，重试时不变。'),
  'webhook-timestamp': text('Seconds since 1970 of this attempt.', '本次发送的秒数（1970 年以来）。'),
  'webhook-signature': text(
    'v1, and the base64 of the HMAC-SHA-256 over id.timestamp.body, keyed with the bytes behind whsec_. During a rotation two, with a space between.',
    'v1, 加上对 id.timestamp.body 的 HMAC-SHA-256（base64），密钥为 whsec_ 之后的 base64 内容。更换密钥期间有两个，以空格分隔。',
  ),
})

const PAID: Parameters<typeof tradeParameters>[0] = {
  pid_sent: '1001',
  trade_no: '1767323045123456789',
  order_id: 'mug-1001',
  transaction_id: 'txn_8f2k4m6n8p0q2r4s6t8v0w2x',
  type: SAMPLE_TRADE.type,
  description: SAMPLE_TRADE.name,
  money: SAMPLE_TRADE.money,
  param: null,
  created_at: new Date('2026-01-02T03:04:05Z'),
  paid_at: new Date('2026-01-02T03:05:00Z'),
  buyer: 'alice',
}

async function exampleV1({ pid, merchant_key }: Samples, address: string): Promise<string> {
  const signer = { protocol: 'v1', merchant_key } as const
  return withParameters(address, await tradeParameters({ ...PAID, pid_sent: pid }, signer, PAID.paid_at!))
}

/** An example of V2. The platform signs it, and no sample has its key, so the example shortens the signature. */
async function exampleV2({ pid, merchant_private_key }: Samples, address: string): Promise<string> {
  const key = Buffer.from(merchant_private_key, 'base64')
  const platform_key = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  const signer = { protocol: 'v2', platform_key } as const
  const parameters = await tradeParameters({ ...PAID, pid_sent: pid }, signer, PAID.paid_at!)
  return withParameters(address, { ...parameters, sign: 'bGlrZSB0aGlz' })
}

const ANSWER_SUCCESS: Text = {
  en: 'Status 2xx with success as the whole body or as its last line settles the notification. Everything else is a failure.',
  zh: '状态 2xx 且整个正文或最后一行为 success，即为通知成功；其他均为失败。',
}
const SHOWS_A_PAGE: Text = { en: 'A page for the buyer.', zh: '给买家看的页面。' }
const ACCEPTED: Text = {
  en: 'Any 2xx settles the event. 410 ends the events of the application; everything else is repeated.',
  zh: '任何 2xx 即为成功。410 会关闭该应用的事件通知；其他均会重试。',
}

const notify = (version: 'V1' | 'V2'): Pick<Webhook, 'title' | 'when' | 'about' | 'answer'> => ({
  title: { en: `Notification of ${version}`, zh: `${version} 异步通知` },
  when: { en: 'A trade was paid. Sent from server to server.', zh: '交易已付款；由服务器发送到服务器。' },
  about: {
    en: `The service sends it to the notify_url of a paid trade, else to the notification address of the application, at once after the payment. Verify the sign over every non-empty parameter, since fields may be added. Leave out parameters of the address’s own query. Check that trade_status is TRADE_SUCCESS and that the money is that of your order, and do nothing for an order that is done. ${SCHEDULE.en}`,
    zh: `付款后立即发送到订单的 notify_url，没有则发送到应用的异步通知地址。请对全部非空参数验签（今后可能增加字段；地址原有的查询参数不参与签名），核对 trade_status 为 TRADE_SUCCESS、money 与订单一致；已处理的订单不再处理。${SCHEDULE.zh}`,
  },
  answer: ANSWER_SUCCESS,
})
const comeBack = (version: 'V1' | 'V2'): Pick<Webhook, 'title' | 'when' | 'about' | 'answer'> => ({
  title: { en: `Return of ${version}`, zh: `${version} 同步返回` },
  when: { en: 'A buyer comes back after paying.', zh: '买家付款后返回商店。' },
  about: {
    en: 'The browser of the buyer comes to return_url, or without one to the callback URL of the application, with the parameters of the notification. A query that the address had stays in it and is not signed. It may never come, or come twice: deliver by the notification or a query.',
    zh: '买家的浏览器带着与通知相同的参数来到 return_url，未填写时来到应用的回调地址。地址原有的查询参数会保留，但不参与签名。它可能不来或来两次，请以通知或查询结果为准。',
  },
  answer: SHOWS_A_PAGE,
})

const PAID_AT = '2026-01-02T03:05:00.000Z'
const EXPIRED = {
  ...ORDER,
  status: 'pending',
  platform_fee: 0,
  merchant_points: 0,
  paid_at: null,
  updated_at: ORDER.created_at,
  expired: true,
}
const REFUNDED = { ...ORDER, status: 'refunded', refunded_amount: 120, updated_at: '2026-01-03T03:05:00Z' }

const HALTED_PAYOUT = {
  ...PAYOUT,
  ...{ status: 'halted', reason: 'insufficient', count: 2, pending: 1, amount: 250, fee: 9, total: 259 },
  finished_at: null,
}

const LinkSale = described(LinkSaleFields, {
  ...ABOUT_ORDER,
  slug: text('The end of the address of the page.', '页面地址的末尾部分。'),
  title: text('The title of the link.', '链接的标题。'),
  quantity: text('The units sold.', '售出的份数。'),
  user_id: text('The id of the buyer.', '买家的用户 ID。'),
  username: text('The username of the buyer.', '买家的用户名。'),
  delivery: text('What kind of thing the buyer got.', '交付的种类。'),
})
const SOLD = {
  ...ORDER,
  order_id: 'lnk_8f2k4m6n8p0q2r4s6t8v0w2x',
  external_reference: 'lnk_8f2k4m6n8p0q2r4s6t8v0w2x',
  slug: 'k3v9x2m7qa',
  title: 'Sticker pack',
  quantity: 1,
  user_id: 42,
  username: 'alice',
  delivery: 'codes',
}

const ABOUT_EVENT = {
  type: text('What happened.', '事件类型。'),
  timestamp: text('When it happened.', '发生时间。'),
  data: text('What it happened to.', '相关内容。'),
}

type AboutEvent = {
  title: Text
  when: Text
  /** What data is, after "data is the". */
  data: Text
  schema: z.ZodObject
  example: object
  /** When the example happened. */
  at: string
}

const orderEvent = (type: z.output<typeof OrderEvent>['type'], example: object, at: string) => ({
  data: { en: 'order as the API answers it', zh: '接口返回的订单相同' },
  schema: described(OrderEvent.extend({ type: z.literal(type), data: Order }), ABOUT_EVENT),
  example,
  at,
})
const linkEvent = (type: z.output<typeof LinkEvent>['type'], example: object, at: string) => ({
  data: {
    en: 'order as the API answers it, with the link, what was sold and to whom',
    zh: '接口返回的订单相同，并附链接、所售份数与买家',
  },
  schema: described(LinkEvent.extend({ type: z.literal(type), data: LinkSale }), ABOUT_EVENT),
  example,
  at,
})
const mandateEvent = (type: z.output<typeof MandateEvent>['type'], example: object, at = PAID_AT) => ({
  data: { en: 'mandate as the API answers it', zh: '接口返回的预授权相同' },
  schema: described(MandateEvent.extend({ type: z.literal(type), data: Mandate }), ABOUT_EVENT),
  example,
  at,
})

const payoutEvent = (type: z.output<typeof PayoutEvent>['type'], example: object, at: string) => ({
  data: { en: 'payout as the API answers it', zh: '接口返回的批量付款相同' },
  schema: described(PayoutEvent.extend({ type: z.literal(type), data: Payout }), ABOUT_EVENT),
  example,
  at,
})

const ABOUT_EVENTS = {
  'order.paid': {
    title: { en: 'Event order.paid', zh: '事件 order.paid' },
    when: { en: 'A buyer has paid an order.', zh: '买家已付款。' },
    ...orderEvent('order.paid', ORDER, PAID_AT),
  },
  'order.expired': {
    title: { en: 'Event order.expired', zh: '事件 order.expired' },
    when: { en: 'The time to pay an order is over.', zh: '订单超过付款时间。' },
    ...orderEvent('order.expired', EXPIRED, '2026-01-02T03:34:05.000Z'),
  },
  'order.refunded': {
    title: { en: 'Event order.refunded', zh: '事件 order.refunded' },
    when: { en: 'An order was refunded, in part or in full.', zh: '订单已退款（部分或全额）。' },
    ...orderEvent('order.refunded', REFUNDED, '2026-01-03T03:05:00.000Z'),
  },
  'link.sold': {
    title: { en: 'Event link.sold', zh: '事件 link.sold' },
    when: {
      en: 'A buyer has paid at a payment link. It sends no order.paid, and never says what was delivered.',
      zh: '买家已在收款链接付款。不发送 order.paid，也绝不包含所交付的内容。',
    },
    ...linkEvent('link.sold', SOLD, PAID_AT),
  },
  'link.refunded': {
    title: { en: 'Event link.refunded', zh: '事件 link.refunded' },
    when: {
      en: 'A sale of a payment link was refunded, in part or in full. The buyer keeps what was delivered.',
      zh: '收款链接的销售已退款（部分或全额）。已交付的内容仍归买家。',
    },
    ...linkEvent(
      'link.refunded',
      { ...SOLD, status: 'refunded', refunded_amount: 120, updated_at: REFUNDED.updated_at },
      '2026-01-03T03:05:00.000Z',
    ),
  },
  'transfer.completed': {
    title: { en: 'Event transfer.completed', zh: '事件 transfer.completed' },
    when: { en: 'A transfer was made.', zh: '转账已完成。' },
    data: { en: 'transfer as the API answers it', zh: '接口返回的转账相同' },
    schema: described(TransferEvent.extend({ data: Transfer }), ABOUT_EVENT),
    example: TRANSFER,
    at: '2026-01-02T03:06:00.000Z',
  },
  'mandate.created': {
    title: { en: 'Event mandate.created', zh: '事件 mandate.created' },
    when: { en: 'A member has accepted a mandate.', zh: '成员已接受预授权。' },
    ...mandateEvent('mandate.created', { ...MANDATE, spent: 0, left: 300 }),
  },
  'mandate.changed': {
    title: { en: 'Event mandate.changed', zh: '事件 mandate.changed' },
    when: {
      en: 'A member has paused or resumed a mandate, or set its limits or its last day.',
      zh: '成员暂停或恢复了预授权，或修改了限额、最后一天。',
    },
    ...mandateEvent('mandate.changed', { ...MANDATE, status: 'paused', reason: 'member', version: 3 }),
  },
  'mandate.revoked': {
    title: { en: 'Event mandate.revoked', zh: '事件 mandate.revoked' },
    when: {
      en: 'A mandate has ended. reason tells who or what ended it.',
      zh: '预授权已结束，原因见 reason。',
    },
    ...mandateEvent('mandate.revoked', ENDED_MANDATE, '2026-01-09T03:05:00.000Z'),
  },
  'charge.completed': {
    title: { en: 'Event charge.completed', zh: '事件 charge.completed' },
    when: {
      en: 'A charge was made. It sends no order.paid; its refund sends order.refunded.',
      zh: '扣款已完成。扣款不发送 order.paid；退款时发送 order.refunded。',
    },
    data: { en: 'charge as the API answers it', zh: '扣款接口返回的内容相同' },
    schema: described(ChargeEvent.extend({ data: Charged }), ABOUT_EVENT),
    example: CHARGED,
    at: PAID_AT,
  },
  'charge.failed': {
    title: { en: 'Event charge.failed', zh: '事件 charge.failed' },
    when: {
      en: 'A charge was refused: the first in a period for its reason, which is a limit, too few points or a mandate that is not active.',
      zh: '扣款被拒绝：超过限额、积分不足或预授权未生效。每期每种原因只报告第一次。',
    },
    data: { en: 'charge with the refusal that the API answered', zh: '接口返回的拒绝原因相同' },
    schema: described(
      RefusedChargeEvent.extend({
        data: described(RefusedCharge, {
          mandate_id: text('The mandate_id of the offer.', '邀请返回的 mandate_id。'),
          order_id: text('Your order_id. It may be sent again.', '商户的 order_id，可以再次提交。'),
          amount: text('What was asked for, in points.', '请求扣款的积分。'),
          code: text('The code of the answer.', '接口返回的错误码。'),
          message: text('The text of the answer.', '接口返回的说明。'),
          period_from: text('The first day of the period.', '本期首日。'),
        }),
      }),
      ABOUT_EVENT,
    ),
    example: {
      mandate_id: MANDATE.mandate_id,
      order_id: 'charge-1002',
      amount: 200,
      code: PAYMENT_ERRORS.charge_too_large.number,
      message: 'The amount is above the limit of a charge (100)',
      period_from: '2026-01-02',
    },
    at: PAID_AT,
  },
  'payout.finished': {
    title: { en: 'Event payout.finished', zh: '事件 payout.finished' },
    when: {
      en: 'Every line of a payout is paid or refused. With the mode all, status refused says that none is paid.',
      zh: '批量付款的每一行都已付款或被拒绝。all 模式下 status 为 refused 表示一行也没有付。',
    },
    ...payoutEvent('payout.finished', PAYOUT, '2026-01-02T03:04:06.000Z'),
  },
  'payout.halted': {
    title: { en: 'Event payout.halted', zh: '事件 payout.halted' },
    when: {
      en: 'A payout cannot go on for the reason in reason. Mend it, then resume the payout.',
      zh: '批量付款无法继续，原因见 reason。解决后请继续该批量付款。',
    },
    ...payoutEvent('payout.halted', HALTED_PAYOUT, '2026-01-02T03:04:06.000Z'),
  },
} satisfies Record<EventType, AboutEvent>

function eventWebhook([type, about]: [string, AboutEvent]): Webhook {
  const { title, when, data, schema, example, at } = about
  return {
    name: type,
    area: 'payment',
    method: 'post',
    title,
    when,
    about: {
      en: `Sent to the events address, when the application has one, by Standard Webhooks 1.0.0. data is the ${data.en}. ${SCHEDULE.en}`,
      zh: `应用设置了事件地址时发送，遵循 Standard Webhooks 1.0.0。data 与${data.zh}。${SCHEDULE.zh}`,
    },
    headers: HEADERS,
    schema,
    example: async () => JSON.stringify({ type, timestamp: at, data: example }, null, 2),
    answer: ACCEPTED,
  }
}

const { notify_url, return_url } = SAMPLE_TRADE

/** The callback after the mandate page. */
const MANDATE_CALLBACK_WEBHOOK: Webhook = {
  name: 'callback.mandate',
  area: 'payment',
  method: 'get',
  title: { en: 'Callback of a mandate', zh: '预授权回调' },
  when: { en: 'A member comes back after deciding on a mandate.', zh: '成员对预授权作出决定后返回。' },
  about: {
    en: 'The browser of the member comes to the callback URL of the application after allowing or refusing a mandate. Reject it unless the signature is right. It may never come, or come twice: ask query for the limits that the member allowed.',
    zh: '成员允许或拒绝预授权后，浏览器来到应用的回调地址。验签不符即拒绝。它可能不来或来两次；成员允许的限额请以查询为准。',
  },
  schema: MANDATE_CALLBACK,
  example: async ({ token }) =>
    signedCallbackUrl(
      'https://shop.example/paid',
      {
        decided_at: '2026-01-02T03:05:00Z',
        mandate_id: MANDATE.mandate_id,
        mandate_status: 'active',
        reference: MANDATE.reference,
      },
      token,
    ),
  answer: SHOWS_A_PAGE,
}

export const WEBHOOKS: Webhook[] = [
  {
    name: 'callback',
    area: 'payment',
    method: 'get',
    title: { en: 'Callback of the HMAC API', zh: 'HMAC 接口回调' },
    when: { en: 'A buyer comes back after paying.', zh: '买家付款后返回商店。' },
    about: {
      en: 'The browser of the buyer comes to the callback URL of the application after paying. Reject it unless the signature is right, over every parameter that came but signature. Then check that the order is not done yet and that the amount is that of your order. It may never come, or come twice: ask query, or listen to events.',
      zh: '买家付款后，浏览器来到应用的回调地址。请对除 signature 外的全部参数验签，不符即拒绝；再核对订单尚未处理、金额与订单一致。它可能不来或来两次，请以查询或事件为准。',
    },
    schema: CALLBACK,
    example: async ({ token }) =>
      signedCallbackUrl(
        'https://shop.example/paid',
        {
          transaction_id: ORDER.transaction_id,
          external_reference: ORDER.order_id,
          amount: String(ORDER.amount),
          platform_fee: String(ORDER.platform_fee),
          merchant_points: String(ORDER.merchant_points),
          status: 'completed',
          paid_at: ORDER.paid_at,
        },
        token,
      ),
    answer: SHOWS_A_PAGE,
  },
  MANDATE_CALLBACK_WEBHOOK,
  ...Object.entries(ABOUT_EVENTS).map(eventWebhook),
  {
    name: 'notify.v1',
    area: 'v1',
    method: 'get',
    ...notify('V1'),
    schema: MESSAGE_V1,
    example: (samples) => exampleV1(samples, notify_url),
  },
  {
    name: 'return.v1',
    area: 'v1',
    method: 'get',
    ...comeBack('V1'),
    schema: MESSAGE_V1,
    example: (samples) => exampleV1(samples, return_url),
  },
  {
    name: 'notify.v2',
    area: 'v2',
    method: 'get',
    ...notify('V2'),
    schema: MESSAGE_V2,
    example: (samples) => exampleV2(samples, notify_url),
  },
  {
    name: 'return.v2',
    area: 'v2',
    method: 'get',
    ...comeBack('V2'),
    schema: MESSAGE_V2,
    example: (samples) => exampleV2(samples, return_url),
  },
]
