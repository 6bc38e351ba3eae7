/** Texts about the notification to the shop, below a receipt. */
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const notification = {
  title: { en: 'No response from the shop?', zh: '商家没有响应？' },
  byBrowser: {
    en: 'This shop learns of your payment when you return to it. Use the button above: its link proves the payment.',
    zh: '你返回商家时，商家才会得知这笔付款。请使用上方的按钮返回，链接中带有付款证明。',
  },
  delivered: {
    en: 'The shop has confirmed your payment.',
    zh: '商家已确认收到付款。',
  },
  underWay: { en: 'The shop is being notified right now.', zh: '正在通知商家。' },
  nextAttempt: {
    en: 'The shop has not confirmed your payment yet. Next notification:',
    zh: '商家尚未确认，下次通知时间：',
  },
  gaveUp: {
    en: 'The shop has not confirmed your payment, and there are no more automatic notifications.',
    zh: '商家没有确认，自动通知已停止。',
  },
  tooSoon: (seconds: number) => ({
    en: `The shop was notified a moment ago. Try again in ${seconds} ${counted(seconds, 'second', 'seconds')}.`,
    zh: `刚刚通知过商家，请在 ${seconds} 秒后重试。`,
  }),
  again: { en: 'Notify the shop again', zh: '再次通知商家' },
  doneConfirmed: {
    en: 'The shop was notified again and has confirmed your payment.',
    zh: '已再次通知商家，商家已确认收到付款。',
  },
  doneSent: {
    en: 'The shop was notified again. It has not confirmed your payment yet. Its response is below.',
    zh: '已再次通知商家，商家尚未确认。下方可查看商家的响应。',
  },
  times: (n: number) => ({ en: `${n} times, last`, zh: `共 ${n} 次，最近` }),
  askShop: {
    en: `Your ${POINTS} are with the shop. If it does not respond, send it the order number and the transaction ID above.`,
    zh: `${POINTS}已转给商家。如果商家一直没有处理，请把上方的订单号和交易号发给商家。`,
  },
  badStatus: (status: number) => ({
    en: `The shop responded with error ${status}.`,
    zh: `商家返回错误 ${status}。`,
  }),
  outcomes: {
    delivered: { en: 'The shop confirmed the payment.', zh: '商家已确认。' },
    wrong_body: { en: 'The shop responded, but did not confirm.', zh: '商家有响应，但没有确认。' },
    too_large: {
      en: 'The shop’s response was too long to be a confirmation.',
      zh: '商家的响应过长，无法作为确认。',
    },
    redirect: {
      en: 'The shop’s address redirects to another one, and we do not follow redirects.',
      zh: '商家的地址跳转到了其他地址，系统不会跟随。',
    },
    bad_address: {
      en: 'The shop’s address cannot be used.',
      zh: '商家提供的地址无法使用。',
    },
    blocked: { en: 'The shop’s address is not allowed.', zh: '商家提供的地址不被允许。' },
    dns: { en: 'The shop’s address was not found.', zh: '找不到商家的地址。' },
    refused: { en: 'The shop’s server refused the connection.', zh: '商家的服务器拒绝连接。' },
    unreachable: { en: 'The shop’s server could not be reached.', zh: '无法连接到商家的服务器。' },
    tls: { en: 'A secure connection to the shop was not possible.', zh: '无法与商家建立安全连接。' },
    timeout: { en: 'The shop did not respond in time.', zh: '商家未及时响应。' },
    cut: { en: 'The connection to the shop was cut.', zh: '与商家的连接中断。' },
    malformed: { en: 'The shop’s response could not be read.', zh: '无法识别商家的响应。' },
    withdrawn: { en: 'Not notified: the payment was refunded.', zh: '未通知：付款已退款。' },
    internal: { en: 'Something went wrong on our side.', zh: '我们这边出了问题。' },
    interrupted: { en: 'The notification was interrupted on our side.', zh: '通知在我们这边中断。' },
  } satisfies Record<Exclude<AttemptOutcome, 'bad_status'>, Text>,
} satisfies Texts
