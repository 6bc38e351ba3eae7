/** Texts of the browsers in which a member is signed in, and of asking for a recent sign-in. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const sessions = {
  unknownOne: { en: 'Is one of them not yours?', zh: '有不认识的浏览器？' },
  unknownOneText: {
    en: 'Sign it out here, then change your password, so that it cannot come back.',
    zh: '请在这里让它退出登录，再修改密码，防止再次登录。',
  },
  /** For a member who signs in at the forum. */
  unknownAtForum: {
    en: 'Sign it out here, then change your password at the forum, so that it cannot come back.',
    zh: '请在这里让它退出登录，再到论坛修改密码，防止再次登录。',
  },
  thisOne: { en: 'This browser', zh: '当前浏览器' },
  on: (browser: string, system: string) => ({
    en: `${browser} on ${system}`,
    zh: `${system} 上的 ${browser}`,
  }),
  unknown: { en: 'Unknown browser', zh: '未知浏览器' },
  address: { en: 'IP address', zh: 'IP 地址' },
  since: { en: 'Signed in', zh: '登录时间：' },
  lastSeen: { en: 'Last active', zh: '最近活动：' },
  justNow: { en: 'just now', zh: '刚刚' },
  minutesAgo: (n: number) => ({ en: `${n} ${counted(n, 'minute', 'minutes')} ago`, zh: `${n} 分钟前` }),
  hoursAgo: (n: number) => ({ en: `${n} ${counted(n, 'hour', 'hours')} ago`, zh: `${n} 小时前` }),
  daysAgo: (n: number) => ({ en: `${n} ${counted(n, 'day', 'days')} ago`, zh: `${n} 天前` }),
  end: { en: 'Sign out', zh: '退出登录' },
  endOthers: { en: 'Sign out everywhere else', zh: '让其他浏览器全部退出登录' },
  sureOne: (device: string) => ({ en: `Sign out ${device}?`, zh: `让“${device}”退出登录？` }),
  sureOneText: {
    en: 'That browser is signed out at its next request. This one stays signed in.',
    zh: '该浏览器下次访问时即退出登录，当前浏览器不受影响。',
  },
  sureOthers: (n: number) => ({
    en: `Sign out ${n} other ${counted(n, 'browser', 'browsers')}?`,
    zh: `让其他 ${n} 个浏览器退出登录？`,
  }),
  sureOthersText: {
    en: 'They are signed out at their next request. This browser stays signed in.',
    zh: '它们下次访问时即退出登录，当前浏览器不受影响。',
  },
  ended: (device: string) => ({ en: `${device} is signed out.`, zh: `“${device}”已退出登录。` }),
  endedOthers: (n: number) =>
    n === 0
      ? { en: 'No other browser was signed in.', zh: '没有其他已登录的浏览器。' }
      : {
          en: `${n} other ${counted(n, 'browser is', 'browsers are')} signed out. This one stays signed in.`,
          zh: `其他 ${n} 个浏览器已退出登录，当前浏览器仍保持登录。`,
        },
  applications: {
    en: 'Apps that you authorised keep their access until you revoke it under',
    zh: '已授权的应用不受影响，如需终止请前往',
  },
  applicationsStay: {
    en: 'Apps that you authorised keep their access until you revoke it on the page “Authorised apps”.',
    zh: '已授权的应用不受影响，如需终止请前往“已授权应用”页面。',
  },
  summary: (n: number) => ({
    en: n === 1 ? 'Only this browser is signed in' : `${n} browsers are signed in`,
    zh: n === 1 ? '仅当前浏览器已登录' : `${n} 个浏览器已登录`,
  }),
} satisfies Texts

/** Texts of the pages that ask for a recent sign-in. */
export const signInAgain = {
  title: { en: 'Confirm that it is you', zh: '请确认是你本人' },
  notice: {
    en: 'To continue, confirm that it is you: sign in once more.',
    zh: '请再次登录以确认是你本人，然后继续。',
  },
  text: (minutes: number) => ({
    en: `Nothing was changed. This step needs a sign-in within the last ${counted(minutes, 'minute', `${minutes} minutes`)}.`,
    zh: `没有任何更改。此操作需要最近 ${minutes} 分钟内登录过。`,
  }),
  submit: { en: 'Sign in again', zh: '重新登录' },
  back: { en: 'Back without changes', zh: '返回，不做更改' },
  toPay: {
    en: 'A payment of this size needs a recent sign-in. You then return to this page, and nothing is paid before you confirm.',
    zh: '此金额的付款需要近期登录。登录后会回到本页，确认之前不会扣款。',
  },
} satisfies Texts
