/** Texts of the second step of a sign-in. */
import type { Texts } from '../../web/languages.ts'

export const secondStep = {
  title: { en: 'Enter your code', zh: '输入验证码' },
  lead: (name: string) => ({
    en: `One more step: enter the code that your authenticator app shows for @${name}.`,
    zh: `还差一步：请输入验证器应用为 @${name} 显示的验证码。`,
  }),
  titlePasskey: { en: 'Confirm with your passkey', zh: '请用通行密钥确认' },
  leadPasskey: (name: string) => ({
    en: `One more step: confirm with a passkey of @${name}, or with a recovery code.`,
    zh: `还差一步：请使用 @${name} 的通行密钥或恢复码确认。`,
  }),
  usePasskey: { en: 'Use a passkey', zh: '使用通行密钥' },
  noPasskeyUsed: {
    en: 'No passkey was used. Try again, or use another way.',
    zh: '没有使用通行密钥。请重试，或使用其他方式。',
  },
  lostPasskey: { en: 'I cannot use my passkey', zh: '无法使用通行密钥' },
  passkeyUnverified: {
    en: 'This passkey could not be verified. Try again, or use another way.',
    zh: '无法验证这个通行密钥。请重试，或使用其他方式。',
  },
  passkeyExpired: {
    en: 'This page was open for too long. Please use your passkey once more.',
    zh: '页面打开太久，请再次使用通行密钥。',
  },
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
