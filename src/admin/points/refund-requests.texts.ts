/** Texts of deciding on refund requests. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const refundDecisions = {
  none: { en: 'No refund requests', zh: '没有退款申请' },
  noneText: {
    en: 'When a merchant asks to refund an order, it appears here.',
    zh: '商户申请退款后会显示在这里。',
  },
  declined: (app: string, points: string) => ({
    en: `Declined: ${app} asked to refund ${points} ${POINTS}. The merchant and the buyer see your answer.`,
    zh: `已拒绝 ${app} 退还 ${points} ${POINTS} 的申请，商户和买家会看到你的答复。`,
  }),
  canReturn: (left: string, wallet: string, fee: string, payee: string) => ({
    en: `${left} ${POINTS} of this order can be refunded: ${wallet} from ${payee}, ${fee} from the fee.`,
    zh: `此订单还可退 ${left} ${POINTS}：${payee} 承担 ${wallet}，手续费退还 ${fee}。`,
  }),
  holds: (have: string) => ({ en: `That wallet has ${have}.`, zh: `该钱包现有 ${have}。` }),
} satisfies Texts
