/** Texts of the list of own payments. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const payments = {
  searchHint: {
    en: 'What was bought, a shop, a number, or an amount.',
    zh: `商品、商家、编号或${POINTS}数量。`,
  },
  empty: {
    en: 'Nothing yet. What you pay, and what you open to pay, stays here with its receipt.',
    zh: '暂无记录。你支付过或打开过的订单会连同收据保留在这里。',
  },
  fates: {
    open: { en: 'Not paid yet', zh: '待支付' },
    paid: { en: 'Paid', zh: '已支付' },
    partlyRefunded: { en: 'Partly refunded', zh: '部分退款' },
    refunded: { en: 'Refunded', zh: '已退款' },
    paidByOther: { en: 'Paid by somebody else', zh: '已由他人支付' },
    expired: { en: 'Expired', zh: '已过期' },
    closed: { en: 'Cancelled', zh: '已取消' },
  },
} satisfies Texts
