/** Texts of reviewing payment applications. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const admin = {
  lead: {
    en: 'Payment applications wait here before they can take payments, and again after their owner changes what you approved.',
    zh: '收款应用须通过审核才能收款；所有者修改已审核的内容后会再次显示在这里。',
  },
  empty: { en: 'Nothing to review', zh: '没有待审核的应用' },
  emptyText: {
    en: 'New applications and changed ones appear here.',
    zh: '新的申请和有修改的应用会显示在这里。',
  },
  shows: {
    waiting: { en: 'To review', zh: '待审核' },
    decided: { en: 'Approved and suspended', zh: '已通过与已停用' },
  },
  noneDecided: { en: 'No payment application is approved yet', zh: '还没有已通过的收款应用' },
  later: { en: 'Later', zh: '后面的申请' },
  first: { en: 'Back to the oldest', zh: '回到最早的申请' },
  applicant: { en: 'Owner', zh: '所有者' },
  approve: { en: 'Approve', zh: '通过' },
  reject: { en: 'Reject', zh: '驳回' },
  reasonHint: {
    en: 'Required to reject or suspend. The owner sees it.',
    zh: '驳回或停用时必填，所有者会看到。',
  },
  changed: { en: 'Changed', zh: '有修改' },
  changedText: {
    en: 'You approved this before, and the owner has changed it since. The pay page does not show “Approved by staff” until you approve it again. Sales continue. The history shows the earlier values.',
    zh: '此前已通过审核，之后有过修改：在你重新通过前，买家看不到“已通过审核”，收款照常。之前的内容见历史。',
  },
  reasonMissing: {
    en: 'Enter a reason, so that the owner can correct it.',
    zh: '请写明理由，便于所有者修改。',
  },
} satisfies Texts

export const review = {
  decide: { en: 'Review', zh: '审核' },
  see: { en: 'See the application', zh: '查看应用' },
  done: {
    approve: (name: string, owner: string) => ({
      en: `${name} is approved. @${owner} can take payments now.`,
      zh: `已通过 ${name}，@${owner} 可以开始收款。`,
    }),
    reject: (name: string, owner: string) => ({
      en: `${name} is rejected. @${owner} sees your reason and can apply again.`,
      zh: `已驳回 ${name}，@${owner} 会看到理由，可修改后重新申请。`,
    }),
    suspend: (name: string, owner: string) => ({
      en: `${name} is suspended. @${owner} sees your reason.`,
      zh: `已停用 ${name}，@${owner} 会看到理由。`,
    }),
    reinstate: (name: string, owner: string) => ({
      en: `${name} is reinstated. @${owner} can take payments again.`,
      zh: `已恢复 ${name}，@${owner} 可以继续收款。`,
    }),
  },
  memberFor: (days: string, n: number) =>
    n === 0
      ? { en: 'a member since today', zh: '今天加入' }
      : { en: `a member for ${days} ${counted(n, 'day', 'days')}`, zh: `加入 ${days} 天` },
  others: (count: string, n: bigint) => ({
    en: `${count} other ${counted(n, 'application', 'applications')}`,
    zh: `另有 ${count} 个应用`,
  }),
  addresses: { en: 'Addresses', zh: '地址检查' },
  check: { en: 'Check the addresses', zh: '检查这些地址' },
  checked: { en: 'The addresses are checked. The result is below.', zh: '地址已检查，结果如下。' },
  unchecked: { en: 'Not checked yet', zh: '尚未检查' },
  likeNamed: {
    en: 'Other applications have this name, or one that looks like it:',
    zh: '还有同名或名称相似的应用：',
  },
  checkedAt: { en: 'Checked', zh: '检查时间' },
  verdicts: {
    public: { en: 'public', zh: '可公开访问' },
    insecure: { en: 'without https', zh: '未使用 https' },
    blocked: { en: 'private network', zh: '指向内部网络' },
    dns: { en: 'unknown host', zh: '域名无法解析' },
    bad_address: { en: 'unusable', zh: '不可用' },
  },
} satisfies Texts
