/** Texts of the test of a shop's addresses. */
import type { Texts } from '../../web/languages.ts'

export const merchantAddresses = {
  lead: {
    en: 'Find out whether we can reach your shop. We call the address once, like a notification, but without parameters and signature. A shop that verifies signatures refuses that call, as it should.',
    zh: '测试我们能否访问你的商店。我们会像通知那样访问一次，但不带任何参数和签名：会验签的商店应当拒绝它，这是正确的。',
  },
  known: { en: 'Addresses of your shop', zh: '商店的地址' },
  kinds: {
    callback: { en: 'Callback address, where buyers come back', zh: '回调地址（买家付款后返回）' },
    own_notify: { en: 'Notification address of the application', zh: '应用的异步通知地址' },
    notify: { en: 'notify_url of the latest order', zh: '最近一笔订单的 notify_url' },
    return: { en: 'return_url of the latest order', zh: '最近一笔订单的 return_url' },
  },
  other: { en: 'Another address', zh: '其他地址' },
  try: { en: 'Test', zh: '测试' },
  noAnswer: { en: 'No response', zh: '无响应' },
  reached: { en: 'Reached.', zh: '可以访问。' },
  tooEasy: {
    en: 'Reached, but it confirms a notification that is not signed. Check that your shop verifies the signature before it trusts a payment.',
    zh: '可以访问，但它确认了没有签名的通知：请检查商店在相信付款之前是否验证签名。',
  },
  redirected: {
    en: 'Reached, but it redirects to another address. Browsers follow redirects, notifications do not, so a notify_url must be the final address.',
    zh: '可以访问，但会跳转到另一个地址。买家的浏览器会跟随跳转，通知不会，所以 notify_url 必须是最终地址。',
  },
  failed: {
    en: 'Reached, but your shop fails there. Check its log.',
    zh: '可以访问，但商店在那里出错了。请查看商店自己的日志。',
  },
} satisfies Texts
