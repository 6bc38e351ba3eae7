/** Texts of pages that say one thing: an email is on its way, a link no longer works. */
import type { Texts } from '../../web/languages.ts'

export const messages = {
  recoverySent: {
    title: { en: 'Check your inbox', zh: '请查收邮件' },
    text: (minutes: number) => ({
      en: `If an account has this name or confirmed address, we have sent it a link. The link works once, for ${minutes} minutes. If nothing arrives, check your spam folder or ask an administrator.`,
      zh: `如果存在对应的账号且邮箱已验证，链接已发往该邮箱，${minutes} 分钟内有效，只能使用一次。没有收到？请检查垃圾邮件，或联系管理员。`,
    }),
    action: { en: 'Back to sign-in', zh: '返回登录' },
  },
  passwordSet: {
    title: { en: 'Your password is set', zh: '密码已设置' },
    text: () => ({
      en: 'You are signed out in every browser. Sign in with your new password.',
      zh: '所有浏览器均已退出登录，请用新密码登录。',
    }),
    action: { en: 'Sign in', zh: '登录' },
  },
  deadRecoveryLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was already used, has expired, or is incomplete. Your password is unchanged.',
      zh: '链接已使用、已过期或不完整，密码没有改变。',
    }),
    action: { en: 'Get a new link', zh: '重新获取链接' },
  },
  deadSignInLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was already used, has expired, or is incomplete. Ask the person who sent it for a new one.',
      zh: '链接已使用、已过期或不完整。请让发送链接的人重新生成。',
    }),
    action: { en: 'Sign in', zh: '登录' },
  },
  accountClosed: {
    title: { en: 'Your account is closed', zh: '账号已注销' },
    text: () => ({
      en: 'Your personal data is removed, and the account can no longer be used to sign in. Thank you for being part of the community.',
      zh: '你的个人数据已删除，此账号无法再登录。感谢你一路的参与。',
    }),
    action: { en: 'Back to the start page', zh: '返回首页' },
  },
  confirmationSent: {
    title: { en: 'Check your inbox', zh: '请查收邮件' },
    text: (minutes: number) => ({
      en: `Open the link in the email within ${minutes} minutes, while signed in. Nothing changes until then.`,
      zh: `请在 ${minutes} 分钟内登录并打开邮件中的链接，在此之前不会有任何更改。`,
    }),
    action: { en: 'Back to account and security', zh: '返回账号与安全' },
  },
  addressConfirmed: {
    title: { en: 'Your address is confirmed', zh: '邮箱已验证' },
    text: () => ({
      en: 'Email about your account now goes there.',
      zh: '有关账号的邮件今后将发送到该邮箱。',
    }),
    action: { en: 'Back to account and security', zh: '返回账号与安全' },
  },
  deadAddressLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was already used, has expired, was replaced by a newer link, or belongs to another account. Your address is unchanged.',
      zh: '链接已使用、已过期、已被新的链接取代，或属于其他账号。邮箱没有改变。',
    }),
    action: { en: 'Back to account and security', zh: '返回账号与安全' },
  },
} satisfies Texts
