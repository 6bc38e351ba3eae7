/** Texts of signing in with a password. */
import type { Texts } from '../../web/languages.ts'
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
  toApp: (app: string) => ({ en: `Sign in to continue to ${app}`, zh: `登录后前往 ${app}` }),
  toAppText: {
    en: `You use your ${SITE} account. The app never sees your password.`,
    zh: `使用你的 ${SITE} 账号登录，应用不会看到你的密码。`,
  },
  validUntil: { en: 'pay by', zh: '付款截止' },
  username: { en: 'Username', zh: '用户名' },
  usernameOrEmail: { en: 'Username or email address', zh: '用户名或邮箱' },
  password: { en: 'Password', zh: '密码' },
  showPassword: { en: 'Show password', zh: '显示密码' },
  submit: { en: 'Sign in', zh: '登录' },
  already: (name: string) => ({
    en: `You are signed in as @${name}. Signing in with another account replaces it in this browser.`,
    zh: `当前登录账号是 @${name}。用其他账号登录会替换它。`,
  }),
  meanwhile: (name: string) => ({
    en: `You signed in as @${name} in another tab, so this form signed in no other account.`,
    zh: `你已在另一个标签页以 @${name} 登录，因此此表单没有登录其他账号。`,
  }),
  continueAs: (name: string) => ({ en: `Continue as @${name}`, zh: `以 @${name} 继续` }),
  wrong_credentials: {
    en: 'The username, the email address or the password is wrong.',
    zh: '用户名、邮箱或密码错误。',
  },
  barred: { en: 'This account is suspended and cannot sign in.', zh: '这个账号已被停用，无法登录。' },
  expired: {
    en: 'You were not signed in, because this page was open for too long. Please enter your password again.',
    zh: '页面打开太久，没有登录成功。请再次输入密码。',
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
    en: 'You were not signed in, because this page was open for too long. Please use your passkey once more.',
    zh: '页面打开太久，没有登录成功。请再次使用通行密钥。',
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
  checkAddress: { en: 'Check that the address bar shows', zh: '请确认地址栏为' },
  neverAsked: {
    en: 'We never ask for your password in a message.',
    zh: '本站不会通过私信索要密码。',
  },
} satisfies Texts
