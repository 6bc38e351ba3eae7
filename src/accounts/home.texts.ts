/** Texts of the start page. */
import type { Texts } from '../web/languages.ts'

export const home = {
  title: { en: 'Welcome', zh: '欢迎' },
  lead: {
    en: 'Sign in to other applications with your forum account, and pay merchants with your forum points.',
    zh: '用论坛账号登录其他应用，用论坛积分向商家付款。',
  },
  greeting: (name: string) => ({ en: `Hello, ${name}`, zh: `你好，${name}` }),
  balance: { en: 'Your points', zh: '我的积分' },
  toWallet: { en: 'Wallet and statement', zh: '钱包与明细' },
  forDevelopers: { en: 'For builders', zh: '开发者' },
  toDocs: { en: 'The interfaces, described', zh: '接口说明' },
  appsCard: { en: 'Let people sign in', zh: '接入登录' },
  appsText: {
    en: 'Register an application and use the forum as its sign-in, by OAuth 2.0 and OpenID Connect.',
    zh: '登记应用，通过 OAuth 2.0 与 OpenID Connect 使用论坛账号登录。',
  },
  paymentsCard: { en: 'Get paid in points', zh: '收取积分' },
  paymentsText: {
    en: 'Apply for a payment application and sell for forum points over a signed API.',
    zh: '申请收款应用，通过签名接口以论坛积分收款。',
  },
} satisfies Texts
