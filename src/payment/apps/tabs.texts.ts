/** Texts of the tabs above the pages of a payment application. */
import type { Texts } from '../../web/languages.ts'

export const tabs = {
  orders: { en: 'Orders', zh: '订单' },
  transfers: { en: 'Transfers', zh: '转账' },
  notifications: { en: 'Notifications', zh: '通知' },
  statistics: { en: 'Statistics', zh: '统计' },
  addresses: { en: 'Addresses', zh: '地址测试' },
  events: { en: 'Events', zh: '事件' },
  signatures: { en: 'Signatures', zh: '签名调试' },
} satisfies Texts
