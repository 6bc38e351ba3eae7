/** Texts of the dashboard. */
import type { Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

export const dashboard = {
  title: { en: 'Overview', zh: '总览' },
  atLeast: (figure: string) => ({ en: `${figure} or more`, zh: `至少 ${figure}` }),
  paid: { en: 'Paid today', zh: '今日付款' },
  payments: (count: string, n: number) => ({
    en: `${count} ${counted(n, 'payment', 'payments')}`,
    zh: `${count} 笔`,
  }),
  onYesterday: (percent: string) => ({
    en: `${percent}% on yesterday at this time`,
    zh: `较昨天此时 ${percent}%`,
  }),
  signedIn: { en: 'Signed in today', zh: '今日登录' },
  joined: (count: string, total: string, n: number) => ({
    en: `${count} new, ${total} ${counted(n, 'member', 'members')}`,
    zh: `新增 ${count} 人，共 ${total} 人`,
  }),
  about: (figure: string) => ({ en: `about ${figure}`, zh: `约 ${figure}` }),
  newMembers: { en: 'New members, last 30 days', zh: '近 30 天新增成员' },
  circulating: { en: `${POINTS} in circulation`, zh: `流通中的${POINTS}` },
  asOf: { en: 'As of', zh: '截至' },
  unproven: { en: 'Known after the first check of the books', zh: '首次核验账本后可知' },
  fees: { en: 'Fees today', zh: '今日手续费' },
  feesOfMonth: (points: string, day: string) => ({
    en: `This month to ${day}: ${points}`,
    zh: `本月截至 ${day}：${points}`,
  }),
  waiting: { en: 'Waiting for you', zh: '等你处理' },
  since: { en: 'oldest since', zh: '最早提交于' },
  reviews: { en: 'Payment applications to review', zh: '待审核的收款应用' },
  refundRequests: { en: 'Refund requests', zh: '退款申请' },
  inAll: (points: string) => ({ en: `${pointsOf(points)} in total`, zh: `合计 ${points} ${POINTS}` }),
  proposals: { en: 'Approvals', zh: '待审批的操作' },
  proposedBy: (username: string) => ({ en: `Proposed by @${username}`, zh: `由 @${username} 提交` }),
  nothing: { en: 'Nothing waiting', zh: '没有待处理的事项' },
  abuse: { en: 'Suspicious activity', zh: '风险提示' },
  abuseText: {
    en: 'Circular payments, many movements, linked new accounts',
    zh: '循环流转、频繁变动、相关联的新账号',
  },
  chart: (n: string) => ({ en: `${POINTS} paid, last ${n} days`, zh: `近 ${n} 天付款${POINTS}` }),
  chartNone: {
    en: `The chart starts after the first daily close, an hour after midnight in China (UTC+8).`,
    zh: '首日结账后（北京时间次日 1 点）开始显示图表。',
  },
  chartDays: {
    en: 'From the daily closes of the books, whose days end at midnight in China (UTC+8). Refunds count on the day of the refund.',
    zh: '取自账本的每日结账，以北京时间零点为界。退款计入退款当天。',
  },
  kept: { en: 'Paid', zh: '付款' },
  givenBack: { en: 'Refunded that day', zh: '当日退款' },
  table: { en: 'Show the figures', zh: '查看数字' },
  health: { en: 'Health', zh: '运行状况' },
  books: { en: 'Books', zh: '账本' },
  booksSound: { en: 'Balanced', zh: '平衡' },
  booksBroken: { en: 'Do not balance', zh: '不平衡' },
  booksNever: { en: 'Not checked yet', zh: '尚未核验' },
  seals: { en: 'Audit seals', zh: '审计校验链' },
  sealsDone: { en: 'Up to date', zh: '已是最新' },
  sealsLate: { en: 'Behind since', zh: '滞后，始于' },
  notifications: { en: 'Notifications', zh: '通知' },
  noBacklog: { en: 'None waiting', zh: '没有积压' },
  backlog: (waiting: string, failing: string) => ({
    en: `${waiting} waiting, ${failing} failed before`,
    zh: `等待 ${waiting} 条，其中 ${failing} 条曾失败`,
  }),
  pausedHosts: (count: string, n: number) => ({
    en: `${count} ${counted(n, 'host', 'hosts')} paused`,
    zh: `${count} 台主机已暂停`,
  }),
  mail: { en: 'Email', zh: '邮件' },
  mailLast: { en: 'Last sent', zh: '最近发送于' },
  mailNone: { en: 'None sent in the last 7 days', zh: '近 7 天没有发送' },
  mailWaiting: (waiting: string) => ({ en: `${waiting} waiting`, zh: `等待 ${waiting} 封` }),
  mailGivenUp: (count: string) => ({
    en: `${count} could not be delivered in 7 days`,
    zh: `近 7 天有 ${count} 封未能送达`,
  }),
  off: { en: 'Not set up', zh: '未设置' },
  forum: { en: 'Forum', zh: '论坛' },
  forumSilent: { en: 'No response; next attempt', zh: '没有响应，下次尝试' },
  forumLate: { en: 'Members out of date since', zh: '成员资料未同步，始于' },
  forumEvent: { en: 'Last webhook', zh: '最近的 webhook' },
  forumAtSignIn: { en: 'Members updated only at sign-in', zh: '成员资料仅在登录时更新' },
  forumQuiet: { en: 'Up to date', zh: '已同步' },
  keys: { en: 'Signing keys', zh: '签名密钥' },
  keysUntil: { en: 'Next rotation', zh: '下次轮换' },
  backup: { en: 'Backup', zh: '备份' },
  backupNone: { en: 'None reported', zh: '没有备份记录' },
  disk: { en: 'Database', zh: '数据库' },
  steps: {
    title: { en: 'First steps', zh: '开站清单' },
    progress: (done: number, all: number) => ({
      en: `${done} of ${all} steps done`,
      zh: `完成 ${done} 步，共 ${all} 步`,
    }),
    name: {
      label: { en: 'Name the site', zh: '设置站名' },
      text: {
        en: `Its name, logo and colour, and what a ${POINT} is called.`,
        zh: `站名、图标、颜色，以及${POINTS}的叫法。`,
      },
    },
    forum: {
      label: { en: 'Connect the forum', zh: '连接论坛登录' },
      text: {
        en: 'Set DISCOURSE_URL and its secret in the environment.',
        zh: '在环境变量中设置 DISCOURSE_URL 及其密钥。',
      },
    },
    mail: {
      label: { en: 'Set up email', zh: '设置邮件' },
      text: {
        en: 'Set SMTP_URL and SMTP_FROM in the environment.',
        zh: '在环境变量中设置 SMTP_URL 和 SMTP_FROM。',
      },
    },
    factor: {
      label: { en: 'Turn on two-step verification', zh: '开启你的两步验证' },
      text: {
        en: 'Your password alone is enough to open the administration.',
        zh: '目前仅凭密码就能进入管理后台。',
      },
    },
    fees: {
      label: { en: 'Decide on the fees', zh: '确定手续费' },
      text: (percent: string) => ({
        en: `Merchants now pay ${percent}% of each payment.`,
        zh: `目前商户每笔付款需付 ${percent}% 手续费。`,
      }),
    },
    application: {
      label: { en: 'Create the first application', zh: '创建第一个应用' },
      text: { en: 'One that members sign in to, or one that they pay.', zh: '供成员登录或付款的应用。' },
    },
  },
} satisfies Texts
