/** Texts of recovering a password by mail. */
import type { Texts } from '../../web/languages.ts'

export const recovery = {
  title: { en: 'Forgot your password?', zh: '忘记密码？' },
  lead: {
    en: 'Give your username or the confirmed e-mail address of your account. We send a link with which you set a new password.',
    zh: '请输入用户名或账号已验证的邮箱，我们会发送一个用于设置新密码的链接。',
  },
  forum: {
    en: 'If you sign in with the forum, recover your password there.',
    zh: '如果你使用论坛账号登录，请到论坛找回密码。',
  },
  name: { en: 'Username or e-mail address', zh: '用户名或邮箱' },
  empty: { en: 'Give a username or an e-mail address.', zh: '请输入用户名或邮箱。' },
  submit: { en: 'Send the link', zh: '发送链接' },
  newTitle: { en: 'Choose a new password', zh: '设置新密码' },
  newLead: (name: string) => ({
    en: `For @${name}. Everywhere you are signed in, you will be signed out.`,
    zh: `账号 @${name}。设置后，所有已登录的设备都会退出登录。`,
  }),
  set: { en: 'Set the password', zh: '设置密码' },
} satisfies Texts
