/** Texts of changing a password. */
import type { Texts } from '../../web/languages.ts'

export const password = {
  title: { en: 'Change password', zh: '修改密码' },
  once: {
    en: 'You signed in with a one-time password. Choose your own before you go on.',
    zh: '你使用的是一次性密码，请先设置自己的密码。',
  },
  current: { en: 'Current password', zh: '当前密码' },
  new: { en: 'New password', zh: '新密码' },
  ends: {
    en: 'Changing it signs every other browser out. Applications that you have allowed keep their access until you revoke it:',
    zh: '修改后，其他浏览器上的登录会全部退出。已授权的应用仍可继续访问，直到你撤销授权：',
  },
  hint: { en: 'At least 10 characters.', zh: '至少 10 个字符。' },
  submit: { en: 'Change password', zh: '修改密码' },
  too_short: {
    en: 'The new password must have between 10 and 200 characters.',
    zh: '新密码须为 10 至 200 个字符。',
  },
  wrong_password: { en: 'The current password is wrong.', zh: '当前密码错误。' },
  same_password: {
    en: 'The new password must differ from the current one.',
    zh: '新密码不能与当前密码相同。',
  },
} satisfies Texts
