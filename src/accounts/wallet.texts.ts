/** Texts of the wallet and its statement. */
import type { Texts } from '../web/languages.ts'
import { POINTS } from '../web/site-words.ts'

export const wallet = {
  title: { en: 'Wallet', zh: '钱包' },
  balance: { en: 'Balance', zh: '当前余额' },
  monthIn: { en: 'In this month', zh: '本月收入' },
  monthMoved: (came: string, went: string) => ({
    en: `This month ${came} in, ${went} out`,
    zh: `本月收入 ${came}，支出 ${went}`,
  }),
  monthOut: { en: 'Out this month', zh: '本月支出' },
  frozen: {
    en: 'Your wallet is frozen. You cannot pay or send anything until an administrator unfreezes it. You still receive what is sent to you.',
    zh: '钱包已冻结：在管理员解冻之前无法付款或转出，但仍可收款。',
  },
  statement: { en: 'Statement', zh: '明细' },
  empty: { en: 'No movements yet', zh: '暂无明细' },
  emptyText: {
    en: `Every payment, refund, transfer and reward will be listed here, with your balance after it.`,
    zh: '付款、退款、转账和奖励都会列在这里，并附上变动后的余额。',
  },
  toHome: { en: `Where ${POINTS} come from`, zh: `${POINTS}从哪里来` },
  searchHint: { en: 'Product, shop, member or amount', zh: '商品、商家、成员、编号或金额' },
  kind: { en: 'Type', zh: '类型' },
  /** The kinds of journals, for administrators and merchants too. */
  kinds: {
    payment: { en: 'Payment', zh: '付款' },
    refund: { en: 'Refund', zh: '退款' },
    grant: { en: 'Grant', zh: '发放' },
    transfer: { en: 'Transfer', zh: '转账' },
    adjustment: { en: 'Adjustment', zh: '调整' },
    reversal: { en: 'Reversal', zh: '冲正' },
  },
  filters: {
    payment: { en: 'Payments', zh: '付款与收款' },
    refund: { en: 'Refunds', zh: '退款' },
    grant: { en: 'Rewards', zh: '发放' },
    transfer: { en: 'Transfers', zh: '转账' },
    adjustment: { en: 'Adjustments', zh: '调整' },
    reversal: { en: 'Reversals', zh: '冲正' },
  },
  download: { en: 'Export CSV', zh: '导出 CSV' },
  downloadText: (max: string) => ({
    en: `The CSV file contains the movements that you see here, newest first, up to ${max}.`,
    zh: `CSV 文件包含当前筛选结果，从新到旧，最多 ${max} 条。`,
  }),
  what: { en: 'Movement', zh: '摘要' },
  when: { en: 'Time', zh: '时间' },
  amount: { en: 'Amount', zh: '金额' },
  balanceAfter: { en: 'Balance', zh: '余额' },
  words: {
    payment: { en: 'Payment', zh: '付款' },
    sale: { en: 'Sale', zh: '收款' },
    refund: { en: 'Refund', zh: '退款' },
    partialRefund: { en: 'Partial refund', zh: '部分退款' },
    tipGiven: { en: 'Tip given', zh: '打赏' },
    tipReceived: { en: 'Tip received', zh: '收到打赏' },
    tipReturned: { en: 'Tip refunded', zh: '打赏退回' },
    refundedToBuyer: { en: 'Refund to the buyer', zh: '退款给买家' },
    sent: { en: 'Transfer sent', zh: '转出' },
    received: { en: 'Transfer received', zh: '转入' },
    reversal: { en: 'Transfer reversed', zh: '转账冲正' },
    grant: { en: 'Reward', zh: '发放' },
    adjustment: { en: 'Adjustment', zh: '调整' },
  },
  /** Of a payment whose refund its shop has asked for. */
  refundAsked: (formatted: string) => ({
    en: `Refund of ${formatted} requested`,
    zh: `退款 ${formatted} 待处理`,
  }),
  toMember: (name: string) => ({ en: `To @${name}`, zh: `转给 @${name}` }),
  fromMember: (name: string) => ({ en: `From @${name}`, zh: `来自 @${name}` }),
  tipTo: (name: string) => ({ en: `Tip to @${name}`, zh: `打赏 @${name}` }),
  tipFrom: (name: string) => ({ en: `Tip from @${name}`, zh: `@${name} 的打赏` }),
  forumActivity: { en: 'Forum activity', zh: '论坛活跃奖励' },
  forumScore: (day: string) => ({ en: `Forum activity of ${day}`, zh: `${day} 的论坛活跃奖励` }),
  testWallet: { en: 'Test wallet', zh: '测试钱包' },
  playPoints: { en: `Play ${POINTS}`, zh: `虚拟${POINTS}` },
  email: { en: 'Email', zh: '邮箱' },
} satisfies Texts
