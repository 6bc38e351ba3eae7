/** Texts of signing in and of creating an account. */
import type { Texts } from '../../web/languages.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { counted } from '../../web/plurals.ts'
import { POINT, POINTS, SITE } from '../../web/site-words.ts'

export const signIn = {
  title: { en: `Sign in to ${SITE}`, zh: `登录 ${SITE}` },
  toPay: (shop: string, formatted: string, amount: bigint) => ({
    en: `Sign in to pay ${shop} ${formatted} ${counted(amount, POINT, POINTS)}`,
    zh: `登录后向 ${shop} 支付 ${formatted} ${POINTS}`,
  }),
  toPlay: (shop: string, formatted: string, amount: bigint) => ({
    en: `Sign in to pay ${shop} ${formatted} play ${counted(amount, POINT, POINTS)}`,
    zh: `登录后向 ${shop} 支付 ${formatted} 虚拟${POINTS}`,
  }),
  toOrder: (shop: string) => ({
    en: `Sign in to see your order at ${shop}`,
    zh: `登录后查看你在 ${shop} 的订单`,
  }),
  toBuy: (goods: string) => ({ en: `Sign in to buy ${goods}`, zh: `登录后购买 ${goods}` }),
  toGive: (to: string) => ({ en: `Sign in to give to ${to}`, zh: `登录后支持 ${to}` }),
  toTip: { en: 'Sign in to give a tip', zh: '登录后打赏' },
  tipFrom: (level: number) => ({
    en: `For members of trust level ${level} and above.`,
    zh: `信任等级 ${level} 及以上可用。`,
  }),
  toApp: (app: string) => ({ en: `Sign in to continue to ${app}`, zh: `登录后前往 ${app}` }),
  toAppText: {
    en: `You use your ${SITE} account. The app never sees your password.`,
    zh: `使用你的 ${SITE} 账号登录，应用不会看到你的密码。`,
  },
  sum: (formatted: string, amount: bigint, isTest: boolean) => ({
    en: `${formatted} ${unitOf(amount, isTest).en}`,
    zh: `${formatted} ${unitOf(amount, isTest).zh}`,
  }),
  /** Where a sign-in leads that is for no shop and no application. */
  leadsTo: {
    confirm: { en: 'Sign in to confirm your email address.', zh: '登录后验证邮箱。' },
    launch: { en: 'Sign in to see all apps.', zh: '登录后查看全部应用。' },
    device: { en: 'Sign in to connect your device.', zh: '登录后授权你的设备。' },
    other: { en: 'Sign in to open the page that you asked for.', zh: '登录后继续前往你要打开的页面。' },
  },
  validUntil: { en: 'Pay by', zh: '付款截止' },
  username: { en: 'Username', zh: '用户名' },
  usernameOrEmail: { en: 'Username or email address', zh: '用户名或邮箱' },
  password: { en: 'Password', zh: '密码' },
  showPassword: { en: 'Show password', zh: '显示密码' },
  submit: { en: 'Sign in', zh: '登录' },
  already: (name: string) => ({
    en: `You are signed in as @${name}. Another sign-in here replaces it.`,
    zh: `当前登录账号是 @${name}。用其他账号登录会替换它。`,
  }),
  meanwhile: (name: string) => ({
    en: `You signed in as @${name} in another tab, so this form signed in no other account.`,
    zh: `你已在另一个标签页以 @${name} 登录，因此此表单没有登录其他账号。`,
  }),
  continueAs: (name: string) => ({ en: `Continue as @${name}`, zh: `以 @${name} 继续` }),
  wrong_credentials: {
    en: 'Wrong username, email address or password.',
    zh: '用户名、邮箱或密码错误。',
  },
  barred: { en: 'This account is suspended and cannot sign in.', zh: '这个账号已被停用，无法登录。' },
  expired: {
    en: 'This page was open for too long. Please enter your password again.',
    zh: '页面打开太久，请再次输入密码。',
  },
  busy: {
    en: 'Many members are signing in right now. Please enter your password again in a moment.',
    zh: '现在登录的人很多。请稍后再次输入密码。',
  },
  withPasskey: { en: 'Sign in with a passkey', zh: '使用通行密钥登录' },
  confirmWithPasskey: { en: 'Confirm with a passkey', zh: '使用通行密钥确认' },
  noPasskeyUsed: {
    en: 'No passkey was used. Try again, or use your password.',
    zh: '没有使用通行密钥。请重试，或使用密码。',
  },
  passkeyUnknown: {
    en: 'This passkey is not known here. It may have been removed. Sign in with your password.',
    zh: '本站没有这个通行密钥，可能已被移除。请使用密码登录。',
  },
  passkeyUnverified: {
    en: 'This passkey could not be verified. Try again, or use your password.',
    zh: '无法验证这个通行密钥。请重试，或使用密码。',
  },
  passkeyExpired: {
    en: 'This page was open for too long. Please use your passkey once more.',
    zh: '页面打开太久，请再次使用通行密钥。',
  },
  passkeyAtForum: {
    en: 'This account signs in with the forum. Its passkey only confirms that it is you once you are signed in.',
    zh: '这个账号使用论坛登录。通行密钥仅用于登录后确认是你本人。',
  },
  locked: { en: 'Too many wrong passwords', zh: '密码输错次数过多' },
  lockedFor: { en: 'You can try again in', zh: '还需等待' },
  lockedText: {
    en: 'If it was not you, your account is still safe: no one has signed in.',
    zh: '如果不是你本人操作，你的账号仍然安全，没有人登录成功。',
  },
  afterwards: {
    en: 'Your order is waiting. After signing in you return to it; you do not have to start again at the shop.',
    zh: '订单仍在等你。登录后会直接回到订单，不必从商家重新开始。',
  },
  withForum: { en: 'Sign in with your forum account', zh: '使用论坛账号登录' },
  otherForumAccount: {
    en: 'To use another forum account, sign out at the forum first.',
    zh: '如需换用其他论坛账号，请先在论坛退出登录。',
  },
  orLocal: { en: 'or with username and password', zh: '或使用用户名和密码' },
  giveUp: (name: string) => ({ en: `Back to ${name} without signing in`, zh: `不登录，返回 ${name}` }),
  giveUpTip: { en: 'Back to the forum without signing in', zh: '不登录，返回论坛' },
  checkAddress: { en: 'Check that the address bar shows', zh: '请确认地址栏为' },
  neverAsked: {
    en: 'We never ask for your password in a message.',
    zh: '本站不会通过私信索要密码。',
  },
} satisfies Texts

