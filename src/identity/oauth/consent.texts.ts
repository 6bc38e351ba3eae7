/** Texts of the page that asks a member to allow an application. */
import type { Texts } from '../../web/languages.ts'

export const consent = {
  title: (app: string) => ({ en: `Sign in to ${app}`, zh: `登录 ${app}` }),
  lead: (app: string) => ({
    en: `${app} asks to sign you in with your forum account.`,
    zh: `${app} 请求使用你的论坛账号登录。`,
  }),
  since: { en: 'registered', zh: '登记于' },
  signedInAs: { en: 'Signed in as', zh: '当前账号' },
  notYou: { en: 'Not you?', zh: '不是你？' },
  learns: { en: 'What it will see', zh: '它将看到' },
  who: { en: 'Identity', zh: '身份' },
  email: { en: 'E-mail', zh: '邮箱' },
  noEmail: { en: 'none on file', zh: '未登记' },
  groups: { en: 'Groups', zh: '用户组' },
  destination: { en: 'You go on to', zh: '接下来前往' },
  loopback: { en: 'a program on this computer', zh: '本机上的程序' },
  remembered: {
    en: 'You are asked again only when it wants to see more.',
    zh: '只有在它请求更多信息时才会再次询问。',
  },
  askedEachTime: {
    en: 'You are asked each time, because another program on this computer could take its place.',
    zh: '每次都会询问，因为这台电脑上的其他程序可能冒充它。',
  },
  scope: { en: 'Technical details', zh: '技术细节' },
  allow: { en: 'Allow', zh: '允许' },
  deny: { en: 'Deny', zh: '拒绝' },
} satisfies Texts
