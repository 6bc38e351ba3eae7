/** Words about mandates: of the sign-in before an offer, and of the pages above that show mandates. */

import type { Texts } from '../../web/languages.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { counted } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

type Period = NonNullable<NextStep['mandate']>['period']

const PERIOD = {
  day: { en: 'day', zh: '每天' },
  week: { en: 'week', zh: '每周' },
  month: { en: 'month', zh: '每月' },
} satisfies Record<Period, Texts[string]>

const unitOf = (amount: bigint, isTest: boolean) => ({
  en: `${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)}`,
  zh: `${isTest ? '虚拟' : ''}${POINTS}`,
})

export const mandates = {
  own: { en: 'My mandates', zh: '我的预授权' },
  /** Follows the amount of a fixed mandate, so it begins with the space between them. */
  unitFixed: (amount: bigint, period: Period, isTest: boolean) => ({
    en: ` ${unitOf(amount, isTest).en} every ${PERIOD[period].en}`,
    zh: ` ${unitOf(amount, isTest).zh}，${PERIOD[period].zh}一次`,
  }),
  /** Follows the most of a period. */
  unitUpTo: (amount: bigint, period: Period, isTest: boolean) => ({
    en: ` ${unitOf(amount, isTest).en} a ${PERIOD[period].en} at most`,
    zh: ` ${unitOf(amount, isTest).zh}，${PERIOD[period].zh}上限`,
  }),
  each: (formatted: string, amount: bigint, isTest: boolean) => ({
    en: `Up to ${formatted} ${unitOf(amount, isTest).en} each time`,
    zh: `每次最多 ${formatted} ${unitOf(amount, isTest).zh}`,
  }),
  fixedCaps: (formatted: string, amount: bigint, period: Period, isTest: boolean) => ({
    en: `${formatted} ${unitOf(amount, isTest).en} every ${PERIOD[period].en}`,
    zh: `${PERIOD[period].zh} ${formatted} ${unitOf(amount, isTest).zh}`,
  }),
  upToCaps: (each: string, all: string, amount: bigint, period: Period, isTest: boolean) => ({
    en: `Up to ${each} each time, ${all} ${unitOf(amount, isTest).en} a ${PERIOD[period].en}`,
    zh: `每次最多 ${each}，${PERIOD[period].zh}最多 ${all} ${unitOf(amount, isTest).zh}`,
  }),
  lead: (shop: string) => ({
    en: `Sign in to decide whether ${shop} may charge you`,
    zh: `登录后决定是否允许 ${shop} 扣款`,
  }),
} satisfies Texts
