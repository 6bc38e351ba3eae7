/** Texts of asking for a refund and deciding on it. */
import type { Texts } from '../../web/languages.ts'
import { areLeft } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const refundRequests = {
  title: { en: 'Refund requests', zh: '退款申请' },
  heading: { en: 'Refund', zh: '退款' },
  lead: {
    en: `Merchants ask; ${POINTS} move when you agree. Merchant and buyer read the reason and your answer.`,
    zh: `由商家提出，经你同意后${POINTS}才会变动。商家和买家都能看到理由和你的答复。`,
  },
  shows: {
    open: { en: 'Waiting', zh: '待处理' },
    decided: { en: 'Decided', zh: '已处理' },
  },
  none: { en: 'There is none.', zh: '没有退款申请。' },
  asked: { en: 'Asked for', zh: '申请' },
  decided: { en: 'Decided', zh: '处理' },
  answered: { en: 'The administrator wrote', zh: '管理员的答复' },
  answer: { en: 'Why not', zh: '拒绝的理由' },
  answerHint: { en: 'The merchant and the buyer read it.', zh: '商家和买家都会看到。' },
  decline: { en: 'Decline', zh: '拒绝' },
  left: (left: string, wallet: string, fee: string) => ({
    en: `${areLeft(left)} of this order: ${wallet} would come from the wallet that was paid, ${fee} from the fee.`,
    zh: `这个订单还可退 ${left} ${POINTS}：其中 ${wallet} 来自当时收款的钱包，${fee} 来自手续费。`,
  }),
  adminLeft: (left: string, wallet: string, have: string) => ({
    en: `${areLeft(left)} of this order: ${wallet} from the wallet of who was paid, which holds ${have}; the rest from the fee.`,
    zh: `这个订单还可退 ${left} ${POINTS}：其中 ${wallet} 来自收款人的钱包（现有 ${have}），其余来自手续费。`,
  }),
  short: {
    en: 'That wallet does not hold as much now: only a part can be taken from it.',
    zh: `该钱包现在没有这么多${POINTS}，只能从中退回一部分。`,
  },
  nothingLeft: {
    en: 'Nothing is left of this order, so nothing can be given back.',
    zh: `这个订单已没有可退的${POINTS}。`,
  },
  ask: { en: 'Ask for this refund', zh: '申请退款' },
  reasonHint: {
    en: 'The administrator decides. The buyer reads the reason and the outcome.',
    zh: '由管理员决定。买家会看到理由和结果。',
  },
  withdraw: { en: 'Withdraw the request', zh: '撤回申请' },
  statuses: {
    open: { en: 'Waiting', zh: '待处理' },
    accepted: { en: 'Accepted', zh: '已同意' },
    declined: { en: 'Declined', zh: '已拒绝' },
    withdrawn: { en: 'Withdrawn', zh: '已撤回' },
  },
  toBuyer: {
    open: { en: 'the shop has asked for it; an administrator decides', zh: '商家已申请，等待管理员决定' },
    declined: { en: 'asked for by the shop, and declined', zh: '商家曾申请，已被拒绝' },
  },
  amount: { en: `${POINTS} to give back`, zh: `退还${POINTS}` },
} satisfies Texts
