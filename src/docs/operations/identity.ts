/** Describes the operations of the identity interface. RFC 6749, 7009, 7662, 8628; OpenID Connect Core 1.0. */
import { z } from 'zod'
import {
  AppsRequest,
  ListedApp,
  NewAppForm,
  OWNED_APPS_MAX,
  RegisteredApp,
  UNCONFIRMED_APPS_MAX,
} from '../../identity/apps/apps.ts'
import { SCOPES } from '../../identity/oauth/authorization-request.ts'
import {
  AboutTokenRequest,
  AuthorizationRequest,
  DeviceAuthorization,
  DeviceRequest,
  Discovery,
  Introspection,
  Jwks,
  LogoutRequest,
  ProtectedResource,
  Refusal,
  Revoked,
  TokenRequest,
  Tokens,
  Userinfo,
  WebFinger,
  WebFingerRequest,
} from '../../identity/oauth/shapes.ts'
import {
  ABOUT_APP,
  ABOUT_DISCOVERY,
  ABOUT_LISTED,
  ABOUT_REGISTERED,
  ABOUT_TOKEN,
  AboutLiveToken,
  CLIENT,
  Granted,
} from './identity-fields.ts'
import { described, type Operation, text } from './operation.ts'

export const AnyRefusal = described(Refusal, {
  error_description: text('What is wrong, in English.', '错误说明（英文）。'),
  error: text(
    'A code of RFC 6749 or RFC 8628, such as invalid_grant.',
    'RFC 6749 或 RFC 8628 的错误码，如 invalid_grant。',
  ),
})
const refused = {
  about: { en: 'Refused.', zh: '被拒绝。' },
  schema: AnyRefusal,
  example: { error: 'invalid_grant', error_description: 'The code is unknown, used or expired' },
}
const notProven = {
  about: {
    en: 'The client could not be authenticated, or the token is not valid.',
    zh: '客户端或令牌无效。',
  },
  schema: AnyRefusal,
  example: { error: 'invalid_client', error_description: 'Client authentication failed' },
}

const WEBFINGER_LINK = described(WebFinger.shape.links.element, {
  rel: text('The relation: that of the issuer.', '关系：签发方。'),
  href: text('The issuer.', '签发方的地址。'),
})

