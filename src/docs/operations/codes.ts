// This room: the operations and messages of the service, from the schemas that check them.
// Verbs: described, jsonSchema, madeUpSamples.
/** Explains every error code of the sign-in and of the two doors. */

import { GATEWAY_ERRORS, GATEWAY_FAULT, type GatewayWireCode } from '../../payment/gateway/errors.ts'
import { PAYMENT_ERRORS, type PaymentWireCode } from '../../payment/hmac/errors.ts'
import type { OAuthCode } from '../../platform/errors.ts'
import type { Text } from '../../web/languages.ts'
import { OAUTH_ERRORS } from '../../web/oauth/errors.ts'

const text = (en: string, zh: string): Text => ({ en, zh })
const later = text('Try again after Retry-After seconds.', '请在 Retry-After 秒后重试。')
const after = (en: string, zh: string) => text(`${en} ${later.en}`, `${zh}${later.zh}`)

const OAUTH_MEANINGS: Record<OAuthCode, Text> = {
  invalid_request: text(
    'A parameter is missing, repeated or not valid; error_description names it. The same code answers another method (HTTP 405) and a body with a Content-Encoding (HTTP 415).',
    '缺少参数、参数重复或无效，error_description 会指出是哪一个。请求方法不正确（HTTP 405）或请求体带有 Content-Encoding（HTTP 415）时也是如此。',
  ),
  invalid_client: text(
    'The client_id or the secret is wrong. Form-encode both halves of the Basic header.',
    'client_id 或密钥错误。Basic 认证的两部分都要先做表单编码。',
  ),
  invalid_grant: text(
    'The code or token is wrong, expired, used or revoked; or redirect_uri or code_verifier differs. Start the sign-in again.',
    '授权码或令牌错误、过期、已使用或已撤销；或 redirect_uri、code_verifier 不一致。请重新发起登录。',
  ),
  invalid_redirect_uri: text(
    'The redirect URI is not registered, character for character.',
    '回调地址与登记的不完全一致。',
  ),
  invalid_scope: text(
    'scope is too long, or a refresh asks for more than was granted.',
    'scope 过长，或刷新时要求的权限超过已授予的范围。',
  ),
  invalid_target: text(
    'resource names no service of an application, or another one than was granted.',
    'resource 不是任何应用的服务地址，或与已授予的不同。',
  ),
  invalid_authorization_details: text(
    'authorization_details names no mandate that this member can accept with this application, or is not one.',
    'authorization_details 格式有误，或其中的预授权不能由该成员在此应用中接受。',
  ),
  invalid_token: text(
    'The access token is missing, wrong, expired or revoked. Refresh it, or start the sign-in again.',
    '缺少访问令牌，或令牌错误、过期、已撤销。请刷新，或重新发起登录。',
  ),
  insufficient_scope: text(
    'The access token needs the scope that WWW-Authenticate names.',
    '访问令牌缺少 WWW-Authenticate 中列出的 scope。',
  ),
  access_denied: text(
    'The member refused, or may not use the application; or registering an application is not allowed.',
    '成员拒绝了授权或无权使用该应用；或不允许登记应用。',
  ),
  unauthorized_client: text(
    'The application is not switched on for sign-in on devices.',
    '应用没有开启设备登录。',
  ),
  authorization_pending: text(
    'The member has not decided on the device yet. Ask again after interval seconds.',
    '成员尚未处理该设备的请求，请在 interval 秒后再次查询。',
  ),
  slow_down: text(
    'The device asks too often. Wait five seconds longer from now on.',
    '设备查询过于频繁，此后每次多等 5 秒。',
  ),
  expired_token: text(
    'The device code is older than ten minutes. Begin again.',
    '设备代码已超过 10 分钟，请重新开始。',
  ),
  unsupported_grant_type: text('The token endpoint has no such grant_type.', '令牌端点不支持此 grant_type。'),
  unsupported_response_type: text('The only response_type is code.', 'response_type 只能是 code。'),
  login_required: text(
    'prompt=none, but the member is not signed in, or is not the expected one.',
    '使用了 prompt=none，但成员未登录，或不是期望的成员。',
  ),
  consent_required: text(
    'prompt=none, but the member has not allowed the application yet.',
    '使用了 prompt=none，但成员尚未授权该应用。',
  ),
  request_not_supported: text('request is not supported.', '不支持 request 参数。'),
  request_uri_not_supported: text('request_uri is not supported.', '不支持 request_uri 参数。'),
  registration_not_supported: text('registration is not supported.', '不支持 registration 参数。'),
}
/** Codes of OpenID Connect and RFC 6749 4.1.2.1 that only a redirect carries, which has no status of its own. */
const ONLY_REDIRECTED: readonly string[] = [
  'unsupported_response_type',
  'login_required',
  'consent_required',
  'request_not_supported',
  'request_uri_not_supported',
  'registration_not_supported',
] satisfies OAuthCode[]

