/** Texts of the time that a list is limited to. */
import type { Text, Texts } from '../languages.ts'
import type { Period } from './periods.ts'

export const periods = {
  title: { en: 'Time', zh: '时间' },
  any: { en: 'Any time', zh: '全部时间' },
  ownDays: { en: 'Custom dates', zh: '自选日期' },
  names: {
    today: { en: 'Today', zh: '今天' },
    week: { en: 'Last 7 days', zh: '最近 7 天' },
    days30: { en: 'Last 30 days', zh: '最近 30 天' },
    days90: { en: 'Last 90 days', zh: '最近 90 天' },
    month: { en: 'This month', zh: '本月' },
    lastMonth: { en: 'Last month', zh: '上月' },
    year: { en: 'This year', zh: '今年' },
  } satisfies Record<Period, Text>,
  from: { en: 'From', zh: '从' },
  until: { en: 'To', zh: '至' },
  daysIn: (zone: string) => ({ en: `Days begin at midnight, ${zone}.`, zh: `日期以${zone}的零点为界。` }),
} satisfies Texts
