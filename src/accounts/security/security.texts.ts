/** Texts of the section on security of the account page. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const security = {
  title: { en: 'Security', zh: '安全' },
  password: { en: 'Password', zh: '密码' },
  passwordText: { en: 'Choose one that you use nowhere else', zh: '请使用未在其他网站用过的密码' },
  atForum: {
    en: 'You sign in with the forum. It manages your password and two-step verification.',
    zh: '你使用论坛账号登录，密码和两步验证由论坛管理。',
  },
  secondFactor: { en: 'Two-step verification', zh: '两步验证' },
  secondFactorOn: {
    en: 'On: each sign-in asks for a code from your authenticator app',
    zh: '已开启：每次登录都需要验证器中的验证码',
  },
  secondFactorOff: {
    en: 'Off: your password alone is enough to sign in',
    zh: '未开启：仅凭密码即可登录你的账号',
  },
  secondFactorGone: {
    en: 'Two-step verification is off. Your recovery codes no longer work.',
    zh: '两步验证已关闭，恢复码同时失效。',
  },
  forgotten: { en: 'Forgot your password?', zh: '忘记密码？' },
  noEmail: {
    en: 'None: without one, you cannot recover a forgotten password',
    zh: '未填写：忘记密码时将无法找回',
  },
  emailConfirmed: (email: string) => ({ en: `${email}, confirmed`, zh: `${email}（已验证）` }),
  emailUnconfirmed: (email: string) => ({
    en: `${email}, not confirmed: it receives no email yet`,
    zh: `${email}（未验证，暂不会向其发送邮件）`,
  }),
  passwordChanged: (others: number) => ({
    en:
      others === 0
        ? 'Your password is changed. No other browser was signed in.'
        : `Your password is changed, and ${others} other ${counted(others, 'browser is', 'browsers are')} signed out.`,
    zh: others === 0 ? '密码已修改，没有其他已登录的浏览器。' : `密码已修改，已退出其他 ${others} 个浏览器。`,
  }),
} satisfies Texts
