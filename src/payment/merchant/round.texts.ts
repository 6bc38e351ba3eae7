/** Texts of the first test order, and of the check of a payment's whole round. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const round = {
  product: { en: 'Test product', zh: '测试商品' },
  descriptionWrong: { en: 'Enter 1 to 100 characters.', zh: '须为 1 至 100 个字符。' },
  amountWrong: (max: number) => ({
    en: `Enter a whole number from 1 to ${max}.`,
    zh: `须为 1 至 ${max} 的整数。`,
  }),
  first: {
    title: { en: `Your first payment, in play ${POINTS}`, zh: `第一笔付款：使用虚拟${POINTS}` },
    lead: { en: 'Nothing to install. It takes about a minute.', zh: '无需安装任何程序，约一分钟完成。' },
    create: { en: 'Create a test order', zh: '创建测试订单' },
    another: { en: 'Another test order', zh: '再创建一笔测试订单' },
    name: { en: 'Product', zh: '商品' },
    price: { en: 'Price', zh: '价格' },
    unit: { en: `play ${POINTS}`, zh: `虚拟${POINTS}` },
    opens: {
      en: 'Opens its pay page, where you pay as a buyer would.',
      zh: '将打开付款页，你可以像买家一样付款。',
    },
    pay: { en: 'You pay it', zh: '你来付款' },
    payText: {
      en: `The pay page is the real one, marked as a test. Every member has play ${POINTS}.`,
      zh: `付款页与正式环境相同，并带有测试标记。每位成员都有虚拟${POINTS}。`,
    },
    notified: { en: 'Your server is notified', zh: '你的服务器收到通知' },
    notifiedText: {
      en: 'The check of the round says what we sent, what your server answered, and what to do.',
      zh: '“检查整个流程”会说明发送了什么、你的服务器怎样响应，以及该怎么做。',
    },
    check: { en: 'Check the whole round', zh: '检查整个流程' },
    apply: { en: `You take real ${POINTS}`, zh: `正式收取${POINTS}` },
    applyText: {
      en: 'Apply for a live application. It has other keys, and your test orders stay apart.',
      zh: '申请正式应用。它使用另一组密钥，与测试订单分开。',
    },
    applyLink: { en: 'Payment applications', zh: '收款应用' },
    keys: { en: 'Test keys', zh: '测试密钥' },
    keysText: {
      en: `For your own program, later. The token and the Secret Key are shown only this once; you can replace them at any time. They move play ${POINTS} only.`,
      zh: `以后接入自己的程序时使用。Token 与 Secret Key 仅显示这一次，可随时更换；它们只能动用虚拟${POINTS}。`,
    },
    link: { en: 'Without a program', zh: '没有程序？' },
    linkText: {
      en: `A payment link sells one thing on a page of its own. Try it with play ${POINTS}.`,
      zh: `收款链接用单独的页面出售一样东西，可以先用虚拟${POINTS}试一试。`,
    },
    epay: { en: 'Coming from an epay shop?', zh: '已有易支付商店？' },
    epayText: (pid: string) => ({
      en: `Enter the gateway address and the pid ${pid} in its settings. It needs no code.`,
      zh: `在商店设置中填入网关地址和商户号 ${pid}，无需写代码。`,
    }),
    epayLink: { en: 'Gateway settings', zh: '网关设置' },
    own: { en: 'The same from your own server', zh: '用自己的程序完成' },
    ownText: {
      en: 'The guide has each call with the numbers of this application filled in.',
      zh: '指南列出每个请求，并已填入此应用的编号。',
    },
  },
  title: { en: 'Check the whole round', zh: '检查整个流程' },
  lead: {
    en: 'How far an order came: created, paid, notified, confirmed, and back at your shop. So you find “paid but not credited” before a buyer does.',
    zh: '查看一笔订单走到了哪一步：创建、付款、通知、确认、返回商店。先于买家发现“已付款但未到账”。',
  },
  which: { en: 'Number of the order (empty: the newest)', zh: '订单编号（留空为最新一笔）' },
  look: { en: 'Check', zh: '检查' },
  notFound: (number: string) => ({
    en: `No order of this application has the number ${number}. Enter your own order ID, the transaction ID or the trade number.`,
    zh: `此应用没有编号为 ${number} 的订单。可输入你的订单号、交易号或平台订单号。`,
  }),
  nothing: { en: 'There is no order yet.', zh: '还没有订单。' },
  ofLink: {
    en: 'Orders of payment links need no check: the buyer gets what was paid for at the receipt.',
    zh: '收款链接的订单无需检查：买家在收据上即可拿到所购内容。',
  },
  liveHint: {
    en: 'A test application creates an order for this check by one button.',
    zh: '测试应用可以一键创建用于检查的订单。',
  },
  order: { en: 'Order', zh: '订单' },
  passed: {
    en: 'The whole round works: your shop confirms what was paid, and the buyer comes back.',
    zh: '整个流程正常：商店确认付款，买家也能返回。',
  },
  failed: {
    en: 'A buyer who pays now may not get what was paid for. Mend the step marked in red.',
    zh: '此时付款的买家可能收不到商品。请先处理标红的步骤。',
  },
  failedReturn: {
    en: 'Your shop confirms what was paid, but the buyer may not come back to it.',
    zh: '商店会确认付款，但买家可能无法返回商店。',
  },
  failedPaid: {
    en: 'This order can no longer be paid, so the check cannot go on.',
    zh: '该订单已不能付款，检查无法继续。',
  },
  untried: {
    en: 'Your shop confirms what was paid. Check that the buyer comes back, too.',
    zh: '商店会确认付款。请再检查买家能否返回。',
  },
  unfinished: {
    en: 'Not every step is checked yet. The next one says what to do.',
    zh: '还有步骤没有检查。请按下一步的提示操作。',
  },
  steps: {
    created: { en: 'Order created', zh: '订单已创建' },
    paid: { en: 'Paid', zh: '付款' },
    sent: { en: 'Notification sent', zh: '发送通知' },
    confirmed: { en: 'Your shop answers success', zh: '商店返回 success' },
    returned: { en: 'The buyer comes back', zh: '买家返回商店' },
  },
  /** The step of an event, which any 2xx status confirms. */
  eventConfirmed: { en: 'Your shop answers 2xx', zh: '商店返回 2xx' },
  stateWords: {
    good: { en: 'Done', zh: '已完成' },
    bad: { en: 'Fails', zh: '失败' },
    open: { en: 'Not yet', zh: '尚未完成' },
    idle: { en: 'Waits', zh: '等待上一步' },
    missing: { en: 'No address', zh: '未填写地址' },
    untried: { en: 'Not tried', zh: '未检查' },
  },
  verdicts: {
    created: { en: 'We took the order.', zh: '系统已接受订单。' },
    paid: { en: 'A buyer has paid it.', zh: '买家已付款。' },
    unpaid: { en: 'It is not paid yet. Open its pay page and pay.', zh: '尚未付款。请打开付款页付款。' },
    expired: { en: 'Its time to pay is over. Create another one.', zh: '已超过付款期限。请重新创建。' },
    closed: { en: 'Your shop closed it. Create another one.', zh: '商店已关闭该订单。请重新创建。' },
    idle: { en: 'Follows the steps above.', zh: '等待以上步骤完成。' },
    sent: { en: 'Your server received it.', zh: '你的服务器已收到。' },
    waiting: { en: 'It is about to be sent. Look again in a few seconds.', zh: '即将发送，请几秒后刷新。' },
    confirmed: { en: 'Your shop confirmed it, so it is not sent again.', zh: '商店已确认，不会重复发送。' },
    overview: {
      en: 'The buyer comes back to the overview of this application. Set a callback address in the settings to lead to your shop.',
      zh: '买家返回此应用的概览页。如需返回商店，请在应用设置中填写回调地址。',
    },
    untried: {
      en: 'Not checked yet. The button below calls the address once, as the browser of the buyer does.',
      zh: '尚未检查。点击下方按钮，系统会像买家的浏览器一样访问一次该地址。',
    },
  },
  noAddress: {
    gateway: {
      en: 'Nothing is sent: this order has no notify_url.',
      zh: '不会发送：订单没有 notify_url。',
    },
    hmac: {
      en: 'Nothing is sent: this application has no address for events.',
      zh: '不会发送：此应用没有填写接收事件的地址。',
    },
  },
  creditedByBrowser: {
    en: 'So a paid order is credited only if the buyer’s browser comes back.',
    zh: '因此只有买家的浏览器返回商店时才会到账。',
  },
  enterAddress: { en: 'Enter an address', zh: '填写地址' },
  notReached: { en: 'Your server was not reached.', zh: '没有到达你的服务器。' },
  notConfirmed: (status: string) => ({
    en: `Your server answered${status === '' ? '' : ` HTTP ${status}`}, but did not confirm. We send it at most six times.`,
    zh: `你的服务器${status === '' ? '' : `返回 HTTP ${status}，但`}没有确认。系统最多发送六次。`,
  }),
  noReturn: {
    en: 'The order names no return_url, so buyers stay at the receipt. Send one if your shop should show what was bought.',
    zh: '订单没有 return_url，买家付款后停留在收据页。如需在商店显示结果，请传入 return_url。',
  },
  answers: (status: string) => ({
    en: `The address answers HTTP ${status}.`,
    zh: `该地址返回 HTTP ${status}。`,
  }),
  error: (status: string) => ({
    en: `The address answers HTTP ${status}: buyers see an error page after paying.`,
    zh: `该地址返回 HTTP ${status}，买家付款后会看到错误页。`,
  }),
  errorUnpaid: {
    en: 'Some shops answer so to a call without parameters. Pay the order, and check again.',
    zh: '有的商店在没有参数时也会这样；请先付款，再检查一次。',
  },
  unreachable: {
    en: 'The address cannot be reached from here, so buyers may not come back either.',
    zh: '从这里无法访问该地址，买家可能也无法返回。',
  },
  openPay: { en: 'Open the pay page', zh: '打开付款页' },
  whole: { en: 'The whole notification', zh: '查看通知详情' },
  tryReturn: { en: 'Check the return address', zh: '检查返回地址' },
  trade: { en: 'Create a gateway test order', zh: '创建网关测试订单' },
  tradeText: {
    en: `Creates an order of the gateway (V1) for a few play ${POINTS}, as your shop would, and opens its pay page. Pay it, then open this page again: each step above has its verdict.`,
    zh: `按商店的方式创建一笔网关（V1）订单，金额很小，使用虚拟${POINTS}，并打开付款页。付款后再打开本页，即可看到上面每一步的结果。`,
  },
  notifyUrl: { en: 'notify_url: your server is notified here', zh: 'notify_url：通知你的服务器' },
  returnUrl: { en: 'return_url: the buyer comes back here', zh: 'return_url：买家返回的地址' },
} satisfies Texts
