/** Texts of the list of notifications and their attempts. */
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const notifications = {
  lead: {
    en: 'What your shop was told, attempt by attempt. It confirms a payment of the gateway with the word success, and an event with any 2xx status; until then we try six times within 15 hours.',
    zh: '你的商店收到的通知，逐次列出。网关付款以回复 success 一词为确认，事件以任何 2xx 状态码为确认；未确认时，我们在 15 小时内共尝试六次。',
  },
  adminLead: {
    en: 'What merchants are told: payments of the gateway, confirmed by the word success, and events, confirmed by any 2xx status.',
    zh: '发给商户的通知：网关付款以 success 一词确认，事件以任何 2xx 状态码确认。',
  },
  show: { en: 'Show', zh: '显示' },
  statuses: {
    all: { en: 'All', zh: '全部' },
    due: { en: 'Not confirmed yet', zh: '尚未确认' },
    failed: { en: 'Given up', zh: '已放弃' },
    delivered: { en: 'Confirmed', zh: '已确认' },
  },
  nothing: {
    en: 'Nobody has been told of anything yet. Payments of the gateway and events appear here.',
    zh: '还没有通知。网关付款和事件会显示在这里。',
  },
  application: { en: 'Application', zh: '应用' },
  what: { en: 'Told of', zh: '通知内容' },
  trade: { en: 'Trade', zh: '平台订单号' },
  transaction: { en: 'Transaction', zh: '交易号' },
  happened: { en: 'When it happened', zh: '发生时间' },
  nextAttempt: { en: 'Next attempt', zh: '下次尝试' },
  now: { en: 'under way at this moment', zh: '正在进行' },
  attempt: (n: number) => ({ en: `number ${n} of 6`, zh: `第 ${n} 次，共 6 次` }),
  redeliver: { en: 'Tell again', zh: '重新通知' },
  redeliverFailed: {
    en: 'Tell again all that were given up in the last',
    zh: '重新发送以下时间内放弃的全部通知',
  },
  hours: (n: number) => ({ en: `${n} ${counted(n, 'hour', 'hours')}`, zh: `${n} 小时` }),
  days: (n: number) => ({ en: `${n} days`, zh: `${n} 天` }),
  sentAndAnswered: { en: 'What was sent and answered', zh: '发送与回复的内容' },
  body: { en: 'The answer, its first 2 KB', zh: '回复的前 2 KB' },
  beforeSuccess: { en: 'Before the word success it said:', zh: 'success 之前的内容：' },
  ownQuery: (names: string[]) => ({
    en: `This order’s ${names.join(' and ')} ${counted(names.length, 'has a query of its own', 'have queries of their own')}. It is not signed, so a shop that verifies all of the query never accepts the notification. Create orders with addresses that have no query.`,
    zh: `该订单的 ${names.join(' 和 ')} 自带查询参数。这些参数不参与签名，对全部参数验签的商店永远不会接受通知。请使用不带查询参数的地址创建订单。`,
  }),
  due: { en: 'Due now', zh: '现在待发' },
  oldestDue: { en: 'Oldest that nobody has taken up', zh: '最早的待发通知' },
  underWay: { en: 'Under way', zh: '正在进行' },
  retrying: { en: 'Waiting for another attempt', zh: '等待再次尝试' },
  failingHosts: { en: 'Hosts', zh: '主机' },
  waiting: (text: string, n: number) => ({
    en: `${text} ${counted(n, 'notification', 'notifications')}`,
    zh: `${text} 条通知`,
  }),
  outcomes: {
    delivered: { en: 'Confirmed.', zh: '已确认。' },
    wrong_body: {
      en: 'The last line of the answer is not the word success.',
      zh: '回复的最后一行不是 success 一词。',
    },
    too_large: {
      en: 'The answer is longer than 64 KiB; it should be the word success.',
      zh: '回复超过 64 KiB；应为 success 一词。',
    },
    bad_status: { en: 'The status of the answer is an error.', zh: '回复的状态码表示错误。' },
    redirect: {
      en: 'The address redirects, and redirects are not followed. Use the final address as notify_url.',
      zh: '该地址发生跳转，而跳转不会被跟随。请把最终地址填为 notify_url。',
    },
    bad_address: { en: 'The address cannot be called.', zh: '该地址无法访问。' },
    blocked: {
      en: 'The address is not a public one, so it is not called.',
      zh: '该地址不是公网地址，因此不会访问。',
    },
    dns: { en: 'The name in the address could not be resolved.', zh: '地址中的域名无法解析。' },
    refused: { en: 'The connection was refused: nothing listens there.', zh: '连接被拒绝：该端口没有服务。' },
    unreachable: { en: 'No connection came about.', zh: '无法建立连接。' },
    tls: {
      en: 'No secure connection came about: check the certificate and its chain.',
      zh: '无法建立安全连接：请检查证书及证书链。',
    },
    timeout: { en: 'It took longer than 10 seconds.', zh: '超过 10 秒。' },
    cut: { en: 'The connection ended before the answer was complete.', zh: '回复完成之前连接已断开。' },
    malformed: { en: 'The answer is not readable as HTTP.', zh: '回复不是可读的 HTTP。' },
    withdrawn: {
      en: 'Not sent: the order is no longer paid, or events were switched off.',
      zh: '未发送：订单已不再是已付款状态，或事件已关闭。',
    },
    internal: { en: 'Not sent: something went wrong on our side.', zh: '未发送：我们这边出了问题。' },
    interrupted: {
      en: 'Our process ended in the middle, and another took over. The shop may have been told twice.',
      zh: '我们的进程在途中结束，已由另一个进程接手。商店可能被通知两次。',
    },
  } satisfies Record<AttemptOutcome, Text>,
  phases: {
    dns: { en: 'The name was still being resolved.', zh: '当时仍在解析域名。' },
    connect: { en: 'The connection was still being made.', zh: '当时仍在建立连接。' },
    tls: { en: 'The secure connection was still being made.', zh: '当时仍在建立安全连接。' },
    answer: { en: 'Connected, but no answer began.', zh: '已连接，但没有开始回复。' },
    body: { en: 'The answer had begun, but did not end.', zh: '回复已开始，但没有结束。' },
  },
  addressFaults: {
    scheme: { en: 'Only http and https are called.', zh: '只访问 http 和 https。' },
    user: { en: 'It holds a user name.', zh: '其中含有用户名。' },
    port: { en: 'Only ports 80, 443 and from 1024 are called.', zh: '只访问 80、443 和 1024 及以上的端口。' },
    host: { en: 'It has no host.', zh: '其中没有主机。' },
    unreadable: { en: 'It is not an address.', zh: '这不是一个地址。' },
  },
} satisfies Texts
