/** Describes the fields of the identity interface that several operations share, and those of its metadata. */
import { z } from 'zod'
import { GrantedMandate } from '../../accounts/sign-in/mandate-consent.ts'
import { LiveToken } from '../../identity/oauth/shapes.ts'
import { described, text } from './operation.ts'

/** A client that does not use HTTP Basic names itself in the body. */
export const CLIENT = {
  client_id: text('Instead of HTTP Basic, with client_secret.', '代替 HTTP Basic，与 client_secret 一起。'),
  client_secret: text('Instead of HTTP Basic, with client_id.', '代替 HTTP Basic，与 client_id 一起。'),
}

export const ABOUT_TOKEN = {
  token: text('An access token or a refresh token of your application.', '本应用的访问令牌或刷新令牌。'),
  token_type_hint: text('Not needed: every kind is looked up.', '不需要：各类令牌都会查找。'),
  ...CLIENT,
}

/** A mandate that a member allowed with the sign-in, as it is now. */
export const Granted = described(GrantedMandate, {
  type: text('A mandate for points.', '积分预授权。'),
  identifier: text('The mandate_id of the offer.', '邀请返回的 mandate_id。'),
  payment_id: text('The payment application that may charge it.', '可以扣款的收款应用。'),
  status: text('What it is now.', '当前状态。'),
  reason: text('Why it cannot be charged now; null when it can.', '目前不能扣款的原因；可以扣款时为 null。'),
  kind: text('Whether each charge has one fixed amount.', '金额是否固定。'),
  charge_max: text('Most points of one charge.', '单次扣款上限。'),
  period_max: text('Most points of a period.', '每期扣款上限。'),
  period: text('How long a period is.', '每期的长度。'),
  starts_on: text('The first day; null until it is known.', '首日；尚未确定时为 null。'),
  ends_on: text('The last day, inclusive; null until it is known.', '最后一天（含）；尚未确定时为 null。'),
  purpose: text('What the member reads.', '成员看到的用途。'),
})

/** The answer about a valid token. */
export const AboutLiveToken = described(
  LiveToken.extend({ authorization_details: z.array(Granted).optional() }),
  {
    active: text(
      'The token is valid. Otherwise false, and nothing else.',
      '令牌有效；否则为 false，且没有其他字段。',
    ),
    token_type: text('Of access tokens alone.', '仅访问令牌有此字段。'),
    scope: text('Its scopes, with spaces between.', '权限范围，以空格分隔。'),
    client_id: text('The application that it was issued to.', '令牌所属的应用。'),
    username: text('The member, by name.', '成员的用户名。'),
    sub: text('The member: never changes.', '成员编号，永远不变。'),
    acr: text('How the member signed in.', '成员的登录方式。'),
    auth_time: text(
      'When the member signed in, in seconds since 1970.',
      '成员登录的时间（1970 年以来的秒数）。',
    ),
    aud: text('The service that it is for, if not this site.', '令牌所用的服务；用于本站时没有。'),
    exp: text('When it ends, in seconds since 1970.', '到期时间（1970 年以来的秒数）。'),
    iat: text('When it was issued, in seconds since 1970.', '颁发时间（1970 年以来的秒数）。'),
    iss: text('This site.', '本站。'),
    authorization_details: text('The mandate that was allowed with the sign-in.', '登录时一并允许的预授权。'),
  },
)

const address = (of: string, ofZh: string) => text(`The address to ${of}.`, `${ofZh}的地址。`)
const supported = (what: string, whatZh: string) => text(`${what} that are supported.`, `支持的${whatZh}。`)

