/** Texts of changing and confirming an e-mail address. */
import type { Texts } from '../../web/languages.ts'

export const emailAddress = {
  title: { en: 'E-mail address', zh: '邮箱地址' },
  lead: {
    en: 'We send a link to the new address. It counts once you have opened that link, signed in as yourself.',
    zh: '我们会向新邮箱发送一个链接。你以本人身份登录并打开该链接后，新邮箱才会生效。',
  },
  now: { en: 'Your address now', zh: '当前邮箱' },
  new: { en: 'New address', zh: '新邮箱' },
  submit: { en: 'Send the link', zh: '发送链接' },
  malformed: { en: 'This is not an e-mail address.', zh: '这不是有效的邮箱地址。' },
  same: { en: 'This is your address already.', zh: '这已经是你当前的邮箱。' },
  confirmTitle: { en: 'Confirm your address', zh: '验证邮箱' },
  confirmLead: (name: string) => ({
    en: `Make this the address of @${name}?`,
    zh: `将以下地址设为 @${name} 的邮箱？`,
  }),
  confirm: { en: 'Confirm', zh: '确认' },
} satisfies Texts
