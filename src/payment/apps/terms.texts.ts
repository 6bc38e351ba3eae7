/** Texts of the terms of a payment application: fee, daily limits, an example. */
import type { Texts } from '../../web/languages.ts'
import { pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

export const terms = {
  title: { en: 'Terms', zh: '条款' },
  lead: { en: 'Set by the administrators.', zh: '由管理员设定。' },
  fee: { en: 'Fee of a payment', zh: '付款手续费' },
  feeText: (percent: string, isOwn: boolean) => ({
    en: `${percent} %${isOwn ? ', agreed for this application' : ''}`,
    zh: `${percent}%${isOwn ? '（本应用专属费率）' : ''}`,
  }),
  feeRate: { en: 'Fee rate of its own, as a share', zh: '专属手续费比例' },
  feeHint: { en: 'Such as 0.03; empty: the rate of the site.', zh: '例如 0.03；留空则使用全站比例。' },
  payments: { en: `${POINTS} paid to it in a day`, zh: `每日可收取的${POINTS}` },
  transfers: { en: `${POINTS} transferred out in a day`, zh: `每日可转出的${POINTS}` },
  dayHint: {
    en: 'Empty: no limit. A day begins at midnight in China (UTC+8).',
    zh: '留空为不限。每天从北京时间零点（UTC+8）算起。',
  },
  used: (used: string, max: string) => ({
    en: `${used} of ${max} used today`,
    zh: `今日已用 ${used} / ${max}`,
  }),
  unlimited: (used: string) => ({ en: `no limit; ${used} today`, zh: `不限；今日 ${used}` }),
  example: { en: 'For example', zh: '举例' },
  exampleText: (money: string, points: string, fee: string, received: string) => ({
    en: `A price of ${money} becomes ${points} ${POINTS}: the buyer pays ${points}, the fee is ${fee}, the merchant receives ${received}.`,
    zh: `标价 ${money} 即 ${points} ${POINTS}：买家支付 ${points}，手续费 ${fee}，商家收到 ${received}。`,
  }),
  rateHigh: (points: string) => ({
    en: `The exchange rate is unusually high: a price of 1.00 costs ${pointsOf(points)}. Is that what you mean?`,
    zh: `汇率异常高：标价 1.00 需要 ${points} ${POINTS}。确定是这样吗？`,
  }),
  rateLow: {
    en: `The exchange rate is unusually low: a price of 1.00 costs less than a ${POINT}. Is that what you mean?`,
    zh: `汇率异常低：标价 1.00 还不到一个${POINTS}。确定是这样吗？`,
  },
  exampleTooSmall: (money: string) => ({
    en: `A price of ${money} would be less than one ${POINT}, and is refused.`,
    zh: `标价 ${money} 不足一个${POINTS}，会被拒绝。`,
  }),
  reason: { en: 'Reason', zh: '理由' },
  save: { en: 'Set these terms', zh: '设定条款' },
  history: { en: 'History', zh: '历史' },
  back: { en: 'Administration', zh: '管理' },
  open: { en: 'Terms and history', zh: '条款与历史' },
  problems: {
    fee_rate: {
      en: 'A decimal from 0 to 1 with at most 6 places, or nothing.',
      zh: '0 到 1 之间、最多 6 位小数的数字，或留空。',
    },
    daily_payments_max: { en: `A whole number of ${POINTS}, or nothing.`, zh: `整数${POINTS}，或留空。` },
    daily_transfers_max: { en: `A whole number of ${POINTS}, or nothing.`, zh: `整数${POINTS}，或留空。` },
    reason: { en: 'At most 500 characters.', zh: '最多 500 个字符。' },
  },
  fields: {
    fee_rate: { en: 'fee rate', zh: '手续费比例' },
    daily_payments_max: { en: `${POINTS} paid in a day`, zh: `每日收取${POINTS}` },
    daily_transfers_max: { en: `${POINTS} transferred in a day`, zh: `每日转出${POINTS}` },
  },
} satisfies Texts
