/** Texts of the sign-in that an owner tries on the own application. */
import type { Texts } from '../../web/languages.ts'

export const trial = {
  title: { en: 'Try the sign-in', zh: '试用登录' },
  short: { en: 'Try', zh: '试用' },
  lead: {
    en: 'Sign in to your application as yourself, without a program, and read what it would learn about you.',
    zh: '无需程序，以你自己的身份登录此应用，并查看它会获得哪些信息。',
  },
  ask: { en: 'What should it ask for?', zh: '请求哪些信息？' },
  again: { en: 'Try again', zh: '再试一次' },
  button: { en: 'Try the sign-in', zh: '试用登录' },
  scopes: {
    profile: {
      en: 'Name, username, picture and trust level, with all that email and groups bring',
      zh: '名称、用户名、头像和信任等级，并包含 email 与 groups 的内容',
    },
    email: { en: 'E-mail address', zh: '邮箱' },
    groups: { en: 'Groups, among them one for each trust level', zh: '用户组，信任等级也是其中的组' },
  },
  safe: {
    en: 'No token is issued and no secret is used. Your consent is kept as after any sign-in.',
    zh: '不会签发令牌，也不使用密钥。与平常登录一样，会记录你的授权。',
  },
  passed: { en: 'The sign-in works.', zh: '登录正常。' },
  shows: { en: 'Your program can show', zh: '你的程序可以显示' },
  stopped: { en: 'The sign-in stopped at the step marked in red.', zh: '登录停在标红的步骤。' },
  waits: { en: 'Follows the steps above.', zh: '等待以上步骤完成。' },
  stepsTitle: { en: 'The four steps', zh: '四个步骤' },
  steps: {
    asked: { en: 'The request is accepted', zh: '请求被接受' },
    allowed: { en: 'The member allows it', zh: '成员允许' },
    answered: { en: 'The answer comes back', zh: '收到返回结果' },
    redeemed: { en: 'The code is exchanged', zh: '兑换授权码' },
  },
  done: {
    asked: {
      en: 'It names your client_id, and carries state, nonce and PKCE (S256).',
      zh: '请求包含你的 client_id，以及 state、nonce 和 PKCE（S256）。',
    },
    allowed: (scopes: string) => ({ en: `You allowed: ${scopes}`, zh: `你允许了：${scopes}` }),
    answered: {
      en: 'The state is the one that was sent, and iss is this site.',
      zh: 'state 与发出的一致，iss 是本站。',
    },
    redeemed: {
      en: 'The code was fresh and unused, and the PKCE verifier matches. Your program also sends its client_id and secret.',
      zh: '授权码有效且未使用，PKCE 校验通过。你的程序还需提交 client_id 和密钥。',
    },
  },
  faults: {
    refused: {
      en: 'Access was denied. Your program gets error=access_denied, and should offer to try again.',
      zh: '授权被拒绝。你的程序会收到 error=access_denied，应允许用户重试。',
    },
    error: {
      en: 'The request was refused. Your program gets this error:',
      zh: '请求被拒绝，你的程序会收到以下错误：',
    },
    state: {
      en: 'This answer belongs to no trial of this browser session, or its ten minutes are over. Try again.',
      zh: '此结果不属于当前浏览器会话的试用，或已超过十分钟。请再试一次。',
    },
    code: {
      en: 'The code was used already, or its minute is over. A result is shown only once. Try again.',
      zh: '授权码已使用，或已超过一分钟。结果只显示一次，请再试一次。',
    },
  },
  adds: { en: 'Userinfo also has', zh: '用户信息另有' },
  key: { en: 'the key of the member, which never changes', zh: '用它标识成员，永远不变' },
  json: { en: 'As JSON', zh: 'JSON 原文' },
  claims: { en: 'ID token', zh: 'ID 令牌' },
  claimsText: {
    en: 'The claims of the ID token. A real one also has at_hash.',
    zh: '令牌中的声明。真实令牌还包含 at_hash。',
  },
  userinfo: { en: 'Userinfo', zh: '用户信息' },
  userinfoText: {
    en: 'The answer to /oauth2/userinfo, for a token of any scope.',
    zh: '/oauth2/userinfo 的响应，与令牌的权限范围无关。',
  },
  header: { en: 'Signature', zh: '签名' },
  headerText: {
    en: 'The header of the ID token. Verify it with the keys of /oauth2/jwks.',
    zh: 'ID 令牌的头部。请用 /oauth2/jwks 中的公钥验证。',
  },
} satisfies Texts
