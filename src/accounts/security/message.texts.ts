/** Texts of pages that say one thing: a mail is on its way, a link no longer works. */
import type { Texts } from '../../web/languages.ts'

export const messages = {
  recoverySent: {
    title: { en: 'Look into your mailbox', zh: '请查收邮件' },
    text: (minutes: number) => ({
      en: `If there is an account with a confirmed address, a link is on its way to it. It works once, for ${minutes} minutes. Nothing there? Look among the spam, or ask an administrator.`,
      zh: `如果存在已验证邮箱的账号，链接正在发往该邮箱，${minutes} 分钟内有效，且只能使用一次。没有收到？请检查垃圾邮件，或联系管理员。`,
    }),
    action: { en: 'Back to sign-in', zh: '返回登录' },
  },
  passwordSet: {
    title: { en: 'Your password is set', zh: '密码已设置' },
    text: () => ({
      en: 'You were signed out everywhere. Sign in with the new password; a second factor, if you have one, is still asked for.',
      zh: '所有设备均已退出登录。请用新密码登录；如已开启两步验证，仍需输入验证码。',
    }),
    action: { en: 'Sign in', zh: '登录' },
  },
  deadRecoveryLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was used already, has expired, or is not complete. Ask for a new one.',
      zh: '链接已使用、已过期或不完整，请重新获取。',
    }),
    action: { en: 'Ask for a new link', zh: '重新获取链接' },
  },
  deadSignInLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was used already, has expired, or is not complete. Whoever made it can make another.',
      zh: '链接已使用、已过期或不完整。请让制作链接的人重新生成。',
    }),
    action: { en: 'Sign in', zh: '登录' },
  },
  accountClosed: {
    title: { en: 'Your account is closed', zh: '你的账号已注销' },
    text: () => ({
      en: 'What it held about you was removed. Thank you for having been here.',
      zh: '其中关于你的内容已删除。感谢你曾经在这里。',
    }),
    action: { en: 'To the front page', zh: '返回首页' },
  },
  confirmationSent: {
    title: { en: 'Look into your mailbox', zh: '请查收邮件' },
    text: (minutes: number) => ({
      en: `Open the link in the mail within ${minutes} minutes, signed in as yourself. Until then nothing changes.`,
      zh: `请在 ${minutes} 分钟内以本人身份登录并打开邮件中的链接。在此之前不会有任何更改。`,
    }),
    action: { en: 'Back to the profile', zh: '返回资料页' },
  },
  addressConfirmed: {
    title: { en: 'Your address is confirmed', zh: '邮箱已验证' },
    text: () => ({
      en: 'From now on mail about your account goes there.',
      zh: '今后有关账号的邮件将发送到该邮箱。',
    }),
    action: { en: 'Back to the profile', zh: '返回资料页' },
  },
  deadAddressLink: {
    title: { en: 'This link no longer works', zh: '链接已失效' },
    text: () => ({
      en: 'It was used already, has expired, was replaced by a newer one, or belongs to another account.',
      zh: '链接已使用、已过期、已被新的链接取代，或属于其他账号。',
    }),
    action: { en: 'Back to the profile', zh: '返回资料页' },
  },
} satisfies Texts
