/** Texts of creating a local account. */
import type { Texts } from '../../web/languages.ts'
import { SITE } from '../../web/site-words.ts'

export const register = {
  title: { en: 'Create an account', zh: '注册账号' },
  lead: { en: `An account of ${SITE}, with a password of its own.`, zh: `使用独立密码的 ${SITE} 账号。` },
  already: (name: string) => ({
    en: `You are signed in as @${name}. A new account replaces that session.`,
    zh: `你已登录为 @${name}。注册新账号会替换当前登录。`,
  }),
  usernameHint: {
    en: '3 to 30 letters, digits, dots, hyphens and underscores; no name of the staff, such as admin.',
    zh: '3 到 30 个字母、数字、点、连字符或下划线；不可使用 admin 等管理人员名称。',
  },
  taken: { en: 'This username is taken.', zh: '该用户名已被使用。' },
  submit: { en: 'Create the account', zh: '创建账号' },
  haveOne: { en: 'I have an account', zh: '我已有账号' },
} satisfies Texts
