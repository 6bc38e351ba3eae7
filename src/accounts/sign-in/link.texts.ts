/** Texts of signing in with a one-time link. */
import type { Texts } from '../../web/languages.ts'

export const signInLink = {
  title: { en: 'Sign in with this link', zh: '用此链接登录' },
  text: (username: string) => ({
    en: `The link signs you in as @${username}. It works once.`,
    zh: `你将以 @${username} 的身份登录。链接只能使用一次。`,
  }),
  submit: { en: 'Sign in', zh: '登录' },
} satisfies Texts