/** The codes of the sign-in, with their HTTP statuses as text: one that is only redirected has none. */
export const OAUTH_CODES: readonly { code: string; status: string; about: Text }[] = [
  ...Object.entries(OAUTH_MEANINGS).map(([code, about]) => ({
    code,
    status: ONLY_REDIRECTED.includes(code) ? '' : String(OAUTH_ERRORS[code as OAuthCode]),
    about,
  })),
  {
    code: 'temporarily_unavailable',
    status: '429, 503',
    about: after('Too many requests, or the service is too busy.', '请求过多，或服务繁忙。'),
  },
  {
    code: 'server_error',
    status: '500',
    about: text(
      'A fault of the service. The same request may be sent again.',
      '服务内部错误，可以重发同一请求。',
    ),
  },
]

const PAYMENT_MEANINGS: Record<Exclude<PaymentWireCode, 'application_not_found'>, Text> = {
  invalid_signature: text(
    'The signature is wrong. data says what to sign and which mistake is likely.',
    '签名错误。data 说明应当签名的内容和可能的错误。',
  ),
  stale_timestamp: text(
    'The timestamp is not 10 digits, or too far from the time of the server, which data.server_time tells.',
    '时间戳不是 10 位数字，或与服务器时间相差过大；服务器时间见 data.server_time。',
  ),
  address_not_allowed: text(
    'The request came from an address that is not on the list of the application.',
    '请求来源地址不在应用的名单中。',
  ),
  parameter_missing: text('A parameter is missing.', '缺少参数。'),
  parameter_invalid: text(
    'A parameter is not valid or stands in the URL instead of the body, or the order exists with another amount or recipient.',
    '参数无效，或写在了 URL 里而不在请求体中；或订单已存在，但金额或收款人不同。',
  ),
  malformed_request: text(
    'The body cannot be read: a repeated or nested parameter, text that is not UTF-8, a Content-Type that is neither of a form nor JSON, or a Content-Encoding (HTTP 415).',
    '请求体无法读取：参数重复或嵌套、不是 UTF-8、Content-Type 既不是表单也不是 JSON，或带有 Content-Encoding（HTTP 415）。',
  ),
  method_not_allowed: text(
    'The address takes another method, which Allow names (HTTP 405).',
    '请求方法不正确，Allow 列出允许的方法（HTTP 405）。',
  ),
  order_exists: text(
    'The order is paid, closed or refunded, or the transfer is reversed. data.status says which.',
    '订单已付款、已关闭或已退款，或转账已冲正；见 data.status。',
  ),
  order_not_found: text('No order has this order_id.', '没有此 order_id 的订单。'),
  payment_not_found: text(
    'No order has this transaction_id; the text says so when it is a transfer.',
    '没有此 transaction_id 的订单；若它是转账，说明中会指出。',
  ),
  application_unusable: text(
    'The application is suspended or not approved, or its token is from before it changed hands.',
    '应用已停用或未审核通过，或 Token 来自移交之前。',
  ),
  insufficient_points: text(
    'The wallet holds too few points for amount and fee.',
    '积分不足以支付金额与手续费。',
  ),
  below_minimum: text('The amount is below the minimum of the trust level.', '金额低于该信任等级的下限。'),
  transfer_to_self: text('The recipient is the owner of the application.', '不能转给应用的所有者自己。'),
  daily_limit_reached: text(
    'The transfers or the charges of the day reach the daily limit.',
    '当日转账或扣款已达限额。',
  ),
  recipient_mismatch: text(
    'to_user_id and to_username do not name the same member.',
    'to_user_id 与 to_username 不是同一个成员。',
  ),
  transfers_disabled: text('Transfers are switched off on this site.', '本站已关闭转账。'),
  above_maximum: text('The amount is above the maximum of the trust level.', '金额超过该信任等级的上限。'),
  payments_paused: after('Payments are paused for maintenance.', '系统维护，支付暂停。'),
  order_frozen: text('An administrator has frozen the order.', '订单已被管理员冻结。'),
  wallet_frozen: text('An administrator has frozen the wallet.', '钱包已被管理员冻结。'),
  mandates_unavailable: text(
    'Mandates are switched off, or the application has no right to them now.',
    '预授权扣款未开启，或应用目前无权使用。',
  ),
  mandate_not_found: text('The application has no such mandate.', '该应用没有此预授权。'),
  mandate_inactive: text(
    'The mandate cannot be charged now. data has its status and the reason.',
    '该预授权目前不能扣款；状态和原因见 data。',
  ),
  charge_too_large: text(
    'The amount is above the limit of one charge, or not exactly that of a fixed mandate. data.limit has the figure.',
    '金额超过单次上限，或与固定金额的预授权不符；数额见 data.limit。',
  ),
  mandate_limit_reached: text(
    'The charge does not fit into this period. data has what is left and when the next period begins.',
    '本期余额不足以容纳此扣款；剩余数额和下期开始时间见 data。',
  ),
  access_token_required: text(
    'The mandate needs a live access token of the member, or the one sent is not good.',
    '该预授权需要成员的有效访问令牌，或所附令牌无效。',
  ),
  access_token_invalid: text(
    'Access keys only: the token is missing, wrong, expired or revoked. Get a new one and send the request again.',
    '仅访问密钥：缺少令牌，或令牌错误、过期、已撤销。请换取新令牌后重试。',
  ),
  insufficient_scope: text(
    'Access keys only: the token lacks the scope that data.scope names.',
    '仅访问密钥：令牌缺少 data.scope 所示的权限范围。',
  ),
  payout_not_found: text(
    'Access keys only: no payout of the application has this reference.',
    '仅访问密钥：该应用没有此编号的批量付款。',
  ),
  unknown_application: text(
    'Transfers only: no application has this Payment ID. Other requests answer 404.',
    '仅转账：没有此 Payment ID 的应用；其他请求返回 404。',
  ),
  too_many_attempts: after('Too many requests.', '请求过多。'),
  overloaded: after('The service is too busy.', '服务繁忙。'),
  unavailable: after(
    'The service cannot write or reach its database just now.',
    '服务暂时无法写入或连接数据库。',
  ),
}
/** The answer to a fault of the service, HTTP 500. */
const FAULT = {
  code: 1500,
  status: 500,
  about: text(
    'A fault of the service. The same request may be sent again.',
    '服务内部错误，可以重发同一请求。',
  ),
}

