/** Texts of the pay page and the receipt. */
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

export const pay = {
  title: { en: 'Payment', zh: '付款' },
  payTo: { en: 'Pay to', zh: '收款方' },
  order: { en: 'Order', zh: '订单号' },
  payingAs: { en: 'Paying as', zh: '付款账号' },
  balanceNow: { en: 'Your balance', zh: '当前余额' },
  balanceAfter: { en: 'Balance after', zh: '付款后余额' },
  missing: (formatted: string, amount: bigint) => ({
    en: `You are ${formatted} ${counted(amount, POINT, POINTS)} short.`,
    zh: `还差 ${formatted} ${POINTS}。`,
  }),
  earn: { en: `${POINTS} are earned by taking part in the forum.`, zh: `参与论坛活动即可获得${POINTS}。` },
  submit: (formatted: string, amount: bigint) => ({
    en: `Pay ${formatted} ${counted(amount, POINT, POINTS)}`,
    zh: `支付 ${formatted} ${POINTS}`,
  }),
  payableUntil: { en: 'Can be paid until', zh: '付款截止时间' },
  cancel: { en: 'Cancel and return to the shop', zh: '取消并返回商家' },
  details: { en: 'Details', zh: '详情' },
  created: { en: 'Created', zh: '创建时间' },
  product: { en: 'Product', zh: '商品' },
  transaction: { en: 'Transaction', zh: '交易号' },
  approved: { en: 'approved by staff', zh: '已通过审核' },
  unreviewed: { en: 'not reviewed since it was changed', zh: '修改后尚未重新审核' },
  refunded: { en: 'Given back', zh: '退还' },
  kept: { en: 'You find this receipt again under My payments.', zh: '之后可在「我的付款」中找到这张收据。' },
  timeLeft: (time: string) => ({ en: `${time} left`, zh: `剩余 ${time}` }),
  minutesLeft: (minutes: string) => ({
    en: `Minutes left to pay: ${minutes}`,
    zh: `付款时间还剩 ${minutes} 分钟`,
  }),
  elsewhere: {
    title: { en: 'Continue on another device', zh: '在其他设备上继续' },
    text: {
      en: 'Scan the code there, or open the link, and sign in. This page notices when you have paid.',
      zh: '在那台设备上扫码或打开链接并登录。付款完成后，本页会自动更新。',
    },
    qr: { en: 'QR code of the address of this page', zh: '本页地址的二维码' },
    copy: { en: 'Copy the link', zh: '复制链接' },
    save: { en: 'Save the code', zh: '保存二维码' },
  },
  telling: {
    title: { en: 'The shop did not react?', zh: '商家没有反应？' },
    byBrowser: {
      en: 'This shop learns of your payment from your own browser. Return to the shop with the button above: the link carries the proof.',
      zh: '该商家通过你的浏览器得知付款。请用上方按钮返回商家，链接中带有付款证明。',
    },
    delivered: {
      en: 'The shop has confirmed that it knows of your payment.',
      zh: '商家已确认收到你的付款通知。',
    },
    underWay: { en: 'The shop is being told at this very moment.', zh: '正在通知商家。' },
    nextAttempt: {
      en: 'The shop has not confirmed yet. We tell it again:',
      zh: '商家尚未确认，下次通知时间：',
    },
    gaveUp: {
      en: 'The shop has not confirmed, and we have stopped telling it by ourselves.',
      zh: '商家没有确认，系统已停止自动通知。',
    },
    tooSoon: (seconds: number) => ({
      en: `The shop was told a moment ago. Try again in ${seconds} seconds.`,
      zh: `刚刚通知过商家，请在 ${seconds} 秒后重试。`,
    }),
    again: { en: 'Tell the shop again', zh: '再次通知商家' },
    times: (n: number) => ({ en: `${n} times, last`, zh: `共 ${n} 次，最近` }),
    askShop: {
      en: `Your ${POINTS} are with the shop. If it stays silent, give it the order and the reference above.`,
      zh: `${POINTS}已转给商家。如商家一直没有处理，请向其提供上方的订单号和参考编号。`,
    },
    badStatus: (status: number) => ({
      en: `The shop answered with error ${status}.`,
      zh: `商家返回错误 ${status}。`,
    }),
    outcomes: {
      delivered: { en: 'The shop confirmed.', zh: '商家已确认。' },
      wrong_body: { en: 'The shop answered, but did not confirm.', zh: '商家有响应，但没有确认。' },
      too_large: {
        en: 'The shop answered far more than a confirmation.',
        zh: '商家的响应过长，无法作为确认。',
      },
      redirect: {
        en: 'The shop’s address led on to another one, which is not followed.',
        zh: '商家的地址跳转到了其他地址，系统不会跟随。',
      },
      bad_address: {
        en: 'The shop has given an address that cannot be used.',
        zh: '商家提供的地址无法使用。',
      },
      blocked: { en: 'The shop has given an address that is not allowed.', zh: '商家提供的地址不被允许。' },
      dns: { en: 'The shop’s address was not found.', zh: '找不到商家的地址。' },
      refused: { en: 'The shop’s server took no connection.', zh: '商家的服务器拒绝连接。' },
      unreachable: { en: 'The shop’s server could not be reached.', zh: '无法连接到商家的服务器。' },
      tls: { en: 'No secure connection to the shop came about.', zh: '无法与商家建立安全连接。' },
      timeout: { en: 'The shop did not answer in time.', zh: '商家未及时响应。' },
      cut: { en: 'The connection to the shop broke off.', zh: '与商家的连接中断。' },
      malformed: { en: 'The shop’s answer could not be read.', zh: '无法识别商家的响应。' },
      withdrawn: { en: 'Not told: the payment was given back.', zh: '未通知：付款已退回。' },
      internal: { en: 'Something went wrong on our side.', zh: '我们这边出了问题。' },
      interrupted: { en: 'The attempt was interrupted on our side.', zh: '通知在我们这边被中断。' },
    } satisfies Record<Exclude<AttemptOutcome, 'bad_status'>, Text>,
  },
  paidAt: { en: 'Paid at', zh: '付款时间' },
  payee: { en: 'Paid to', zh: '收款方' },
  returnToShop: { en: 'Return to the shop', zh: '返回商家' },
  ledBack: { en: 'Going back to the shop in a few seconds.', zh: '几秒后将自动返回商家。' },
  paused: {
    en: 'Payments are paused for maintenance. Nothing was paid; try again in a few minutes.',
    zh: '系统维护中，暂停支付。尚未扣款，请几分钟后再试。',
  },
  changed: {
    en: 'The order changed while you were looking at it. Check the amount and confirm again.',
    zh: '订单在你查看期间有变化，请核对金额后再次确认。',
  },
  price: { en: 'Price', zh: '价格' },
  converted: (money: string, formatted: string, rate: string) => ({
    en: `${money} → ${pointsOf(formatted)} (rate ${rate})`,
    zh: `${money} → ${formatted} ${POINTS}（汇率 ${rate}）`,
  }),
  states: {
    paid: { en: 'Paid', zh: '付款成功' },
    paidText: {
      en: `The ${POINTS} are with the merchant. This page is your receipt.`,
      zh: `${POINTS}已转给商家，本页就是你的收据。`,
    },
    refunded: { en: 'Refunded', zh: '已退款' },
    refundedText: { en: 'This payment was given back to you.', zh: '这笔付款已退回给你。' },
    paidByOther: { en: 'Already paid', zh: '订单已支付' },
    paidByOtherText: {
      en: 'Somebody else has paid this order. Nothing was taken from you.',
      zh: `该订单已由他人支付，没有扣除你的${POINTS}。`,
    },
    expired: { en: 'Expired', zh: '订单已过期' },
    expiredText: {
      en: 'The time to pay this order is over and nothing was taken. No payment is accepted late, so none can get lost; the shop can offer the order again.',
      zh: `付款时间已过，没有扣除${POINTS}。逾期不再接受付款，因此不会有款项丢失；可回到商家重新下单。`,
    },
    closed: { en: 'Cancelled', zh: '订单已取消' },
    closedText: {
      en: 'The merchant has cancelled this order. Nothing was taken from you.',
      zh: `商家已取消该订单，没有扣除你的${POINTS}。`,
    },
    frozen: { en: 'On hold', zh: '已冻结' },
    frozenText: {
      en: 'An administrator holds this order, so it cannot be paid. Nothing was taken from you. The shop knows more.',
      zh: `管理员冻结了该订单，暂时无法支付。未扣除任何${POINTS}，详情请咨询商家。`,
    },
    unusable: { en: 'Not available', zh: '暂不可用' },
    unusableText: {
      en: 'This merchant cannot take payments at the moment. Nothing was taken from you.',
      zh: `该商家目前无法收款，没有扣除你的${POINTS}。`,
    },
    dailyLimit: { en: 'Not today', zh: '今日额度已满' },
    dailyLimitText: {
      en: `This merchant has reached the number of ${POINTS} it may take in a day. Nothing was taken from you. Smaller orders may still fit, and tomorrow there is room again.`,
      zh: `该商家今天可收取的${POINTS}已达上限，没有扣除你的${POINTS}。金额较小的订单也许仍可付款，明天额度会恢复。`,
    },
    notFound: { en: 'No such payment', zh: '付款不存在' },
    notFoundText: {
      en: 'There is no payment at this address. Start again from the shop.',
      zh: '此地址没有对应的付款，请从商家重新开始。',
    },
  },
} satisfies Texts
