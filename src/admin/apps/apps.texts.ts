/** Texts of the pages of this room: OAuth applications, and payment applications with their reviews and mandates. */
import { common } from '../../web/common.texts.ts'
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const registeredApps = {
  title: { en: 'Sign-in applications', zh: '登录应用' },
  lead: { en: 'Applications that members sign in to.', zh: '成员用本站账号登录的应用。' },
  search: { en: 'Name, client_id or owner', zh: '名称、client_id 或所有者' },
  status: { en: 'Show', zh: '显示' },
  statuses: {
    all: { en: 'All', zh: '全部' },
    suspended: { en: 'Suspended', zh: '已停用' },
    unconfirmed: { en: 'Not confirmed', zh: '未确认' },
    unreviewed: { en: 'Not reviewed', zh: '未审核' },
    unregistered: { en: 'Not registered', zh: '未注册' },
  },
  reviewed: { en: 'Reviewed', zh: '已审核' },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingText: {
    en: 'Applications appear here when members create them.',
    zh: '成员创建应用后会显示在这里。',
  },
  owner: { en: 'Owner', zh: '所有者' },
  createdBy: (app: string) => ({ en: `by ${app}`, zh: `由 ${app} 创建` }),
  suspend: { en: 'Suspend', zh: '停用' },
  suspendQuestion: (name: string) => ({ en: `Suspend ${name}?`, zh: `停用 ${name}？` }),
  suspendText: {
    en: 'Members cannot sign in to it. It gets no tokens, and its tokens stop working at their next use. The owner sees the reason.',
    zh: '成员无法登录此应用，它无法获取令牌，已有的令牌在下次使用时失效。所有者会看到理由。',
  },
  suspendUnowned: {
    en: 'Members cannot sign in to it. It gets no tokens, and its tokens stop working at their next use. It was not registered here and has no owner. To refuse a whole host, change the list of hosts in the settings.',
    zh: '成员无法登录此应用，它无法获取令牌，已有的令牌在下次使用时失效。它未在本站注册，没有所有者。如需拒绝整个主机，请在设置中修改主机列表。',
  },
  unregistered: { en: 'Not registered', zh: '未注册' },
  documentRead: { en: 'Document read', zh: '读取文档' },
  firstAllowed: { en: 'First allowed', zh: '首次允许' },
  membersNow: { en: 'Members who use it', zh: '使用它的成员' },
  reinstate: { en: 'Reinstate', zh: '恢复' },
  reinstateText: {
    en: 'Members can sign in again. Tokens that have not expired work again.',
    zh: '成员可以再次登录，未过期的令牌恢复有效。',
  },
  reasonHint: { en: 'The owner sees it.', zh: '所有者会看到。' },
  reasonHintUnowned: { en: 'It goes to the audit log.', zh: '将记入审计日志。' },
  mark: { en: 'Mark as reviewed', zh: '标记为已审核' },
  markText: {
    en: 'Members see the mark when the application asks for access. It is removed when the owner changes the name, description, homepage, logo or redirect URIs.',
    zh: '成员在授权页面会看到此标记。所有者修改名称、简介、主页、图标或回调地址后，标记自动取消。',
  },
  unmark: { en: 'Remove the mark', zh: '取消标记' },
  reset: { en: 'Reset the secret', zh: '重置密钥' },
  resetQuestion: (name: string) => ({ en: `Reset the secret of ${name}?`, zh: `重置 ${name} 的密钥？` }),
  resetText: {
    en: 'For an owner who has lost it. All secrets stop working at once. You see the new one only once, so hand it over safely.',
    zh: '用于所有者丢失密钥的情况。所有现有密钥立即失效；新密钥只向你显示一次，请安全转交。',
  },
  secretsEnding: { en: 'Secrets that stop working', zh: '将失效的密钥' },
  liveSecrets: (n: number) => ({ en: `${n} ${counted(n, 'is', 'are')} valid now`, zh: `目前有 ${n} 个可用` }),
  done: {
    suspend: (name: string, owner: string | null) => ({
      en: `${name} is suspended.${owner === null ? '' : ` @${owner} sees your reason.`}`,
      zh: owner === null ? `已停用 ${name}。` : `已停用 ${name}，@${owner} 会看到理由。`,
    }),
    reinstate: (name: string, _owner: string | null) => ({
      en: `${name} is reinstated. Members can sign in again.`,
      zh: `已恢复 ${name}，成员可以再次登录。`,
    }),
    mark: (name: string, _owner: string | null) => ({
      en: `${name} is marked as reviewed.`,
      zh: `已将 ${name} 标记为已审核。`,
    }),
    unmark: (name: string, _owner: string | null) => ({
      en: `${name} is no longer marked as reviewed.`,
      zh: `已取消 ${name} 的审核标记。`,
    }),
  },
} satisfies Texts

