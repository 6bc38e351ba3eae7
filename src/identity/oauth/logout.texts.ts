/** Texts of signing out at the request of an application. */
import type { Texts } from '../../web/languages.ts'
import { SITE } from '../../web/site-words.ts'

export const logout = {
  title: { en: 'Sign out?', zh: '退出登录？' },
  lead: { en: `You sign out of ${SITE} in this browser.`, zh: `你将在此浏览器中退出 ${SITE}。` },
  leadFor: (app: string) => ({
    en: `${app} asks to sign you out of ${SITE} in this browser.`,
    zh: `${app} 请求让你在此浏览器中退出 ${SITE}。`,
  }),
  stay: { en: 'Stay signed in', zh: '保持登录' },
  told: (apps: string) => ({ en: `These apps learn of it: ${apps}.`, zh: `以下应用会收到通知：${apps}。` }),
  goesOn: { en: 'Afterwards you continue to', zh: '之后前往' },
  goOn: (app: string) => ({ en: `Continue to ${app}`, zh: `前往 ${app}` }),
  goesOnBy: { en: 'The link leads to', zh: '此链接通往' },
  faultTitle: { en: 'This sign-out link is faulty', zh: '退出链接有误' },
  faults: {
    unknown_hint: {
      en: 'The link carries an ID token that we did not issue, so we did not follow it.',
      zh: '链接携带的 ID 令牌不是由本站签发的，因此未予处理。',
    },
    other_client: {
      en: 'The link names two different applications, so we did not follow it.',
      zh: '链接指向两个不同的应用，因此未予处理。',
    },
    unknown_address: {
      en: 'The link leads to an address that the application has not registered. You will not be sent there.',
      zh: '链接指向应用未登记的地址，因此没有跳转。',
    },
  },
  doneTitle: { en: 'You are signed out', zh: '已退出登录' },
  done: {
    en: 'You may still be signed in to apps that you used. On a shared computer, sign out there too.',
    zh: '你使用过的应用可能仍保持登录状态。在公用电脑上，请也在这些应用中退出。',
  },
  stillTitle: { en: 'You are signed in', zh: '你已登录' },
  still: (username: string) => ({
    en: `You have signed in again as @${username}.`,
    zh: `你已再次以 @${username} 登录。`,
  }),
} satisfies Texts
