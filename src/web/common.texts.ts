/** Texts of the frame around every page, and words that pages of several areas share. */
import type { Texts } from './languages.ts'
import { counted } from './plurals.ts'

export const common = {
  tagline: { en: 'One sign-in and one wallet for the community', zh: '社区的统一登录与积分钱包' },
  skipToContent: { en: 'Skip to content', zh: '跳到正文' },
  wallet: { en: 'Wallet', zh: '钱包' },
  applications: { en: 'Apps', zh: '应用' },
  payments: { en: 'Merchant', zh: '收款' },
  administration: { en: 'Admin', zh: '管理' },
  accountMenu: { en: 'Your account', zh: '我的账号' },
  signIn: { en: 'Sign in', zh: '登录' },
  signOut: { en: 'Sign out', zh: '退出登录' },
  switchAccount: { en: 'Switch account', zh: '切换账号' },
  language: { en: 'Language', zh: '语言' },
  points: (formatted: string, amount: bigint | number) => ({
    en: `${formatted} ${counted(amount, 'point', 'points')}`,
    zh: `${formatted} 积分`,
  }),
  pointsUnit: (amount: bigint | number) => ({ en: counted(amount, 'point', 'points'), zh: '积分' }),
  trustLevel: (level: number) => ({ en: `Trust level ${level}`, zh: `信任等级 ${level}` }),
  cancel: { en: 'Cancel', zh: '取消' },
  backToStart: { en: 'Back to the start page', zh: '返回首页' },
  reference: { en: 'Reference', zh: '参考编号' },
  optional: { en: 'optional', zh: '选填' },
  save: { en: 'Save', zh: '保存' },
  saved: { en: 'Saved.', zh: '已保存。' },
  announcement: { en: 'Announcement', zh: '公告' },
  paymentsPaused: {
    en: 'Maintenance: payments are paused. Everything can be looked at, and nothing is lost.',
    zh: '系统维护中，暂停支付。仍可查看所有内容，数据不受影响。',
  },
  profile: { en: 'Profile and security', zh: '资料与安全' },
  alerts: { en: 'Alerts', zh: '提醒' },
  alertsCount: (n: number) => ({ en: `Alerts (${n})`, zh: `提醒（${n}）` }),
  unreadAlerts: { en: 'unread alerts', zh: '条未读提醒' },
  myPayments: { en: 'My payments', zh: '我的付款' },
  authorisedApps: { en: 'Authorised applications', zh: '已授权的应用' },
  sessions: { en: 'Where you are signed in', zh: '登录的设备' },
  testMode: { en: 'Test mode', zh: '测试模式' },
  testModeMark: {
    en: 'Play points only: nothing here is worth anything, and no real point moves.',
    zh: '仅使用虚拟积分：这里的一切都没有价值，不会动用真实积分。',
  },
  reason: { en: 'Reason', zh: '理由' },
  copy: { en: 'Copy', zh: '复制' },
} satisfies Texts
