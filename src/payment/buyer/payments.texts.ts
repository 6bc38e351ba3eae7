/** Texts of the list of own payments. */
import type { Texts } from '../../web/languages.ts'

export const payments = {
  lead: {
    en: 'Every order that you have paid or opened, with its receipt.',
    zh: '你支付过或打开过的所有订单及其收据。',
  },
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
  kept: (refunded: string) => ({ en: `${refunded} refunded`, zh: `已退 ${refunded}` }),
  fates: {
    open: { en: 'Waiting for payment', zh: '待支付' },
    paid: { en: 'Paid', zh: '已支付' },
    partlyRefunded: { en: 'Partly refunded', zh: '部分退款' },
    refunded: { en: 'Refunded', zh: '已退款' },
    paidByOther: { en: 'Paid by another member', zh: '已由他人支付' },
    expired: { en: 'Expired', zh: '已过期' },
    closed: { en: 'Cancelled', zh: '已取消' },
  },
} satisfies Texts
