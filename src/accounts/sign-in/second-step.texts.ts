/** Texts of the second step of a sign-in. */
import type { Texts } from '../../web/languages.ts'

export const secondStep = {
  title: { en: 'Enter the code', zh: '输入验证码' },
  lead: (name: string) => ({
    en: `@${name} is protected by a second factor. Your authenticator app shows the code.`,
    zh: `@${name} 已开启两步验证，请查看验证器应用中的验证码。`,
  }),
  code: { en: 'Code of 6 digits', zh: '6 位验证码' },
  lost: { en: 'I cannot get at the app', zh: '无法使用验证器？' },
  recoveryCode: { en: 'Recovery code', zh: '恢复码' },
  recoveryHint: {
    en: 'One of the ten codes you stored when you set up the second factor. Each works once.',
    zh: '设置两步验证时保存的十个恢复码之一，每个只能使用一次。',
  },
  useRecoveryCode: { en: 'Use the recovery code', zh: '使用恢复码登录' },
  startOver: { en: 'Start over', zh: '重新开始' },
  wrongCode: {
    en: 'This code is wrong, or was used already. Wait for the next one.',
    zh: '验证码错误或已使用过，请等待下一个验证码。',
  },
  wrongRecoveryCode: {
    en: 'This recovery code is wrong, or was used already.',
    zh: '恢复码错误或已使用过。',
  },
} satisfies Texts
