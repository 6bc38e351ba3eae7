/** Texts of refunds, reversals, grants and adjustments. */
import type { Texts } from '../../web/languages.ts'
import { pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const corrections = {
  title: { en: 'Refunds and corrections', zh: '退款与更正' },
  lead: {
    en: 'What is given back or corrected is always a new entry, with a reason that those concerned can read.',
    zh: '退还或更正都会新增记录，并附上当事人可见的理由。',
  },
  find: { en: 'Number of an order or a transfer', zh: '订单或转账的编号' },
  search: { en: 'Find', zh: '查找' },
  nothing: { en: 'Nothing has this number.', zh: '没有找到。' },
  amount: { en: 'Amount', zh: POINTS },
  fee: { en: 'fee', zh: '手续费' },
  refundedSoFar: { en: 'Refunded so far', zh: '已退' },
  withFee: { en: 'The platform gives back its fee too', zh: '平台同时退还手续费' },
  toRefund: { en: 'Refund …', zh: '退款…' },
  toReversal: { en: 'Reverse …', zh: '撤销…' },
  points: { en: `Grant or take ${POINTS}`, zh: `发放或扣除${POINTS}` },
  lines: { en: 'One member a line', zh: '每行一人' },
  linesHint: {
    en: `username, ${POINTS} — a negative number takes. Nothing happens before you confirm.`,
    zh: `用户名, ${POINTS}；负数为扣除。确认之前不会有任何更改。`,
  },
  check: { en: 'Check …', zh: '检查…' },
  confirmTitle: { en: 'Confirm', zh: '确认' },
  confirmRefund: (points: string, payer: string, applicant: string) => ({
    en: `@${payer} gets ${pointsOf(points)} back, from @${applicant} and, if chosen, from the fee.`,
    zh: `退还 @${payer} ${points} ${POINTS}，由 @${applicant} 承担；如已勾选，平台退还手续费部分。`,
  }),
  confirmReversal: (points: string, recipient: string, sender: string) => ({
    en: `@${recipient} returns ${pointsOf(points)} to @${sender}.`,
    zh: `@${recipient} 退回 ${points} ${POINTS}给 @${sender}。`,
  }),
  confirm: { en: 'Confirm', zh: '确认' },
  notSound: { en: 'Correct the marked lines first.', zh: '请先更正标出的行。' },
  faults: {
    unreadable: { en: 'not understood', zh: '无法识别' },
    unknownMember: { en: 'no such member', zh: '没有此成员' },
  },
  status: {
    unpaid: { en: 'unpaid', zh: '未付款' },
    paid: { en: 'paid', zh: '已付款' },
    expired: { en: 'expired', zh: '已过期' },
    closed: { en: 'cancelled', zh: '已取消' },
    refunded: { en: 'refunded', zh: '已退款' },
    completed: { en: 'completed', zh: '已完成' },
    reversed: { en: 'reversed', zh: '已撤销' },
  },
} satisfies Texts
