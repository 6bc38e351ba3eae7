/** Texts of the start page. */
import type { Texts } from '../web/languages.ts'
import { POINTS } from '../web/site-words.ts'

export const home = {
  title: { en: 'Welcome', zh: '欢迎' },
  lead: {
    en: `Sign in to other applications with your forum account, and pay merchants with your forum ${POINTS}.`,
    zh: `用论坛账号登录其他应用，用论坛${POINTS}向商家付款。`,
  },
  greeting: (name: string) => ({ en: `Hello, ${name}`, zh: `你好，${name}` }),
  balance: { en: `Your ${POINTS}`, zh: `我的${POINTS}` },
  toWallet: { en: 'Wallet and statement', zh: '钱包与明细' },
  forDevelopers: { en: 'For builders', zh: '开发者' },
  toDocs: { en: 'The interfaces, described', zh: '接口说明' },
  appsCard: { en: 'Let people sign in', zh: '接入登录' },
  appsText: {
    en: 'Register an application and use the forum as its sign-in, by OAuth 2.0 and OpenID Connect.',
    zh: '登记应用，通过 OAuth 2.0 与 OpenID Connect 使用论坛账号登录。',
  },
  paymentsCard: { en: `Get paid in ${POINTS}`, zh: `收取${POINTS}` },
  paymentsText: {
    en: `Apply for a payment application and sell for forum ${POINTS} over a signed API.`,
    zh: `申请收款应用，通过签名接口以论坛${POINTS}收款。`,
  },
} satisfies Texts
