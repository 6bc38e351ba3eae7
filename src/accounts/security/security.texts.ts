/** Texts of the section on security of the profile page. */
import type { Texts } from '../../web/languages.ts'

export const security = {
  title: { en: 'Security', zh: '账号安全' },
  toAccount: { en: 'Back to the profile', zh: '返回资料页' },
  password: { en: 'Password', zh: '密码' },
  passwordText: { en: 'Known to you alone.', zh: '只有你自己知道。' },
  atForum: {
    en: 'You sign in at the forum, which keeps your password and its two-factor sign-in.',
    zh: '你通过论坛登录，密码和两步验证由论坛管理。',
  },
  change: { en: 'Change', zh: '修改' },
  secondFactor: { en: 'Second factor', zh: '两步验证' },
  secondFactorOn: {
    en: 'On: a code from your authenticator app is asked for at each sign-in.',
    zh: '已开启：每次登录都需要验证器中的验证码。',
  },
  secondFactorOff: {
    en: 'Off: whoever learns your password can sign in.',
    zh: '未开启：得知密码的人就能登录。',
  },
  forgotten: { en: 'Forgot your password?', zh: '忘记密码？' },
  noEmail: {
    en: 'None: without one a forgotten password cannot be recovered.',
    zh: '未填写：忘记密码时将无法找回。',
  },
  emailConfirmed: (email: string) => ({ en: `${email}, confirmed`, zh: `${email}（已验证）` }),
  emailUnconfirmed: (email: string) => ({
    en: `${email}, not confirmed: no mail is sent there yet.`,
    zh: `${email}（未验证，暂不会向其发送邮件）`,
  }),
  changeEmail: { en: 'Change', zh: '修改' },
  addEmail: { en: 'Add', zh: '添加' },
  mails: {},
  setUpButton: { en: 'Set up', zh: '设置' },
  manageButton: { en: 'Manage', zh: '管理' },
} satisfies Texts
