/** Texts of the list of own applications and of registering one. */
import type { Text, Texts } from '../../web/languages.ts'
import { SITE } from '../../web/site-words.ts'

export const apps = {
  title: { en: 'Sign-in applications', zh: '登录应用' },
  lead: {
    en: 'Let members sign in to your site with this account, using OAuth 2.0 and OpenID Connect.',
    zh: '通过 OAuth 2.0 与 OpenID Connect，让成员用此账号登录你的网站。',
  },
  empty: { en: 'No applications yet', zh: '还没有应用' },
  atOnce: { en: 'You get a client_id and a secret at once.', zh: '创建后立即获得 client_id 和密钥。' },
  register: { en: 'Create an application', zh: '创建应用' },
  more: { en: 'Sign-out, devices and signature', zh: '退出登录、设备与签名' },
  moreNew: { en: 'More settings', zh: '更多设置' },
  name: { en: 'Name', zh: '名称' },
  nameHint: {
    en: 'Members see it when they are asked to allow access.',
    zh: '成员在授权页面会看到此名称。',
  },
  description: { en: 'Description', zh: '简介' },
  redirectUris: { en: 'Redirect URIs', zh: '回调地址' },
  redirectUrisHint: {
    en: 'One per line, at most 20. Use https, or http for your own computer. They must match exactly.',
    zh: '每行一个，最多 20 个。须为 https，本机可用 http，必须完全一致。',
  },
  postLogoutRedirectUris: { en: 'Sign-out redirect URIs', zh: '退出登录后的返回地址' },
  postLogoutRedirectUrisHint: {
    en: 'One per line, at most 20. Members may return there after signing out through your application.',
    zh: '每行一个，最多 20 个。成员通过你的应用退出登录后可以返回的地址。',
  },
  backchannelLogout: { en: 'Back-channel logout address', zh: '后端退出登录地址' },
  backchannelLogoutHint: {
    en: 'An https address of your server. It gets a signed logout token when a member’s session ends here, so your site can end its own.',
    zh: '你的服务器的 https 地址。成员在本站的会话结束时，它会收到签名的退出登录令牌，以便同时结束你网站上的会话。',
  },
  signingAlg: { en: 'ID token signature', zh: 'ID 令牌签名算法' },
  signingAlgHint: {
    en: 'Every library supports RS256. ES256 signatures are shorter. Choose what your program expects.',
    zh: '所有程序库都支持 RS256；ES256 签名更短。请选择与你的程序一致的算法。',
  },
  kind: { en: 'Client type', zh: '客户端类型' },
  confidential: { en: 'Confidential: runs on a server', zh: '机密客户端：运行在服务器上' },
  public: { en: 'Public: runs in browsers or on devices', zh: '公开客户端：运行在浏览器或设备上' },
  kindHint: {
    en: 'A public client cannot keep a secret. It gets none and must use PKCE. You cannot change this later.',
    zh: '公开客户端无法保守密钥，因此没有密钥，必须使用 PKCE。之后无法更改。',
  },
  isPublic: {
    en: 'This is a public client. It has no secret and must use PKCE (S256).',
    zh: '这是公开客户端：没有密钥，必须使用 PKCE（S256）。',
  },
  listed: { en: 'Show it on the page of all apps', zh: '在全部应用页面展示' },
  listedHint: {
    en: `Members who may use it see it there, once ${SITE} has reviewed it and it has a homepage.`,
    zh: '经本站审核且填写了主页后，有权使用的成员会在该页面看到它。',
  },
  resource: { en: 'Address of your service', zh: '服务地址' },
  resourceHint: {
    en: `If other applications call your service with tokens made for it (RFC 8707). At the host of a redirect URI; needs a secret, and works once ${SITE} has reviewed the application.`,
    zh: '其他应用用专门的令牌调用你的服务时填写（RFC 8707）。须与某个回调地址同域名，应用有密钥，并经本站审核后生效。',
  },
  device: { en: 'Sign-in on devices without a browser', zh: '允许在没有浏览器的设备上登录' },
  deviceHint: {
    en: 'For televisions, consoles and command lines: the program shows a code, and members enter it on their phone.',
    zh: '用于电视、游戏机和命令行程序：程序显示一个代码，成员在手机上输入。',
  },
  allowGroups: { en: 'Allowed groups', zh: '允许的用户组' },
  allowGroupsHint: {
    en: 'A member needs one of them. Choose none for everyone.',
    zh: '成员须满足其中一项，全部不选即所有人。',
  },
  denyGroups: { en: 'Blocked groups', zh: '禁止的用户组' },
  denyGroupsHint: { en: 'They take precedence over allowed groups.', zh: '优先于允许的用户组。' },
  levels: { en: 'Trust level and above', zh: '信任等级及以上' },
  groups: { en: 'Groups', zh: '用户组' },
  roles: {
    admins: { en: 'Administrators', zh: '管理员' },
    moderators: { en: 'Moderators', zh: '版主' },
  } as Record<string, Text>,
  otherGroups: { en: 'Other groups, one per line', zh: '其他用户组（每行一个）' },
  submit: { en: 'Create application', zh: '创建应用' },
  needTrustLevel: (needed: number, have: number) => ({
    en: `You need trust level ${needed} to create an application. Yours is ${have}.`,
    zh: `创建应用需要信任等级 ${needed}，你目前为 ${have}。`,
  }),
  full: (max: number) => ({
    en: `You have ${max} applications, the limit for each member. Delete one to create another.`,
    zh: `你已有 ${max} 个应用，达到每位成员的上限。删除一个后才能再创建。`,
  }),
  created: { en: 'Created', zh: '创建时间' },
  everyone: { en: 'Everyone', zh: '所有人' },
  openTo: { en: 'Allowed groups', zh: '允许的用户组' },
  closedTo: { en: 'Blocked groups', zh: '禁止的用户组' },
  problems: {
    name: {
      en: 'Enter a name of 1 to 60 characters, without control or invisible characters.',
      zh: '名称须为 1 至 60 个字符，且不能包含控制字符或不可见字符。',
    },
    description: {
      en: 'Enter at most 500 characters, without control or invisible characters.',
      zh: '简介最多 500 个字符，且不能包含控制字符或不可见字符。',
    },
    redirect_uris: { en: 'Enter 1 to 20 addresses, one per line.', zh: '请填写 1 至 20 个地址，每行一个。' },
    post_logout_redirect_uris: {
      en: 'Enter at most 20 addresses, one per line.',
      zh: '最多填写 20 个地址，每行一个。',
    },
    backchannel_logout_uri: { en: 'Enter at most 2000 characters.', zh: '最多 2000 个字符。' },
    id_token_signed_response_alg: { en: 'Choose one from the list.', zh: '请从列表中选择。' },
    token_endpoint_auth_method: { en: 'Choose one from the list.', zh: '请从列表中选择。' },
    is_listed: { en: 'Tick it or leave it empty.', zh: '请勾选或留空。' },
    resource_uri: {
      en: 'Enter an https address at the host of a redirect URI. No other reviewed application may have it. An application without a secret has none.',
      zh: '请填写与某个回调地址同域名的 https 地址，且未被其他已审核的应用使用。没有密钥的应用不能填写。',
    },
    grant_types: { en: 'Tick it or leave it empty.', zh: '请勾选或留空。' },
    allow_groups: {
      en: 'Enter at most 50 groups of up to 100 characters each, one per line.',
      zh: '最多 50 个用户组，每个不超过 100 个字符，每行一个。',
    },
    deny_groups: {
      en: 'Enter at most 50 groups of up to 100 characters each, one per line.',
      zh: '最多 50 个用户组，每个不超过 100 个字符，每行一个。',
    },
  },
  faultyUri: (uri: string, fault: string) => ({
    en: `${uri.slice(0, 80)}: ${fault}`,
    zh: `${uri.slice(0, 80)}：${fault}`,
  }),
} satisfies Texts

