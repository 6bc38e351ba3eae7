/** Texts of the search by number or name. */
import type { Texts } from '../../web/languages.ts'

export const find = {
  title: { en: 'Search', zh: '搜索' },
  label: { en: 'Search members, shops, orders', zh: '搜索成员、商店、订单' },
  hint: { en: 'Name or any number', zh: '名称或任意编号' },
  lead: {
    en: 'Members, applications and payment links by a part of their names, orders by what they sold. Numbers whole, as you paste them, or six characters of them.',
    zh: '按名称的一部分搜索成员、应用和收款链接，按商品说明搜索订单。编号可整段粘贴，也可输入其中六位以上。',
  },
  newest: (searched: string) => ({
    en: `Of the newest ${searched} orders. An older one is found by its whole number only.`,
    zh: `只搜索最新的 ${searched} 笔订单。更早的订单只能按完整编号搜索。`,
  }),
  start: { en: 'Search for anything by its name or number', zh: '按名称或编号搜索' },
  all: { en: 'Show all', zh: '查看全部' },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingText: {
    en: 'Try fewer letters, or check the number.',
    zh: '请减少字数，或核对编号。',
  },
  kinds: {
    member: { en: 'Members', zh: '成员' },
    oauthApp: { en: 'Sign-in applications', zh: '登录应用' },
    paymentApp: { en: 'Payment applications', zh: '收款应用' },
    link: { en: 'Payment links', zh: '收款链接' },
    order: { en: 'Orders', zh: '订单' },
    transfer: { en: 'Transfers', zh: '转账' },
    mandate: { en: 'Mandates', zh: '预授权' },
    journal: { en: 'Journals', zh: '凭证' },
  },
} satisfies Texts
