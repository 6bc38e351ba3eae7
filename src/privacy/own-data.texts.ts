/** Texts of exporting the own data and closing the account. */
import type { Texts } from '../web/languages.ts'
import { pointsOf } from '../web/plurals.ts'
import { POINTS } from '../web/site-words.ts'

export const ownData = {
  export: { en: 'Export your data', zh: '导出你的数据' },
  exportText: {
    en: `One JSON file with everything the site keeps about you: profile, sign-ins, apps, every movement of your ${POINTS}, orders, transfers and the history of your account. It contains no passwords, keys or tokens.`,
    zh: `一个 JSON 文件，包含本站保存的全部与你有关的数据：资料、登录记录、应用、每一笔${POINTS}变动、订单、转账以及账号记录。其中没有密码、密钥或令牌。`,
  },
  download: { en: 'Download', zh: '下载' },
  close: { en: 'Close your account', zh: '注销账号' },
  closeText: {
    en: 'Your account is anonymised for good, and this cannot be undone. The next page says exactly what happens.',
    zh: '账号将被永久匿名化，无法恢复。下一页会说明具体会发生什么。',
  },
  before: { en: 'Settle this first:', zh: '请先处理以下事项：' },
  obstacles: {
    points: (n: string) => ({
      en: `Your wallet holds ${pointsOf(n)}. Spend them, or give them up below.`,
      zh: `你的钱包里有 ${n} ${POINTS}。请先用完，或在下方声明放弃。`,
    }),
    points_coming: {
      en: `The forum is about to give you ${POINTS}. Try again in a few minutes.`,
      zh: `论坛正在向你发放${POINTS}，请几分钟后再试。`,
    },
    frozen: { en: 'Your wallet is frozen. Ask an administrator.', zh: '你的钱包已冻结，请联系管理员。' },
    last_administrator: {
      en: 'You are the only administrator. Appoint another one first.',
      zh: '你是唯一的管理员，请先指定另一位管理员。',
    },
    team_roles: {
      en: 'You are in the team of other members’ payment applications. Leave these teams first.',
      zh: '你在其他成员的收款应用团队中，请先退出这些团队。',
    },
    oauth_apps: {
      en: 'You own sign-in applications. Delete them first.',
      zh: '你名下有登录应用，请先删除。',
    },
    open_orders: {
      en: 'Orders of your payment applications can still be paid. Wait until they expire, or hand the applications over.',
      zh: '你的收款应用还有可以付款的订单。请等待订单过期，或移交应用。',
    },
    refundable_orders: (days: number) => ({
      en: `Buyers paid you in the last ${days} days and may need refunds. Wait, or ask for the refunds.`,
      zh: `最近 ${days} 天内有买家向你付款，可能需要退款。请等待，或先办理退款。`,
    }),
    refund_requests: {
      en: 'A refund request that involves you is open. Wait for the decision.',
      zh: '有与你有关的退款申请尚未处理，请等待结果。',
    },
  },
  giveUp: (n: string) => ({
    en: `I give up my ${pointsOf(n)}. No one receives them, and they cannot be restored.`,
    zh: `我放弃自己的 ${n} ${POINTS}。它们不会归任何人，也无法找回。`,
  }),
  goOn: { en: 'Continue…', zh: '继续…' },
  sure: { en: 'Close your account?', zh: '注销你的账号？' },
  effect: { en: 'What ends', zh: '将终止的内容' },
  figures: {
    sessions: { en: 'Signed-in browsers', zh: '已登录的浏览器' },
    consents: { en: 'Authorised apps', zh: '已授权的应用' },
    payment_apps: { en: 'Payment applications', zh: '收款应用' },
    points: { en: `${POINTS} given up`, zh: `放弃的${POINTS}` },
  },
  goes: { en: 'Removed at once', zh: '立即删除' },
  gone: [
    {
      en: 'your name, username, email address, picture, groups and the link to the forum',
      zh: '你的名称、用户名、邮箱、头像、用户组以及与论坛的关联',
    },
    {
      en: 'your password, two-step verification, sign-ins, known addresses and all app authorisations',
      zh: '你的密码、两步验证、登录状态、登录地址以及全部应用授权',
    },
    {
      en: 'your payment applications: they stop working, and their keys end',
      zh: '你的收款应用：停止使用，密钥失效',
    },
  ],
  stays: { en: 'Kept, because the books must add up', zh: '为了账目完整而保留' },
  kept: [
    {
      en: 'payments, orders, transfers and refunds, under your account’s number. Others see “deleted” and the number instead of your name',
      zh: '付款、订单、转账和退款以及你的账号编号。其他成员看到的不再是你的名字，而是“deleted”加该编号',
    },
    {
      en: 'the audit log with your earlier name and addresses. Only administrators can read it, and it cannot be changed',
      zh: '审计日志，其中有你以前的名字和地址。只有管理员可以查看，且无法修改',
    },
  ],
  name: {
    en: `Your username is not given to anyone else. If you come back, you start as a new member without ${POINTS}.`,
    zh: `你的用户名不会再给其他人使用。如果你再次加入，将是一个没有${POINTS}的新成员。`,
  },
  type: (username: string) => ({
    en: `Type your username ${username} to confirm`,
    zh: `请输入你的用户名 ${username} 确认`,
  }),
  wrong: { en: 'This is not your username. Nothing was closed.', zh: '用户名不符，账号没有注销。' },
  confirm: { en: 'Close the account for good', zh: '永久注销账号' },
} satisfies Texts
