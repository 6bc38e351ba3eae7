/** Texts of the second step of a sign-in. */
import type { Texts } from '../../web/languages.ts'

export const secondStep = {
  title: { en: 'Enter your code', zh: '输入验证码' },
  lead: (name: string) => ({
    en: `Your password is right. Now enter the code that your authenticator app shows for @${name}.`,
    zh: `密码正确。请输入验证器应用为 @${name} 显示的验证码。`,
  }),
  code: { en: '6-digit code', zh: '6 位验证码' },
  lost: { en: 'I cannot use my authenticator app', zh: '无法使用验证器应用' },
  recoveryCode: { en: 'Recovery code', zh: '恢复码' },
  recoveryHint: {
    en: 'One of the ten codes that you saved when you set up two-step verification. Each works once.',
    zh: '设置两步验证时保存的十个恢复码之一，每个只能使用一次。',
  },
  useRecoveryCode: { en: 'Sign in with the recovery code', zh: '使用恢复码登录' },
  startOver: { en: 'Start again', zh: '重新开始' },
  wrongCode: {
    en: 'This code is wrong or already used. Wait for the next one.',
    zh: '验证码错误或已使用过，请等待下一个验证码。',
  },
  wrongRecoveryCode: {
    en: 'This recovery code is wrong or already used.',
    zh: '恢复码错误或已使用过。',
  },
  locked: { en: 'Too many wrong codes', zh: '验证码输错次数过多' },
} satisfies Texts
