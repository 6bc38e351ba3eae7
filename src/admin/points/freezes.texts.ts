/** Texts of freezing wallets and orders, and suspending payment applications. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const freeze = {
  titles: {
    wallets: {
      freeze: { en: 'Freeze this wallet', zh: '冻结此钱包' },
      unfreeze: { en: 'Unfreeze this wallet', zh: '解冻此钱包' },
    },
    orders: {
      freeze: { en: 'Freeze this order', zh: '冻结此订单' },
      unfreeze: { en: 'Unfreeze this order', zh: '解冻此订单' },
    },
    'payment-applications': {
      freeze: { en: 'Suspend this application', zh: '停用此应用' },
      unfreeze: { en: 'Reinstate this application', zh: '恢复此应用' },
    },
  },
  texts: {
    wallets: {
      freeze: {
        en: `The member can pay and transfer nothing, nor can their applications transfer. ${POINTS} still come in, and refunds still go out. The member reads the reason.`,
        zh: '该成员无法付款或转出，其应用也无法转账；仍可收款，退款照常。成员会看到原因。',
      },
      unfreeze: { en: 'The member can pay and transfer again, at once.', zh: '该成员可立即恢复付款和转账。' },
    },
    orders: {
      freeze: {
        en: 'Nobody can pay it. The merchant reads the reason; whoever opens it is told that it is on hold.',
        zh: '任何人都无法支付。商家会看到原因，打开订单的人会得知订单已冻结。',
      },
      unfreeze: { en: 'It can be paid again, as long as its time lasts.', zh: '在有效期内可再次支付。' },
    },
    'payment-applications': {
      freeze: {
        en: 'It can place no orders, take no payments and transfer nothing. What was paid can still be asked for, and merchants are still told of it. The applicant reads the reason.',
        zh: '无法下单、收款或转账；已付款的订单仍可查询，通知照常发送。申请人会看到原因。',
      },
      unfreeze: { en: 'It can take payments again, at once.', zh: '可立即恢复收款。' },
    },
  },
} satisfies Texts
