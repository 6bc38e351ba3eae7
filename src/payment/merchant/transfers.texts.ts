/** Texts of the transfers of a merchant. */
import type { Texts } from '../../web/languages.ts'
import { areLeft, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const merchantTransfers = {
  empty: { en: 'No transfers yet', zh: '还没有转账' },
  emptyText: {
    en: `${POINTS} that you send to members appear here, whether from this page or through the API.`,
    zh: `转给成员的${POINTS}会显示在这里，包括在本页和通过接口转出的。`,
  },
  searchHint: { en: 'Order number, ID or recipient', zh: '订单号、交易号或收款人用户名' },
  recipient: { en: 'Recipient', zh: '收款人' },
  time: { en: 'Sent', zh: '转出时间' },
  send: { en: `Send ${POINTS}`, zh: `转出${POINTS}` },
  lead: {
    en: 'From your wallet to a member. You see the fee and the total before you confirm.',
    zh: '从你的钱包转给一位成员。确认之前会先显示手续费和总额。',
  },
  to: { en: 'Recipient’s username', zh: '收款人用户名' },
  amount: { en: `${POINTS} to send`, zh: `转出的${POINTS}` },
  orderId: { en: 'Order number', zh: '订单号' },
  orderIdHint: {
    en: 'Your own number for this transfer. The same number never transfers twice. Leave empty to have one assigned.',
    zh: '你自己的编号。同一个编号无论提交几次，只转一次。留空则自动生成。',
  },
  quote: { en: 'Continue', zh: '下一步' },
  limits: (min: string, max: string) => ({
    en: `${min} to ${pointsOf(max)} per transfer.`,
    zh: `每次 ${min} 至 ${max} ${POINTS}。`,
  }),
  leftToday: (left: string) => ({
    en: `${areLeft(left)} today. Days begin at midnight in China (UTC+8).`,
    zh: `今天还可转 ${left} ${POINTS}，每天从北京时间零点算起。`,
  }),
  have: { en: 'Your balance', zh: '当前余额' },
  need: { en: 'Total', zh: '共扣除' },
  after: { en: 'Balance after', zh: '转出后余额' },
  fee: { en: 'Fee, in addition', zh: '另付手续费' },
  sent: (points: string, username: string, fee: string) => ({
    en: `@${username} has received ${pointsOf(points)}. The fee was ${fee}.`,
    zh: `@${username} 已收到 ${points} ${POINTS}，手续费 ${fee}。`,
  }),
  confirmTitle: { en: `Send these ${POINTS}?`, zh: `确认转出这些${POINTS}？` },
  confirm: (formatted: string, username: string) => ({
    en: `Send ${pointsOf(formatted)} to @${username}`,
    zh: `向 @${username} 转出 ${formatted} ${POINTS}`,
  }),
  again: { en: `Submitting this page twice sends the ${POINTS} only once.`, zh: '重复提交本页只会转一次。' },
  signIn: { en: `Sign in again to send this many ${POINTS}`, zh: `转出这么多${POINTS}需要重新登录` },
  statuses: {
    completed: { en: 'Completed', zh: '已完成' },
    reversed: { en: 'Reversed', zh: '已冲正' },
  },
  faults: {
    recipient_mismatch: { en: 'There is no member with this username.', zh: '没有这个用户名的成员。' },
    transfer_to_self: { en: 'You cannot send to yourself.', zh: '不能转给自己。' },
    below_minimum: { en: 'This is below the minimum for one transfer.', zh: '低于每次转账的最低额度。' },
    above_maximum: { en: 'This is above the maximum for one transfer.', zh: '超过每次转账的最高额度。' },
    daily_limit_reached: { en: 'This is more than you can still send today.', zh: '超过今天剩余的额度。' },
    insufficient_points: {
      en: `You do not have enough ${POINTS} for the amount and the fee.`,
      zh: `你的${POINTS}不足以支付金额与手续费。`,
    },
    transfers_disabled: { en: 'Transfers are currently switched off.', zh: '转账功能目前已关闭。' },
    payments_paused: {
      en: 'Payments and transfers are paused for maintenance. Try again later.',
      zh: '系统维护中，暂停付款和转账，请稍后再试。',
    },
    wallet_frozen: { en: 'An administrator has frozen this wallet.', zh: '管理员已冻结这个钱包。' },
    application_unusable: {
      en: 'This application is not approved, so it cannot transfer.',
      zh: '此应用未通过审核，不能转账。',
    },
    parameter_invalid: {
      en: 'This order number was used for another transfer.',
      zh: '此订单号已用于另一笔转账。',
    },
    order_exists: {
      en: 'The transfer with this order number was reversed.',
      zh: '使用此订单号的转账已冲正。',
    },
    amount: { en: 'Enter a whole number from 1.', zh: '请填写不小于 1 的整数。' },
    order_id: {
      en: 'Enter at most 128 letters, digits and symbols, without spaces or &.',
      zh: '最多 128 个字符，可用字母、数字和符号，不含空格与 &。',
    },
  },
} satisfies Texts
