/**
 * Describes the token endpoint of access keys, and the JSON API that takes its tokens. Its operations are those of the HMAC API with
 * other addresses and without a signature. Payouts are its own.
 */
import { z } from 'zod'
import type { AccessScope } from '../../database/tables/access-keys.ts'
import {
  AccessTokenAnswer,
  AccessTokenRequest,
  AccessTokenRevocation,
  AccessTokenRevoked,
  API_PATH,
  REVOKE_PATH,
  TOKEN_PATH,
} from '../../payment/access-keys/token.ts'
import { DOORS } from '../../payment/rest/shapes.ts'
import { AnyRefusal as OAuthRefusal } from './identity.ts'
import { mandateOperations } from './mandates.ts'
import { type Answer, described, type Operation, text, withWords } from './operation.ts'
import { AnyRefusal, paymentOperations } from './payment.ts'
import { payoutOperations } from './payouts.ts'
import { NOW, type Samples } from './samples.ts'

const CLIENT = {
  client_id: text('Instead of Basic authentication.', '可代替 Basic 认证。'),
  client_secret: text('Instead of Basic authentication.', '可代替 Basic 认证。'),
}
const notProven: Answer = {
  about: text(
    'The key is unknown, revoked or expired, or its secret is wrong.',
    '密钥不存在、已撤销或已到期，或密钥内容有误。',
  ),
  schema: OAuthRefusal,
  example: { error: 'invalid_client', error_description: 'The client ID or the client secret is wrong' },
}
/** What an OAuth endpoint may answer to any request. */
const atAnyTime = {
  405: {
    about: text('The address takes POST, which Allow names.', '只接受 POST，见 Allow。'),
    schema: OAuthRefusal,
  },
  415: {
    about: text('The body has a Content-Encoding.', '请求体带有 Content-Encoding。'),
    schema: OAuthRefusal,
  },
  429: {
    about: text(
      'Too many tokens of this key, or too many failures. Try again after Retry-After seconds.',
      '此密钥换取令牌过多，或失败过多，请在 Retry-After 秒后重试。',
    ),
    schema: OAuthRefusal,
  },
  500: {
    about: text('A fault of the service. Send the request again.', '服务内部错误，请重发。'),
    schema: OAuthRefusal,
  },
  503: {
    about: text(
      'The service is too busy. Try again after Retry-After seconds.',
      '服务繁忙，请在 Retry-After 秒后重试。',
    ),
    schema: OAuthRefusal,
  },
}
const invalid: Answer = {
  about: text(
    'The request lacks something, or the key has not this scope or may not be used from this address.',
    '请求有误，或密钥没有该权限范围，或来源地址不允许使用此密钥。',
  ),
  schema: OAuthRefusal,
  example: { error: 'invalid_scope', error_description: 'This key has only: orders:read' },
}
const noToken: Answer = {
  about: text(
    'The token is missing, wrong, expired or revoked (1026). Get a new one, and send the request again.',
    '缺少令牌，或令牌错误、过期、已撤销（1026）。请换取新令牌后重发。',
  ),
  schema: AnyRefusal,
}
const lacksScope: Answer = {
  about: text(
    'The token lacks the scope that data.scope names (1027).',
    '令牌缺少 data.scope 所示的权限范围（1027）。',
  ),
  schema: AnyRefusal,
}

type Path = Pick<Operation, 'method' | 'path' | 'about' | 'inPath'> & { scope: AccessScope }

/** The operation of the HMAC API at this address, as the JSON API has it. What its path names is in no body. */
function unsigned(
  signedPath: string,
  { path, ...rest }: Path,
  introduction?: Operation['introduction'],
): Operation {
  const signed = [...paymentOperations, ...mandateOperations].find((each) => each.path === signedPath)!
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const left = ['timestamp', 'signature', ...inPath]
  const { schema, example } = signed.request!
  const members = Object.entries(schema.shape).filter(([name]) => !left.includes(name))
  // A JSON body has no variables, so its own numbers are fixed.
  const without = (fields: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) =>
        left.includes(name) ? [] : [[name, String(value).replace(NOW, '2001')]],
      ),
    )
  return {
    area: 'rest',
    path: API_PATH + path,
    ...rest,
    introduction: introduction ?? signed.introduction,
    security: 'accessKey',
    ...((rest.method === 'post' || inPath.length === 0) && {
      request: {
        in: rest.method === 'post' ? 'json' : 'query',
        schema: z.object(Object.fromEntries(members) as z.ZodRawShape),
        example: (samples: Samples) => without(example(samples)),
      },
    }),
    answers: { 200: signed.answers[200]!, 400: signed.answers[400]!, 401: noToken, 403: lacksScope },
  }
}

