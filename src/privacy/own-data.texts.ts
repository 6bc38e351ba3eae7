/** Texts of taking out the own data and closing the account. */
import type { Texts } from '../web/languages.ts'
import { pointsOf } from '../web/plurals.ts'
import { POINTS } from '../web/site-words.ts'

export const ownData = {
  export: { en: 'Take out your data', zh: '导出你的数据' },
  exportText: {
    en: `One file (JSON) with everything that is kept about you: profile, sign-ins, applications, every movement of your ${POINTS}, orders, transfers and what was written down about the account. It holds no password, key or token.`,
    zh: `一个 JSON 文件，包含与你有关的全部数据：资料、登录记录、应用、每一笔${POINTS}变动、订单、转账以及关于账号的记录。其中没有密码、密钥或令牌。`,
  },
  download: { en: 'Download', zh: '下载' },
  close: { en: 'Close the account for good', zh: '永久注销账号' },
  closeText: {
    en: 'The account is anonymised. Nobody can undo it. Before it happens you read once more what exactly will.',
    zh: '账号将被匿名化，任何人都无法恢复。执行之前会再次说明具体会发生什么。',
  },
  before: { en: 'First this has to be settled:', zh: '请先处理以下事项：' },
  obstacles: {
    points: (n: string) => ({
      en: `Your wallet holds ${pointsOf(n)}. Spend them, or give them up below.`,
      zh: `你的钱包里有 ${n} ${POINTS}。请先用完，或在下方声明放弃。`,
    }),
    points_coming: {
      en: `${POINTS} from the forum are on their way to you. Try again in some minutes.`,
      zh: `论坛的${POINTS}正在发放给你，请几分钟后再试。`,
    },
    frozen: { en: 'Your wallet is frozen. Ask the administrators.', zh: '你的钱包已冻结，请联系管理员。' },
    last_administrator: {
      en: 'You are the only administrator. Make somebody else one first.',
      zh: '你是唯一的管理员，请先指定另一位管理员。',
    },
    team_roles: {
      en: 'You work on payment applications of others. Leave their teams first.',
      zh: '你在参与他人的收款应用，请先退出这些团队。',
    },
    oauth_apps: {
      en: 'Applications that members sign in to are registered in your name. Delete them first.',
      zh: '有供成员登录的应用登记在你名下，请先删除。',
    },
    open_orders: {
      en: 'Orders of your payment applications can still be paid. Wait until their time is over, or hand the application over.',
      zh: '你的收款应用还有可以付款的订单。请等待订单过期，或移交应用。',
    },
    refundable_orders: (days: number) => ({
      en: `Orders were paid to you in the last ${days} days and may have to be refunded. Wait, or have them refunded.`,
      zh: `最近 ${days} 天内有付给你的订单，可能需要退款。请等待，或先办理退款。`,
    }),
    refund_requests: {
      en: 'A refund is asked for that concerns you. Wait until it is decided.',
      zh: '有与你有关的退款申请，请等待处理结果。',
    },
  },
  giveUp: (n: string) => ({
    en: `I give up my ${pointsOf(n)}. Nobody gets them, and they do not come back.`,
    zh: `我放弃自己的 ${n} ${POINTS}。这些${POINTS}不会归任何人，也无法找回。`,
  }),
  goOn: { en: 'Go on', zh: '继续' },
  sure: { en: 'Close your account?', zh: '注销你的账号？' },
  goes: { en: 'Removed at once:', zh: '立即删除：' },
  gone: [
    {
      en: 'your name, username, e-mail address, picture, groups and the link to the forum',
      zh: '你的名称、用户名、邮箱、头像、用户组以及与论坛的关联',
    },
    {
      en: 'your password, second factor, sign-ins, known addresses and everything that applications may do in your name',
      zh: '你的密码、两步验证、登录状态、登录地址，以及应用代表你所做的一切授权',
    },
    {
      en: 'your payment applications: they stop working, and their keys end',
      zh: '你的收款应用：停止使用，密钥失效',
    },
  ],
  stays: { en: 'What stays, because the books must add up:', zh: '为了账目完整而保留：' },
  kept: [
    {
      en: 'payments, orders, transfers and refunds, with the number of your account; other members see “deleted” and that number in the place of your name',
      zh: '付款、订单、转账和退款以及你的账号编号；其他成员看到的不再是你的名字，而是 “deleted” 加该编号',
    },
    {
      en: 'the audit log, which only administrators read and nobody can change: there your earlier name and addresses stay',
      zh: '审计日志：只有管理员可以查看，任何人都不能修改，其中保留你以前的名字和地址',
    },
  ],
  name: {
    en: `Your username is given to nobody else. If you come again, from the forum or anew, you are a new member without ${POINTS}.`,
    zh: `你的用户名不会再给其他人使用。如果你再次从论坛进入或重新注册，将是一个没有${POINTS}的新成员。`,
  },
  givesUp: (n: string) => ({ en: `You give up ${pointsOf(n)}.`, zh: `你放弃 ${n} ${POINTS}。` }),
  type: (username: string) => ({
    en: `To confirm, type your username: ${username}`,
    zh: `请输入你的用户名确认：${username}`,
  }),
  wrong: { en: 'That is not your username.', zh: '这不是你的用户名。' },
  confirm: { en: 'Close the account for good', zh: '永久注销账号' },
} satisfies Texts
