/** Texts of the frame of the administration, and of reviewing payment applications. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const admin = {
  title: { en: 'Administration', zh: '管理' },
  overview: { en: 'Overview', zh: '概览' },
  groups: {
    work: { en: 'To do', zh: '待办' },
    points: { en: 'Amount', zh: POINTS },
    people: { en: 'People', zh: '用户' },
    apps: { en: 'Applications', zh: '应用' },
    site: { en: 'Site', zh: '站点' },
  },
  reviewQueue: { en: 'Payment applications to review', zh: '待审核的收款应用' },
  empty: { en: 'Nothing waits for review.', zh: '没有待审核的申请。' },
  later: { en: 'Later', zh: '后面的申请' },
  first: { en: 'To the oldest', zh: '回到最早的申请' },
  applicant: { en: 'Applicant', zh: '申请人' },
  approve: { en: 'Approve', zh: '通过' },
  reject: { en: 'Reject', zh: '驳回' },
  reasonHint: {
    en: 'Required to reject or suspend; the applicant reads it.',
    zh: '驳回或停用时必填，申请人可见。',
  },
  changed: { en: 'Changed', zh: '有修改' },
  changedText: {
    en: 'Approved before, and changed since: buyers do not read “approved by staff” until you approve it as it is now. It goes on selling. What it was is in its history.',
    zh: '此前已通过审核，之后有过修改：在你按现状重新通过前，买家看不到“已通过审核”；照常收款。之前的内容见历史。',
  },
  reasonMissing: { en: 'Say why, so that the applicant can correct it.', zh: '请写明理由，便于申请人修改。' },
} satisfies Texts

export const review = {
  decide: { en: 'Review', zh: '审核' },
  memberFor: (days: string, n: number) => ({
    en: `a member for ${days} ${n === 1 ? 'day' : 'days'}`,
    zh: `注册 ${days} 天`,
  }),
  others: (count: string, n: bigint) => ({
    en: `${count} other ${n === 1n ? 'application' : 'applications'}`,
    zh: `另有 ${count} 个应用`,
  }),
  addresses: { en: 'Addresses', zh: '地址检查' },
  check: { en: 'Check the addresses', zh: '检查这些地址' },
  unchecked: { en: 'Not checked yet.', zh: '尚未检查。' },
  likeNamed: {
    en: 'Other applications have this name, or one that looks like it:',
    zh: '还有同名或名称相似的应用：',
  },
  checkedAt: { en: 'Checked', zh: '检查时间' },
  verdicts: {
    public: { en: 'leads to the open internet', zh: '可公开访问' },
    insecure: { en: 'without https', zh: '未使用 https' },
    blocked: { en: 'leads into a private network', zh: '指向内部网络' },
    dns: { en: 'its name is not known', zh: '域名无法解析' },
    bad_address: { en: 'not usable', zh: '不可用' },
  },
} satisfies Texts
