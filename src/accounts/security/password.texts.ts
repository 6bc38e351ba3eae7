/** Texts of changing a password. */
import type { Texts } from '../../web/languages.ts'

export const password = {
  title: { en: 'Change your password', zh: '修改密码' },
  once: {
    en: 'You signed in with a one-time password. Choose your own to continue.',
    zh: '你使用的是一次性密码，请先设置自己的密码。',
  },
  current: { en: 'Current password', zh: '当前密码' },
  new: { en: 'New password', zh: '新密码' },
  ends: {
    en: 'Every other browser will be signed out. Apps that you authorised keep their access until you revoke it:',
    zh: '修改后，其他浏览器会全部退出登录。已授权的应用仍可继续访问，直到你撤销：',
  },
  hint: { en: 'At least 10 characters', zh: '至少 10 个字符' },
  submit: { en: 'Change password', zh: '修改密码' },
  too_short: {
    en: 'The new password must have 10 to 200 characters.',
    zh: '新密码须为 10 至 200 个字符。',
  },
  wrong_password: {
    en: 'The current password is wrong. Nothing was changed.',
    zh: '当前密码错误，密码未修改。',
  },
  same_password: {
    en: 'The new password is the current one. Choose another.',
    zh: '新密码与当前密码相同，请换一个。',
  },
} satisfies Texts
