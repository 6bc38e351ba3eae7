/** Texts of the search by number or name. */
import type { Texts } from '../../web/languages.ts'

export const find = {
  title: { en: 'Find', zh: '查找' },
  label: { en: 'Number or name', zh: '编号或名称' },
  hint: {
    en: 'A member, an application, a payment application, an order, a transfer or a journal, by any id.',
    zh: '用任意编号查找成员、应用、收款应用、订单、转账或凭证。',
  },
  lead: {
    en: 'Ids are taken as they are: txn_…, pay_…, a pid, trade_no, a client_id, a merchant’s own order number, a username.',
    zh: '按原样输入编号：txn_…、pay_…、pid、trade_no、client_id、商户订单号或用户名。',
  },
  nothing: { en: 'Nothing has this number or name.', zh: '没有与此编号或名称相符的内容。' },
  kinds: {
    member: { en: 'member', zh: '成员' },
    oauthApp: { en: 'application', zh: '应用' },
    paymentApp: { en: 'payment application', zh: '收款应用' },
    order: { en: 'order', zh: '订单' },
    transfer: { en: 'transfer', zh: '转账' },
    journal: { en: 'journal', zh: '凭证' },
  },
} satisfies Texts
