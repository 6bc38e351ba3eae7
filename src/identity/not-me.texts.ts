/** Texts of the page behind “This wasn't me”. */
import type { Texts } from '../web/languages.ts'
import { POINTS } from '../web/site-words.ts'

export const notMe = {
  title: { en: 'This wasn’t you?', zh: '不是你本人操作？' },
  lead: (name: string) => ({
    en: `If it was not you, lock the account @${name} now.`,
    zh: `如果不是你本人操作，请立即锁定账号 @${name}。`,
  }),
  leadAtForum: (name: string) => ({
    en: `If it was not you, sign the account @${name} out everywhere now.`,
    zh: `如果不是你本人操作，请立即将账号 @${name} 全部退出登录。`,
  }),
  what: { en: 'What happened', zh: '操作' },
  when: { en: 'When', zh: '时间' },
  signsOut: {
    en: 'Every browser and app is signed out.',
    zh: '所有浏览器和应用都会退出登录。',
  },
  password: (email: string) => ({
    en: `The password stops working. A link to set a new one goes to ${email}.`,
    zh: `当前密码失效，设置新密码的链接会发往 ${email}。`,
  }),
  address: {
    en: 'This becomes the address of the account again.',
    zh: '该邮箱会重新成为账号邮箱。',
  },
  passkeys: (since: string) => ({
    en: `Passkeys that were added since ${since} are removed.`,
    zh: `${since}以来添加的通行密钥会被移除。`,
  }),
  secondFactor: {
    en: 'Two-step verification stays on. If you did not turn it on, ask an administrator to turn it off.',
    zh: '两步验证保持开启。如果不是你开启的，请联系管理员关闭。',
  },
  stays: {
    en: `Your ${POINTS}, orders and mandates stay as they are. Check them after you sign in.`,
    zh: `${POINTS}、订单和预授权保持不变，请在登录后检查。`,
  },
  lock: { en: 'Lock my account', zh: '锁定我的账号' },
  signOut: { en: 'Sign out everywhere', zh: '全部退出登录' },
} satisfies Texts