/** Texts of the terms of a payment application, for administrators. */
export const appTerms = {
  fee: { en: 'Payment fee', zh: '付款手续费' },
  change: { en: 'Change the terms', zh: '修改条款' },
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

/** Texts of reviewing payment applications. */
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
    en: `You approved this before, and the owner has changed it since. The pay page does not show “${common.reviewed.en}” until you approve it again. Sales continue.`,
    zh: `此前已通过审核，之后有过修改：在你重新通过前，买家看不到“${common.reviewed.zh}”，收款照常。`,
  },
  reasonMissing: {
    en: 'Enter a reason, so that the owner can correct it.',
    zh: '请写明理由，便于所有者修改。',
  },
} satisfies Texts

export const review = {
  since: { en: 'Changed since the last review', zh: '上次审核后的修改' },
  sameAgain: {
    en: 'Everything is again as it was reviewed.',
    zh: '所有内容已改回上次审核时的样子。',
  },
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
  noCallback: { en: 'None: sells by payment links', zh: '无：通过收款链接售卖' },
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

/** Texts of the page of mandates, for administrators. */
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

/** Texts of the page of payment links. */
export const linkReview = {
  title: { en: 'Payment links', zh: '收款链接' },
  lead: {
    en: 'Pages on which members sell. Stopping one takes it off sale at once; buyers keep their receipts.',
    zh: '成员售卖商品的页面。停售立即生效，买家的收据不变。',
  },
  searchHint: { en: 'Address, title, application or owner', zh: '地址、标题、应用或所有者' },
  none: { en: 'No payment links', zh: '没有收款链接' },
  noneText: {
    en: 'When a member sells something by a link, it appears here, reported ones first.',
    zh: '成员用链接售卖商品后会显示在这里，被举报的排在前面。',
  },
  reported: { en: 'Reported', zh: '被举报' },
  stop: { en: 'Stop', zh: '停售' },
  reasonHint: { en: 'The link’s team reads it.', zh: '链接的团队会看到。' },
  reasonWrong: { en: 'Say why in at most 500 characters.', zh: '请填写理由，最多 500 个字符。' },
  stopped: { en: 'Stopped. No sale follows.', zh: '已停售，不会再有销售。' },
  allow: { en: 'Allow again', zh: '解除停售' },
  allowText: {
    en: 'It is paused then, and its team may resume it.',
    zh: '解除后为暂停状态，由团队恢复销售。',
  },
  allowed: { en: 'Allowed again. It is paused.', zh: '已解除停售，目前为暂停状态。' },
  /** Of so many that not all are counted, a plus says so. */
  reports: (n: number, isMore: boolean) => ({
    en: `${n}${isMore ? '+' : ''} ${counted(n, 'report', 'reports')}`,
    zh: `${n}${isMore ? '+' : ''} 条举报`,
  }),
  more: (n: number, isMore: boolean) => ({
    en: `and ${n}${isMore ? '+' : ''} earlier`,
    zh: `另有更早的 ${n}${isMore ? '+' : ''} 条`,
  }),
  dismiss: { en: 'Dismiss the reports', zh: '驳回举报' },
  dismissed: { en: 'Dismissed. The link stays on sale.', zh: '已驳回，链接照常销售。' },
  names: { en: 'The title holds a name that is not its owner’s:', zh: '标题含有不属于其所有者的名称：' },
  siteName: { en: 'this site', zh: '本站' },
} satisfies Texts

/** Texts of hosts at which notifications fail. */
export const hosts = {
  title: { en: 'Hosts', zh: '主机' },
  none: { en: 'No notifications waiting', zh: '没有等待的通知' },
  noneText: { en: 'Every shop has responded.', zh: '所有商店都已响应。' },
  paused: { en: 'Paused', zh: '已暂停' },
  pausedAt: { en: 'Paused', zh: '暂停时间' },
  failing: (count: string) => ({ en: `${count} failed before`, zh: `${count} 条曾失败` }),
  pause: { en: 'Pause this host', zh: '暂停此主机' },
  pauseHint: {
    en: 'Its notifications wait until you resume it. None are lost.',
    zh: '其通知会一直等待到恢复为止，不会丢失。',
  },
  resume: { en: 'Resume this host', zh: '恢复此主机' },
  done: {
    pause: (host: string) => ({
      en: `${host} is paused. Its notifications wait.`,
      zh: `已暂停 ${host}，其通知将等待恢复。`,
    }),
    resume: (host: string) => ({
      en: `${host} is resumed. Its notifications go out now.`,
      zh: `已恢复 ${host}，通知将立即发出。`,
    }),
  },
} satisfies Texts
