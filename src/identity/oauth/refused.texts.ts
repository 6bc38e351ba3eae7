/** Texts of the pages that refuse a sign-in to an application. */
import type { Texts } from '../../web/languages.ts'

export const refused = {
  title: (app: string) => ({ en: `You cannot use ${app}`, zh: `你无法使用 ${app}` }),
  barred: {
    en: 'Your account is suspended, so you cannot sign in to apps.',
    zh: '你的账号已被停用，无法登录应用。',
  },
  deny: (group: string) => ({
    en: `Its owner has blocked ${group}.`,
    zh: `应用所有者不允许${group}使用。`,
  }),
  allow: {
    en: 'Its owner has opened it to certain groups only, and you are in none of them.',
    zh: '应用所有者仅允许部分用户组使用，你不在其中。',
  },
  askOwner: (owner: string) => ({
    en: `Only its owner, @${owner}, can change this.`,
    zh: `只有应用所有者 @${owner} 可以更改。`,
  }),
  needed: { en: 'Open to', zh: '允许的用户组' },
  yours: { en: 'Your level', zh: '你的等级' },
  return: (app: string) => ({ en: `Back to ${app}`, zh: `返回 ${app}` }),
} satisfies Texts

export const suspended = {
  title: (app: string) => ({ en: `${app} is suspended`, zh: `${app} 已被停用` }),
  text: {
    en: 'It received no information about you. An administrator has suspended this app.',
    zh: '它没有获得你的任何信息。管理员已停用此应用。',
  },
  forOwner: {
    en: 'Its owner can see the reason on the application’s page.',
    zh: '应用所有者可在应用页面查看原因。',
  },
} satisfies Texts

/** Of an application that waits for its owner, on a site that keeps it from everyone else until then. */
export const unconfirmed = {
  title: (app: string) => ({ en: `${app} is not confirmed yet`, zh: `${app} 尚未确认` }),
  text: {
    en: 'It received no information about you. Its owner has not confirmed this application yet.',
    zh: '它没有获得你的任何信息。应用所有者尚未确认此应用。',
  },
  forOwner: {
    en: 'If it is yours, sign in as its owner and confirm it under Sign-in applications.',
    zh: '如果是你的应用，请用所有者账号登录，在“登录应用”页面确认。',
  },
} satisfies Texts

/** Of a faulty authorization request, by error code of OAuth. */
export const errors = {
  title: {
    invalid_client: { en: 'Unknown application', zh: '未知应用' },
    invalid_redirect_uri: { en: 'Unknown return address', zh: '未知的返回地址' },
    invalid_request: { en: 'This sign-in link is faulty', zh: '登录链接有误' },
    access_denied: { en: 'Access denied', zh: '访问被拒绝' },
    other: { en: 'The sign-in did not work', zh: '登录未成功' },
  },
  advice: {
    invalid_client: {
      en: 'The site that sent you here is not known under this client_id, or its application was deleted. No information about you was shared.',
      zh: '把你带到这里的网站使用了未知的 client_id，或它的应用已被删除。你的信息没有提供给任何人。',
    },
    invalid_redirect_uri: {
      en: 'You would return to an address that this application has not registered. So we did not send you there, and no information about you was shared.',
      zh: '登录后将返回的地址未由此应用登记，因此没有跳转。你的信息没有提供给任何人。',
    },
    invalid_request: {
      en: 'The application sent a request that we cannot answer. It received nothing about you.',
      zh: '应用发来的请求无法处理。它没有获得你的任何信息。',
    },
    access_denied: {
      en: 'The application was not allowed to sign you in.',
      zh: '该应用未获准让你登录。',
    },
    other: {
      en: 'The application sent a request that we cannot answer. It received nothing about you.',
      zh: '应用发来的请求无法处理。它没有获得你的任何信息。',
    },
  },
  forOwner: {
    en: 'Go back to the application and try again. If it happens again, send its owner this message:',
    zh: '请返回应用重试。如果再次出现，请把以下信息发给应用所有者：',
  },
  forNamed: (owner: string) => ({
    en: `Only its owner can mend this. Send @${owner} this message:`,
    zh: `只有应用所有者可以修复。请把以下信息发给 @${owner}：`,
  }),
  forSite: {
    en: 'Only that site can mend this. Send its team this message:',
    zh: '只有该网站可以修复。请把以下信息发给它：',
  },
  own: {
    en: 'This is your application. Register the address below, or let your program send one that is registered. They are compared character for character.',
    zh: '这是你的应用。请登记下面的地址，或让程序发送已登记的地址；两者逐字符比较。',
  },
  copy: { en: 'Copy the message', zh: '复制信息' },
  openSettings: { en: 'Open its settings', zh: '打开应用设置' },
} satisfies Texts
