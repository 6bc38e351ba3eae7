/** Texts of the page that asks a member to allow an application. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

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

/** What a member allows an application, also in the list of authorised applications. */
export const consents = {
  by: { en: 'by', zh: '所有者' },
  reviewed: { en: 'Reviewed by staff', zh: '已由管理人员审核' },
  reviewedText: (day: string) => ({
    en: `The staff of this site looked at this application on ${day}.`,
    zh: `本站管理人员已于 ${day} 审核过此应用。`,
  }),
  unreviewed: {
    en: 'The staff has not reviewed this application. Go on only if you know where it comes from and trust its owner.',
    zh: '此应用未经本站管理人员审核。请确认你知道它的来源并信任其所有者，再继续。',
  },
  firstUse: { en: 'No member has allowed it yet.', zh: '尚无成员授权过它。' },
  picture: { en: 'picture', zh: '头像' },
  confirmed: { en: 'confirmed', zh: '已验证' },
  number: (id: string) => ({ en: `member number ${id}`, zh: `成员编号 ${id}` }),
  may: { en: 'It may also', zh: '它还可以' },
  lookUpAgain: { en: 'look this up again, for up to 30 days', zh: '在最多 30 天内再次查询以上信息' },
  registerApps: { en: 'list and register applications in your name', zh: '以你的名义查看和登记应用' },
  listEveryApp: {
    en: 'list every registered application, since you are an administrator',
    zh: '查看全部已登记的应用（因为你是管理员）',
  },
  notShared: { en: 'It does not get', zh: '它无法获得' },
  notPassword: { en: 'your password', zh: '你的密码' },
  notPoints: {
    en: `your ${POINTS}: it can neither see nor spend them`,
    zh: `你的${POINTS}：既看不到也不能使用`,
  },
  notActivity: {
    en: 'what you do here, or which other applications you use',
    zh: '你在这里的活动，以及你使用的其他应用',
  },
  takeBack: { en: 'You can take it back at any time under', zh: '你可以随时撤销：' },
} satisfies Texts