export const created = {
  done: (name: string) => ({ en: `${name} is created`, zh: `已创建 ${name}` }),
  publicText: {
    en: 'It has no secret. It sends only its client_id to the token endpoint, and must use PKCE (S256).',
    zh: '此应用没有密钥。它在令牌端点只提供 client_id，且必须使用 PKCE（S256）。',
  },
  copyNow: { en: 'Copy this now', zh: '请立即保存' },
  publicTitle: { en: 'Your client_id', zh: '你的 client_id' },
  nextReplaced: {
    en: 'Put the new secret into every server that uses the old one. The other values stay.',
    zh: '请在每台使用旧密钥的服务器上换上新密钥，其他值不变。',
  },
  text: {
    en: 'Copy the client secret now: it is shown only this once. Keep it on your server, never in a browser or on a device.',
    zh: '请立即复制客户端密钥，它只显示这一次。请保存在服务器上，不要放进浏览器或客户端程序。',
  },
  discovery: { en: 'Discovery URL', zh: '发现地址' },
  toApp: { en: 'Open the application', zh: '打开应用' },
} satisfies Texts

/** Texts beside the lines that a program needs. */
export const starters = {
  title: { en: 'Copy into your program', zh: '复制到你的程序' },
  addSecret: {
    en: 'Add CLIENT_SECRET with the secret that was shown once.',
    zh: '再加入 CLIENT_SECRET，填写只显示过一次的密钥。',
  },
  redirect: (name: string) => ({
    en: `Redirect URI of ${name}, below the address of your site:`,
    zh: `${name} 的回调地址（位于你的网站地址之下）：`,
  }),
  more: { en: 'All clients, with these values', zh: '全部客户端（已填好）' },
} satisfies Texts

