/** Texts of the page of events. */
import type { NotificationKind } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const events = {
  lead: {
    en: 'For shops on the HMAC API: what becomes of orders and transfers is posted to your server, beside the buyer’s return. It is off until you give an address.',
    zh: '适用于使用 HMAC API 的商店：订单和转账的变化会在买家返回之外，以 POST 发送到你的服务器。填写地址之前一直关闭。',
  },
  off: { en: 'Off: nothing is sent.', zh: '已关闭：不发送任何内容。' },
  gone: {
    en: 'Your address answered 410 Gone, which means for good; that switched events off, at',
    zh: '你的地址返回了 410 Gone（永久失效），事件因此关闭，时间：',
  },
  on: { en: 'On', zh: '已开启' },
  url: { en: 'Address for events', zh: '接收事件的地址' },
  urlHint: {
    en: 'https, with a query if you like. Leave it empty to switch events off; those not told yet are given up.',
    zh: '使用 https，可以带查询参数。留空即关闭事件；尚未送达的事件会被放弃。',
  },
  urlProblem: {
    en: 'Not an address that events can be sent to: https (http on this machine), no fragment.',
    zh: '该地址不能接收事件：应为 https（本机可用 http），不含片段。',
  },
  save: { en: 'Save', zh: '保存' },
  secret: { en: 'Secret', zh: '密钥' },
  secretHint: {
    en: 'Every event is signed with it, after Standard Webhooks: libraries for most languages want exactly this text. It begins when you switch events on.',
    zh: '每个事件都按 Standard Webhooks 用它签名：多数语言的库需要的正是这段文本。开启事件时生成。',
  },
  secretTitle: { en: 'Keep this now', zh: '请立即保存' },
  secretText: {
    en: 'It is shown this once. Keep it where your server reads its secrets.',
    zh: '仅显示这一次。请保存到你的服务器读取密钥的地方。',
  },
  current: { en: 'Current secret', zh: '当前密钥' },
  previous: { en: 'Previous secret', zh: '旧密钥' },
  overlap: { en: 'Hours the old secret goes on', zh: '旧密钥继续使用的小时数' },
  rotate: { en: 'Replace the secret', zh: '更换密钥' },
  rotateHint: {
    en: 'For so many hours events carry two signatures, by the new secret and by the previous one. 0 ends the previous one now.',
    zh: '在这段小时数内，事件同时带有新旧两个密钥的签名。填 0 则旧密钥立即失效。',
  },
  readTitle: { en: 'How to read one', zh: '如何读取事件' },
  readLead: {
    en: 'A POST of JSON. Check the signature over the body as received, refuse a webhook-timestamp older than 5 minutes, and act once for each webhook-id: one may come twice. Answer any 2xx within 10 seconds; 410 Gone switches events off.',
    zh: '事件是 JSON 的 POST 请求。请按收到的正文校验签名，拒绝 webhook-timestamp 早于 5 分钟的请求，并对每个 webhook-id 只处理一次：同一事件可能送达两次。请在 10 秒内回复任意 2xx 状态码；回复 410 Gone 会关闭事件。',
  },
  types: { en: 'Kinds of events', zh: '事件种类' },
  sample: { en: 'The check in Node.js, without any package', zh: 'Node.js 校验代码，无需任何软件包' },
  kinds: {
    gateway: { en: 'a payment, by the gateway', zh: '网关付款' },
    'order.paid': { en: 'order.paid: an order was paid', zh: 'order.paid：订单已付款' },
    'order.expired': {
      en: 'order.expired: the time to pay an order is over',
      zh: 'order.expired：订单付款时间已过',
    },
    'order.refunded': { en: 'order.refunded: an order was given back', zh: 'order.refunded：订单已退款' },
    'transfer.completed': {
      en: `transfer.completed: ${POINTS} were transferred`,
      zh: `transfer.completed：${POINTS}已转出`,
    },
  } satisfies Record<NotificationKind, Text>,
} satisfies Texts
