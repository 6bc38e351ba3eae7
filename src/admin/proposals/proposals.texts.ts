/** Texts of acts that wait for a second administrator. */
import type { Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const proposals = {
  title: { en: 'Approvals', zh: '审批' },
  needed: {
    en: 'This site needs two administrators for this. It takes effect when another one approves.',
    zh: '本站要求双人审批：另一位管理员批准前不会有任何变动。',
  },
  propose: { en: 'Propose', zh: '提交审批' },
  proposed: {
    en: 'Proposed. Nothing has moved yet: another administrator has to approve.',
    zh: '已提交审批，尚未有任何变动，需由另一位管理员批准。',
  },
  earlier: {
    open: (username: string) => ({
      en: `Nothing was proposed: @${username} has already proposed this, and it waits for another administrator. Decide on that proposal first.`,
      zh: `未提交：@${username} 已提交过同一操作，正等待另一位管理员。请先处理那一份。`,
    }),
    approved: (username: string) => ({
      en: `Nothing was proposed: @${username} has proposed this, and it was approved and carried out.`,
      zh: `未提交：同一操作由 @${username} 提交，已获批准并执行。`,
    }),
  },
  shows: {
    open: { en: 'Waiting', zh: '待批准' },
    all: { en: 'All', zh: '全部' },
  },
  nothing: { en: 'Nothing to approve', zh: '没有待批准的操作' },
  nothingText: {
    en: 'Refunds, adjustments, fees, terms and limits wait here until another administrator approves.',
    zh: '退款、积分调整、手续费、条款与限额在这里等待另一位管理员批准。',
  },
  /** While one administrator decides alone. */
  off: { en: 'One administrator decides alone', zh: '目前一位管理员即可决定' },
  offText: {
    en: 'With two administrators, refunds, adjustments, fees, terms and limits wait here until the second one approves.',
    zh: '启用双人审批后，退款、积分调整、手续费、条款与限额须由第二位管理员在这里批准。',
  },
  switchOn: { en: 'Require two administrators', zh: '启用双人审批' },
  titles: {
    refund: (points: string) => ({ en: `Refund ${pointsOf(points)}`, zh: `退款 ${points} ${POINTS}` }),
    reversal: { en: 'Reverse a transfer', zh: '冲正转账' },
    points: (granted: string, taken: string, n: number) => ({
      en: `Adjust ${n} ${counted(n, 'wallet', 'wallets')}: grant ${granted}, deduct ${taken}`,
      zh: `调整 ${n} 个钱包：发放 ${granted}，扣除 ${taken}`,
    }),
    grant: (granted: string, n: number) => ({
      en: `Grant ${pointsOf(granted)} to ${n} ${counted(n, 'member', 'members')}`,
      zh: `向 ${n} 位成员发放 ${granted} ${POINTS}`,
    }),
    deduct: (taken: string, n: number) => ({
      en: `Deduct ${pointsOf(taken)} from ${n} ${counted(n, 'member', 'members')}`,
      zh: `从 ${n} 位成员扣除 ${taken} ${POINTS}`,
    }),
    setting: (name: string, value: string) => ({
      en: `Set “${name}” to “${value}”`,
      zh: `将“${name}”改为“${value}”`,
    }),
    terms: { en: 'Terms of an application', zh: '应用条款' },
  },
  crossed: (least: string, most: string) => ({
    en: `“${least}” would exceed “${most}”. Approve the change of the other one first, or decline this one.`,
    zh: `“${least}”会超过“${most}”。请先批准另一项的更改，或拒绝此项。`,
  }),
  states: {
    open: { en: 'Waiting', zh: '待批准' },
    approved: { en: 'Approved', zh: '已批准' },
    declined: { en: 'Declined', zh: '已拒绝' },
    withdrawn: { en: 'Withdrawn', zh: '已撤回' },
    expired: { en: 'Expired', zh: '已过期' },
  },
  fee: { en: 'Fee', zh: '手续费' },
  withFee: { en: 'returned in proportion', zh: '按比例退还' },
  withoutFee: { en: 'kept by the platform', zh: '平台保留' },
  key: { en: 'Key', zh: '键名' },
  feeRate: { en: 'Payment fee', zh: '付款手续费' },
  siteRate: { en: 'site default', zh: '与全站相同' },
  dailyPayments: { en: 'Payments per day', zh: '每日收款上限' },
  dailyTransfers: { en: 'Transfers per day', zh: '每日转账上限' },
  noLimit: { en: 'no limit', zh: '不限' },
  proposer: { en: 'Proposed by', zh: '提交人' },
  decider: { en: 'Decided by', zh: '处理人' },
  until: { en: 'Expires', zh: '批准期限' },
  own: {
    en: 'This is your own proposal. Another administrator has to approve it.',
    zh: '这是你提交的操作，需由另一位管理员批准。',
  },
  /** Beside the reason. */
  reasonHint: { en: 'It is kept in the audit log.', zh: '记入审计日志。' },
  transaction: { en: 'For', zh: '所涉交易' },
  approve: { en: 'Approve and carry out', zh: '批准并执行' },
  decline: { en: 'Decline', zh: '拒绝' },
  withdraw: { en: 'Withdraw', zh: '撤回' },
  done: {
    approved: (title: string) => ({
      en: `Approved and carried out: ${title}.`,
      zh: `已批准并执行：${title}。`,
    }),
    declined: (title: string) => ({
      en: `Declined: ${title}. Nothing has changed.`,
      zh: `已拒绝：${title}。没有任何变动。`,
    }),
    withdrawn: (title: string) => ({
      en: `Withdrawn: ${title}. Nothing has changed.`,
      zh: `已撤回：${title}。没有任何变动。`,
    }),
  },
} satisfies Texts
