/** Texts of changing and confirming an email address. */
import type { Texts } from '../../web/languages.ts'

export const emailAddress = {
  title: { en: 'Email address', zh: '邮箱地址' },
  lead: {
    en: 'We will send a link to the new address. Your address changes when you open that link while signed in.',
    zh: '我们会向新邮箱发送链接。你登录后打开该链接，新邮箱才会生效。',
  },
  now: { en: 'Current address', zh: '当前邮箱' },
  new: { en: 'New address', zh: '新邮箱' },
  submit: { en: 'Send the link', zh: '发送链接' },
  malformed: { en: 'This is not an email address.', zh: '这不是有效的邮箱地址。' },
  same: { en: 'This is already your address.', zh: '这已经是你当前的邮箱。' },
  confirmTitle: { en: 'Confirm your address', zh: '验证邮箱' },
  confirmLead: (name: string) => ({
    en: `Make this the address of @${name}?`,
    zh: `将以下地址设为 @${name} 的邮箱？`,
  }),
  confirm: { en: 'Confirm address', zh: '确认' },
} satisfies Texts
