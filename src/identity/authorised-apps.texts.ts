/** Texts of the list of authorised applications. */
import type { Texts } from '../web/languages.ts'
import { counted } from '../web/plurals.ts'

export const authorised = {
  lead: {
    en: 'These apps may know who you are. Revoke one to end its access.',
    zh: '以下应用可以获知你的身份。撤销后，它的访问立即终止。',
  },
  none: { en: 'No authorised apps', zh: '没有已授权的应用' },
  noneText: {
    en: 'When you sign in to an app with this account, it will be listed here.',
    zh: '用此账号登录某个应用后，它会显示在这里。',
  },
  firstUsed: { en: 'Authorised', zh: '授权时间' },
  lastUsed: { en: 'Last used', zh: '最近使用' },
  details: { en: 'What it sees and may do', zh: '它能看到和能做的事' },
  suspended: { en: 'Suspended', zh: '已停用' },
  revoke: { en: 'Revoke', zh: '撤销授权' },
  sure: (app: string) => ({ en: `Revoke the access of ${app}?`, zh: `撤销对 ${app} 的授权？` }),
  sureText: {
    en: 'Its tokens stop working at once, and it must ask you again before it can sign you in.',
    zh: '它持有的令牌立即失效，再次登录须重新征得你的同意。',
  },
  sureCopies: {
    en: 'The app may keep what it already copied. Ask its owner to delete that.',
    zh: '它已复制的信息可能仍会保留，如需删除请联系应用的所有者。',
  },
  sureMandates: {
    en: 'The mandates that you accepted while signing in to it end too, so it cannot charge you under them.',
    zh: '登录它时接受的预授权也会结束，它不能再据此扣款。',
  },
  liveMandates: { en: 'Mandates that end', zh: '将结束的预授权' },
  mandatesEnded: (mandates: string, n: number) => ({
    en: `${mandates} ${counted(n, 'mandate', 'mandates')} ended.`,
    zh: `已结束 ${mandates} 项预授权。`,
  }),
  liveSignIns: { en: 'Sign-ins that end', zh: '将终止的登录' },
  revoked: (app: string, grants: string, n: number) => ({
    en:
      n === 0
        ? `${app} no longer has access.`
        : `${app} no longer has access. ${grants} ${counted(n, 'sign-in', 'sign-ins')} ended.`,
    zh: n === 0 ? `${app} 已无法再访问你的信息。` : `${app} 已无法再访问你的信息，已终止 ${grants} 个登录。`,
  }),
  signIns: { en: 'Recent sign-ins to apps', zh: '应用登录记录' },
  noSignIns: { en: 'None of these apps is signed in now.', zh: '目前没有应用处于登录状态。' },
  ended: { en: 'Ended', zh: '已终止' },
  onDevice: { en: 'On a device', zh: '设备上' },
  end: { en: 'Sign out', zh: '退出' },
  signInEnded: (app: string) => ({
    en: `This sign-in to ${app} is ended. Its tokens no longer work.`,
    zh: `已终止这次对 ${app} 的登录，其令牌已失效。`,
  }),
} satisfies Texts
