/** Texts of recovering a password by email. */
import type { Texts } from '../../web/languages.ts'

export const recovery = {
  title: { en: 'Forgot your password?', zh: '忘记密码？' },
  lead: {
    en: 'Enter your username or confirmed email address. We will send a link to set a new password.',
    zh: '请输入用户名或已验证的邮箱，我们会发送设置新密码的链接。',
  },
  forum: {
    en: 'If you sign in with the forum, recover your password there.',
    zh: '如果你使用论坛账号登录，请到论坛找回密码。',
  },
  name: { en: 'Username or email address', zh: '用户名或邮箱' },
  empty: { en: 'Enter a username or an email address.', zh: '请输入用户名或邮箱。' },
  submit: { en: 'Send the link', zh: '发送链接' },
  newTitle: { en: 'Set a new password', zh: '设置新密码' },
  newLead: (name: string) => ({
    en: `For @${name}. You will be signed out in every browser.`,
    zh: `账号 @${name}。设置后，所有浏览器都会退出登录。`,
  }),
  set: { en: 'Set password', zh: '设置密码' },
} satisfies Texts