/** Texts of signing in with a one-time link. */
export const signInLink = {
  title: { en: 'Sign in with this link', zh: '用此链接登录' },
  text: (username: string) => ({
    en: `The link signs you in as @${username}. It works once.`,
    zh: `你将以 @${username} 的身份登录。链接只能使用一次。`,
  }),
  submit: { en: 'Sign in', zh: '登录' },
} satisfies Texts

/** Texts of creating a local account. */
export const register = {
  title: { en: 'Create an account', zh: '注册账号' },
  already: (name: string) => ({
    en: `You are signed in as @${name}. A new account replaces it in this browser.`,
    zh: `当前登录账号是 @${name}。注册新账号会替换它。`,
  }),
  usernameHint: {
    en: '3 to 30 letters, digits, dots, hyphens, underscores',
    zh: '3 到 30 个字母、数字、点、连字符或下划线',
  },
  usernameWrong: {
    en: 'Use 3 to 30 letters, digits, dots, hyphens and underscores. Names of the staff, such as admin, are not available.',
    zh: '请使用 3 到 30 个字母、数字、点、连字符或下划线。admin 等管理人员名称不可使用。',
  },
  taken: { en: 'This username is taken. Please choose another one.', zh: '这个用户名已被使用，请换一个。' },
  submit: { en: 'Create account', zh: '创建账号' },
  haveOne: { en: 'I already have an account', zh: '我已有账号' },
} satisfies Texts

