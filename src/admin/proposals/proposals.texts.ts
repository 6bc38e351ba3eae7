/** Texts of acts that wait for a second administrator. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const proposals = {
  title: { en: 'Approvals', zh: '待批准' },
  lead: {
    en: `Refunds, reversals, ${POINTS} by hand, fees, terms of applications, rates and limits of transfers, switching the forum bridge on, and switching this rule off wait here for a second administrator. Nothing happens before.`,
    zh: `退款、冲正、手动${POINTS}、手续费、应用条款、转账费率与限额、开启论坛得分导入，以及关闭这条规则，在第二位管理员批准前不会生效。`,
  },
  needed: {
    en: 'This site asks for a second administrator: nothing happens before another one approves.',
    zh: '本站要求两位管理员：另一位批准前不会有任何变动。',
  },
  propose: { en: 'Propose', zh: '提交审批' },
  standing: {
    open: (username: string) => ({
      en: `Nothing was proposed: @${username} has proposed this already, and it waits for another administrator. Decide on that one first.`,
      zh: `未提交：@${username} 已提交过同一提案，正在等待另一位管理员。请先处理那一份。`,
    }),
    approved: (username: string) => ({
      en: `Nothing was proposed: this was proposed by @${username}, approved and carried out.`,
      zh: `未提交：同一提案由 @${username} 提交，已获批准并执行。`,
    }),
  },
  shows: {
    open: { en: 'Waiting', zh: '待批准' },
    all: { en: 'All', zh: '全部' },
  },
  nothing: { en: 'No proposal.', zh: '没有提案。' },
  kinds: {
    refund: { en: 'Refund', zh: '退款' },
    reversal: { en: 'Reversal', zh: '冲正' },
    points: { en: `${POINTS} by hand`, zh: `手动${POINTS}` },
    setting: { en: 'Site setting', zh: '站点设置' },
    terms: { en: 'Terms of an application', zh: '应用条款' },
  },
  states: {
    open: { en: 'waiting', zh: '待批准' },
    approved: { en: 'approved', zh: '已批准' },
    declined: { en: 'declined', zh: '已拒绝' },
    withdrawn: { en: 'taken back', zh: '已撤回' },
    expired: { en: 'time is over', zh: '已过期' },
  },
  fee: { en: 'Fee', zh: '手续费' },
  withFee: { en: 'given back too', zh: '一并退还' },
  withoutFee: { en: 'kept', zh: '保留' },
  proposer: { en: 'Proposed by', zh: '提案人' },
  decider: { en: 'Decided by', zh: '决定人' },
  until: { en: 'To be approved until', zh: '批准期限' },
  own: {
    en: 'Your own proposal: another administrator approves it.',
    zh: '这是你的提案，需由另一位管理员批准。',
  },
  approve: { en: 'Approve and carry out', zh: '批准并执行' },
  decline: { en: 'Decline', zh: '拒绝' },
  withdraw: { en: 'Take back', zh: '撤回' },
} satisfies Texts
