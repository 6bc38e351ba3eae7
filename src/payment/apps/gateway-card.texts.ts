/** Texts of the gateway card of a payment application. */
import type { Texts } from '../../web/languages.ts'

export const merchantGateway = {
  title: { en: 'Gateway (epay protocol, V1 and V2)', zh: '支付网关（易支付协议 V1 与 V2）' },
  lead: {
    en: 'A shop with a plugin for this protocol needs only a new address, pid and key.',
    zh: '使用该协议插件的商店，只需更换接口地址、商户号和密钥即可接入。',
  },
  v1Address: { en: 'V1 address', zh: 'V1 接口地址' },
  v2Address: { en: 'V2 address', zh: 'V2 接口地址' },
  submitAddress: { en: 'Payment form', zh: '提交地址' },
  addressHint: {
    en: 'If a plugin has one field for both versions, either address works. Few plugins need the whole address of the payment form.',
    zh: '插件只有一个地址栏时，两个接口地址均可使用；少数插件需要填写完整的提交地址。',
  },
  platformKey: { en: 'Platform public key (V2, RSA)', zh: '平台公钥（V2，RSA）' },
  platformHint: {
    en: 'Your shop verifies V2 replies and notifications with it. It belongs to this application only. Most plugins need the bare form.',
    zh: '用于验证 V2 的响应与通知，仅属于本应用。多数插件填写单行形式。',
  },
  platformBare: { en: 'Bare, on one line', zh: '单行 Base64' },
  platformPem: { en: 'PEM', zh: 'PEM' },
  yourKey: { en: 'Your public key (V2, RSA)', zh: '商户公钥（V2，RSA）' },
  yourKeyIs: (bits: number) => ({
    en: `An RSA key of ${bits} bits is in use. Its SHA-256:`,
    zh: `当前为 ${bits} 位 RSA 公钥，其 SHA-256 为：`,
  }),
  noKeyYet: { en: 'Not set yet, so V2 refuses every request.', zh: '尚未设置，V2 请求将全部被拒绝。' },
  paste: { en: 'Paste a public key', zh: '粘贴商户公钥' },
  pasteHint: {
    en: 'RSA, at least 2048 bits; PEM or bare Base64. It replaces the earlier one at once. Never paste a private key anywhere.',
    zh: 'RSA，至少 2048 位；PEM 或 Base64 均可，立即替换原有公钥。请勿在任何地方粘贴私钥。',
  },
  save: { en: 'Use this public key', zh: '使用此公钥' },
  makePairHint: {
    en: 'We generate a pair for you. You see the private key once, for your plugin. We keep only the public key.',
    zh: '由系统生成一对密钥：私钥仅显示一次，供插件填写；系统只保存公钥。',
  },
  makePair: { en: 'Generate a key pair', zh: '生成密钥对' },
  pairMade: { en: 'A new key pair is in use.', zh: '新的密钥对已启用。' },
  pairTitle: { en: 'Your new private key', zh: '新的商户私钥' },
  pairText: {
    en: 'The private key is shown only this once. We do not keep it, and it cannot be shown again.',
    zh: '私钥仅显示这一次，系统没有保存，之后无法再查看。',
  },
  privateBare: { en: 'Private key, bare (PKCS#8)', zh: '私钥，单行 Base64（PKCS#8）' },
  privatePem: { en: 'Private key, PEM', zh: '私钥，PEM' },
  faults: {
    empty: { en: 'Paste a public key first.', zh: '请先粘贴公钥。' },
    private_key: {
      en: 'This is a private key. It was not stored. Paste the public key of the pair instead. If anyone else may have seen the private key, generate a new pair.',
      zh: '这是私钥，系统没有保存。请妥善保管；如果曾在别处泄露，请重新生成。这里应粘贴与之对应的公钥。',
    },
    certificate: {
      en: 'This is a certificate. Paste the public key alone: openssl x509 -pubkey -noout writes it.',
      zh: '这是证书。请只粘贴公钥：可用 openssl x509 -pubkey -noout 导出。',
    },
    ssh_key: {
      en: 'This is a key for SSH. Paste it as PEM: ssh-keygen -e -m PKCS8 writes it.',
      zh: '这是 SSH 公钥。请用 ssh-keygen -e -m PKCS8 转换为 PEM 后粘贴。',
    },
    several: {
      en: 'There are several keys in this text. Paste one.',
      zh: '内容中有多个密钥，请只粘贴一个。',
    },
    unreadable: {
      en: 'This cannot be read as a public key. Paste all of it, with nothing before or after: PEM from BEGIN to END, or Base64 alone.',
      zh: '无法读取公钥。请粘贴完整内容，前后不要有其他文字：PEM 须从 BEGIN 到 END，或仅 Base64。',
    },
    not_rsa: {
      en: 'This is not an RSA key. V2 signs with RSA only.',
      zh: '这不是 RSA 公钥。V2 使用 RSA 签名，不支持其他类型的密钥。',
    },
    too_short: {
      en: 'This RSA key is shorter than 2048 bits, which is not secure. Generate a longer one.',
      zh: '该 RSA 公钥短于 2048 位，不够安全，请生成更长的密钥。',
    },
    too_long: {
      en: 'This RSA key is longer than 8192 bits. Use one of 2048 to 8192.',
      zh: '该 RSA 公钥长于 8192 位，请使用 2048 至 8192 位的密钥。',
    },
    weak_exponent: {
      en: 'The exponent of this RSA key is unusual. Generate a new key with the exponent 65537.',
      zh: '该 RSA 公钥的指数不常见，请以指数 65537 重新生成。',
    },
    platform_key: {
      en: 'This is our platform public key. Paste your own.',
      zh: '这是上方的平台公钥，请粘贴你自己的公钥。',
    },
  },
  versions: { en: 'Versions', zh: '协议版本' },
  takeV1: { en: 'Accept V1 requests (MD5)', zh: '接受 V1 请求（MD5）' },
  takeV2: { en: 'Accept V2 requests (RSA)', zh: '接受 V2 请求（RSA）' },
  versionsHint: {
    en: 'Notifications of paid orders are not affected. Switch off what your shop does not use.',
    zh: '已付款订单的通知不受影响。请关闭商店未使用的版本。',
  },
  saveVersions: { en: 'Save', zh: '保存' },
  samples: { en: 'Sample code', zh: '示例代码' },
  samplesHint: {
    en: 'For Node 18 and newer, without any package. Keys come from the environment.',
    zh: '适用于 Node 18 及以上版本，无需安装任何包；密钥取自环境变量。',
  },
  sample: {
    v1: { en: 'V1: create an order, verify a notification', zh: 'V1：创建订单、验证通知' },
    v2: { en: 'V2: create an order, verify a notification', zh: 'V2：创建订单、验证通知' },
  },
  comments: {
    signV1: {
      en: 'The MD5 of all non-empty parameters but sign and sign_type, sorted by name, joined unencoded, then the KEY.',
      zh: '除 sign 和 sign_type 外的非空参数，按名称排序，原样拼接，末尾直接加 KEY。',
    },
    signV2: {
      en: 'All non-empty parameters but sign and sign_type, sorted by name, joined unencoded.',
      zh: '除 sign 和 sign_type 外的非空参数，按名称排序，原样拼接。',
    },
    create: {
      en: 'Returns the address of the payment page. Send the buyer there.',
      zh: '返回付款地址，请将买家引导至此。',
    },
    verify: {
      en: 'Takes the received query and the price of the order, at notify_url (then answer success) and return_url.',
      zh: '用于 notify_url（验证后返回文本 success）和 return_url：收到的查询参数，订单金额。',
    },
    notGenuine: { en: 'The response is not signed by the platform', zh: '响应的平台签名无效' },
    product: { en: 'Tea', zh: '茶' },
  },
} satisfies Texts
