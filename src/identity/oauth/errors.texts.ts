/** Texts of a faulty authorization request, by error code of OAuth. */
import type { Texts } from '../../web/languages.ts'

export const errors = {
  title: {
    invalid_client: { en: 'Unknown application', zh: '未知应用' },
    invalid_redirect_uri: { en: 'Unknown return address', zh: '未知的返回地址' },
    invalid_request: { en: 'This sign-in link is not right', zh: '登录链接有误' },
    access_denied: { en: 'Access denied', zh: '访问被拒绝' },
    other: { en: 'Signing in did not work', zh: '登录未成功' },
  },
  advice: {
    invalid_client: {
      en: 'No application is registered under the name that this link carries.',
      zh: '此链接中的名称没有对应的已登记应用。',
    },
    invalid_redirect_uri: {
      en: 'The link would send you to an address that the application has not registered. For your safety it was not followed.',
      zh: '此链接会把你带到应用未登记的地址。为了安全，没有继续跳转。',
    },
    invalid_request: {
      en: 'The application sent a request that cannot be answered.',
      zh: '应用发来的请求无法处理。',
    },
    access_denied: { en: 'The application was not allowed to sign you in.', zh: '该应用未获准让你登录。' },
    other: { en: 'The application sent a request that cannot be answered.', zh: '应用发来的请求无法处理。' },
  },
  forOwner: {
    en: 'Go back to the application and try again. If it stays, tell its owner:',
    zh: '请返回应用重试。若仍出现，请将以下内容告知应用所有者：',
  },
} satisfies Texts
