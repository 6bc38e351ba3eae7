/** Texts of allowing an application, and of signing out at its request. */
import type { Texts } from '../../web/languages.ts'
import { POINTS, SITE } from '../../web/site-words.ts'

export const consent = {
  title: (app: string) => ({ en: `Sign in to ${app}`, zh: `登录 ${app}` }),
  titleBoth: (app: string) => ({ en: `${app} has two requests`, zh: `${app} 有两个请求` }),
  by: { en: 'by', zh: '提供者' },
  firstUse: { en: 'not used yet', zh: '尚无成员使用' },
  unreviewedText: {
    en: 'Continue only if you know and trust its owner.',
    zh: '仅在你了解并信任其所有者时继续。',
  },
  unregistered: (host: string) => ({
    en: `It is not registered here. Continue only if you know and trust ${host}.`,
    zh: `它未在本站注册，仅在你了解并信任 ${host} 时继续。`,
  }),
  firstAllowed: { en: 'First allowed here', zh: '首次获得授权' },
  unconfirmed: (owner: string, by: string) => ({
    en: `${by} created it in the name of @${owner}, who has not confirmed it yet.`,
    zh: `${by} 以 @${owner} 的名义创建了此应用，@${owner} 尚未确认。`,
  }),
  formerApp: { en: 'Another application', zh: '另一个应用' },
  signedInAs: { en: 'Signed in as', zh: '当前账号' },
  notYou: { en: 'Not you?', zh: '不是你？' },
  learns: { en: 'It will see', zh: '它将看到' },
  /** Heads the sign-in where an application asks for charges, too. */
  signsIn: { en: 'It signs you in, and will see', zh: '用你的账号登录，它将看到' },
  who: { en: 'Identity', zh: '身份' },
  email: { en: 'Email', zh: '邮箱' },
  noEmail: { en: 'none on file', zh: '未登记' },
  groups: { en: 'Groups', zh: '用户组' },
  never: {
    en: `It cannot see your password, ${POINTS} or activity elsewhere, nor pay for you.`,
    zh: `它看不到你的密码、${POINTS}和在其他应用的活动，也不能替你付款。`,
  },
  /** The same beside a request for charges. */
  neverBesides: {
    en: `It cannot see your password, ${POINTS} or activity elsewhere.`,
    zh: `它看不到你的密码、${POINTS}和在其他应用的活动。`,
  },
  /** Explains the email and the groups beside a scope that names neither. */
  everySignIn: {
    en: 'Every sign-in gives identity, email and groups, whatever the scope.',
    zh: '无论 scope 如何，每次登录都会提供身份、邮箱和用户组。',
  },
  useAt: (app: string, host: string) => ({
    en: `Use this access at ${app} (${host}), which learns your member number and username`,
    zh: `将访问权限用于 ${app}（${host}），后者会获知你的成员编号和用户名`,
  }),
  cannotCharge: (shop: string) => ({
    en: `You cannot allow ${shop} to charge you now`,
    zh: `目前不能允许 ${shop} 扣款`,
  }),
  allowBoth: { en: 'Allow both', zh: '两项都允许' },
  signInOnly: { en: 'Sign in only', zh: '仅登录' },
  /** The same where it is the third answer, a link below the others. */
  signInOnlyLink: { en: 'Sign in only, without charges', zh: '仅登录，不允许扣款' },
  destination: { en: 'You continue to', zh: '完成后前往' },
  loopback: { en: 'on this computer', zh: '本机' },
  answering: (scheme: string) => ({
    en: `the app that answers ${scheme} on this device`,
    zh: `本设备上响应 ${scheme} 的程序`,
  }),
  formPost: {
    en: 'One more step takes you back to the application.',
    zh: '还差一步即可返回应用。',
  },
  continueTo: (app: string) => ({ en: `Continue to ${app}`, zh: `继续前往 ${app}` }),
  details: { en: 'More about this application', zh: '关于此应用' },
  revoke: {
    en: 'Revoke it at any time under',
    zh: '可随时撤销：',
  },
  /** The same of charges and of the sign-in. The names of two pages follow. */
  revokeEach: { en: 'Revoke under', zh: '可随时分别撤销：' },
  couldRegister: {
    en: 'You are notified of each application that it creates, and can delete it under',
    zh: '它每创建一个应用都会通知你，你可以在这里删除：',
  },
  remembered: {
    en: 'You are asked again only when it wants to see more.',
    zh: '它请求更多信息时会再次询问你。',
  },
  askedEachTime: {
    en: 'Continue only if you have just started this in that program yourself. Another program on this device could take its place, so you are asked each time.',
    zh: '仅在你刚刚亲自在该程序中发起登录时继续。本设备上的其他程序可能冒充它，因此每次都会询问。',
  },
  owner: { en: 'Owner', zh: '所有者' },
  use: { en: 'Use', zh: '使用情况' },
  about: { en: 'About', zh: '简介' },
  homepage: { en: 'Homepage', zh: '主页' },
  since: { en: 'Created', zh: '创建于' },
  allow: { en: 'Allow', zh: '允许' },
  deny: { en: 'Deny', zh: '拒绝' },
} satisfies Texts

