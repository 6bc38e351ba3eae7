/** Texts of the list of browsers in which a member is signed in. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const sessions = {
  area: { en: 'Sign-ins', zh: '登录与授权' },
  lead: {
    en: 'Every browser that is signed in to your account. If you do not know one, sign it out and change your password.',
    zh: '以下浏览器已登录你的账号。如有不认识的，请将其退出并修改密码。',
  },
  thisOne: { en: 'This browser', zh: '当前浏览器' },
  on: (browser: string, system: string) => ({
    en: `${browser} on ${system}`,
    zh: `${system} 上的 ${browser}`,
  }),
  unknown: { en: 'Unknown browser', zh: '未知浏览器' },
  address: { en: 'Address', zh: '地址' },
  since: { en: 'Signed in', zh: '登录时间' },
  lastSeen: { en: 'Last seen', zh: '最近活动' },
  justNow: { en: 'just now', zh: '刚刚' },
  minutesAgo: (n: number) => ({ en: `${n} ${counted(n, 'minute', 'minutes')} ago`, zh: `${n} 分钟前` }),
  hoursAgo: (n: number) => ({ en: `${n} ${counted(n, 'hour', 'hours')} ago`, zh: `${n} 小时前` }),
  daysAgo: (n: number) => ({ en: `${n} ${counted(n, 'day', 'days')} ago`, zh: `${n} 天前` }),
  end: { en: 'Sign out', zh: '退出登录' },
  endOthers: { en: 'Sign out everywhere else', zh: '退出其他所有设备' },
  ended: { en: 'Signed out.', zh: '已退出登录。' },
  applications: {
    en: 'Applications keep their own sign-in. To end what they may look up, revoke them under Authorised applications.',
    zh: '各应用有自己的登录状态。如要终止它们的查询权限，请在“已授权的应用”中撤销。',
  },
  summary: { en: 'The browsers that are signed in to your account.', zh: '已登录你账号的浏览器。' },
} satisfies Texts
