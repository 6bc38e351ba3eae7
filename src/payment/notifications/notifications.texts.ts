/** Texts of the list of notifications and their attempts. */
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const notifications = {
  lead: {
    en: 'After a payment we notify your shop, at most six times within 15 hours.',
    zh: '买家付款后，系统会通知你的商店，15 小时内最多 6 次。',
  },
  allConfirmed: { en: 'All confirmed', zh: '全部已确认' },
  adminLead: {
    en: 'Notifications to merchants: gateway payments, confirmed by the word success, and events, confirmed by any 2xx status.',
    zh: '发给商户的通知：网关付款以返回 success 一词为确认，事件以任何 2xx 状态码为确认。',
  },
  show: { en: 'Show', zh: '显示' },
  statuses: {
    all: { en: 'All', zh: '全部' },
    due: { en: 'Waiting', zh: '等待确认' },
    failed: { en: 'Failed', zh: '失败' },
    delivered: { en: 'Confirmed', zh: '已确认' },
  },
  confirmedCount: (n: string) => ({ en: `${n} confirmed`, zh: `${n} 条已确认` }),
  nothing: { en: 'No notifications yet', zh: '还没有通知' },
  nothingText: {
    en: 'Gateway payments and events appear here, with every response of your server.',
    zh: '网关付款和事件会显示在这里，包括服务器的每次响应。',
  },
  adminNothingText: {
    en: 'Gateway payments and events appear here, with every response of the shops.',
    zh: '网关付款和事件会显示在这里，包括商店的每次响应。',
  },
  application: { en: 'Application', zh: '应用' },
  what: { en: 'Notification of', zh: '通知内容' },
  trade: { en: 'Trade number', zh: '平台订单号' },
  transaction: { en: 'Transaction ID', zh: '交易号' },
  mandate: { en: 'Mandate', zh: '预授权' },
  payout: { en: 'Payout', zh: '批量付款' },
  nextAttempt: { en: 'Next attempt', zh: '下次尝试' },
  now: { en: 'Being sent', zh: '正在发送' },
  refresh: { en: 'Check again', zh: '刷新' },
  attempt: (n: number) => ({ en: ` (${n} of 6)`, zh: `（第 ${n} 次，共 6 次）` }),
  /** How long the last request took, and not the time since the payment. */
  answered: (ms: number) =>
    ms < 1000
      ? { en: `Answered in ${ms} ms`, zh: `${ms} 毫秒内应答` }
      : { en: `Answered in ${(ms / 1000).toFixed(1)} s`, zh: `${(ms / 1000).toFixed(1)} 秒内应答` },
  redeliver: { en: 'Notify the shop again', zh: '重新通知商店' },
  failedCount: (formatted: string, n: number) => ({
    en: `${formatted} ${counted(n, 'notification', 'notifications')} failed and ${counted(n, 'is', 'are')} not sent again unless you ask`,
    zh: `${formatted} 条通知最终失败，不会再自动重发`,
  }),
  redeliverButton: { en: 'Send again', zh: '重发' },
  redeliverFailed: {
    en: 'All that failed in the last',
    zh: '以下时间内失败的全部通知',
  },
  hours: (n: number) => ({ en: `${n} ${counted(n, 'hour', 'hours')}`, zh: `${n} 小时` }),
  days: (n: number) => ({ en: `${n} ${counted(n, 'day', 'days')}`, zh: `${n} 天` }),
  done: {
    sent: {
      en: 'The notification is being sent. This page shows the response when it arrives.',
      zh: '正在发送通知，收到响应后会显示在本页。',
    },
    confirmed: (order: string) => ({
      en: `The shop confirmed the notification for ${order}.`,
      zh: `商店已确认 ${order} 的通知。`,
    }),
    refused: (order: string, answer: string) => ({
      en: `The shop did not confirm the notification for ${order}. ${answer}`,
      zh: `商店没有确认 ${order} 的通知。${answer}`,
    }),
    many: (formatted: string, n: number) => ({
      en:
        n === 0
          ? 'No notification failed in this period, so nothing is sent again.'
          : `${formatted} ${counted(n, 'notification is', 'notifications are')} being sent again.`,
      zh: n === 0 ? '这段时间没有失败的通知，无需重发。' : `正在重发 ${formatted} 条通知。`,
    }),
  },
  diagnosis: (host: string) => ({ en: `${host} does not confirm`, zh: `${host} 没有确认通知` }),
  diagnosisText: (failing: number, formatted: string) => ({
    en: `${formatted} ${counted(failing, 'notification', 'notifications')} not confirmed.`,
    zh: `${formatted} 条通知没有确认。`,
  }),
  since: { en: 'First failure', zh: '首次失败' },
  lastAttempt: { en: 'See the last request and response', zh: '查看最近一次请求与响应' },
  hops: {
    dns: { en: 'Domain name', zh: '解析域名' },
    connect: { en: 'Connection', zh: '建立连接' },
    tls: { en: 'TLS certificate', zh: 'TLS 证书' },
    answer: { en: 'Your program', zh: '你的程序' },
    confirm: { en: 'Word success', zh: '返回 success' },
  },
  /** The last hop of an event, which any 2xx status confirms. */
  eventHop: { en: '2xx status', zh: '返回 2xx' },
  hopStates: {
    good: { en: 'works', zh: '正常' },
    bad: { en: 'fails here', zh: '在此失败' },
    idle: { en: 'not reached', zh: '未到达' },
  },
  testAddress: { en: 'Test the address', zh: '测试地址' },
  milliseconds: (formatted: string) => ({ en: `${formatted} ms`, zh: `${formatted} 毫秒` }),
  seconds: { en: 's', zh: '秒' },
  details: { en: 'Details', zh: '详情' },
  body: { en: 'Response, first 2 KB', zh: '响应的前 2 KB' },
  beforeSuccess: { en: 'Text before the word success:', zh: 'success 之前的内容：' },
  ownQuery: (names: string[]) => ({
    en: `This order’s ${names.join(' and ')} ${counted(names.length, 'has a query of its own', 'have queries of their own')}. It is not signed, so a shop that verifies the whole query never accepts the notification. Create orders with addresses that have no query.`,
    zh: `该订单的 ${names.join(' 和 ')} 自带查询参数。这些参数不参与签名，对全部参数验签的商店永远不会接受通知。请使用不带查询参数的地址创建订单。`,
  }),
  due: { en: 'To be sent', zh: '待发送' },
  oldestDue: { en: 'Oldest waiting', zh: '最早的待发送通知' },
  underWay: { en: 'Being sent', zh: '正在发送' },
  retrying: { en: 'Waiting for the next attempt', zh: '等待下次尝试' },
  waiting: (text: string, n: number) => ({
    en: `${text} ${counted(n, 'notification', 'notifications')}`,
    zh: `${text} 条通知`,
  }),
  outcomes: {
    delivered: { en: 'Confirmed.', zh: '已确认。' },
    wrong_body: {
      en: 'The last line of the response is not the word success.',
      zh: '响应的最后一行不是 success 一词。',
    },
    too_large: {
      en: 'The response is longer than 64 KiB; it should be the word success.',
      zh: '响应超过 64 KiB；应为 success 一词。',
    },
    bad_status: { en: 'The status of the response is an error.', zh: '响应的状态码表示错误。' },
    redirect: {
      en: 'The address redirects, and we do not follow redirects. Use the final address as notify_url.',
      zh: '该地址发生跳转，系统不会跟随跳转。请把最终地址填为 notify_url。',
    },
    bad_address: { en: 'The address cannot be called.', zh: '该地址无法访问。' },
    blocked: {
      en: 'The address is not public, so we do not call it.',
      zh: '该地址不是公网地址，因此不会访问。',
    },
    dns: { en: 'The name in the address could not be resolved.', zh: '地址中的域名无法解析。' },
    refused: {
      en: 'The connection was refused: no program listens at this address.',
      zh: '连接被拒绝：该端口没有服务。',
    },
    unreachable: { en: 'The server could not be reached.', zh: '无法建立连接。' },
    tls: {
      en: 'The secure connection failed: check the certificate and its chain.',
      zh: '无法建立安全连接：请检查证书及证书链。',
    },
    timeout: { en: 'It took longer than 10 seconds.', zh: '超过 10 秒。' },
    cut: { en: 'The connection ended before the response was complete.', zh: '响应完成之前连接已断开。' },
    malformed: { en: 'The response is not valid HTTP.', zh: '响应不是有效的 HTTP。' },
    withdrawn: {
      en: 'Not sent: the order is no longer paid, or events were switched off.',
      zh: '未发送：订单已不再是已付款状态，或事件已关闭。',
    },
    internal: { en: 'Not sent: something went wrong on our side.', zh: '未发送：我们这边出了问题。' },
    interrupted: {
      en: 'Our process stopped while sending, and another one took over. The shop may have been notified twice.',
      zh: '我们的进程在途中结束，已由另一个进程接手。商店可能被通知两次。',
    },
  } satisfies Record<AttemptOutcome, Text>,
  usually: {
    dns: {
      en: 'Check the spelling of notify_url and the DNS records of the domain.',
      zh: '请检查 notify_url 的拼写和域名的 DNS 记录。',
    },
    connect: {
      en: 'Check that the web server runs, and that the firewall lets us in.',
      zh: '请检查网站服务是否在运行，防火墙是否放行。',
    },
    tls: {
      en: 'Check that the certificate is valid for this name and is sent with its chain.',
      zh: '请检查证书是否有效、域名是否匹配，并附上证书链。',
    },
    answer: {
      en: 'The request reached your server. Check the log of the program behind it.',
      zh: '请求已到达你的服务器，请查看处理它的程序的日志。',
    },
    confirm: {
      en: 'Your program responded. After it has verified the signature, it must write the word success and nothing else.',
      zh: '程序已响应。请让它在验签后只输出 success 一词。',
    },
  },
  /** More about an outcome, by the detail of the attempt. */
  reasons: {
    timeout: {
      dns: { en: 'The name was still being resolved.', zh: '当时仍在解析域名。' },
      connect: { en: 'The connection was still being made.', zh: '当时仍在建立连接。' },
      tls: { en: 'The secure connection was still being made.', zh: '当时仍在建立安全连接。' },
      answer: { en: 'Connected, but no response began.', zh: '已连接，但没有开始响应。' },
      body: { en: 'The response had begun, but did not end.', zh: '响应已开始，但没有结束。' },
    },
    bad_address: {
      scheme: { en: 'Only http and https are called.', zh: '只访问 http 和 https。' },
      user: { en: 'It contains a user name.', zh: '其中含有用户名。' },
      port: {
        en: 'Only ports 80, 443 and from 1024 are called.',
        zh: '只访问 80、443 和 1024 及以上的端口。',
      },
      host: { en: 'It has no host.', zh: '其中没有主机。' },
      unreadable: { en: 'It is not a valid address.', zh: '这不是有效的地址。' },
    },
    bad_status: {
      challenge: {
        en: 'Cloudflare asked for proof of a human, which a server cannot give. Add a rule that skips the challenge for the path of notify_url.',
        zh: 'Cloudflare 要求人机验证，服务器无法通过。请为 notify_url 的路径添加跳过验证的规则。',
      },
      origin: {
        en: 'Cloudflare answered, but could not get a valid response from your server behind it. Check that your server runs and accepts Cloudflare.',
        zh: 'Cloudflare 已响应，但没有从它后面的源站得到有效响应。请检查源站是否在运行，并允许 Cloudflare 访问。',
      },
      post_only: {
        en: 'The address takes only POST. The gateway notifies by GET, so allow GET there.',
        zh: '该地址只接受 POST。网关用 GET 发送通知，请允许 GET。',
      },
    },
    tls: {
      ERR_SSL_WRONG_VERSION_NUMBER: {
        en: 'The port speaks plain HTTP, not TLS. Use http, or the port of HTTPS.',
        zh: '该端口使用未加密的 HTTP，而不是 TLS。请改用 http，或填写 HTTPS 的端口。',
      },
    },
  },
} satisfies Texts
