/** Texts of the page after registering, which asks for an e-mail address and a passkey. */
import type { Texts } from '../../web/languages.ts'

export const keepAccess = {
  title: { en: 'Keep access to your account', zh: '留一条找回账号的路' },
  titleDone: { en: 'You have a way back in', zh: '账号可以找回' },
  made: (name: string) => ({ en: `Your account @${name} is ready.`, zh: `账号 @${name} 已可使用。` }),
  lead: {
    en: 'You have a password and nothing else. If you forget it, you cannot sign in again. Add a way back.',
    zh: '现在只有密码能登录这个账号，忘记密码就无法再登录。请添加找回方式。',
  },
  leadDone: {
    en: 'A forgotten password no longer ends your account.',
    zh: '现在即使忘记密码，也能找回账号。',
  },
  email: { en: 'Email address', zh: '邮箱' },
  emailText: {
    en: 'A forgotten password is replaced by a link sent there. Applications see the address only after you allow them.',
    zh: '忘记密码时，重置链接会发到这里。只有经你授权的应用才能看到邮箱。',
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
    en: 'Signs you in with your fingerprint, face or screen lock, without the password.',
    zh: '用指纹、面容或锁屏密码登录，无需密码。',
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