/** The codes of the HMAC API, by number. */
export const PAYMENT_CODES: readonly { code: number; status: number; about: Text }[] = [
  ...Object.entries(PAYMENT_MEANINGS).map(([name, about]) => {
    const { number, status } = PAYMENT_ERRORS[name as PaymentWireCode]
    return { code: number, status, about }
  }),
  FAULT,
].sort((a, b) => a.code - b.code)

const GATEWAY_MEANINGS: Record<GatewayWireCode, Text> = {
  unknown_action: text(
    'No endpoint has this path, or api.php knows no such act.',
    '路径不存在，或 api.php 没有该 act。',
  ),
  nothing_sent: text(
    'The request carries no parameters or no pid. V2 reads the body alone.',
    '没有参数或没有 pid。V2 只读取请求体。',
  ),
  order_number_missing: text(
    'Neither trade_no nor out_trade_no was sent.',
    '没有 trade_no，也没有 out_trade_no。',
  ),
  unknown_application: text('No application has this pid.', '没有此 pid 的应用。'),
  invalid_signature: text(
    'The signature does not fit the parameters and the key of the application, or it was made for another endpoint.',
    '签名与参数及应用的密钥不符，或签名是为其他接口生成的。',
  ),
  wrong_key: text(
    'The KEY sent to api.php is not that of the application.',
    '发送给 api.php 的 KEY 不正确。',
  ),
  stale_timestamp: text(
    'V2: the timestamp is missing, not 10 digits, or too far from the time of the server.',
    'V2：缺少时间戳、不是 10 位数字，或与服务器时间相差过大。',
  ),
  version_off: text(
    'The application has no key for this kind of signature, or has switched it off.',
    '应用没有该签名方式的密钥，或已关闭该方式。',
  ),
  address_not_allowed: text(
    'The request came from an address that is not on the list of the application.',
    '请求来源地址不在应用的名单中。',
  ),
  application_unusable: text('The application is suspended or not approved.', '应用已停用或未审核通过。'),
  parameter_missing: text('A parameter is missing; msg names it.', '缺少参数，msg 说明是哪一个。'),
  parameter_invalid: text('A parameter is not valid; msg names it.', '参数无效，msg 说明是哪一个。'),
  parameter_ambiguous: text(
    'The signed text can be read as other parameters too; msg names the field. Percent-encode & and = in an address, and write other values without &.',
    '签名原文还可读成另一组参数，msg 说明是哪个字段。地址中的 & 和 = 请先做百分号编码，其他值请不要使用 &。',
  ),
  not_utf8: text('The parameters are not UTF-8 text.', '参数不是 UTF-8 文本。'),
  wrong_content_type: text(
    'The Content-Type of the body is neither one of a form nor JSON, or the body has a Content-Encoding (HTTP 415).',
    '请求体的 Content-Type 既不是表单类型也不是 JSON，或请求体带有 Content-Encoding（HTTP 415）。',
  ),
  malformed_request: text(
    'A parameter is repeated or nested, or the body cannot be read as what its Content-Type says.',
    '参数重复或嵌套，或请求体无法按 Content-Type 读取。',
  ),
  method_not_allowed: text(
    'The address takes another method, which Allow names (HTTP 405).',
    '请求方法不正确，Allow 列出允许的方法（HTTP 405）。',
  ),
  amount_too_small: text('The money converts to less than one point.', '金额换算后不足一积分。'),
  order_not_found: text('The application has no such trade.', '该应用没有此订单。'),
  order_changed: text('The out_trade_no exists with other money.', '该商户订单号已存在，但金额不同。'),
  order_exists: text(
    'The trade is closed or refunded. pay/close: it is paid (msg 订单已支付) or refunded, and can no longer be closed.',
    '订单已关闭或已退款。pay/close：订单已付款（msg 为“订单已支付”）或已退款，不能再关闭。',
  ),
  not_supported: text(
    'The endpoint exists only in the protocol: refunds are made by an administrator, transfers by the HMAC API.',
    '仅为协议保留的接口：退款由管理员处理，转账请使用 HMAC 接口。',
  ),
  too_many_attempts: after('Too many requests (HTTP 429).', '请求过多（HTTP 429）。'),
  overloaded: after('The service is too busy (HTTP 503).', '服务繁忙（HTTP 503）。'),
  unavailable: after(
    'The service cannot write or reach its database just now (HTTP 503).',
    '服务暂时无法写入或连接数据库（HTTP 503）。',
  ),
  order_frozen: text('An administrator has frozen the trade.', '订单已被管理员冻结。'),
  payments_paused: after('Payments are paused for maintenance.', '系统维护，支付暂停。'),
}

