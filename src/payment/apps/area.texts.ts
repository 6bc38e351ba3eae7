/** Texts of the navigation of one payment application. */
import type { Texts } from '../../web/languages.ts'

/** The places that other areas name too. */
export const tabs = {
  orders: { en: 'Orders', zh: '订单' },
  transfers: { en: 'Transfers', zh: '转账' },
  notifications: { en: 'Notifications', zh: '通知' },
  statistics: { en: 'Statistics', zh: '统计' },
  mandates: { en: 'Mandates', zh: '预授权' },
  addresses: { en: 'Address test', zh: '地址测试' },
  events: { en: 'Events', zh: '事件' },
  signatures: { en: 'Signature debugger', zh: '签名调试' },
} satisfies Texts

export const area = {
  label: (name: string) => ({ en: `Pages of ${name}`, zh: `${name} 的页面` }),
  back: { en: 'Payment applications', zh: '收款应用' },
  overview: { en: 'Overview', zh: '概览' },
  developers: { en: 'Developers', zh: '接入' },
  keys: { en: 'Keys and gateway', zh: '密钥与网关' },
  team: { en: 'Team', zh: '团队' },
  settings: { en: 'Settings', zh: '应用设置' },
  live: { en: 'Live', zh: '正式' },
  test: { en: 'Test', zh: '测试' },
} satisfies Texts
