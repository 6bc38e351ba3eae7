/** Texts of the page that reports a failure, by code. */
import type { Texts } from './languages.ts'

export const errors = {
  title: {
    malformed_request: { en: 'That request could not be read', zh: '请求无法识别' },
    invalid_form: { en: 'Something in the form is not right', zh: '表单内容有误' },
    sign_in_required: { en: 'Sign in first', zh: '请先登录' },
    forbidden: { en: 'Not allowed', zh: '没有权限' },
    form_expired: { en: 'This form has expired', zh: '表单已过期' },
    not_found: { en: 'Nothing here', zh: '页面不存在' },
    method_not_allowed: { en: 'This address takes another method', zh: '请求方法不正确' },
    conflict: { en: 'That does not fit what is there', zh: '与现有内容冲突' },
    too_many_attempts: { en: 'Too many attempts', zh: '尝试次数过多' },
    overloaded: { en: 'Too busy just now', zh: '系统繁忙' },
    unavailable: { en: 'This cannot be done just now', zh: '暂时无法处理' },
    internal_error: { en: 'Something went wrong on our side', zh: '服务器出错了' },
  },
  advice: {
    malformed_request: {
      en: 'The address or the form was damaged on its way.',
      zh: '地址或表单在传输中损坏。',
    },
    invalid_form: { en: 'Go back, correct it and send it again.', zh: '请返回修改后重新提交。' },
    sign_in_required: { en: 'Sign in and try again.', zh: '登录后再试。' },
    forbidden: { en: 'Your account may not do this.', zh: '你的账号不能执行此操作。' },
    form_expired: {
      en: 'Go back, reload the page and try again. Nothing was changed.',
      zh: '请返回并刷新页面后重试，没有任何更改。',
    },
    not_found: {
      en: 'The address may be mistyped, or what it led to may be gone.',
      zh: '地址可能有误，或内容已不存在。',
    },
    method_not_allowed: {
      en: 'This address is for programs. See the documentation for its method.',
      zh: '此地址供程序使用，请求方法见文档。',
    },
    conflict: {
      en: 'Go back, reload the page and see how things stand now.',
      zh: '请返回并刷新页面，查看当前状态。',
    },
    too_many_attempts: { en: 'Wait a moment, then try again.', zh: '请稍候再试。' },
    overloaded: {
      en: 'Nothing was changed. Try again in a few seconds.',
      zh: '没有任何更改，请几秒后重试。',
    },
    unavailable: {
      en: 'Try again in a few seconds. If you paid, look first whether it was done.',
      zh: '请几秒后重试。如果是付款，请先查看是否已完成。',
    },
    internal_error: {
      en: 'Nothing you did caused this. Try again; if it stays, tell us the reference below.',
      zh: '这不是你的问题。请重试；若仍出现，请告知下方的参考编号。',
    },
  },
  retryAfter: (seconds: number) => ({
    en: `Try again in ${seconds} seconds.`,
    zh: `请在 ${seconds} 秒后重试。`,
  }),
} satisfies Texts
