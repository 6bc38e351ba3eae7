/** Texts of creating a local account. */
import type { Texts } from '../../web/languages.ts'
import { SITE } from '../../web/site-words.ts'

export const register = {
  title: { en: 'Create an account', zh: '注册账号' },
  lead: {
    en: `Choose a username and a password for ${SITE}.`,
    zh: `为 ${SITE} 设置用户名和密码。`,
  },
  already: (name: string) => ({
    en: `You are signed in as @${name}. A new account replaces it in this browser.`,
    zh: `当前登录账号是 @${name}。注册新账号会替换它。`,
  }),
  usernameHint: {
    en: '3 to 30 letters, digits, dots, hyphens and underscores. Names of the staff, such as admin, are not available.',
    zh: '3 到 30 个字母、数字、点、连字符或下划线。admin 等管理人员名称不可使用。',
  },
  taken: { en: 'This username is taken. Please choose another one.', zh: '这个用户名已被使用，请换一个。' },
  submit: { en: 'Create account', zh: '创建账号' },
  haveOne: { en: 'I already have an account', zh: '我已有账号' },
} satisfies Texts
