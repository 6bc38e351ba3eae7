/** Texts of the search by number or name. */
import type { Texts } from '../../web/languages.ts'

export const find = {
  title: { en: 'Search', zh: '搜索' },
  label: { en: 'Number or name', zh: '编号或名称' },
  hint: {
    en: 'Finds members, applications, orders, transfers and journals by any of their numbers.',
    zh: '可按任意编号搜索成员、应用、订单、转账和凭证。',
  },
  lead: {
    en: 'Enter a transaction ID (txn_…), trade number, order number, Payment ID (pay_…), pid, client_id or username.',
    zh: '可输入交易号（txn_…）、平台订单号、订单号、Payment ID（pay_…）、商户号 pid、client_id 或用户名。',
  },
  start: { en: 'Search for anything by its number', zh: '按编号搜索' },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingText: {
    en: 'Check the whole number or name. Members and applications also have lists with a search of their own.',
    zh: '请核对完整的编号或名称。成员和应用列表另有各自的搜索。',
  },
  kinds: {
    member: { en: 'member', zh: '成员' },
    oauthApp: { en: 'sign-in application', zh: '登录应用' },
    paymentApp: { en: 'payment application', zh: '收款应用' },
    order: { en: 'order', zh: '订单' },
    transfer: { en: 'transfer', zh: '转账' },
    journal: { en: 'journal', zh: '凭证' },
  },
} satisfies Texts
