/** Texts of the page after registering, which asks for an e-mail address and a passkey. */
import type { Texts } from '../../web/languages.ts'

export const keepAccess = {
  title: { en: 'Keep access to your account', zh: '留一条找回账号的路' },
  titleDone: { en: 'You have a way back in', zh: '账号可以找回' },
  made: (name: string) => ({ en: `Your account @${name} is ready.`, zh: `账号 @${name} 已可使用。` }),
  lead: {
    en: 'Add a way back in, in case you forget the password.',
    zh: '请至少添加一种方式，以免忘记密码后无法登录。',
  },
  leadDone: {
    en: 'A forgotten password no longer ends your account.',
    zh: '现在即使忘记密码，也能找回账号。',
  },
  email: { en: 'Email address', zh: '邮箱' },
  emailText: {
    en: 'For a link that sets a new password. Apps see it only if you allow them.',
    zh: '用于重置密码，只有经你授权的应用才能看到。',
  },
  sendLink: { en: 'Send the link', zh: '发送验证链接' },
  sendAgain: { en: 'Send again', zh: '重新发送' },
  waiting: (email: string) => ({
    en: `Open the link that was sent to ${email}. You can continue meanwhile.`,
    zh: `请打开发到 ${email} 的链接。不必等待，可以先继续。`,
  }),
  sent: (email: string, minutes: number) => ({
    en: `A link was sent to ${email}. Open it within ${minutes} minutes in this browser.`,
    zh: `验证链接已发送到 ${email}，请在 ${minutes} 分钟内用此浏览器打开。`,
  }),
  passkeyText: {
    en: 'Sign in by fingerprint, face or PIN',
    zh: '用指纹、面容或锁屏密码登录',
  },
  passkeyAdded: { en: 'You can sign in with your passkey.', zh: '可以使用通行密钥登录。' },
  later: { en: 'Not now', zh: '以后再说' },
  laterText: {
    en: 'Both are also under Account and security.',
    zh: '之后可在“账号与安全”中添加。',
  },
  goOn: { en: 'Continue', zh: '继续' },
  goOnTo: (app: string) => ({ en: `Continue to ${app}`, zh: `继续前往 ${app}` }),
} satisfies Texts
