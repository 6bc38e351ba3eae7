/** Texts of the front page of visitors and of a member's home. */
import type { Texts } from '../web/languages.ts'
import { counted } from '../web/plurals.ts'
import { POINTS, SITE } from '../web/site-words.ts'

export const front = {
  title: { en: 'Home', zh: '首页' },
  welcome: { en: 'Welcome', zh: '欢迎' },
  lead: {
    en: `Sign in to community apps with your ${SITE} account, and pay in their shops with your ${POINTS}.`,
    zh: `用 ${SITE} 账号登录社区里的应用，用${POINTS}向商家付款。`,
  },
  signIn: { en: 'Sign in', zh: '登录' },
  register: { en: 'Create an account', zh: '注册账号' },
  withForum: { en: 'You sign in with your forum account.', zh: '使用论坛账号登录。' },
  promises: {
    privacy: {
      title: { en: 'You decide what apps see', zh: '应用看到什么，由你决定' },
      text: {
        en: 'Each app says what it asks for before you allow it. You can revoke it at any time.',
        zh: '授权之前，应用会说明它要获取的信息，之后随时可以撤销。',
      },
    },
    books: {
      title: { en: 'Every movement listed', zh: '每一笔都有账可查' },
      text: {
        en: 'You see each payment, refund and transfer, with the balance after it.',
        zh: '每笔付款、退款和转账都列在明细里，并附变动后的余额。',
      },
    },
    wallet: {
      title: { en: 'One wallet for every shop', zh: '一个钱包，通用所有商家' },
      text: {
        en: `Pay with a click, see your balance before and after, and get refunds in ${POINTS}.`,
        zh: `一键付款，付款前后余额一目了然，退款原路退回${POINTS}。`,
      },
    },
  },
  builders: { en: 'For developers', zh: '开发者' },
  addSignIn: { en: 'Add sign-in to your site', zh: '接入登录' },
  takePayments: { en: `Take payments in ${POINTS}`, zh: `用${POINTS}收款` },
  readDocs: { en: 'Read the documentation', zh: '查看开发文档' },
  visitorApps: { en: 'What members use', zh: '社区里的应用与商家' },
  balance: { en: `My ${POINTS}`, zh: `我的${POINTS}` },
  today: { en: 'Today', zh: '今天' },
  thisMonth: (came: string, went: string) => ({
    en: `This month ${came} in, ${went} out`,
    zh: `本月收入 ${came}，支出 ${went}`,
  }),
  toStatement: { en: 'Open wallet', zh: '查看明细' },
  toEarning: { en: `Earn ${POINTS}`, zh: `赚${POINTS}` },
  frozen: {
    en: 'Your wallet is frozen: you cannot pay or send until an administrator unfreezes it.',
    zh: '钱包已冻结：在管理员解冻之前无法付款或转出。',
  },
  toPay: { en: 'Waiting for payment', zh: '待支付' },
  allPayments: { en: 'My payments', zh: '我的付款' },
  pay: (amount: string) => ({ en: `Pay ${amount}`, zh: `支付\u00A0${amount}` }),
  payPlay: (amount: string) => ({ en: `Pay ${amount} play ${POINTS}`, zh: `支付 ${amount} 虚拟${POINTS}` }),
  minutesLeft: (n: number) => ({ en: `${n} ${counted(n, 'minute', 'minutes')} left`, zh: `还剩 ${n} 分钟` }),
  payBefore: { en: 'Pay by', zh: '付款截止' },
  lately: { en: 'Recent activity', zh: '最近动态' },
  wholeStatement: { en: 'All movements', zh: '全部明细' },
  /** In place of the activity of a member to whom nothing has happened yet. */
  start: { en: 'Start here', zh: '从这里开始' },
  toShops: { en: 'Find shops and apps', zh: '看看商家和应用' },
  toShopsText: {
    en: `Sign in and pay with ${POINTS}.`,
    zh: `用此账号登录，用${POINTS}付款。`,
  },
  toPasskeyText: { en: 'Sign in by face, finger or PIN.', zh: '用面容、指纹或 PIN 登录。' },
  toEmail: { en: 'Confirm your email', zh: '验证邮箱' },
  toEmailText: { en: 'For a forgotten password.', zh: '忘记密码时需要它。' },
  earn: { en: `Where ${POINTS} come from`, zh: `${POINTS}从哪里来` },
  toForum: { en: 'Go to the forum', zh: '去论坛' },
  byForum: { en: 'Take part in the forum', zh: '参与论坛' },
  byGrant: { en: 'Rewards from the team', zh: '站点奖励' },
  byGrantText: {
    en: 'Administrators reward contributions and events.',
    zh: '管理员会为贡献和活动发放奖励。',
  },
  bySelling: { en: 'Sell something', zh: '出售商品' },
  bySellingText: {
    en: `A payment application lets your shop take ${POINTS}.`,
    zh: `创建收款应用，你的商店就能收取${POINTS}。`,
  },
  ownShops: { en: 'Your payment applications', zh: '你的收款应用' },
  ownShopsText: {
    en: `See their orders and the ${POINTS} that they took.`,
    zh: `查看订单和收到的${POINTS}。`,
  },
  apps: { en: 'My apps and shops', zh: '我的应用与商家' },
  /** Below the name of an application that the member owns. */
  own: { en: 'yours', zh: '你的' },
  manageApps: { en: 'Manage access', zh: '管理授权' },
  offered: { en: 'More to discover', zh: '发现更多' },
  sessions: { en: 'Signed in elsewhere', zh: '其他登录' },
  sessionsToCheck: (count: string, n: number) => ({
    en: `${count} other ${counted(n, 'browser', 'browsers')}`,
    zh: `还有 ${count} 个浏览器已登录`,
  }),
  lastElsewhere: (device: string) => ({ en: `Last: ${device}`, zh: `最近：${device}` }),
  /** In the language that the member has just chosen. */
  switchedToEnglish: {
    en: 'Pages and emails are now in English.',
    zh: 'Pages and emails are now in English.',
  },
  switchedToChinese: { en: '页面和邮件现已改为中文。', zh: '页面和邮件现已改为中文。' },
  check: { en: 'Check', zh: '查看' },
} satisfies Texts
