/** Texts of the list of own applications and of registering one. */
import type { Texts } from '../../web/languages.ts'

export const apps = {
  title: { en: 'Applications', zh: '应用' },
  lead: {
    en: 'An application sends people here to sign in and learns who they are, by OAuth 2.0 and OpenID Connect.',
    zh: '应用通过 OAuth 2.0 与 OpenID Connect 让用户在此登录，并获知其身份。',
  },
  empty: { en: 'You have registered none yet.', zh: '你还没有登记应用。' },
  register: { en: 'Register an application', zh: '登记应用' },
  name: { en: 'Name', zh: '名称' },
  nameHint: {
    en: 'People see it when they are asked to allow the application.',
    zh: '用户在授权页面会看到此名称。',
  },
  description: { en: 'Description', zh: '描述' },
  redirectUris: { en: 'Redirect addresses', zh: '回调地址' },
  redirectUrisHint: {
    en: 'One per line, at most 20. https, or http on this computer. They are compared letter by letter.',
    zh: '每行一个，最多 20 个。须为 https，本机可用 http。逐字符匹配。',
  },
  postLogoutRedirectUris: { en: 'Addresses after signing out', zh: '退出后的返回地址' },
  postLogoutRedirectUrisHint: {
    en: 'One per line, at most 20. Where people may come back to when they sign out through your application.',
    zh: '每行一个，最多 20 个。用户通过你的应用退出登录后可以返回的地址。',
  },
  signingAlg: { en: 'Signature of ID tokens', zh: 'ID 令牌签名算法' },
  signingAlgHint: {
    en: 'Every library knows RS256; ES256 is shorter. Choose what yours is set to.',
    zh: '所有程序库都支持 RS256；ES256 更短。请选择与你的程序一致的算法。',
  },
  kind: { en: 'Where it keeps its secret', zh: '密钥保存在哪里' },
  confidential: { en: 'On a server', zh: '服务器上' },
  public: { en: 'Nowhere: it is public', zh: '不保存：公开应用' },
  kindHint: {
    en: 'A program in browsers, on phones or on people’s computers cannot keep a secret. It gets none and uses PKCE instead. This cannot be changed later.',
    zh: '运行在浏览器、手机或个人电脑上的程序无法保守密钥，因此不会获得密钥，而是使用 PKCE。之后无法更改。',
  },
  isPublic: {
    en: 'A public application: it has no secret, and must use PKCE (S256).',
    zh: '公开应用：没有密钥，必须使用 PKCE（S256）。',
  },
  allowGroups: { en: 'Only for these groups', zh: '仅限这些用户组' },
  allowGroupsHint: {
    en: 'One per line. Empty means everyone. For example trust_level_2, admins, developers.',
    zh: '每行一个，留空表示所有人。例如 trust_level_2、admins、developers。',
  },
  denyGroups: { en: 'Never for these groups', zh: '禁止这些用户组' },
  denyGroupsHint: {
    en: 'One per line. These win over the groups above.',
    zh: '每行一个，优先于上面的允许列表。',
  },
  submit: { en: 'Register', zh: '登记' },
  needTrustLevel: (needed: number, have: number) => ({
    en: `Registering an application needs trust level ${needed}; yours is ${have}.`,
    zh: `登记应用需要信任等级 ${needed}，你目前为 ${have}。`,
  }),
  full: (max: number) => ({
    en: `You have ${max} applications, which is as many as a member may have. Delete one to register another.`,
    zh: `你已登记 ${max} 个应用，这是每位成员的上限。删除一个后才能再登记。`,
  }),
  created: { en: 'Registered', zh: '登记时间' },
  everyone: { en: 'Everyone', zh: '所有人' },
  openTo: { en: 'Open to', zh: '开放给' },
  closedTo: { en: 'Closed to', zh: '不开放给' },
  correct: {
    en: 'Nothing was registered. Correct what is marked and send it again.',
    zh: '尚未登记。请修改标出的内容后重新提交。',
  },
  problems: {
    name: {
      en: 'Give a name of 1 to 60 characters, without control or invisible ones.',
      zh: '名称须为 1 至 60 个字符，且不能包含控制字符或不可见字符。',
    },
    description: {
      en: 'The description may have at most 500 characters, without control or invisible ones.',
      zh: '描述最多 500 个字符，且不能包含控制字符或不可见字符。',
    },
    redirect_uris: { en: 'Give 1 to 20 addresses, one per line.', zh: '请填写 1 至 20 个地址，每行一个。' },
    post_logout_redirect_uris: {
      en: 'Give at most 20 addresses, one per line.',
      zh: '最多填写 20 个地址，每行一个。',
    },
    id_token_signed_response_alg: { en: 'Choose one of the list.', zh: '请从列表中选择。' },
    token_endpoint_auth_method: { en: 'Choose one of the list.', zh: '请从列表中选择。' },
    allow_groups: {
      en: 'At most 50 groups of up to 100 characters, one per line.',
      zh: '最多 50 个用户组，每个不超过 100 个字符，每行一个。',
    },
    deny_groups: {
      en: 'At most 50 groups of up to 100 characters, one per line.',
      zh: '最多 50 个用户组，每个不超过 100 个字符，每行一个。',
    },
  },
  faultyUri: (uri: string, fault: string) => ({
    en: `${uri.slice(0, 80)}: ${fault}`,
    zh: `${uri.slice(0, 80)}：${fault}`,
  }),
} satisfies Texts

export const created = {
  publicTitle: { en: 'Registered', zh: '登记成功' },
  publicText: {
    en: 'It has no secret. It sends its client_id alone to the token endpoint, and must use PKCE (S256).',
    zh: '此应用没有密钥。它在令牌端点只需提供 client_id，且必须使用 PKCE（S256）。',
  },
  publicDone: { en: 'Back to my applications', zh: '返回我的应用' },
  title: { en: 'Keep the secret now', zh: '请立即保存密钥' },
  text: {
    en: 'The client secret is shown this once and cannot be read again. It belongs on your server, never in a browser or an app.',
    zh: '客户端密钥仅显示这一次，之后无法再查看。请只保存在你的服务器上，不要放进浏览器或客户端程序。',
  },
  discovery: { en: 'Discovery address', zh: '发现地址' },
  done: { en: 'I have stored it', zh: '我已保存' },
} satisfies Texts