/** What a member allows an application, also in the list of authorised applications. */
export const consents = {
  by: { en: 'by', zh: '提供者' },
  callsItself: (name: string) => ({ en: `calls itself “${name}”`, zh: `自称“${name}”` }),
  picture: { en: 'picture', zh: '头像' },
  confirmed: { en: 'confirmed', zh: '已验证' },
  number: (id: string) => ({ en: `number\u00a0${id}`, zh: `编号 ${id}` }),
  may: { en: 'It may do', zh: '它可以做' },
  lookUpAgain: {
    en: 'It may read this again for 30 days after sign-in',
    zh: '登录后 30 天内可再次读取',
  },
  registerApps: { en: 'Create and list applications in your name', zh: '以你的名义创建和查看应用' },
  /** The same of an application that has not asked for it. */
  couldRegister: { en: 'Create applications in your name', zh: '以你的名义创建应用' },
  silenced: { en: 'silenced at the forum', zh: '已被论坛禁言' },
  ownApps: { en: 'Which sign-in applications you have created', zh: '你创建了哪些登录应用' },
  listEveryApp: {
    en: 'List every registered application, because you are an administrator',
    zh: '查看全部应用（因为你是管理员）',
  },
} satisfies Texts

/** Texts of signing out at the request of an application. */
export const logout = {
  title: { en: 'Sign out?', zh: '退出登录？' },
  lead: { en: `You sign out of ${SITE} in this browser.`, zh: `你将在此浏览器中从 ${SITE} 退出登录。` },
  leadFor: (app: string) => ({
    en: `${app} asks to sign you out of ${SITE} in this browser.`,
    zh: `${app} 请求让你在此浏览器中从 ${SITE} 退出登录。`,
  }),
  stay: { en: 'Stay signed in', zh: '保持登录' },
  told: (apps: string) => ({ en: `These apps are notified: ${apps}.`, zh: `以下应用会收到通知：${apps}。` }),
  goesOn: { en: 'Afterwards you continue to', zh: '之后前往' },
  goOn: (app: string) => ({ en: `Continue to ${app}`, zh: `前往 ${app}` }),
  goesOnBy: { en: 'The link leads to', zh: '此链接通往' },
  faultTitle: { en: 'This sign-out link is faulty', zh: '退出登录的链接有误' },
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
    zh: '你使用过的应用可能仍保持登录状态。在公用电脑上，请也在这些应用中退出登录。',
  },
  stillTitle: { en: 'You are signed in', zh: '你已登录' },
  still: (username: string) => ({
    en: `You have signed in again as @${username}.`,
    zh: `你已再次以 @${username} 登录。`,
  }),
} satisfies Texts
