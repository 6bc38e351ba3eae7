/** Texts of signing in with a one-time link. */
import type { Texts } from '../../web/languages.ts'

export const signInLink = {
  title: { en: 'Sign in with this link', zh: '用此链接登录' },
  text: (username: string) => ({
    en: `It signs you in as ${username}, once.`,
    zh: `将以 ${username} 的身份登录，链接仅可使用一次。`,
  }),
  submit: { en: 'Sign in', zh: '登录' },
} satisfies Texts
