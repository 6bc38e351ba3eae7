/** Texts of signing in with the forum. */
import type { Texts } from '../../web/languages.ts'

export const forum = {
  open: { en: 'Open the forum', zh: '打开论坛' },
  again: { en: 'Sign in again', zh: '重新登录' },
  goOn: { en: 'Continue', zh: '继续' },
  problems: {
    off: {
      title: { en: 'Forum sign-in is not available', zh: '未启用论坛登录' },
      text: {
        en: 'Signing in with the forum is not set up here. Sign in with a password instead.',
        zh: '本站尚未配置论坛登录，请改用密码登录。',
      },
    },
    malformed: {
      title: { en: 'The forum’s response could not be read', zh: '无法识别论坛的响应' },
      text: {
        en: 'It arrived incomplete or damaged. Start again; if it happens again, tell an administrator.',
        zh: '响应不完整或已损坏。请重新登录；若仍然如此，请告知管理员。',
      },
    },
    bad_signature: {
      title: { en: 'This response is not from the forum', zh: '该响应并非来自论坛' },
      text: {
        en: 'Its signature is wrong, so we did not accept it. Start again; if it happens again, an administrator should compare the secret here with the one at the forum.',
        zh: '签名不正确，因此没有接受。请重新登录；若仍然如此，请管理员核对两边的密钥。',
      },
    },
    unknown: {
      title: { en: 'This sign-in was not started here', zh: '没有对应的登录请求' },
      text: {
        en: 'The link belongs to no sign-in here, or to one that expired long ago. Start again.',
        zh: '该链接不属于本站的任何登录，或早已失效。请重新登录。',
      },
    },
    other_browser: {
      title: { en: 'This sign-in was started in another browser', zh: '该登录是在其他浏览器中开始的' },
      text: {
        en: 'For your safety, you can finish a sign-in only in the browser where you started it. If someone sent you this link, it would have signed you in to their account. Start again here.',
        zh: '为了你的安全，登录只能在开始它的浏览器中完成。如果这个链接是别人发给你的，它会让你登录到对方的账号。请在此重新登录。',
      },
    },
    used: {
      title: { en: 'This sign-in is already done', zh: '该登录已经完成' },
      text: { en: 'Each response of the forum works once.', zh: '论坛的每个响应只能使用一次。' },
    },
    expired: {
      title: { en: 'This sign-in took too long', zh: '登录超时' },
      text: {
        en: 'You have ten minutes from the start. Start again; it takes a moment if you are still signed in at the forum.',
        zh: '登录需在十分钟内完成。请重新登录；如果你在论坛仍处于登录状态，很快即可完成。',
      },
    },
    suspended: {
      title: { en: 'Your account is suspended', zh: '你的账号已被停用' },
      text: {
        en: 'The forum, or an administrator here, has suspended this account, so it cannot sign in. Ask at the forum for details.',
        zh: '该账号已被论坛或本站管理员停用，无法登录。详情请到论坛查看。',
      },
    },
  },
} satisfies Texts
