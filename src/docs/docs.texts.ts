// This room: the pages of /docs, their navigation and their search.
// Verbs: guidePages, referencePages, searchDocs, docsNav.
/** Texts of the documentation, around its guides and operations. */
import type { Texts } from '../web/languages.ts'
import { POINTS, SITE } from '../web/site-words.ts'

const demoPayments = {
  en: `This is a demo: the sample works as it is, with the keys of a test application and play ${POINTS}.`,
  zh: `这是演示环境：示例可直接运行，使用测试应用的密钥和虚拟${POINTS}。`,
}

export const docs = {
  title: { en: 'Documentation', zh: '开发文档' },
  search: { en: 'Search', zh: '搜索' },
  searchLabel: { en: 'Search the documentation', zh: '搜索开发文档' },
  searchHint: { en: 'Search', zh: '搜索' },
  searchStart: {
    en: 'Search for a word, a field such as order_id, or an error code such as 1001.',
    zh: '可搜索词语、字段名（如 order_id）或错误码（如 1001）。',
  },
  found: (shown: number, all: number) => {
    const count = all === 1 ? '1 result' : `${all} results`
    return shown < all
      ? { en: `The best ${shown} of ${count}`, zh: `${all} 条结果，显示最相关的 ${shown} 条` }
      : { en: count, zh: `${all} 条结果` }
  },
  resultsFor: (query: string) => ({ en: `Results for “${query}”`, zh: `“${query}”的搜索结果` }),
  allOf: (count: number, page: string) => ({
    en: `All ${count} of ${page}`,
    zh: `${page}：查看全部 ${count} 条`,
  }),
  elsewhere: { en: 'More results on', zh: '更多结果' },
  nothingFound: { en: 'No results', zh: '没有结果' },
  nothingFoundText: {
    en: 'Try fewer words, a field name such as order_id, or an error code such as 1001.',
    zh: '试试更少的词、字段名（如 order_id）或错误码（如 1001）。',
  },
  allCodes: { en: 'All codes', zh: '全部错误码' },
  mostMet: { en: 'Most common', zh: '最常见' },
  findCode: { en: 'Find', zh: '查找' },
  codesHint: { en: 'Such as 1001', zh: '例如 1001' },
  noSuchCode: {
    en: 'No code has this number or these words here.',
    zh: '这里没有含此编号或词语的错误码。',
  },
  missing: { en: 'No such page', zh: '没有此页' },
  missingText: {
    en: 'The address may be mistyped, or the page may have another name now.',
    zh: '地址可能有误，或该页已改名。',
  },
  perhaps: { en: 'Perhaps you mean', zh: '也许你要找' },
  toStart: { en: 'Get started', zh: '快速开始' },
  onThisPage: { en: 'On this page', zh: '本页内容' },
  ways: { en: 'Pages before and after', zh: '上一篇与下一篇' },
  sample: { en: 'Sample code', zh: '示例代码' },
  chapters: {
    begin: { en: 'Start', zh: '开始' },
    payments: { en: 'Payments', zh: '收款' },
    signIn: { en: 'Sign-in', zh: '登录' },
    operators: { en: 'For operators', zh: '运维' },
  },
  /** The short names of the guides, for the navigation. */
  guides: {
    start: { en: 'Get started', zh: '快速开始' },
    'start-gateway': { en: 'First gateway call', zh: '网关的第一个请求' },
    'test-mode': { en: 'Test mode', zh: '测试模式' },
    links: { en: 'Sell without a server', zh: '无需服务器即可售卖' },
    merchant: { en: 'HMAC API guide', zh: 'HMAC 接口指南' },
    'access-keys': { en: 'Access keys', zh: '访问密钥' },
    payouts: { en: 'Payouts', zh: '批量付款' },
    mandates: { en: 'Mandates', zh: '预授权扣款' },
    subscriptions: { en: 'Subscriptions and top-ups', zh: '订阅与充值' },
    'gateway-shop': { en: 'Connect an epay shop', zh: '接入易支付商店' },
    'gateway-clients': { en: 'Epay clients', zh: '易支付客户端' },
    'oauth-application': { en: `Sign in with ${SITE}`, zh: `用${SITE}账号登录` },
    'sign-in-programs': { en: 'Programs, devices and services', zh: '程序、设备与服务' },
    'sign-in-clients': { en: 'Sign-in clients', zh: '登录客户端' },
    operator: { en: 'Run the service', zh: '运行服务' },
    discourse: { en: 'Discourse forum', zh: 'Discourse 论坛' },
    'other-forum': { en: 'Another forum', zh: '其他论坛' },
  },
  /** Their names in the bar of a phone. */
  short: {
    start: { en: 'Start', zh: '开始' },
    merchant: { en: 'HMAC API', zh: 'HMAC 接口' },
    'gateway-shop': { en: 'Gateway', zh: '网关' },
    'oauth-application': { en: 'Sign-in', zh: '登录' },
  },
  reader: {
    label: { en: 'Your applications', zh: '你的应用' },
    uses: (name: string) => ({
      en: `The samples use ${name}. Keys and secrets stay on its own page.`,
      zh: `示例使用 ${name}。密钥只在应用自己的页面上。`,
    }),
    pid: { en: 'pid', zh: 'pid' },
    test: { en: 'Test', zh: '测试' },
    change: { en: 'Change', zh: '更换' },
    paymentApp: { en: 'Payment application', zh: '收款应用' },
    signInApp: { en: 'Sign-in application', zh: '登录应用' },
    use: { en: 'Use in the samples', zh: '用于示例' },
    changed: (names: string[]) => ({
      en: `The samples now use ${names.join(' and ')}.`,
      zh: `示例现在使用 ${names.join('、')}。`,
    }),
    signIn: {
      en: 'Sign in, and the samples show the identifiers of your own application.',
      zh: '登录后，示例会显示你自己应用的编号。',
    },
    signInLink: { en: 'Sign in', zh: '登录' },
    create: {
      en: 'Create a test application, and the samples show its identifiers. It needs no review.',
      zh: '创建一个测试应用，示例就会显示它的编号。无需审核。',
    },
    createSignIn: {
      en: 'Create an application, and the samples show its client ID.',
      zh: '创建一个应用，示例就会显示它的 client ID。',
    },
    createLink: { en: 'Create an application', zh: '创建应用' },
  },
  api: { en: 'API documentation', zh: '接口文档' },
  machine: (openapi: string, list: string) => ({
    en: `For programs: ${openapi} (OpenAPI 3.1). For agents: ${list} lists every page in Markdown.`,
    zh: `供程序读取：${openapi}（OpenAPI 3.1）。供智能体读取：${list} 列出全部 Markdown 页面。`,
  }),
  /** Pages of other areas, which the guides name by their paths. */
  otherPages: {
    '/account/applications': { en: 'Authorised apps', zh: '已授权应用' },
    '/account/data': { en: 'Your data', zh: '你的数据' },
    '/account/mandates': { en: 'My mandates', zh: '我的预授权' },
    '/admin': { en: 'Administration', zh: '站点管理' },
    '/admin/abuse': { en: 'Suspicious activity', zh: '可疑活动' },
    '/admin/apps': { en: 'Sign-in applications', zh: '登录应用' },
    '/admin/forum': { en: 'Forum', zh: '论坛' },
    '/admin/groups': { en: 'Local groups', zh: '本站用户组' },
    '/admin/links': { en: 'Payment links', zh: '收款链接' },
    '/admin/mandates': { en: 'Mandates', zh: '预授权' },
    '/admin/members': { en: 'Members', zh: '成员' },
    '/admin/settings': { en: 'Site settings', zh: '站点设置' },
    '/apps': { en: 'Sign-in applications', zh: '登录应用' },
    '/payment/applications': { en: 'Payment applications', zh: '收款应用' },
    '/payment/links': { en: 'Your payment links', zh: '你的收款链接' },
  },
  inMarkdown: { en: 'This page in Markdown', zh: '本页的 Markdown 版本' },
  /** The head of the list of pages for agents. */
  forAgents: {
    en: `How programs sign members in, take payments in ${POINTS} and send ${POINTS}.`,
    zh: `程序如何让成员登录、收取${POINTS}、转出${POINTS}。`,
  },
  otherForms: (origin: string) => ({
    en: `All pages in one file: ${origin}/docs/llms-full.txt. The API as OpenAPI 3.1: ${origin}/docs/openapi.json.`,
    zh: `全部页面合为一个文件：${origin}/docs/llms-full.txt。接口的 OpenAPI 3.1 文档：${origin}/docs/openapi.json。`,
  }),
  areas: {
    identity: {
      title: { en: 'Sign-in API', zh: '登录接口' },
      text: {
        en: 'OAuth 2.0 and OpenID Connect: members sign in to your application.',
        zh: 'OAuth 2.0 与 OpenID Connect：让成员登录你的应用。',
      },
    },
    payment: {
      title: { en: 'HMAC API', zh: 'HMAC 接口' },
      text: {
        en: `Accept ${POINTS}: create orders, query them, send transfers, list both.`,
        zh: `用${POINTS}收款：创建、查询、转账、列表。`,
      },
    },
    rest: {
      title: { en: 'JSON API', zh: 'JSON 接口' },
      text: {
        en: 'For programs with an access key: get a token, then read, order, send and charge without a signature.',
        zh: '供使用访问密钥的程序：换取令牌后，无需签名即可查询、下单、转账和扣款。',
      },
    },
    v1: {
      title: { en: 'Gateway V1', zh: '网关 V1' },
      text: {
        en: 'The epay protocol with MD5, for shops that already support it.',
        zh: '易支付协议（MD5），供已支持它的商店使用。',
      },
    },
    v2: {
      title: { en: 'Gateway V2', zh: '网关 V2' },
      text: {
        en: 'The epay protocol with RSA. Every response with HTTP status 200 is signed once the pid is known. Of the others, only refusals of pay/submit in JSON are.',
        zh: '易支付协议（RSA）。pid 已识别且 HTTP 状态为 200 的响应都带签名；其他状态中只有 pay/submit 以 JSON 返回的拒绝带签名。',
      },
    },
    notifications: {
      title: { en: 'Callbacks, notifications, events', zh: '回调、通知与事件' },
      text: {
        en: 'What the service sends to your shop, how to verify it, how to respond, and when it is sent again.',
        zh: '服务发给商店的内容、如何验签、应当返回什么，以及何时重试。',
      },
    },
    codes: {
      title: { en: 'Error codes', zh: '错误码' },
      text: { en: 'Every error code, what it means and what to do.', zh: '每个错误码的含义与处理办法。' },
    },
    rules: {
      title: { en: 'Rules and limits', zh: '规则与限制' },
      text: {
        en: 'The life of an order, rounding, fees and limits, as currently set on this site.',
        zh: '订单的生命周期、取整、手续费与限额，均为本站当前设置。',
      },
    },
  },
  liveSamples: {
    identity: {
      en: 'This is a demo: the sample works as it is. The code is valid for one minute and one use; reload the page for another.',
      zh: '这是演示环境：示例可直接运行。授权码一分钟内有效且只能使用一次，刷新页面可得到新的授权码。',
    },
    payment: demoPayments,
    rest: demoPayments,
    v1: demoPayments,
    v2: demoPayments,
  },
  madeUpSamples: {
    identity: {
      en: 'Replace the sample secret with your client secret. It was shown when you created the application at /apps.',
      zh: '请把示例密钥换成你的客户端密钥；它在 /apps 创建应用时显示过一次。',
    },
    payment: {
      en: 'Replace the sample key with your Secret Key. A test application at /payment/applications needs no review.',
      zh: '请把示例密钥换成你的 Secret Key。在 /payment/applications 创建测试应用，无需审核。',
    },
    rest: {
      en: 'Replace the sample values with your own. “Access keys” of your application makes a key.',
      zh: '请换成你自己的值。在应用的“访问密钥”页创建密钥。',
    },
    v1: {
      en: 'Replace the sample key with your KEY. “Keys and gateway” of your application shows it.',
      zh: '请把示例密钥换成你的 KEY，见应用的“密钥与网关”页。',
    },
    v2: {
      en: 'Replace the sample key with your own private key. Only you have it.',
      zh: '请把示例私钥换成你自己的私钥，它只在你手里。',
    },
  },
  fromEnvironment: {
    en: 'Every program reads the private key from the environment.',
    zh: '各程序从环境变量读取私钥。',
  },
  request: { en: 'Request', zh: '请求' },
  answers: { en: 'Responses', zh: '响应' },
  exampleAnswer: { en: 'Example', zh: '示例' },
  headers: { en: 'Headers', zh: '请求头' },
  parameters: { en: 'Parameters', zh: '参数' },
  yourAnswer: { en: 'Your response', zh: '你的响应' },
  unknownPaymentId: {
    en: 'An unknown Payment ID gets a 404 response with success, error and message, without errors. A transfer gets 1009.',
    zh: 'Payment ID 不存在时返回 404，响应只有 success、error 和 message，没有 errors；转账返回 1009。',
  },
  ofMsg: {
    en: 'msg may be more specific than here and name an invalid parameter, for example. Rely on code.',
    zh: 'msg 可能比这里更具体，例如指出哪个参数无效。请以 code 为准。',
  },
  security: {
    client: {
      en: 'Authenticate with HTTP Basic: client_id and client_secret.',
      zh: '认证方式：HTTP Basic（client_id 与 client_secret）。',
    },
    bearer: {
      en: 'Authenticate with Authorization: Bearer and an access token.',
      zh: '认证方式：Authorization: Bearer 加访问令牌。',
    },
    accessKey: {
      en: 'Authenticate with Authorization: Bearer and a token of an access key.',
      zh: '认证方式：Authorization: Bearer 加访问密钥换取的令牌。',
    },
  },
  sentIn: {
    query: { en: 'Query', zh: '查询参数' },
    form: { en: 'Form body', zh: '表单' },
    either: {
      en: 'Form body, or the same as one JSON object of strings and integers',
      zh: '表单，或内容相同的 JSON 对象，值为字符串或整数',
    },
    json: { en: 'JSON body', zh: 'JSON' },
  },
  optional: { en: 'optional', zh: '选填' },
  refusals: { en: 'Error format', zh: '错误格式' },
  refused: { en: 'When it is refused', zh: '被拒绝时' },
  debug: {
    payment: { en: '1001: the signature is wrong.', zh: '1001：签名错误。' },
    v1: { en: 'The signature is refused.', zh: '签名被拒绝。' },
    v2: { en: 'The signature is refused.', zh: '签名被拒绝。' },
  },
  debugText: (link: string) => ({
    en: `Paste what you sent into the ${link}: it says which step differs.`,
    zh: `把发送的内容粘贴到${link}，它会指出哪一步不同。`,
  }),
  debugger: { en: 'signature debugger', zh: '签名调试器' },
  redirected: { en: 'redirect', zh: '跳转' },
  ofRedirect: {
    en: 'At /oauth2/auth an error returns to the redirect URI as error and error_description, with state and iss. The visitor sees a page instead if the client or the redirect URI is unknown, missing or sent twice. A redirect URI may be missing only where one web address is registered. The visitor also sees a page for a suspended application, and for one that its owner has to confirm first. The same holds for a request that cannot be read: a value over 8,192 bytes, over 28,672 bytes in all, more than 100 parameters, or text that is not UTF-8.',
    zh: '/oauth2/auth 的错误以 error 和 error_description 带回回调地址，同时带有 state 和 iss。客户端未知或缺失、回调地址未知，或两者之一重复时，访问者看到的是错误页面；只登记了一个网站地址时，回调地址才可省略。应用被停用、本站要求确认而所有者尚未确认，或请求无法读取时也一样：某个值超过 8,192 字节、合计超过 28,672 字节、参数超过 100 个，或文本不是 UTF-8。',
  },
} satisfies Texts
