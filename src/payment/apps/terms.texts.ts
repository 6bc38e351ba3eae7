/** Texts of the terms of a payment application: fee, daily limits, an example. */
import type { Texts } from '../../web/languages.ts'
import { pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

export const terms = {
  title: { en: 'Terms', zh: '条款' },
  lead: { en: 'Set by the administrators.', zh: '由管理员设定。' },
  fee: { en: 'Payment fee', zh: '付款手续费' },
  feeText: (percent: string, isOwn: boolean) => ({
    en: `${percent}%${isOwn ? ', agreed for this application' : ''}`,
    zh: `${percent}%${isOwn ? '（本应用专属费率）' : ''}`,
  }),
  payments: { en: `${POINTS} it can receive per day`, zh: `每日可收取的${POINTS}` },
  transfers: { en: `${POINTS} it can transfer per day`, zh: `每日可转出的${POINTS}` },
  used: (used: string, max: string) => ({
    en: `${used} of ${max} used today`,
    zh: `今日已用 ${used} / ${max}`,
  }),
  unlimited: (used: string) => ({ en: `no limit; ${used} today`, zh: `不限；今日 ${used}` }),
  example: { en: 'For example', zh: '举例' },
  exampleText: (money: string, points: string, fee: string, received: string) => ({
    en: `a price of ${money} becomes ${points} ${POINTS}: the buyer pays ${points}, the fee is ${fee}, the merchant receives ${received}.`,
    zh: `标价 ${money} 即 ${points} ${POINTS}：买家支付 ${points}，手续费 ${fee}，商户收到 ${received}。`,
  }),
  rateHigh: (points: string) => ({
    en: `The exchange rate is unusually high: a price of 1.00 costs ${pointsOf(points)}. Is that what you mean?`,
    zh: `兑换比例异常高：标价 1.00 需要 ${points} ${POINTS}。确定是这样吗？`,
  }),
  rateLow: {
    en: `The exchange rate is unusually low: a price of 1.00 costs less than one ${POINT}. Is that what you mean?`,
    zh: `兑换比例异常低：标价 1.00 还不到一个${POINT}。确定是这样吗？`,
  },
  exampleTooSmall: (money: string) => ({
    en: `a price of ${money} would be less than one ${POINT}, and is refused.`,
    zh: `标价 ${money} 不足一个${POINT}，会被拒绝。`,
  }),
  fields: {
    fee_rate: { en: 'payment fee', zh: '付款手续费' },
    daily_payments_max: { en: `${POINTS} received per day`, zh: `每日收取${POINTS}` },
    daily_transfers_max: { en: `${POINTS} transferred per day`, zh: `每日转出${POINTS}` },
  },
} satisfies Texts