/** The codes that the programs of new shops and sites meet most, by `code` or, at the gateway, by name. */
export const MOST_MET: readonly (OAuthCode | number | GatewayWireCode)[] = [
  ...(['invalid_redirect_uri', 'invalid_grant', 'invalid_client', 'access_denied'] as const),
  ...[1001, 1002, 1004, 1005, 1010],
  ...(['invalid_signature', 'unknown_application', 'parameter_missing', 'wrong_key'] as const),
]

type GatewayCode = { name: string; code: number; msg: string; about: Text }

/**
 * The codes of a version of the gateway, each with its usual `msg`. Success comes first, then refusals by number. Many of them share
 * a number, so each has a name.
 */
export function gatewayCodes(version: 'v1' | 'v2'): GatewayCode[] {
  const refusals: GatewayCode[] = Object.entries(GATEWAY_MEANINGS).map(([name, about]) => {
    const wire = GATEWAY_ERRORS[name]!
    return { name, code: wire[version], msg: wire.msg, about }
  })
  refusals.push({
    name: 'fault',
    ...GATEWAY_FAULT,
    about: text(
      'A fault of the service (HTTP 500). Send the request again.',
      '服务内部错误（HTTP 500），请重发。',
    ),
  })
  return [...SUCCESS[version], ...refusals.sort((a, b) => b.code - a.code)]
}

const SUCCESS = {
  v1: [
    { name: 'success', code: 1, msg: 'success', about: text('Done.', '成功。') },
    {
      name: 'paid',
      code: 1,
      msg: '订单已支付',
      about: text(
        'mapi.php: the trade is paid already; payurl shows that and leads the buyer back.',
        'mapi.php：订单已付款；payurl 页面会说明并把买家带回。',
      ),
    },
  ],
  v2: [
    { name: 'success', code: 0, msg: 'success', about: text('Done.', '成功。') },
    {
      name: 'paid',
      code: 1,
      msg: '订单已支付',
      about: text(
        'pay/create: the trade is paid already. The answer has trade_no and no pay_info.',
        'pay/create：订单已付款；响应有 trade_no，没有 pay_info。',
      ),
    },
  ],
}
