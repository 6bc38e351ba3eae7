/** Texts of signing in with a password. */
import type { Texts } from '../../web/languages.ts'
import { SITE } from '../../web/site-words.ts'

export const signIn = {
  title: { en: 'Sign in', zh: '登录' },
  username: { en: 'Username', zh: '用户名' },
  password: { en: 'Password', zh: '密码' },
  submit: { en: 'Sign in', zh: '登录' },
  already: (name: string) => ({
    en: `You are signed in as @${name}. Signing in again replaces that session.`,
    zh: `你已登录为 @${name}，再次登录将替换当前会话。`,
  }),
  wrong_credentials: { en: 'The username or the password is wrong.', zh: '用户名或密码错误。' },
  barred: { en: 'This account is suspended and cannot sign in.', zh: '该账号已被停用，无法登录。' },
  withForum: { en: 'Sign in with the forum', zh: '使用论坛账号登录' },
  otherForumAccount: {
    en: 'To sign in as somebody else, log out at the forum first.',
    zh: '如需换用其他账号，请先在论坛退出登录。',
  },
  orLocal: { en: `or with an account of ${SITE}`, zh: `或使用 ${SITE} 账号登录` },
} satisfies Texts
