/** Texts of the pay page, the receipt, and the list of own payments. */

import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

/** An amount with its unit, in live or play points. */
const sum = (formatted: string, amount: bigint, isTest = false) => ({
  en: `${formatted} ${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)}`,
  zh: `${formatted} ${isTest ? '虚拟' : ''}${POINTS}`,
})

/** The button of a receipt, which another text names. */
const returnToShop = (shop: string) => ({ en: `Back to ${shop}`, zh: `返回 ${shop}` })

/** Texts about the notification to the shop, below a receipt. */
export const notification = {
  title: { en: 'No response from the shop?', zh: '商家没有响应？' },
  /** Of a shop without notifications. The payment has sent the payer's browser there with a signed link. */
  byBrowser: (shop: string) => ({
    en: `When you paid, your browser was sent to the shop with a link that proves the payment. If the shop does not show it, use “${returnToShop(shop).en}”: that link proves it again.`,
    zh: `付款后，浏览器已带着付款证明跳转到商家。如果商家没有显示这笔付款，请点按“${returnToShop(shop).zh}”再次出示证明。`,
  }),
  /** Of a charge under a mandate, which the shop's program made. */
  byCharge: {
    en: 'The shop made this charge itself and got the answer, so it knows of it.',
    zh: '这笔扣款由商家发起，结果已当场返回给商家，商家已知晓。',
  },
  /** Names the part below a receipt. */
  known: { en: 'The shop knows of this payment', zh: '商家已知晓这笔付款' },
  delivered: { en: 'Confirmed by the shop', zh: '商家已确认' },
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

export const pay = {
  title: (shop: string) => ({ en: `Pay ${shop}`, zh: `向 ${shop} 付款` }),
  sum,
  /** Follows an amount, so it begins with the space between them. */
  unit: (amount: bigint, isTest: boolean) => ({
    en: ` ${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)}`,
    zh: ` ${isTest ? '虚拟' : ''}${POINTS}`,
  }),
  order: { en: 'Order number', zh: '订单号' },
  transaction: { en: 'Transaction ID', zh: '交易号' },
  tradeNo: { en: 'Trade number', zh: '平台订单号' },
  payingAs: { en: 'Paying as', zh: '付款账号' },
  balanceNow: { en: 'Balance', zh: '当前余额' },
  playBalance: { en: 'Play balance', zh: '虚拟余额' },
  thisPayment: { en: 'This payment', zh: '本次付款' },
  balanceAfter: { en: 'Balance after', zh: '付款后余额' },
  missing: (formatted: string, amount: bigint) => ({
    en: `You need ${sum(formatted, amount).en.replace(' ', ' more ')}`,
    zh: `还差 ${sum(formatted, amount).zh}`,
  }),
  /** Beside the way to earn points, which arrive later than the order ends. */
  endsFirst: {
    en: `New ${POINTS} arrive once a day, and this order ends before. Order again when you have enough.`,
    zh: `新的${POINTS}每天到账一次，本订单会先到期。${POINTS}足够后可以重新下单。`,
  },
  sources: { en: `Where ${POINTS} come from`, zh: `如何获得${POINTS}` },
  earnLink: { en: `Earn ${POINTS}`, zh: `去赚${POINTS}` },
  submit: (formatted: string, amount: bigint, isTest: boolean) => {
    const { en, zh } = sum(formatted, amount, isTest)
    return { en: `Pay ${en}`, zh: `支付 ${zh}` }
  },
  payableUntil: { en: 'Pay by', zh: '付款截止' },
  /** The way back leaves an order of a shop open. */
  cancel: (shop: string) => ({ en: `Back to ${shop} without paying`, zh: `不付款，返回 ${shop}` }),
  /** After the act, where it has ended the order. */
  left: { en: 'The order has ended. Nothing was charged.', zh: `订单已结束，没有扣除任何${POINTS}。` },
  cancelText: { en: 'Until then, the order waits under', zh: '到期之前，订单保留在' },
  details: { en: 'Order details', zh: '订单详情' },
  created: { en: 'Created', zh: '创建时间' },
  product: { en: 'Product', zh: '商品' },
  timeLeft: (time: string) => ({ en: `${time} left`, zh: `剩余 ${time}` }),
  minutesLeft: (minutes: string) => ({
    en: `Minutes left to pay: ${minutes}`,
    zh: `付款时间还剩 ${minutes} 分钟`,
  }),
  elsewhere: {
    title: { en: 'Pay on another device', zh: '换一台设备付款' },
    text: {
      en: 'Scan the code with that device or open the link there, then sign in and pay. This page shows the receipt as soon as you have paid.',
      zh: '用那台设备扫码或打开链接，登录后付款。付款完成后，本页会自动显示收据。',
    },
    qr: { en: 'QR code of the address of this page', zh: '本页地址的二维码' },
    copy: { en: 'Copy link', zh: '复制链接' },
    save: { en: 'Save QR code', zh: '保存二维码' },
  },
  notification,
  paidAt: { en: 'Paid', zh: '付款时间' },
  payee: { en: 'Shop', zh: '收款方' },
  payer: { en: 'Payer', zh: '付款人' },
  amount: { en: 'Amount', zh: '金额' },
  refunded: { en: 'Refunded', zh: '已退款' },
  reason: (text: string) => ({ en: `Reason: ${text}`, zh: `理由：${text}` }),
  refundAsked: (formatted: string, amount: bigint, isTest: boolean) => {
    const { en, zh } = sum(formatted, amount, isTest)
    return { en: `Refund of ${en} requested`, zh: `申请退款 ${zh}` }
  },
  netAmount: { en: 'Net payment', zh: '净支付' },
  /** Below the net payment. */
  netOf: (paid: string, refunded: string) => ({
    en: `Paid ${paid}, refunded ${refunded}`,
    zh: `付款 ${paid}，已退 ${refunded}`,
  }),
  refundedLine: (formatted: string, amount: bigint, isTest: boolean) => {
    const { en, zh } = sum(formatted, amount, isTest)
    return { en: `${en} refunded to your wallet`, zh: `已退回 ${zh}到你的钱包` }
  },
  /** The receipt on paper. */
  receipt: {
    title: { en: 'Receipt', zh: '收据' },
    total: { en: 'Total', zh: '合计' },
    code: { en: 'Code', zh: '卡密' },
    codes: { en: 'Codes', zh: '卡密' },
    address: { en: 'Address of this receipt', zh: '收据地址' },
    addressText: {
      en: 'The payer sees it after signing in. It shows later refunds.',
      zh: '付款人登录后可见，之后的退款也显示在那里。',
    },
    worth: {
      en: `${POINTS} are not money. This receipt shows that ${POINTS} have moved. It is not a tax invoice.`,
      zh: `${POINTS}不是货币。本收据证明${POINTS}的转移，不是发票，不能用于报销或抵税。`,
    },
  },
  returnToShop,
  returning: { en: 'You return to the shop in a few seconds.', zh: '几秒后将自动返回商家。' },
  support: {
    en: `If ${POINTS} have left your wallet, this number helps us to find the payment:`,
    zh: `如果你的${POINTS}被扣除，请把此编号告诉我们：`,
  },
  paused: {
    en: 'Payments are paused for maintenance. Nothing was charged; please try again in a few minutes.',
    zh: '系统维护中，暂停支付。没有扣款，请几分钟后再试。',
  },
  changed: {
    en: 'Nothing was charged, because the order has changed. Check the amount and confirm again.',
    zh: '没有扣款：订单在你查看期间有变化。请核对金额后再次确认。',
  },
  price: { en: 'Price', zh: '标价' },
  converted: (money: string, formatted: string, rate: string) => ({
    en: `${money} → ${pointsOf(formatted)} (exchange rate ${rate})`,
    zh: `${money} → ${formatted} ${POINTS}（兑换比例 ${rate}）`,
  }),
  /** What only the payer of a test order may do. */
  test: {
    title: { en: 'Test another outcome', zh: '测试其他结果' },
    text: {
      en: 'Only in test mode: see how the shop handles these cases.',
      zh: '仅限测试模式：看看商家如何处理以下情况。',
    },
    refilled: (formatted: string, amount: bigint) => {
      const { en, zh } = sum(formatted, amount, true)
      return { en: `Your test wallet holds ${en} now.`, zh: `测试钱包现有 ${zh}。` }
    },
    outcomes: {
      expired: { en: 'Let the order expire now', zh: '让订单立即过期' },
      notify_refused: { en: 'Pay, and let the first notification fail', zh: '付款，但首次通知失败' },
      notify_slow: { en: 'Pay, and notify the shop 20 seconds late', zh: '付款，但晚 20 秒通知商家' },
      notify_twice: { en: 'Pay, and notify the shop twice', zh: '付款，并通知商家两次' },
      refill: { en: `Refill play ${POINTS}`, zh: `补满虚拟${POINTS}` },
    },
  },
  /** Of a receipt whose payment was refunded in part. */
  partlyRefunded: { en: 'Partly refunded', zh: '已付款，部分退款' },
  states: {
    paid: { en: 'Paid', zh: '付款成功' },
    refunded: { en: 'Refunded', zh: '已全额退款' },
    refundedText: {
      en: `All ${POINTS} of this payment are back in your wallet.`,
      zh: `这笔付款的${POINTS}已全部退回你的钱包。`,
    },
    paidByOther: { en: 'Already paid', zh: '订单已由他人支付' },
    paidByOtherText: {
      en: 'Nothing was charged to you. Another member has paid this order.',
      zh: `没有扣除你的${POINTS}。另一位成员已支付这笔订单。`,
    },
    expired: { en: 'This order has expired', zh: '订单已过期' },
    expiredText: {
      en: 'Nothing was charged. You can order again at the shop.',
      zh: `没有扣除任何${POINTS}。可以回到商家重新下单。`,
    },
    closed: { en: 'This order was cancelled', zh: '订单已取消' },
    closedText: {
      en: 'Nothing was charged. The shop has cancelled the order.',
      zh: `没有扣除任何${POINTS}。商家已取消这笔订单。`,
    },
    frozen: { en: 'This order is frozen', zh: '订单已冻结' },
    frozenText: {
      en: 'Nothing was charged. An administrator is checking this order, so it cannot be paid now. Please ask the shop.',
      zh: `没有扣除任何${POINTS}。管理员正在核查这笔订单，暂时无法支付，详情请咨询商家。`,
    },
    unusable: { en: 'This shop cannot take payments', zh: '商家暂时无法收款' },
    unusableText: {
      en: 'Nothing was charged. Please try again later, or ask the shop.',
      zh: `没有扣除任何${POINTS}。请稍后再试，或咨询商家。`,
    },
    dailyLimit: { en: 'The shop’s daily limit is reached', zh: '商家今日收款已达上限' },
    dailyLimitText: {
      en: `Nothing was charged. This shop can take a limited number of ${POINTS} a day. A smaller order may still be within the limit, which resets at midnight in China (UTC+8).`,
      zh: `没有扣除任何${POINTS}。商家每天可收取的${POINTS}有限，金额较小的订单也许仍可付款；额度在北京时间零点恢复。`,
    },
    notOnSale: { en: 'No longer on sale', zh: '已停止出售' },
    notOnSaleText: {
      en: 'The shop took this off sale while you were paying. Nothing was charged.',
      zh: `付款时商户已停止出售，未扣除${POINTS}。`,
    },
    notAllowed: { en: 'Not for sale to you', zh: '你无法购买此商品' },
    notAllowedText: {
      en: 'The shop sells this to members of a higher level or of certain groups only. Nothing was charged.',
      zh: `商家仅向更高等级或指定群组的成员出售，未扣除${POINTS}。`,
    },
    soldOut: { en: 'Sold out', zh: '已售罄' },
    soldOutText: {
      en: 'Sold out while you were paying. Nothing was charged.',
      zh: `付款时已售罄，未扣除${POINTS}。`,
    },
    memberLimit: { en: 'Limit reached', zh: '已达限购数量' },
    memberLimitText: {
      en: 'You have bought as many as one member may. Nothing was charged.',
      zh: `已达到每人限购数量，未扣除${POINTS}。`,
    },
    tipRefused: { en: 'No tip possible', zh: '无法打赏' },
    tipRefusedText: {
      en: 'Nothing was charged. The author cannot receive this tip now.',
      zh: `没有扣除任何${POINTS}。作者现在不能接收这笔打赏。`,
    },
    tipLimit: { en: 'A limit of tips is reached', zh: '已达打赏上限' },
    tipLimitText: {
      en: 'Nothing was charged. Your limits, or how often you two have tipped each other, do not allow this tip now.',
      zh: `没有扣除任何${POINTS}。你目前的打赏限额，或你们之间的打赏次数，不允许这笔打赏。`,
    },
    notFound: { en: 'No such order', zh: '找不到这笔订单' },
    notFoundText: {
      en: 'Nothing was charged. The address may be incomplete. Please start again from the shop.',
      zh: `没有扣除任何${POINTS}。地址可能不完整，请从商家重新开始。`,
    },
  },
} satisfies Texts

/** Texts of the list of own payments. */
export const payments = {
  searchHint: {
    en: 'Product, shop, number or amount',
    zh: '商品、商家、编号或金额',
  },
  empty: { en: 'No payments yet', zh: '还没有付款' },
  emptyText: {
    en: 'Orders that you pay or open at a shop appear here, each with its receipt.',
    zh: '在商家支付或打开的订单会连同收据显示在这里。',
  },
  columns: {
    item: { en: 'Product', zh: '商品' },
    amount: { en: 'Amount', zh: '金额' },
    time: { en: 'Time', zh: '时间' },
    state: { en: 'Status', zh: '状态' },
  },
  /** The filters, each for some fates. Closed are those that expired, were cancelled, or were paid by another member. */
  groups: {
    open: { en: 'To pay', zh: '待支付' },
    paid: { en: 'Paid', zh: '已支付' },
    refunded: { en: 'Refunded', zh: '有退款' },
    ended: { en: 'Closed', zh: '已关闭' },
  },
  payNow: { en: 'Pay', zh: '付款' },
  kept: (refunded: string) => ({ en: `${refunded} refunded`, zh: `已退 ${refunded}` }),
  fates: {
    open: { en: 'Not paid yet', zh: '待支付' },
    paid: { en: 'Paid', zh: '已支付' },
    partlyRefunded: { en: 'Partly refunded', zh: '部分退款' },
    refunded: { en: 'Refunded', zh: '已退款' },
    paidByOther: { en: 'Paid by another member', zh: '已由他人支付' },
    expired: { en: 'Expired', zh: '已过期' },
    closed: { en: 'Cancelled', zh: '已取消' },
  },
} satisfies Texts
