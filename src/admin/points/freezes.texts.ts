/** Texts of freezing wallets and orders, and suspending payment applications. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const freeze = {
  titles: {
    wallets: {
      freeze: { en: 'Freeze the wallet', zh: '冻结钱包' },
      unfreeze: { en: 'Unfreeze the wallet', zh: '解冻钱包' },
    },
    orders: {
      freeze: { en: 'Freeze the order', zh: '冻结订单' },
      unfreeze: { en: 'Unfreeze the order', zh: '解冻订单' },
    },
    'payment-applications': {
      freeze: { en: 'Suspend the application', zh: '停用应用' },
      unfreeze: { en: 'Reinstate the application', zh: '恢复应用' },
    },
  },
  questions: {
    wallets: {
      freeze: (name: string) => ({ en: `Freeze the wallet of ${name}?`, zh: `冻结 ${name} 的钱包？` }),
      unfreeze: (name: string) => ({ en: `Unfreeze the wallet of ${name}?`, zh: `解冻 ${name} 的钱包？` }),
    },
    orders: {
      freeze: (name: string) => ({ en: `Freeze the order “${name}”?`, zh: `冻结订单“${name}”？` }),
      unfreeze: (name: string) => ({ en: `Unfreeze the order “${name}”?`, zh: `解冻订单“${name}”？` }),
    },
    'payment-applications': {
      freeze: (name: string) => ({ en: `Suspend ${name}?`, zh: `停用 ${name}？` }),
      unfreeze: (name: string) => ({ en: `Reinstate ${name}?`, zh: `恢复 ${name}？` }),
    },
  },
  done: {
    wallets: {
      freeze: (name: string) => ({
        en: `The wallet of ${name} is frozen. They see your reason.`,
        zh: `已冻结 ${name} 的钱包，对方会看到理由。`,
      }),
      unfreeze: (name: string) => ({
        en: `The wallet of ${name} is unfrozen.`,
        zh: `已解冻 ${name} 的钱包。`,
      }),
    },
    orders: {
      freeze: (name: string) => ({
        en: `The order “${name}” is frozen. The merchant sees your reason.`,
        zh: `已冻结订单“${name}”，商户会看到理由。`,
      }),
      unfreeze: (name: string) => ({
        en: `The order “${name}” can be paid again.`,
        zh: `已解冻订单“${name}”，可以继续支付。`,
      }),
    },
    'payment-applications': {
      freeze: (name: string) => ({
        en: `${name} is suspended. The owner sees your reason.`,
        zh: `已停用 ${name}，所有者会看到理由。`,
      }),
      unfreeze: (name: string) => ({
        en: `${name} can take payments again.`,
        zh: `已恢复 ${name}，可以继续收款。`,
      }),
    },
  },
  balance: { en: 'Balance', zh: '余额' },
  amount: { en: 'Amount', zh: '金额' },
  application: { en: 'Application', zh: '应用' },
  owner: { en: 'Owner', zh: '所有者' },
  texts: {
    wallets: {
      freeze: {
        en: `The member cannot pay or transfer, and their applications cannot transfer. The wallet still receives ${POINTS}, and refunds are still paid from it.`,
        zh: '该成员无法付款或转出，其应用也无法转账；仍可收款，退款照常。',
      },
      unfreeze: { en: 'The member can pay and transfer again at once.', zh: '该成员可立即恢复付款和转账。' },
    },
    orders: {
      freeze: {
        en: 'It cannot be paid. Buyers who open it see that it is frozen.',
        zh: '无法支付；打开订单的买家会看到订单已冻结。',
      },
      unfreeze: { en: 'It can be paid again until it expires.', zh: '在有效期内可再次支付。' },
    },
    'payment-applications': {
      freeze: {
        en: 'It cannot create orders, take payments or transfer. Paid orders can still be queried and refunded, and notifications are still sent.',
        zh: '无法下单、收款或转账；已付款的订单仍可查询和退款，通知照常发送。',
      },
      unfreeze: { en: 'It can take payments again at once.', zh: '可立即恢复收款。' },
    },
  },
} satisfies Texts
