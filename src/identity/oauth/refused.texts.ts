/** Texts of the pages that refuse a sign-in to an application. */
import type { Texts } from '../../web/languages.ts'

export const refused = {
  title: (app: string) => ({ en: `You cannot use ${app}`, zh: `你无法使用 ${app}` }),
  barred: { en: 'Your account is suspended.', zh: '你的账号已被停用。' },
  deny: (group: string) => ({
    en: `Its owner has closed it to ${group}.`,
    zh: `应用所有者不允许${group}使用。`,
  }),
  allow: { en: 'It is open only to members of:', zh: '仅对以下用户组开放：' },
  yourLevel: (level: number) => ({ en: `Your trust level is ${level}.`, zh: `你的信任等级为 ${level}。` }),
  return: { en: 'Return to the application', zh: '返回应用' },
} satisfies Texts

export const suspended = {
  title: (app: string) => ({ en: `${app} is suspended`, zh: `${app} 已被停用` }),
  text: {
    en: 'An administrator has suspended this application. You were not signed in to it, and it was told nothing about you.',
    zh: '管理员已停用此应用。你没有登录到该应用，它也没有获得你的任何信息。',
  },
  forOwner: {
    en: 'Its owner finds the reason on the page of the application.',
    zh: '应用所有者可在应用页面查看原因。',
  },
} satisfies Texts

/** Of a faulty authorization request, by error code of OAuth. */
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