const mandateInPath = ({ mandates }: Samples) => ({ mandate_id: mandates.charged })
const oneOrder = paymentOperations.find(({ path }) => path.startsWith('/payment/query/'))!.answers[200]!

const listOfOrders = unsigned(
  '/payment/orders/{payment_id}',
  {
    method: 'get',
    path: '/orders',
    scope: 'orders:read',
    about: text('List orders', '列出订单'),
  },
  text(
    'Lists the orders and the sales of links page by page. With order_id it answers that one order instead.',
    '分页列出订单与收款链接的销售；带 order_id 时只返回那一笔订单。',
  ),
)

export const accessKeyOperations: Operation[] = [
  {
    area: 'rest',
    method: 'post',
    path: TOKEN_PATH,
    about: text('Get a token', '换取令牌'),
    introduction: text(
      'Exchanges an access key for a token, which lasts an hour (RFC 6749 4.4). There is no refresh token: ask again.',
      '用访问密钥换取一小时内有效的令牌（RFC 6749 4.4）。没有刷新令牌，到期后再次换取即可。',
    ),
    security: 'client',
    request: {
      in: 'form',
      schema: described(AccessTokenRequest, {
        grant_type: text('Always client_credentials.', '固定为 client_credentials。'),
        scope: text(
          'A part of the key’s scopes, apart by spaces; all of them if absent.',
          '密钥权限范围的一部分，用空格分隔；默认为全部。',
        ),
        ...CLIENT,
      }),
      example: () => ({ grant_type: 'client_credentials' }),
    },
    answers: {
      200: {
        about: text('A new token.', '新的令牌。'),
        schema: described(AccessTokenAnswer, {
          access_token: text('Send it as Authorization: Bearer.', '放在请求头 Authorization: Bearer 中。'),
          token_type: text('Always Bearer.', '固定为 Bearer。'),
          expires_in: text('Seconds that it is valid.', '有效秒数。'),
          scope: text('What it allows.', '令牌的权限范围。'),
        }),
        example: {
          access_token: '2YotnFZFEjr1zCsicMWpAA',
          token_type: 'Bearer',
          expires_in: 3600,
          scope: 'orders:read',
        },
      },
      400: invalid,
      401: notProven,
      ...atAnyTime,
    },
  },
  unsigned('/payment/pay/{payment_id}/process', {
    method: 'post',
    path: '/orders',
    scope: 'orders:write',
    about: text('Create an order', '创建订单'),
  }),
  {
    ...listOfOrders,
    request: {
      ...listOfOrders.request!,
      schema: listOfOrders.request!.schema.extend({
        door: withWords(
          z.enum(DOORS).optional(),
          text(
            'hmac: orders by programs. link: sales of links. tip: tips, of the site’s own application. All if absent.',
            'hmac：程序创建的订单。link：收款链接的销售。tip：打赏（仅站点自己的打赏应用）。默认全部。',
          ),
        ),
        order_id: withWords(z.string().optional(), text('Only this order.', '只返回这一笔订单。')),
      }),
    },
    answers: {
      ...listOfOrders.answers,
      200: {
        ...listOfOrders.answers[200]!,
        schema: z.union([listOfOrders.answers[200]!.schema!, oneOrder.schema!]),
      },
    },
  },
  unsigned('/payment/query/{payment_id}', {
    method: 'get',
    path: '/orders/{transaction_id}',
    inPath: ({ access }) => ({ transaction_id: access.order }),
    scope: 'orders:read',
    about: text('Get an order', '查询订单'),
  }),
  unsigned('/payment/transfer/{payment_id}', {
    method: 'post',
    path: '/transfers',
    scope: 'transfers',
    about: text('Send a transfer', '发起转账'),
  }),
  unsigned('/payment/transfers/{payment_id}', {
    method: 'get',
    path: '/transfers',
    scope: 'orders:read',
    about: text('List transfers', '列出转账'),
  }),
  {
    ...unsigned(
      '/payment/transfer/{payment_id}',
      {
        method: 'get',
        path: '/transfers/{transaction_id}',
        inPath: ({ access }) => ({ transaction_id: access.transfer }),
        scope: 'orders:read',
        about: text('Get a transfer', '查询转账'),
      },
      text('Returns one transfer of the application.', '返回应用的一笔转账。'),
    ),
  },
  ...payoutOperations.map(
    (operation): Operation => ({
      ...operation,
      area: 'rest',
      path: API_PATH + operation.path,
      security: 'accessKey',
      scope: 'payouts',
      answers: { ...operation.answers, 401: noToken, 403: lacksScope },
    }),
  ),
  unsigned('/payment/mandate/{payment_id}/offer', {
    method: 'post',
    path: '/mandates',
    scope: 'mandates',
    about: text('Offer a mandate', '发起预授权'),
  }),
  unsigned('/payment/mandates/{payment_id}', {
    method: 'get',
    path: '/mandates',
    scope: 'mandates',
    about: text('List mandates', '列出预授权'),
  }),
  unsigned('/payment/mandate/{payment_id}/query', {
    method: 'get',
    path: '/mandates/{mandate_id}',
    inPath: mandateInPath,
    scope: 'mandates',
    about: text('Get a mandate', '查询预授权'),
  }),
  charge(),
  unsigned('/payment/mandate/{payment_id}/revoke', {
    method: 'post',
    path: '/mandates/{mandate_id}/revoke',
    inPath: ({ mandates }) => ({ mandate_id: mandates.revoked }),
    scope: 'mandates',
    about: text('Revoke a mandate', '撤销预授权'),
  }),
  {
    area: 'rest',
    method: 'post',
    path: REVOKE_PATH,
    about: text('Revoke a token', '撤销令牌'),
    introduction: text(
      'Ends a token before its time (RFC 7009). Another key’s token, or none, gets the same answer.',
      '让令牌提前失效（RFC 7009）。令牌不存在或属于其他密钥时，返回相同。',
    ),
    security: 'client',
    request: {
      in: 'form',
      schema: described(AccessTokenRevocation, {
        token: text('The token to end.', '要撤销的令牌。'),
        token_type_hint: text('Ignored.', '会被忽略。'),
        ...CLIENT,
      }),
      example: () => ({ token: '2YotnFZFEjr1zCsicMWpAA' }),
    },
    answers: {
      200: {
        about: text('The token is no longer valid.', '令牌不再有效。'),
        schema: AccessTokenRevoked,
        example: {},
      },
      400: invalid,
      401: notProven,
      ...atAnyTime,
    },
  },
]

/** A charge takes the member's token in its body, because the header has the token of the key. */
function charge(): Operation {
  const operation = unsigned('/payment/mandate/{payment_id}/charge', {
    method: 'post',
    path: '/mandates/{mandate_id}/charges',
    inPath: mandateInPath,
    scope: 'mandates',
    about: text('Charge under a mandate', '按预授权扣款'),
  })
  const { request, answers } = operation
  return {
    ...operation,
    request: {
      ...request!,
      schema: request!.schema.extend({
        access_token: withWords(
          z.string().optional(),
          text(
            'The token of the member, for a mandate that needs one.',
            '成员的访问令牌，用于需要令牌的预授权。',
          ),
        ),
      }),
    },
    answers: {
      ...answers,
      200: {
        ...answers[200]!,
        about: text(
          'The charge, by this request or an earlier one, with its period as of that charge.',
          '扣款已完成（本次或之前的请求），并附当时的周期数据。',
        ),
      },
    },
  }
}