export const ABOUT_DISCOVERY = {
  issuer: text('Tokens name it as iss.', '令牌中的 iss。'),
  authorization_endpoint: address('authorize a member at', '发起登录授权'),
  token_endpoint: address('get tokens at', '获取令牌'),
  userinfo_endpoint: address('get the member’s profile at', '获取成员资料'),
  jwks_uri: address('get the signing keys at', '获取签名公钥'),
  device_authorization_endpoint: address('begin a sign-in on a device at', '发起设备登录'),
  revocation_endpoint: address('revoke a token at', '撤销令牌'),
  introspection_endpoint: address('introspect a token at', '查询令牌状态'),
  end_session_endpoint: address('sign a member out at', '退出登录'),
  backchannel_logout_supported: text(
    'The site notifies applications when a member signs out.',
    '成员退出登录时会通知应用。',
  ),
  backchannel_logout_session_supported: text(
    'The logout token names the session in sid.',
    '退出登录令牌以 sid 指明会话。',
  ),
  service_documentation: text('These pages.', '本文档的地址。'),
  scopes_supported: supported('The scopes', '权限范围'),
  response_types_supported: supported('The response types', '授权响应类型'),
  response_modes_supported: supported('The response modes', '授权响应方式'),
  grant_types_supported: supported('The grant types', '授权类型'),
  subject_types_supported: text(
    'Each application sees the same sub of a member.',
    '各应用看到同一成员的 sub 相同。',
  ),
  id_token_signing_alg_values_supported: supported('The algorithms of ID tokens', ' ID 令牌签名算法'),
  token_endpoint_auth_methods_supported: supported('The ways to authenticate a client', '客户端认证方式'),
  revocation_endpoint_auth_methods_supported: text('The same, to revoke a token.', '撤销令牌时的认证方式。'),
  introspection_endpoint_auth_methods_supported: text(
    'The same, to introspect a token.',
    '查询令牌状态时的认证方式。',
  ),
  code_challenge_methods_supported: supported('The methods of PKCE', ' PKCE 方法'),
  prompt_values_supported: supported('The values of prompt', ' prompt 值'),
  acr_values_supported: supported('The ways to sign in', '登录方式'),
  ui_locales_supported: text('The languages of the pages.', '页面语言。'),
  claims_supported: text('The claims of ID tokens and userinfo.', 'ID 令牌和成员资料包含的字段。'),
  request_parameter_supported: text('Request objects are not read.', '不支持 request 参数。'),
  request_uri_parameter_supported: text('Request objects are not fetched.', '不支持 request_uri 参数。'),
  claims_parameter_supported: text('The claims parameter is not read.', '不支持 claims 参数。'),
  authorization_response_iss_parameter_supported: text(
    'The authorization response names the issuer in iss (RFC 9207).',
    '授权响应以 iss 指明签发方（RFC 9207）。',
  ),
  client_id_metadata_document_supported: text(
    'true while clients may be known by a metadata document.',
    '允许以元数据文档作为客户端时为 true。',
  ),
  authorization_details_types_supported: text(
    'points_mandate, while mandates are on.',
    '预授权开启时为 points_mandate。',
  ),
}

/** The fields of an application that its owner sets. */
export const ABOUT_APP = {
  name: text('What members read.', '成员看到的名称。'),
  description: text('What it does, for members.', '给成员看的介绍。'),
  redirect_uris: text('Where the code may be sent.', '可以接收 code 的地址。'),
  post_logout_redirect_uris: text('Where a browser may go after signing out.', '退出登录后可以跳转的地址。'),
  id_token_signed_response_alg: text('How its ID tokens are signed.', 'ID 令牌的签名算法。'),
  token_endpoint_auth_method: text(
    'How it proves itself. none: it has no secret and uses PKCE.',
    '认证方式。none 表示没有密钥，使用 PKCE。',
  ),
  backchannel_logout_uri: text(
    'Where this site tells it that a member has signed out.',
    '成员退出登录时本站通知的地址。',
  ),
  backchannel_logout_session_required: text(
    'Kept and repeated. A logout token about one session names it in any case.',
    '原样保存并返回；单个会话的退出登录令牌总会指明会话。',
  ),
  allow_groups: text(
    'Only their members may sign in. Empty: everybody.',
    '仅这些用户组可以登录；为空则不限。',
  ),
  deny_groups: text('Their members may not sign in.', '这些用户组不能登录。'),
  grant_types: text(
    'The device grant, for devices. Every application has authorization_code and refresh_token.',
    '设备授权类型，用于设备登录。所有应用都有 authorization_code 和 refresh_token。',
  ),
  resource_uri: text(
    'The service that its tokens may be for (RFC 8707).',
    '令牌可用于的服务地址（RFC 8707）。',
  ),
}

const CLIENT_ID = text('The public name of the application.', '应用的 client_id。')

export const ABOUT_LISTED = {
  client_id: CLIENT_ID,
  name: ABOUT_APP.name,
  description: ABOUT_APP.description,
  redirect_uris: ABOUT_APP.redirect_uris,
  allow_groups: ABOUT_APP.allow_groups,
  deny_groups: ABOUT_APP.deny_groups,
  owner_username: text('The owner.', '所有者的用户名。'),
  created_at: text('When it was created.', '创建时间。'),
}

export const ABOUT_REGISTERED = {
  ...ABOUT_APP,
  client_id: CLIENT_ID,
  client_secret: text('Shown this once. Keep it on your server.', '只出现这一次，请保存在服务器上。'),
  status: text('unconfirmed, if the owner has to confirm it.', '需要所有者确认时为 unconfirmed。'),
  confirm_url: text('The page where the owner does so.', '所有者确认的页面。'),
}
