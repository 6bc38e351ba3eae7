/** Texts of the pages of the reference, around its operations. */
import type { Texts } from '../web/languages.ts'

export const docs = {
  title: { en: 'The interfaces', zh: '接口说明' },
  lead: {
    en: 'What applications and merchants can ask of this service, as it is checked here.',
    zh: '应用和商户可以向本服务发出的请求，与这里的检查规则一致。',
  },
  machine: (link: string) => ({
    en: `For programs: ${link} (OpenAPI 3.1).`,
    zh: `供程序读取：${link}（OpenAPI 3.1）。`,
  }),
  areas: {
    identity: {
      title: { en: 'Identity', zh: '登录' },
      text: {
        en: 'OAuth 2.0 and OpenID Connect: sign-in for applications.',
        zh: 'OAuth 2.0 与 OpenID Connect：为应用提供登录。',
      },
    },
    payment: {
      title: { en: 'Payments in points', zh: '积分支付' },
      text: {
        en: 'The HMAC API: initiate, query, transfer, list.',
        zh: 'HMAC 接口：发起、查询、转账、列表。',
      },
    },
    v1: {
      title: { en: 'Gateway V1', zh: '网关 V1' },
      text: {
        en: 'The epay protocol with MD5, for shops that speak it already.',
        zh: '易支付协议（MD5），供已支持它的商店使用。',
      },
    },
    v2: {
      title: { en: 'Gateway V2', zh: '网关 V2' },
      text: {
        en: 'The epay protocol with RSA. Every answer is signed.',
        zh: '易支付协议（RSA），所有应答都带签名。',
      },
    },
    notifications: {
      title: { en: 'Callbacks, notifications, events', zh: '回调、通知与事件' },
      text: {
        en: 'What the service sends to a shop, how to verify it, what to answer, and when it is sent again.',
        zh: '服务发给商店的内容、如何验签、应当返回什么，以及何时重试。',
      },
    },
    codes: {
      title: { en: 'Codes', zh: '错误码' },
      text: { en: 'Every code of a refusal, and what it means.', zh: '每个错误码及其含义。' },
    },
    rules: {
      title: { en: 'Rules and limits', zh: '规则与限制' },
      text: {
        en: 'The life of an order, rounding, fees and bounds, as they are set on this site now.',
        zh: '订单的生命周期、取整、手续费与限额，均为本站当前设置。',
      },
    },
  },
  liveSamples: {
    identity: {
      en: 'This is a demo: the examples are complete and work as they are. The code is good for one minute and one use; reload the page for another.',
      zh: '这是演示环境：示例完整，可直接运行。授权码一分钟内有效且只能使用一次，刷新页面可得到新的授权码。',
    },
    payment: {
      en: 'This is a demo: the examples are complete and work as they are, with the keys of a test application. Its points are play points.',
      zh: '这是演示环境：示例完整，可直接运行，使用测试应用的密钥和试用积分。',
    },
    v1: {
      en: 'This is a demo: the examples are complete and work as they are, with the keys of a test application. Its points are play points.',
      zh: '这是演示环境：示例完整，可直接运行，使用测试应用的密钥和试用积分。',
    },
    v2: {
      en: 'This is a demo: the examples are complete and work as they are, with the keys of a test application. Its points are play points.',
      zh: '这是演示环境：示例完整，可直接运行，使用测试应用的密钥和试用积分。',
    },
  },
  madeUpSamples: {
    identity: {
      en: 'The examples have sample credentials. Put those of your application in their place; they are shown when you register it at /apps.',
      zh: '示例中的凭据仅作示范，请换成自己应用的凭据：在 /apps 登记应用时显示。',
    },
    payment: {
      en: 'The examples have sample keys. Put your own in their place; the page of your application at /payment/applications has them. A test application needs no review.',
      zh: '示例中的密钥仅作示范，请换成自己的密钥，见 /payment/applications 的应用页面。测试应用无需审核。',
    },
    v1: {
      en: 'The examples have sample keys. Put your own in their place; the gateway card of your application at /payment/applications has them. A test application needs no review.',
      zh: '示例中的密钥仅作示范，请换成自己的密钥，见 /payment/applications 应用页面的网关卡片。测试应用无需审核。',
    },
    v2: {
      en: 'The examples have sample keys. Put your own in their place; the gateway card of your application at /payment/applications has the pid, and your private key is yours alone. A test application needs no review.',
      zh: '示例中的密钥仅作示范，请换成自己的密钥：pid 见 /payment/applications 应用页面的网关卡片，私钥由你自己保管。测试应用无需审核。',
    },
  },
  example: { en: 'Example for a shell with curl and openssl', zh: '示例（需要 curl 与 openssl）' },
  headers: { en: 'Headers', zh: '请求头' },
  yourAnswer: { en: 'Your answer', zh: '你的应答' },
  code: { en: 'Code', zh: '错误码' },
  meaning: { en: 'Meaning', zh: '含义' },
  unknownPaymentId: {
    en: 'An unknown Payment ID answers 404 with success, error and message, without errors; a transfer answers 1009.',
    zh: 'Payment ID 不存在时返回 404，应答只有 success、error 和 message，没有 errors；转账返回 1009。',
  },
  ofMsg: {
    en: 'msg may say more than here, such as which parameter is not valid. Decide by code.',
    zh: 'msg 可能比这里更具体，例如指出哪个参数无效。请以 code 为准。',
  },
  security: {
    client: {
      en: 'HTTP Basic with client_id and client_secret.',
      zh: 'HTTP Basic：client_id 与 client_secret。',
    },
    bearer: { en: 'Authorization: Bearer with an access token.', zh: 'Authorization: Bearer 加访问令牌。' },
  },
  sentIn: {
    query: { en: 'Query', zh: '查询参数' },
    form: { en: 'Form body', zh: '表单' },
    json: { en: 'JSON body', zh: 'JSON' },
  },
  optional: { en: 'optional', zh: '可选' },
  refusals: { en: 'What every refusal holds', zh: '被拒绝时的应答' },
} satisfies Texts
