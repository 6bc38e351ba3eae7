/** Texts of the pages that refuse a member or a suspended application. */
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
