// This room: the navigation of the administration, with the length of each queue.
// Verbs: showAdminNav, adminNav, readQueues.
/** Texts of the navigation of the administration. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const navigation = {
  title: { en: 'Administration', zh: '站点管理' },
  back: { en: 'Back to my wallet', zh: '返回我的钱包' },
  groups: {
    points: { en: `Books and ${POINTS}`, zh: `账本与${POINTS}` },
    site: { en: 'Members and site', zh: '成员与站点' },
  },
  status: { en: 'Status', zh: '状态' },
  /** Refund requests, in the bar at the foot of a phone. */
  refunds: { en: 'Refunds', zh: '退款' },
  /** The settings, in the same bar. */
  settings: { en: 'Settings', zh: '设置' },
  /** In the footer of every page. The number means this program, whatever the name of the site is. */
  version: (number: string) => ({ en: `Tessera ${number}`, zh: `Tessera ${number}` }),
  reviews: { en: 'Reviews', zh: '审核' },
} satisfies Texts
