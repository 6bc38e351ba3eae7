/** Texts of the search by number or name. */
import type { Texts } from '../../web/languages.ts'

export const find = {
  title: { en: 'Find', zh: '查找' },
  label: { en: 'Number or name', zh: '编号或名称' },
  hint: {
    en: 'Finds members, applications, orders, transfers and journals by any of their numbers.',
    zh: '可按任意编号查找成员、应用、订单、转账和凭证。',
  },
  lead: {
    en: 'Enter a transaction_id (txn_…), trade_no, order_id, Payment ID (pay_…), pid, client_id or username.',
    zh: '可输入 transaction_id（txn_…）、trade_no、order_id、Payment ID（pay_…）、pid、client_id 或用户名。',
  },
  start: { en: 'Find anything by its number', zh: '按编号查找' },
  nothing: { en: 'No results', zh: '没有符合条件的结果' },
  kinds: {
    member: { en: 'member', zh: '成员' },
    oauthApp: { en: 'application', zh: '应用' },
    paymentApp: { en: 'payment application', zh: '收款应用' },
    order: { en: 'order', zh: '订单' },
    transfer: { en: 'transfer', zh: '转账' },
    journal: { en: 'journal', zh: '凭证' },
  },
} satisfies Texts