/** Texts of the second step of a sign-in. */
export const secondStep = {
  title: { en: 'Enter your code', zh: '输入验证码' },
  lead: (name: string) => ({
    en: `One more step: enter the code that your authenticator app shows for @${name}.`,
    zh: `还差一步：请输入验证器应用为 @${name} 显示的验证码。`,
  }),
  titlePasskey: { en: 'Confirm with your passkey', zh: '请用通行密钥确认' },
  leadPasskey: (name: string) => ({
    en: `One more step: confirm with a passkey of @${name}, or with a recovery code.`,
    zh: `还差一步：请使用 @${name} 的通行密钥或恢复码确认。`,
  }),
  usePasskey: { en: 'Use a passkey', zh: '使用通行密钥' },
  noPasskeyUsed: {
    en: 'No passkey was used. Try again, or use another way.',
    zh: '没有使用通行密钥。请重试，或使用其他方式。',
  },
  lostPasskey: { en: 'I cannot use my passkey', zh: '无法使用通行密钥' },
  passkeyUnverified: {
    en: 'This passkey could not be verified. Try again, or use another way.',
    zh: '无法验证这个通行密钥。请重试，或使用其他方式。',
  },
  passkeyExpired: {
    en: 'This page was open for too long. Please use your passkey once more.',
    zh: '页面打开太久，请再次使用通行密钥。',
  },
  code: { en: '6-digit code', zh: '6 位验证码' },
  lost: { en: 'I cannot use my authenticator app', zh: '无法使用验证器应用' },
  recoveryCode: { en: 'Recovery code', zh: '恢复码' },
  recoveryHint: {
    en: 'One of the ten codes that you saved when you set up two-step verification. Each works once.',
    zh: '设置两步验证时保存的十个恢复码之一，每个只能使用一次。',
  },
  useRecoveryCode: { en: 'Sign in with the recovery code', zh: '使用恢复码登录' },
  startOver: { en: 'Start again', zh: '重新开始' },
  wrongCode: {
    en: 'This code is wrong or already used. Wait for the next one.',
    zh: '验证码错误或已使用过，请等待下一个验证码。',
  },
  wrongRecoveryCode: {
    en: 'This recovery code is wrong or already used.',
    zh: '恢复码错误或已使用过。',
  },
  locked: { en: 'Too many wrong codes', zh: '验证码输错次数过多' },
} satisfies Texts

type Period = NonNullable<NextStep['mandate']>['period']

const PERIOD = {
  day: { en: 'day', zh: '每天' },
  week: { en: 'week', zh: '每周' },
  month: { en: 'month', zh: '每月' },
} satisfies Record<Period, Texts[string]>

const unitOf = (amount: bigint, isTest: boolean) => ({
  en: `${isTest ? 'play ' : ''}${counted(amount, POINT, POINTS)}`,
  zh: `${isTest ? '虚拟' : ''}${POINTS}`,
})

/** Words about mandates: of the sign-in before an offer, and of the pages above that show mandates. */
export const mandates = {
  own: { en: 'My mandates', zh: '我的预授权' },
  /** Follows the amount of a fixed mandate, so it begins with the space between them. */
  unitFixed: (amount: bigint, period: Period, isTest: boolean) => ({
    en: ` ${unitOf(amount, isTest).en} every ${PERIOD[period].en}`,
    zh: ` ${unitOf(amount, isTest).zh}，${PERIOD[period].zh}一次`,
  }),
  /** Follows the most of a period. */
  unitUpTo: (amount: bigint, period: Period, isTest: boolean) => ({
    en: ` ${unitOf(amount, isTest).en} a ${PERIOD[period].en} at most`,
    zh: ` ${unitOf(amount, isTest).zh}，${PERIOD[period].zh}上限`,
  }),
  each: (formatted: string, amount: bigint, isTest: boolean) => ({
    en: `Up to ${formatted} ${unitOf(amount, isTest).en} each time`,
    zh: `每次最多 ${formatted} ${unitOf(amount, isTest).zh}`,
  }),
  fixedCaps: (formatted: string, amount: bigint, period: Period, isTest: boolean) => ({
    en: `${formatted} ${unitOf(amount, isTest).en} every ${PERIOD[period].en}`,
    zh: `${PERIOD[period].zh} ${formatted} ${unitOf(amount, isTest).zh}`,
  }),
  upToCaps: (each: string, all: string, amount: bigint, period: Period, isTest: boolean) => ({
    en: `At most ${each} each time and ${all} ${unitOf(amount, isTest).en} a ${PERIOD[period].en}`,
    zh: `每次最多 ${each}，${PERIOD[period].zh}最多 ${all} ${unitOf(amount, isTest).zh}`,
  }),
  lead: (shop: string) => ({
    en: `Sign in to decide whether ${shop} may charge you`,
    zh: `登录后决定是否允许 ${shop} 扣款`,
  }),
} satisfies Texts