export const identityOperations: Operation[] = [
  {
    area: 'identity',
    method: 'get',
    alsoBy: 'post',
    path: '/oauth2/auth',
    about: { en: 'Authorize a member', zh: '发起登录授权' },
    introduction: {
      en: 'The member’s browser opens this address to sign in. After consent it returns to your redirect_uri with a code, and your server exchanges the code for tokens.',
      zh: '成员的浏览器打开此地址登录。同意授权后，浏览器带着 code 回到你的 redirect_uri，由你的服务器换取令牌。',
    },
    request: {
      in: 'query',
      schema: described(AuthorizationRequest, {
        response_type: text('Always code.', '固定为 code。'),
        code_challenge: text(
          'PKCE (RFC 7636): the SHA-256 of your code_verifier, in base64url. Required without a secret.',
          'PKCE（RFC 7636）：code_verifier 的 SHA-256（base64url）。没有密钥时必填。',
        ),
        code_challenge_method: text('Always S256.', '固定为 S256。'),
        max_age: text(
          'Seconds since the member last proved who they are. An older sign-in is repeated.',
          '距成员上次验证身份的最长秒数；超过时需重新登录。',
        ),
        id_token_hint: text('An ID token of the member who should be signed in.', '应登录成员的 ID 令牌。'),
        login_hint: text('The username, filled in on the sign-in page.', '预先填入登录页的用户名。'),
        client_id: text(
          'Of the application. Where discovery has client_id_metadata_document_supported, also the https address of a client metadata document.',
          '应用的 client_id。发现文档含 client_id_metadata_document_supported 时，也可以是客户端元数据文档的 https 地址。',
        ),
        redirect_uri: text(
          'As registered, character for character. Only the port of a loopback address is free, for an application without a secret.',
          '与注册的逐字符一致；仅无密钥应用的本机回环地址可以更换端口。',
        ),
        scope: text(`Of ${SCOPES.join(', ')}.`, `可选 ${SCOPES.join('、')}。`),
        state: text('Comes back unchanged. At most 8,192 bytes.', '原样带回，最多 8,192 字节。'),
        nonce: text('Comes back in the ID token.', '写入 ID token。'),
        prompt: text(
          'none, login, consent, select_account; create where members may register, as discovery tells.',
          'none、login、consent、select_account；开放注册时还可用 create，见发现文档。',
        ),
        response_mode: text('query (default) or form_post.', 'query（默认）或 form_post。'),
        acr_values: text(
          'The wished ways of sign-in, best first. The ID token tells in acr which it was.',
          '期望的登录方式，最优先的在前；ID token 中的 acr 是实际的登录方式。',
        ),
        resource: text(
          'The address of the service that the tokens are for (RFC 8707), if not for this site.',
          '令牌所用服务的地址（RFC 8707）；用于本站时不填。',
        ),
        authorization_details: text(
          'A mandate that the member may allow with the sign-in (RFC 9396), of a payment application that names this client_id: [{"type":"points_mandate","identifier":"mdt_..."}].',
          '登录时可一并允许的预授权（RFC 9396），其收款应用须已填写本 client_id：[{"type":"points_mandate","identifier":"mdt_..."}]。',
        ),
        ui_locales: text(
          'The languages of the pages, best first, unless the member has chosen one.',
          '页面语言，最优先的在前；成员选择过语言时以其选择为准。',
        ),
      }),
      example: ({ client_id, redirect_uri }) => ({
        response_type: 'code',
        client_id,
        redirect_uri,
        scope: 'openid profile',
        state: 'af0ifjsldkj',
      }),
    },
    answers: {
      303: {
        about: {
          en: 'Redirects to redirect_uri with code, state and iss, or with error. Before that, the member sees pages to sign in and consent. With response_mode=form_post it is 200, and a form that posts the same parameters.',
          zh: '带着 code、state、iss 或 error 回到 redirect_uri；在此之前是给成员看的页面。response_mode=form_post 时返回 200，由表单提交同样的参数。',
        },
      },
      400: {
        about: {
          en: 'A page. The redirect URI is unknown, the client metadata document cannot be used, the request cannot be read (a value over 8,192 bytes, for example), or client_id or redirect_uri is sent twice, so there is no redirect.',
          zh: '页面：回调地址未知、客户端元数据文档无法使用、请求无法读取（例如某个值超过 8,192 字节），或 client_id、redirect_uri 重复，因此不会跳转。',
        },
      },
      401: {
        about: {
          en: 'A page. The client is unknown, so there is no redirect.',
          zh: '页面：客户端未知，因此不会跳转。',
        },
      },
    },
  },
  {
    area: 'identity',
    method: 'post',
    path: '/oauth2/token',
    about: { en: 'Get tokens', zh: '获取令牌' },
    introduction: {
      en: 'Your server exchanges a code, a refresh token or a device code for an access token. It also gets an ID token, whatever the scopes.',
      zh: '你的服务器用 code、刷新令牌或设备码换取访问令牌；无论 scope 为何，都会同时得到 ID 令牌。',
    },
    security: 'client',
    request: {
      in: 'form',
      schema: described(TokenRequest, {
        grant_type: text('What is exchanged.', '换取令牌的方式。'),
        refresh_token: text('Of a refresh: the last one received.', '刷新时填写最近一次得到的刷新令牌。'),
        code: text('Once, within a minute.', '一分钟内使用一次。'),
        redirect_uri: text('The same one as in the authorization request.', '与申请授权码时相同。'),
        code_verifier: text(
          'Required if the authorization request had a code_challenge.',
          '发送过 code_challenge 时必填。',
        ),
        scope: text('For a refresh: a part of the granted scopes.', '刷新时可缩小范围。'),
        resource: text(
          'The same one as in the authorization request, or none.',
          '与申请授权时相同，或不填。',
        ),
        device_code: text(
          'Of a device, once, within ten minutes. Until the member has decided, the error is authorization_pending or slow_down.',
          '设备登录用，十分钟内使用一次。成员决定之前，错误码为 authorization_pending 或 slow_down。',
        ),
        ...CLIENT,
      }),
      example: ({ code, redirect_uri }) => ({ grant_type: 'authorization_code', code, redirect_uri }),
    },
    answers: {
      200: {
        about: { en: 'The tokens.', zh: '令牌。' },
        schema: described(Tokens.extend({ authorization_details: z.array(Granted).optional() }), {
          access_token: text('Send it as Authorization: Bearer.', '以 Authorization: Bearer 发送。'),
          token_type: text('How it is sent.', '发送方式。'),
          scope: text('The scopes that were granted.', '已授予的权限范围。'),
          expires_in: text('Seconds.', '秒。'),
          refresh_token: text('Replaced at each use.', '每次使用后更换。'),
          authorization_details: text(
            'The mandate of the authorization request, as it is now. Empty if the member allowed the sign-in only. Absent if the request named none.',
            '授权请求中的预授权及其当前状态。成员仅允许登录时为空数组；请求未指定时没有此字段。',
          ),
          id_token: text('A JWT, signed by a key of /oauth2/jwks.', 'JWT，由 /oauth2/jwks 中的密钥签名。'),
        }),
        example: {
          access_token: '2YotnFZFEjr1zCsicMWpAA',
          token_type: 'Bearer',
          expires_in: 3600,
          refresh_token: 'tGzv3JOkF0XG5Qx2TlKWIA',
          id_token: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
          scope: 'openid profile',
        },
      },
      400: refused,
      401: notProven,
      429: {
        about: {
          en: 'Too many failures, or too many refreshes of one grant. The token stays valid: wait for as many seconds as Retry-After says.',
          zh: '失败次数过多，或同一授权刷新过于频繁。令牌未被消耗：请按 Retry-After 的秒数等待。',
        },
        schema: AnyRefusal,
        example: {
          error: 'temporarily_unavailable',
          error_description: 'This grant was refreshed too often. Use its access token, or wait.',
        },
      },
    },
  },
  {
    area: 'identity',
    method: 'post',
    path: '/oauth2/device_authorization',
    about: { en: 'Begin a sign-in on a device', zh: '发起设备登录' },
    introduction: {
      en: 'For devices and command-line programs without a browser. Show the member the code and the address, then call the token endpoint until the member has decided.',
      zh: '适用于没有浏览器的设备和命令行程序。向成员显示代码和网址，然后轮询令牌接口，直到成员作出决定。',
    },
    security: 'client',
    request: {
      in: 'form',
      schema: described(DeviceRequest, {
        scope: text(`Of ${SCOPES.join(', ')}.`, `可选 ${SCOPES.join('、')}。`),
        resource: text('The address of the service that the tokens are for.', '令牌所用服务的地址。'),
        ...CLIENT,
      }),
      example: () => ({ scope: 'openid profile' }),
    },
    answers: {
      200: {
        about: {
          en: 'The code for the member, and the one with which the device asks for tokens (RFC 8628).',
          zh: '给成员看的代码，以及设备获取令牌用的代码（RFC 8628）。',
        },
        schema: described(DeviceAuthorization, {
          device_code: text('The device asks for tokens with it.', '设备凭它获取令牌。'),
          verification_uri: text('Show the member this address.', '向成员显示此网址。'),
          user_code: text('The member enters it at verification_uri.', '成员在 verification_uri 输入。'),
          verification_uri_complete: text(
            'With the code filled in, for a QR code.',
            '已填好代码，适合做成二维码。',
          ),
          expires_in: text('Seconds.', '秒。'),
          interval: text('Seconds between two polls.', '两次轮询之间的秒数。'),
        }),
        example: {
          device_code: 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0A',
          user_code: 'WDJB-MJHT',
          verification_uri: 'https://tessera.example/device',
          verification_uri_complete: 'https://tessera.example/device?user_code=WDJB-MJHT',
          expires_in: 600,
          interval: 5,
        },
      },
      400: {
        ...refused,
        example: {
          error: 'unauthorized_client',
          error_description: 'This application is not switched on for devices',
        },
      },
      401: notProven,
    },
  },
  {
    area: 'identity',
    method: 'get',
    alsoBy: 'post',
    path: '/oauth2/userinfo',
    about: { en: 'Get the member’s profile', zh: '获取成员资料' },
    introduction: {
      en: 'Returns the profile of the member to whom the access token belongs, whatever its scopes. Only the Authorization header is read for the token. A token in a form gets 401.',
      zh: '返回访问令牌所属成员的资料，与 scope 无关。令牌只从 Authorization 请求头读取；放在表单里会返回 401。',
    },
    security: 'bearer',
    answers: {
      200: {
        about: { en: 'The member.', zh: '成员资料。' },
        schema: described(Userinfo, {
          id: text('sub as a number.', '与 sub 相同的数字。'),
          preferred_username: text('The same as username.', '与 username 相同。'),
          name: text('The name that the member shows.', '成员的显示名称。'),
          picture: text('The address of the picture.', '头像网址。'),
          avatar_url: text('The same as picture.', '与 picture 相同。'),
          trust_level: text('From 0 to 4.', '信任等级，0 至 4。'),
          email: text('With the scope email, if an address is known.', '有 email 权限且已知邮箱时才有。'),
          email_verified: text(
            'Always true: other addresses are not told.',
            '固定为 true；未验证的邮箱不会返回。',
          ),
          active: text(
            'Always true: the token of a barred member is not valid.',
            '固定为 true；被停用成员的令牌无效。',
          ),
          silenced: text('Whether a connected forum has silenced the member.', '成员是否被所接论坛禁言。'),
          sub: text('Never changes: store this.', '永远不变，请保存它。'),
          username: text('May change.', '可能会变。'),
          groups: text(
            'trust_level_0 to trust_level_4, admins, moderators, and the groups of the site and of its forum.',
            'trust_level_0 至 trust_level_4、admins、moderators，以及本站及所接论坛的用户组。',
          ),
        }),
        example: {
          sub: '1',
          id: 1,
          username: 'alice',
          preferred_username: 'alice',
          name: 'Alice',
          groups: ['trust_level_0', 'trust_level_1', 'trust_level_2'],
          trust_level: 2,
          active: true,
          silenced: false,
        },
      },
      401: {
        ...notProven,
        example: {
          error: 'invalid_token',
          error_description: 'The access token is unknown, expired or revoked',
        },
      },
    },
  },
  {
    area: 'identity',
    method: 'get',
    alsoBy: 'post',
    path: '/oauth2/logout',
    about: { en: 'Sign a member out', zh: '退出登录' },
    introduction: {
      en: 'Your application sends the member’s browser here to sign out of this site too. With an ID token of the signed-in member the sign-out is immediate. Otherwise a page asks the member, because a link alone must not sign anybody out. Discovery names this address as end_session_endpoint.',
      zh: '应用把成员的浏览器带到这里，同时从本站退出登录。带有已登录成员的 ID 令牌时立即退出；否则先由成员在页面上确认，因为仅凭一个链接不能让人退出登录。发现文档中的 end_session_endpoint 就是此地址。',
    },
    request: {
      in: 'query',
      schema: described(LogoutRequest, {
        id_token_hint: text(
          'The ID token of the member, also an expired one. Without it send client_id.',
          '成员的 ID 令牌，已过期的也可以。没有时请填写 client_id。',
        ),
        client_id: text(
          'Of the application. Must be the one that the ID token was issued to.',
          '应用的 client_id，须与 ID 令牌所属的应用一致。',
        ),
        post_logout_redirect_uri: text(
          'Where the browser goes afterwards: an address that is registered for it on the application’s page, character for character.',
          '退出登录后跳转的地址，须与应用页面登记的退出登录后地址逐字符一致。',
        ),
        state: text('Comes back unchanged.', '原样带回。'),
      }),
      example: ({ client_id, redirect_uri }) => ({ client_id, post_logout_redirect_uri: redirect_uri }),
    },
    answers: {
      200: {
        about: {
          en: 'A page. It asks the member to confirm, or, where nobody is signed in and no ID token was sent, has a link to post_logout_redirect_uri.',
          zh: '页面：请成员确认；没有人登录且未带 ID 令牌时，显示前往 post_logout_redirect_uri 的链接。',
        },
      },
      303: {
        about: {
          en: 'Signed out. Redirects to post_logout_redirect_uri with state, or to a page of this site.',
          zh: '已退出登录。带着 state 跳转到 post_logout_redirect_uri；未填写时到本站的页面。',
        },
      },
      400: {
        about: {
          en: 'A page; JSON for a caller that does not ask for HTML. The address is not registered, or the ID token is of another site or another application. The browser is not redirected.',
          zh: '页面；调用方未请求 HTML 时返回 JSON。地址未登记，或 ID 令牌不是本站签发的，或属于另一个应用。不会跳转。',
        },
        schema: AnyRefusal,
        example: {
          error: 'invalid_redirect_uri',
          error_description: 'The post_logout_redirect_uri is not registered for this application',
        },
      },
    },
  },
  {
    area: 'identity',
    method: 'post',
    path: '/oauth2/revoke',
    about: { en: 'Revoke a token', zh: '撤销令牌' },
    introduction: {
      en: 'Ends a token that your application no longer needs, for example when a member signs out of your site.',
      zh: '让不再需要的令牌失效，例如成员在你的网站退出登录时。',
    },
    security: 'client',
    request: {
      in: 'form',
      schema: described(AboutTokenRequest, ABOUT_TOKEN),
      example: () => ({ token: 'tGzv3JOkF0XG5Qx2TlKWIA' }),
    },
    answers: {
      200: {
        about: {
          en: 'The token is no longer valid, whether or not it was before. Revoking a refresh token also revokes every token that came from it.',
          zh: '令牌不再有效，无论之前是否有效。撤销刷新令牌会一并结束由它产生的全部令牌。',
        },
        schema: Revoked,
        example: {},
      },
      401: notProven,
    },
  },
  {
    area: 'identity',
    method: 'post',
    path: '/oauth2/introspect',
    about: { en: 'Introspect a token', zh: '查询令牌状态' },
    introduction: {
      en: 'Tells your server whether a token is valid, and to which member and scopes it belongs.',
      zh: '查询令牌是否有效，以及所属的成员和 scope。',
    },
    security: 'client',
    request: {
      in: 'form',
      schema: described(AboutTokenRequest, ABOUT_TOKEN),
      example: ({ access_token }) => ({ token: access_token }),
    },
    answers: {
      200: {
        about: {
          en: 'active is false for anything but a valid token of this client, or one for its service.',
          zh: '不是本客户端或其服务的有效令牌时 active 为 false。',
        },
        schema: z.union([AboutLiveToken, Introspection.options[0]]),
        example: { active: false },
      },
      401: notProven,
    },
  },
  {
    area: 'identity',
    method: 'get',
    path: '/.well-known/openid-configuration',
    about: { en: 'Get the discovery document', zh: '获取发现文档' },
    introduction: {
      en: 'OpenID Connect libraries read this document and find all other addresses in it.',
      zh: 'OpenID Connect 库读取此文档，从中获知其他所有地址。',
    },
    answers: {
      200: {
        about: {
          en: 'OpenID Connect Discovery 1.0, RFC 8414.',
          zh: 'OpenID Connect Discovery 1.0，RFC 8414。',
        },
        schema: described(Discovery, ABOUT_DISCOVERY),
      },
    },
  },
  {
    area: 'identity',
    method: 'get',
    path: '/.well-known/webfinger',
    about: { en: 'Find the issuer of an account', zh: '查找账号的签发方' },
    introduction: {
      en: 'A client that knows only an account, such as acct:alice@ and this host, finds here which server signs it in.',
      zh: '客户端只知道账号（如 acct:alice@ 加本站域名）时，可在此查到由哪个服务器登录。',
    },
    request: {
      in: 'query',
      schema: described(WebFingerRequest, {
        resource: text(
          'acct: with a name at this host, or the issuer.',
          '本站账号的 acct: 地址，或签发方地址。',
        ),
        rel: text(
          'The relation that is asked for. The only one known is that of the issuer.',
          '要查询的关系，仅支持签发方。',
        ),
      }),
      example: ({ issuer }) => ({ resource: issuer }),
    },
    answers: {
      200: {
        about: {
          en: 'RFC 7033, as application/jrd+json. The answer is alike for every name, so it does not tell who exists.',
          zh: 'RFC 7033，类型为 application/jrd+json。任何名称的响应都一样，不透露账号是否存在。',
        },
        schema: described(WebFinger.extend({ links: z.array(WEBFINGER_LINK) }), {
          subject: text('The resource that was asked for.', '所查询的账号。'),
          links: text('One link: to the issuer.', '一个链接：签发方。'),
        }),
      },
      400: { ...refused, example: { error: 'invalid_request', error_description: 'resource is missing' } },
      404: {
        about: { en: 'The resource is of another site.', zh: '不是本站的账号。' },
        schema: AnyRefusal,
        example: { error: 'invalid_request', error_description: 'This resource is not of this site' },
      },
    },
  },
  {
    area: 'identity',
    method: 'get',
    path: '/.well-known/oauth-protected-resource',
    about: { en: 'Get the resource metadata', zh: '获取资源元数据' },
    introduction: {
      en: 'A client that got a 401 reads here which server issues tokens for this service.',
      zh: '客户端收到 401 后，可在此查到由哪个服务器颁发令牌。',
    },
    answers: {
      200: {
        about: {
          en: 'RFC 9728: what the access tokens of members reach here. Challenges of userinfo and /api/apps name this address.',
          zh: 'RFC 9728：成员的访问令牌在本站可用之处。userinfo 和 /api/apps 的 401 响应会给出此地址。',
        },
        schema: described(ProtectedResource, {
          resource: text('This service.', '本服务。'),
          authorization_servers: text('The issuer of its tokens.', '颁发令牌的签发方。'),
          scopes_supported: text('The scopes that reach something here.', '在此可用的权限范围。'),
          bearer_methods_supported: text('How a token is sent.', '令牌的发送方式。'),
          resource_documentation: text('These pages.', '本文档的地址。'),
        }),
      },
    },
  },
  {
    area: 'identity',
    method: 'get',
    path: '/oauth2/jwks',
    about: { en: 'Get the signing keys', zh: '获取签名公钥' },
    introduction: {
      en: 'Your server checks the signatures of ID tokens and logout tokens with these public keys.',
      zh: '你的服务器用这些公钥验证 ID 令牌和退出登录令牌的签名。',
    },
    answers: {
      200: {
        about: { en: 'RFC 7517. Keep them for five minutes.', zh: 'RFC 7517，可缓存五分钟。' },
        schema: described(Jwks, {
          keys: text('The keys, the one in use first.', '公钥列表，正在使用的在前。'),
        }),
      },
    },
  },
  {
    area: 'identity',
    method: 'get',
    path: '/api/apps',
    about: { en: 'List your applications', zh: '列出你的应用' },
    introduction: {
      en: 'Lists the OAuth applications of the member to whom the access token belongs.',
      zh: '列出访问令牌所属成员的 OAuth 应用。',
    },
    security: 'bearer',
    request: {
      in: 'query',
      schema: described(AppsRequest, {
        owner: text('For administrators: everybody’s.', '管理员可列出全部。'),
      }),
      example: () => ({}),
    },
    answers: {
      200: {
        about: { en: 'All of them.', zh: '全部应用。' },
        schema: z.array(described(ListedApp, ABOUT_LISTED)),
      },
      401: notProven,
    },
  },
  {
    area: 'identity',
    method: 'post',
    path: '/api/apps',
    about: { en: 'Create an application', zh: '创建应用' },
    introduction: {
      en: 'Creates an OAuth application for the member to whom the access token belongs, so that programs can register themselves.',
      zh: '为访问令牌所属成员创建 OAuth 应用，供程序自行注册。',
    },
    security: 'bearer',
    request: {
      in: 'json',
      schema: described(NewAppForm, ABOUT_APP),
      example: () => ({
        name: 'Reading Club',
        description: 'What we read this month',
        redirect_uris: ['https://app.example/callback'],
        allow_groups: ['trust_level_1'],
        deny_groups: [],
      }),
    },
    answers: {
      201: {
        about: {
          en: 'The answer shows the secret once, and no later request does. Without the scope apps, the application works at once and waits for its owner to confirm it, unless the token belongs to an application of the same member.',
          zh: '密钥只在这里出现一次。没有 apps 权限时，应用立即可用，并等待所有者确认；令牌属于该成员自己的应用时无需确认。',
        },
        schema: described(RegisteredApp, ABOUT_REGISTERED),
        example: {
          client_id: 'k3x9m2p7q4r8s1t5v6w0y2z4',
          client_secret: 'x'.repeat(48),
          name: 'Reading Club',
          description: 'What we read this month',
          redirect_uris: ['https://app.example/callback'],
          post_logout_redirect_uris: [],
          id_token_signed_response_alg: 'RS256',
          token_endpoint_auth_method: 'client_secret_basic',
          backchannel_logout_uri: null,
          backchannel_logout_session_required: false,
          allow_groups: ['trust_level_1'],
          deny_groups: [],
          grant_types: ['authorization_code', 'refresh_token'],
          resource_uri: null,
        },
      },
      400: refused,
      401: notProven,
      403: {
        about: {
          en: `The trust level is too low, ${OWNED_APPS_MAX} applications are there already, or ${UNCONFIRMED_APPS_MAX} wait for confirmation.`,
          zh: `信任等级不够，已有 ${OWNED_APPS_MAX} 个应用，或有 ${UNCONFIRMED_APPS_MAX} 个待确认。`,
        },
        schema: AnyRefusal,
        example: {
          error: 'access_denied',
          error_description: `A member has at most ${OWNED_APPS_MAX} applications`,
        },
      },
    },
  },
]
