/** Texts of the page of mandates, for administrators. */
import type { Texts } from '../../web/languages.ts'

export const mandateReview = {
  title: { en: 'Mandates', zh: '预授权' },
  lead: {
    en: 'Applications that may charge members later, and the mandates that members gave them.',
    zh: '可以日后扣款的应用，以及成员给予的预授权。',
  },
  searchHint: { en: 'Application, member or ID', zh: '应用、成员或编号' },
  rights: { en: 'The right to hold mandates', zh: '预授权资格' },
  noRights: { en: 'No application has asked for the right.', zh: '没有应用申请。' },
  dailyMax: { en: 'Limit for all charges of a day', zh: '每日扣款合计上限' },
  askedAt: { en: 'requested', zh: '申请于' },
  decidedAt: { en: 'decided', zh: '决定于' },
  dailyMaxWrong: {
    en: 'Enter a whole number from 1. A right needs this limit.',
    zh: '请填写不小于 1 的整数。授予资格须设上限。',
  },
  reasonHint: {
    en: 'Needed to refuse or to withdraw. The owner sees it.',
    zh: '拒绝或收回时必填，所有者会看到。',
  },
  reasonWrong: { en: 'Say why in at most 500 characters.', zh: '请填写理由，最多 500 个字符。' },
  grant: { en: 'Grant', zh: '授予' },
  setLimit: { en: 'Set limit', zh: '设定上限' },
  refuse: { en: 'Refuse', zh: '拒绝' },
  withdraw: { en: 'Withdraw', zh: '收回' },
  done: {
    grant: (name: string, formatted: string) => ({
      en: `${name} may charge up to ${formatted} a day.`,
      zh: `${name} 每日最多可扣 ${formatted}。`,
    }),
    refuse: (name: string) => ({ en: `The right is refused to ${name}.`, zh: `已拒绝 ${name} 的申请。` }),
    withdraw: (name: string) => ({
      en: `The right is withdrawn from ${name}. No charge of it is possible now.`,
      zh: `已收回 ${name} 的资格，现在不能扣款。`,
    }),
  },
  found: { en: 'Mandates found', zh: '找到的预授权' },
  end: { en: 'End the mandate', zh: '终止预授权' },
  ended: (mandate: string) => ({ en: `The mandate ${mandate} has ended.`, zh: `预授权 ${mandate} 已结束。` }),
  history: { en: 'Audit log', zh: '审计日志' },
} satisfies Texts
