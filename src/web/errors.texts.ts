/** Texts of the page that reports a failure, by code. */
import type { Texts } from './languages.ts'
import { counted } from './plurals.ts'
import { POINTS } from './site-words.ts'

export const errors = {
  title: {
    malformed_request: { en: 'We could not read this request', zh: '无法识别这个请求' },
    invalid_form: { en: 'Please check the form', zh: '请检查填写的内容' },
    sign_in_required: { en: 'Please sign in again', zh: '请重新登录' },
    forbidden: { en: 'You do not have access', zh: '你没有权限' },
    form_expired: { en: 'Please confirm once more', zh: '请重新确认' },
    not_found: { en: 'Page not found', zh: '找不到这个页面' },
    method_not_allowed: { en: 'This address is for programs', zh: '此地址供程序调用' },
    conflict: { en: 'Something has changed', zh: '内容已有变化' },
    too_many_attempts: { en: 'Too many attempts', zh: '尝试次数过多' },
    overloaded: { en: 'We are very busy right now', zh: '当前访问量过大' },
    unavailable: { en: 'Temporarily unavailable', zh: '暂时无法处理' },
    internal_error: { en: 'Something went wrong on our side', zh: '我们这边出了点问题' },
  },
  /** A file or a form above its bound. */
  tooLarge: {
    title: { en: 'This is too large', zh: '内容过大' },
    advice: {
      en: 'Nothing was changed. Send a smaller file or a shorter text.',
      zh: '没有任何更改。请发送更小的文件或更短的文字。',
    },
  },
  /** Instead of `not_found` at the address of a payment link. */
  noLink: {
    title: { en: 'Payment link not found', zh: '找不到这个收款链接' },
    advice: {
      en: 'This payment link does not exist or was withdrawn. Nothing was charged.',
      zh: '这个收款链接不存在或已撤下，没有扣除任何积分。',
    },
  },
  advice: {
    malformed_request: {
      en: 'Nothing was changed. The address or the form was damaged on the way here.',
      zh: '没有任何更改。地址或表单在传输中损坏。',
    },
    invalid_form: {
      en: 'Nothing was changed. Go back, correct the form and send it again.',
      zh: '没有任何更改。请返回修改后重新提交。',
    },
    sign_in_required: {
      en: 'Nothing was changed. Your session has ended; after signing in you return to the same page.',
      zh: '没有任何更改。你的登录已过期，重新登录后会回到原来的页面。',
    },
    forbidden: {
      en: 'This page belongs to another member, or needs a role that your account does not have.',
      zh: '这个页面属于其他成员，或你的账号没有所需的角色。',
    },
    form_expired: {
      en: 'Nothing was changed. The page was open for too long, or you have signed in or out since.',
      zh: '没有任何更改。页面打开太久，或在此期间你退出登录或重新登录过。',
    },
    not_found: {
      en: 'The address may be mistyped, or the page no longer exists.',
      zh: '地址可能有误，或页面已不存在。',
    },
    method_not_allowed: {
      en: 'The documentation says how programs call it.',
      zh: '调用方式请见开发文档。',
    },
    conflict: {
      en: 'This was not carried out, because something changed after you opened the page. Check the page again before you repeat it.',
      zh: '没有任何更改。内容在此期间有变化，请查看最新状态后再操作。',
    },
    too_many_attempts: {
      en: 'Nothing was changed. This limit protects every account.',
      zh: '没有任何更改。次数限制是为了保护所有账号。',
    },
    overloaded: {
      en: 'Nothing was changed. Please try again in a few seconds.',
      zh: '没有任何更改，请几秒后重试。',
    },
    unavailable: {
      en: 'Please try again in a few seconds. If you were paying, check the order first: it shows whether it was paid.',
      zh: '请几秒后重试。如果正在付款，请先查看订单，它会显示是否已付款。',
    },
    internal_error: {
      en: 'You did nothing wrong. Please try again. If it happens again, send us the reference below.',
      zh: '这不是你的问题。请重试；如果再次出现，请把下方的参考编号告诉我们。',
    },
  },
  /** Instead of the advice, while an order waits to be paid. */
  orderWaits: {
    en: `No ${POINTS} were taken, and the order is still waiting for you.`,
    zh: `没有扣除任何${POINTS}，订单仍在等你。`,
  },
  late: {
    kept: {
      en: 'The form is kept for you as you left it. Passwords, codes, keys and files must be entered again.',
      zh: '表单已按你填写的样子保留；密码、验证码、密钥和文件需要重新填写。',
    },
    lost: { en: 'What you typed was not kept.', zh: '填写的内容没有保留。' },
  },
  retryAfter: (seconds: number) => {
    const minutes = Math.ceil(seconds / 60)
    return seconds < 90
      ? {
          en: `Try again in ${seconds} ${counted(seconds, 'second', 'seconds')}.`,
          zh: `请在 ${seconds} 秒后重试。`,
        }
      : { en: `Try again in ${minutes} minutes.`, zh: `请在 ${minutes} 分钟后重试。` }
  },
  signedInAs: (username: string) => ({
    en: `You are signed in as @${username}.`,
    zh: `当前登录账号是 @${username}。`,
  }),
  switchAccount: { en: 'Sign in with another account', zh: '换一个账号登录' },
  signIn: { en: 'Sign in and continue', zh: '登录并继续' },
  tryAgain: { en: 'Try again', zh: '重试' },
  backToPage: { en: 'Back to the page', zh: '回到原来的页面' },
  backToOrder: { en: 'Back to the order', zh: '回到这笔订单' },
  backTo: (name: string) => ({ en: `Back to ${name}`, zh: `返回 ${name}` }),
  validUntil: { en: 'pay by', zh: '付款截止' },
  documentation: { en: 'Documentation', zh: '开发文档' },
} satisfies Texts
