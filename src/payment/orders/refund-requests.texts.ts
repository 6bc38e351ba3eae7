/** Texts of asking for a refund and deciding on it. */
import type { Texts } from '../../web/languages.ts'
import { areLeft, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const refundRequests = {
  title: { en: 'Refund requests', zh: '退款申请' },
  heading: { en: 'Refund', zh: '退款' },
  lead: {
    en: `Merchants ask, and ${POINTS} move when you accept. The merchant and the buyer see the reason and your answer.`,
    zh: `由商户提出，经你同意后才会退款。商户和买家都能看到理由和你的答复。`,
  },
  shows: {
    open: { en: 'Waiting', zh: '待处理' },
    decided: { en: 'Decided', zh: '已处理' },
  },
  asked: { en: 'Requested', zh: '申请' },
  decided: { en: 'Decided', zh: '处理' },
  answered: { en: 'The administrator wrote', zh: '管理员的答复' },
  answer: { en: 'Reason for declining', zh: '拒绝的理由' },
  answerHint: { en: 'The merchant and the buyer see it.', zh: '商户和买家都会看到。' },
  decline: { en: 'Decline', zh: '拒绝' },
  left: (left: string, wallet: string, fee: string) => ({
    en: `${areLeft(left)} of this order: ${wallet} come from the wallet that was paid, ${fee} from the fee.`,
    zh: `这笔订单还可退 ${left} ${POINTS}：其中 ${wallet} 来自当时收款的钱包，${fee} 来自手续费。`,
  }),
  leftOfYours: (left: string, wallet: string, fee: string) => ({
    en: `${areLeft(left)} of this order: ${wallet} come from your wallet, ${fee} from the fee.`,
    zh: `这笔订单还可退 ${left} ${POINTS}：其中 ${wallet} 来自你的钱包，${fee} 来自手续费。`,
  }),
  tooMuch: (left: string) => ({
    en: `At most ${areLeft(left)}.`,
    zh: `最多还可退 ${left} ${POINTS}。`,
  }),
  short: {
    en: 'That wallet does not hold enough now, so only a part can be refunded from it.',
    zh: `该钱包现在没有这么多${POINTS}，只能从中退回一部分。`,
  },
  nothingLeft: {
    en: 'This order is refunded in full.',
    zh: '这笔订单已全额退款。',
  },
  ask: {
    open: { en: 'Ask for a refund', zh: '申请退款' },
    continue: { en: 'Next: check the refund', zh: '下一步：核对退款' },
    title: (points: string) => ({
      en: `Ask for a refund of ${pointsOf(points)}?`,
      zh: `申请退款 ${points} ${POINTS}？`,
    }),
    lead: {
      en: 'Nothing moves now. An administrator decides, and the order page shows the decision.',
      zh: '现在不会有任何变动。由管理员决定，结果会显示在订单页面。',
    },
    payer: (username: string) => ({ en: `Buyer @${username} gets`, zh: `买家 @${username} 收回` }),
    payee: (username: string) => ({ en: `Wallet of @${username}`, zh: `@${username} 的钱包` }),
    fee: { en: 'Fee that the platform returns', zh: '平台退还的手续费' },
    balance: { en: 'Your balance', zh: '当前余额' },
    balanceAfter: { en: 'Balance after', zh: '退款后的余额' },
    short: { en: 'not enough for this refund', zh: '不足以支付这笔退款' },
    feeNote: {
      en: 'The administrator can also decide that the fee is not returned. The wallet then pays the whole refund.',
      zh: '管理员也可以决定不退手续费，此时退款全部由钱包支付。',
    },
    readNote: { en: 'The buyer sees the reason and the outcome.', zh: '买家会看到理由和结果。' },
    button: (points: string) => ({
      en: `Ask to refund ${pointsOf(points)}`,
      zh: `申请退款 ${points} ${POINTS}`,
    }),
  },
  done: {
    asked: (points: string, payer: string) => ({
      en: `You asked to refund ${pointsOf(points)} to @${payer}. An administrator decides.`,
      zh: `已申请向 @${payer} 退款 ${points} ${POINTS}，等待管理员处理。`,
    }),
    withdrawn: (points: string) => ({
      en: `The request to refund ${pointsOf(points)} is withdrawn.`,
      zh: `已撤回退款 ${points} ${POINTS}的申请。`,
    }),
  },
  reasonHint: {
    en: 'An administrator decides. The buyer sees the reason and the outcome.',
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
    open: { en: 'The shop has asked for it. An administrator decides.', zh: '商家已申请，等待管理员处理。' },
    declined: { en: 'The shop asked for it. An administrator declined.', zh: '商家曾申请，管理员已拒绝。' },
  },
  amount: { en: `${POINTS} to refund`, zh: `退还${POINTS}` },
} satisfies Texts
