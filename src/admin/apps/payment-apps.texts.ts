/** Texts of the terms of a payment application, for administrators. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const appTerms = {
  fee: { en: 'Payment fee', zh: '付款手续费' },
  feeHint: { en: 'Empty: the fee of the site.', zh: '留空则使用全站手续费。' },
  payments: { en: `${POINTS} it can receive per day`, zh: `每日收款上限` },
  transfers: { en: `${POINTS} it can transfer per day`, zh: `每日转账上限` },
  limitHint: {
    en: 'Empty: no limit. Days begin at midnight in China (UTC+8).',
    zh: '留空为不限。每天从北京时间零点算起。',
  },
  reasonHint: { en: 'Optional. The owner sees it.', zh: '选填，所有者会看到。' },
  save: { en: 'Set terms', zh: '设定条款' },
  siteRate: { en: 'site default', zh: '与全站相同' },
  noLimit: { en: 'no limit', zh: '不限' },
  written: (fee: string, payments: string, transfers: string) => ({
    en: `fee ${fee}, payments per day: ${payments}, transfers per day: ${transfers}`,
    zh: `手续费 ${fee}，每日收款 ${payments}，每日转账 ${transfers}`,
  }),
  done: (name: string, terms: string) => ({
    en: `Terms of ${name} set: ${terms}.`,
    zh: `已设定 ${name} 的条款：${terms}。`,
  }),
  problems: {
    fee_rate: {
      en: 'Enter a percentage from 0 to 100, such as 3 or 0.5, or leave it empty.',
      zh: '请填 0 到 100 之间的百分数，例如 3 或 0.5，或留空。',
    },
    daily_payments_max: { en: 'Enter digits only, or leave it empty.', zh: '请只填数字，或留空。' },
    daily_transfers_max: { en: 'Enter digits only, or leave it empty.', zh: '请只填数字，或留空。' },
    reason: { en: 'At most 500 characters.', zh: '最多 500 个字符。' },
  },
} satisfies Texts