/** Texts of the rules on groups and redirect addresses. */
export const access = {
  group: (name: string) => {
    const level = /^trust_level_([0-4])$/i.exec(name)?.[1]
    if (level !== undefined) return { en: `trust level ${level} and above`, zh: `信任等级 ${level} 及以上` }
    if (/^admins$/i.test(name)) return { en: 'administrators', zh: '管理员' }
    if (/^moderators$/i.test(name)) return { en: 'moderators', zh: '版主' }
    return { en: `the group ${name}`, zh: `用户组 ${name} ` }
  },
  redirectUriFaults: {
    too_long: { en: 'must have at most 2000 characters', zh: '最多 2000 个字符' },
    characters: {
      en: 'must be printable ASCII without spaces, quotes, angle brackets or backslashes',
      zh: '只能包含可打印的 ASCII 字符，不含空格、引号、尖括号和反斜杠',
    },
    not_absolute: {
      en: 'must be an absolute address such as https://example.org/callback',
      zh: '须为完整地址，例如 https://example.org/callback',
    },
    scheme: {
      en: 'must be https (http only for 127.0.0.1, [::1] and localhost; a scheme of your own needs a dot, as in com.example.app:/callback)',
      zh: '须为 https（仅 127.0.0.1、[::1] 和 localhost 可用 http；自定义协议须含点号，例如 com.example.app:/callback）',
    },
    query: { en: 'must have no query (?)', zh: '不能包含查询参数（?）' },
    fragment: { en: 'must have no fragment (#)', zh: '不能包含片段（#）' },
    user_name: { en: 'must have no user name or password (@)', zh: '不能包含用户名或密码（@）' },
    host: {
      en: 'must write its host as browsers do, without % and without other spellings of an IP address',
      zh: '主机名须与浏览器中的写法一致：不能含 %，也不能用 IP 地址的其他写法',
    },
    wildcard: {
      en: 'must have no wildcard (*), because addresses must match exactly',
      zh: '不能包含通配符（*），地址必须完全一致',
    },
  },
} satisfies Texts
