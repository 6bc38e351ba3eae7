/** Texts of a member's own mandates. */
import type { Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

const ACTS = {
  accept: { en: 'Allowed', zh: '允许了扣款' },
  change: { en: 'Changed', zh: '修改了限额或期限' },
  pause: { en: 'Paused', zh: '暂停了预授权' },
  resume: { en: 'Resumed', zh: '恢复了预授权' },
  end: { en: 'Ended', zh: '终止了预授权' },
  next_period: { en: 'Next test period begun', zh: '进入下一测试周期' },
} satisfies Texts
const BY = {
  member: { en: 'by you', zh: '你' },
  merchant: { en: 'by the shop', zh: '商家' },
  staff: { en: 'by the staff', zh: '管理员' },
  service: { en: 'by the service', zh: '系统' },
} satisfies Texts

export const ownMandates = {
  title: { en: 'My mandates', zh: '我的预授权' },
  lead: {
    en: 'Shops that may charge you without asking again.',
    zh: '这些商家可以直接扣款，不再逐次询问。',
  },
  charged: { en: 'The shop charged this under a mandate:', zh: '商家依据预授权扣款：' },
  look: { en: 'see, pause or revoke it', zh: '查看、暂停或撤销' },
  empty: { en: 'No mandates', zh: '暂无预授权' },
  emptyText: {
    en: 'When a shop asks to charge you later and you allow it, the mandate appears here.',
    zh: '当商家请求日后扣款并经你允许后，会显示在这里。',
  },
  states: {
    active: { en: 'Active', zh: '有效' },
    not_started: { en: 'Not begun', zh: '尚未开始' },
    owner_changed: { en: 'Paused: new owner', zh: '已暂停：所有者变更' },
    paused: { en: 'Paused by you', zh: '你已暂停' },
    member: { en: 'Revoked by you', zh: '你已撤销' },
    merchant: { en: 'Ended by the shop', zh: '商家已终止' },
    staff: { en: 'Ended by the staff', zh: '管理员已终止' },
    replaced: { en: 'Replaced', zh: '已被取代' },
    finished: { en: 'Over', zh: '已到期' },
    account_closed: { en: 'Account closed', zh: '账号已注销' },
  },
  /** Of the period that ends with a day. */
  spent: (spent: string, left: string, until: string) => ({
    en: `${spent} charged, ${left} left until ${until}`,
    zh: `已扣 ${spent}，剩余 ${left}，至 ${until}`,
  }),
  thisPeriod: { en: 'This period', zh: '本期' },
  notCarried: { en: 'What is left does not carry over.', zh: '剩余额度不结转。' },
  nextCharge: { en: 'Next charge', zh: '下次扣款' },
  /** The most of the next charge, and when it can come. */
  next: (formatted: string, isFixed: boolean, from: string | undefined) => ({
    en: `${isFixed ? '' : 'up to '}${pointsOf(formatted)}, ${from === undefined ? 'at any time from now on' : `from ${from} on`}`,
    zh: `${from === undefined ? '随时可能' : `${from} 起`}，${isFixed ? '' : '最多 '}${formatted} ${POINTS}`,
  }),
  noNext: { en: 'none', zh: '无' },
  chargedSoFar: { en: 'Charged so far', zh: '累计扣款' },
  sum: (formatted: string, count: number) => ({
    en: `${pointsOf(formatted)} in ${count} ${counted(count, 'charge', 'charges')}`,
    zh: `${count} 次，共 ${formatted} ${POINTS}`,
  }),
  days: { en: 'Valid', zh: '有效期' },
  /** The most that can be charged from now until the last day. */
  left: { en: 'At most from now', zh: '今后最多' },
  leftUntil: (formatted: string, until: string) => ({
    en: `${pointsOf(formatted)} until ${until}`,
    zh: `${formatted} ${POINTS}，至 ${until}`,
  }),
  amount: { en: 'Amount', zh: '金额' },
  limits: { en: 'Limits', zh: '限额' },
  purpose: { en: 'For', zh: '用途' },
  pause: { en: 'Pause', zh: '暂停' },
  resume: { en: 'Resume', zh: '恢复' },
  revoke: { en: 'Revoke', zh: '撤销' },
  revokeText: {
    en: `No charge goes through while the mandate is paused. Revoking ends it for good: the shop is informed, and keeps the ${POINTS} that it has charged.`,
    zh: `暂停期间不能扣款，可以恢复。撤销后不能恢复，商家会得知，已扣的${POINTS}不退。`,
  },
  newOwner: (owner: string) => ({
    en: `The shop has a new owner, @${owner}. It cannot charge you until you resume the mandate, which agrees to this owner.`,
    zh: `商家的所有者已变更为 @${owner}。在你恢复（即同意新的所有者）之前不能扣款。`,
  }),
  done: {
    paused: (shop: string) => ({
      en: `${shop} cannot charge you until you resume this mandate.`,
      zh: `在你恢复之前，${shop} 不能扣款。`,
    }),
    revoked: (shop: string) => ({
      en: `The mandate is revoked. ${shop} cannot charge you under it any more.`,
      zh: `预授权已撤销，${shop} 不能再据此扣款。`,
    }),
    over: { en: 'This mandate had ended before.', zh: '这份预授权此前已结束。' },
    resumed: (shop: string) => ({
      en: `${shop} may charge you again within the limits below.`,
      zh: `${shop} 可以再次在以下限额内扣款。`,
    }),
    /** The most that can be charged from now until the last day. */
    changed: (left: string, until: string) => ({
      en: `Saved. The shop can charge at most ${pointsOf(left)} from now until ${until}.`,
      zh: `已保存。从现在到 ${until}，商家最多可扣 ${left} ${POINTS}。`,
    }),
    noticeEach: { en: 'You will hear of each charge.', zh: '每次扣款都会通知你。' },
    noticeDaily: { en: 'You will hear of charges once a day.', zh: '每天汇总通知一次扣款。' },
    nextPeriod: { en: 'The next period of this test mandate has begun.', zh: '测试预授权已进入下一期。' },
  },
  change: { en: 'Change limits or last day', zh: '修改限额或最后一天' },
  changeDay: { en: 'Change the last day', zh: '修改最后一天' },
  changeText: {
    en: 'You can lower the limits and choose an earlier last day at any time. Raising them, up to what the shop offered, or choosing a later day needs a recent sign-in.',
    zh: '随时可以调低限额或提前最后一天。调高（不超过商家最初的要求）或延后需要近期登录。',
  },
  changeDayText: {
    en: 'You can choose an earlier last day at any time. A later one needs a recent sign-in.',
    zh: '随时可以提前最后一天。延后需要近期登录。',
  },
  /** The latest day that a member may choose, and what it adds to the most in total. */
  laterDay: (day: string, more: string) => ({
    en: `At the latest ${day}. The shop can then charge up to ${pointsOf(more)} more.`,
    zh: `最晚 ${day}，商家因此最多可多扣 ${more} ${POINTS}。`,
  }),
  save: { en: 'Save limits and last day', zh: '保存限额和最后一天' },
  saveDay: { en: 'Save the last day', zh: '保存最后一天' },
  outOfDate: {
    en: 'The mandate has changed since this page was opened. Look at it again.',
    zh: '打开页面后预授权有变化，请重新查看。',
  },
  notices: {
    each: { en: 'You are notified of each charge.', zh: '每次扣款都会通知你。' },
    daily: { en: 'You are notified of charges once a day.', zh: '扣款每天汇总通知你一次。' },
  },
  /** Each choice as the button that makes it. */
  notify: {
    each: { en: 'Notify me each time', zh: '改为每次通知' },
    daily: { en: 'Notify me once a day', zh: '改为每天一次' },
  },
  charges: { en: 'Charges', zh: '扣款记录' },
  noCharges: { en: 'No charges yet.', zh: '暂无扣款。' },
  refunded: (formatted: string) => ({ en: `${formatted} refunded`, zh: `已退款 ${formatted}` }),
  refusals: { en: 'Refused charges', zh: '被拒绝的扣款' },
  refusal: (times: number, formatted: string) => ({
    en: `${times} ${counted(times, 'time', 'times')}, last ${pointsOf(formatted)}`,
    zh: `${times} 次，最近一次 ${formatted} ${POINTS}`,
  }),
  outcomes: {
    charge_limit: { en: 'Above the limit of one charge', zh: '超过单次上限' },
    period_limit: { en: 'Above the limit of the period', zh: '超过每期上限' },
    insufficient: { en: `Too few ${POINTS}`, zh: `${POINTS}不足` },
    inactive: { en: 'While it could not be charged', zh: '在不能扣款期间' },
  },
  history: { en: 'History', zh: '变更记录' },
  /** A member revokes a mandate; the others end it. */
  acted: (act: keyof typeof ACTS, by: keyof typeof BY) =>
    act === 'end' && by === 'member'
      ? { en: 'Revoked by you', zh: '你撤销了预授权' }
      : { en: `${ACTS[act].en} ${BY[by].en}`, zh: `${BY[by].zh}${ACTS[act].zh}` },
  until: (day: string) => ({ en: `until ${day}`, zh: `至 ${day}` }),
  nextPeriod: { en: 'Begin the next period', zh: '进入下一期' },
} satisfies Texts
