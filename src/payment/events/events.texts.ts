/** Texts of the page of events. */
import type { NotificationKind } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const events = {
  lead: {
    en: 'Your server gets a signed POST when an order or a transfer changes, even if the buyer never comes back.',
    zh: '订单或转账变化时，你的服务器会收到带签名的 POST，即使买家没有返回商店。',
  },
  off: { en: 'Off: nothing is sent.', zh: '已关闭：不发送任何内容。' },
  gone: {
    en: 'Your address answered 410 Gone (gone for good), so events were switched off:',
    zh: '你的地址返回了 410 Gone（永久失效），事件因此关闭，时间：',
  },
  on: { en: 'On', zh: '已开启' },
  url: { en: 'Address for events', zh: '接收事件的地址' },
  urlHint: {
    en: 'https, with or without a query. Leave empty to switch events off; waiting events are then discarded.',
    zh: '使用 https，可以带查询参数。留空即关闭事件，等待发送的事件会被丢弃。',
  },
  urlProblem: {
    en: 'Events cannot be sent to this address. Enter an https address (http only on this computer), without fragment.',
    zh: '该地址不能接收事件：应为 https（本机可用 http），不含片段。',
  },
  save: { en: 'Save', zh: '保存' },
  secret: { en: 'Secret', zh: '密钥' },
  secretHint: {
    en: 'It signs every event, following Standard Webhooks. Libraries for most languages accept it as it is. It is created when you switch events on.',
    zh: '每个事件都按 Standard Webhooks 规范用它签名，多数语言的库可以直接使用。开启事件时生成。',
  },
  secretMade: { en: 'Events are signed with a new secret.', zh: '事件已使用新的密钥签名。' },
  previousUntil: (until: string) => ({
    en: ` The previous one signs until ${until}.`,
    zh: `旧密钥继续签名至 ${until}。`,
  }),
  secretText: {
    en: 'It is shown only this once. Store it where your server reads its secrets.',
    zh: '仅显示这一次。请保存到你的服务器读取密钥的地方。',
  },
  current: { en: 'Current secret', zh: '当前密钥' },
  previous: { en: 'Previous secret', zh: '旧密钥' },
  overlap: { en: 'Hours that the previous secret keeps signing', zh: '旧密钥继续签名的小时数' },
  rotate: { en: 'Replace the secret', zh: '更换密钥' },
  rotateHint: {
    en: 'During this time, each event carries two signatures: one by the new secret, one by the previous secret. With 0, the previous secret ends at once.',
    zh: '在这段时间内，事件同时带有新旧两个密钥的签名。填 0 则旧密钥立即失效。',
  },
  ask: {
    rotate: { en: 'Replace the event secret?', zh: '更换事件密钥？' },
    rotateButton: { en: 'Generate a new secret', zh: '生成新的密钥' },
    signsUntil: (moment: string) => ({ en: `signs until ${moment}`, zh: `继续签名至 ${moment}` }),
    signsNoMore: { en: 'stops signing', zh: '不再签名' },
    rotateNote: {
      en: 'Put the new secret into your server before the previous one ends. Until then, each event carries both signatures.',
      zh: '请在旧密钥失效之前换上新密钥；在此之前，每个事件都带有两个签名。',
    },
    rotateNow: {
      en: 'Your server refuses events until it has the new secret. They are sent again within 15 hours.',
      zh: '换上新密钥之前，你的服务器会拒绝事件；事件会在 15 小时内重试。',
    },
    off: { en: 'Switch events off?', zh: '关闭事件？' },
    offButton: { en: 'Switch off', zh: '关闭事件' },
    pending: { en: 'Events discarded', zh: '将被丢弃的事件' },
    offNote: {
      en: 'Your shop then learns of payments from the buyer’s browser, or by querying the order.',
      zh: '此后商店只能通过买家的浏览器或查询订单得知付款结果。',
    },
  },
  done: {
    on: (host: string) => ({ en: `Events are sent to ${host}.`, zh: `事件将发送到 ${host}。` }),
    off: { en: 'Events are off.', zh: '事件已关闭。' },
  },
  readTitle: { en: 'How to read an event', zh: '如何读取事件' },
  readLead: {
    en: 'An event is a POST with JSON. Verify the signature over the body as received, refuse a webhook-timestamp older than 5 minutes, and process each webhook-id once: an event may arrive twice. Answer with any 2xx status within 10 seconds; 410 Gone switches events off.',
    zh: '事件是 JSON 的 POST 请求。请按收到的正文验签，拒绝 webhook-timestamp 早于 5 分钟的请求，并对每个 webhook-id 只处理一次：同一事件可能送达两次。请在 10 秒内返回任意 2xx 状态码；返回 410 Gone 会关闭事件。',
  },
  types: { en: 'Event types', zh: '事件类型' },
  sentSoFar: { en: 'See what was sent', zh: '查看发送记录' },
  sample: { en: 'Verify in Node.js, without any package', zh: 'Node.js 验签代码，无需安装任何包' },
  kinds: {
    gateway: { en: 'Gateway payment', zh: '网关付款' },
    'order.paid': { en: 'Order paid', zh: '订单已付款' },
    'order.expired': { en: 'Order expired', zh: '订单已过期' },
    'order.refunded': { en: 'Order refunded', zh: '订单已退款' },
    'transfer.completed': { en: `${POINTS} transferred`, zh: `${POINTS}已转出` },
    'charge.completed': { en: 'Member charged under a mandate', zh: '已按预授权扣款' },
    'charge.failed': {
      en: 'Charge refused, for the first time for this reason in the period',
      zh: '扣款被拒绝（每期每种原因只报告第一次）',
    },
    'mandate.created': { en: 'Mandate accepted by the member', zh: '成员接受了预授权' },
    'mandate.changed': {
      en: 'Mandate paused, resumed or changed by the member',
      zh: '成员暂停、恢复或修改了预授权',
    },
    'mandate.revoked': { en: 'Mandate ended', zh: '预授权已结束' },
    'payout.finished': { en: 'Payout finished', zh: '批量付款已结束' },
    'payout.halted': { en: 'Payout halted', zh: '批量付款已暂停' },
    'link.sold': { en: 'Sold by a link', zh: '收款链接已售出' },
    'link.refunded': { en: 'Sale of a link refunded', zh: '收款链接的销售已退款' },
  } satisfies Record<NotificationKind, Text>,
} satisfies Texts
