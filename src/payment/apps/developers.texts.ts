/** Texts of the page of an application's keys, and of the questions before they are replaced. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const developers = {
  lead: {
    en: 'What you need to connect a shop: identifiers, keys and addresses.',
    zh: '商店接入所需的编号、密钥和接口地址。',
  },
  places: { en: 'On this page', zh: '本页内容' },
  next: { en: 'Next', zh: '接下来' },
  tryAddress: { en: 'Test your addresses', zh: '测试你的地址' },
  whyRefused: { en: 'See why a signature was refused', zh: '查看签名为何被拒绝' },
  noKeys: {
    en: 'Your role does not include the keys. The owner and managers can see and replace them.',
    zh: '你的角色看不到密钥。所有者和应用管理员可以查看和更换。',
  },
  hmac: { en: 'Your own program (HMAC API)', zh: '自己的程序（HMAC 接口）' },
  tokenLead: {
    en: 'The token and its Secret Key are shown only once, when created. Replace them if you have lost them.',
    zh: 'Token 与 Secret Key 仅在生成时显示一次，遗失后请更换。',
  },
  inUse: { en: 'In use', zh: '使用中' },
  ending: { en: 'Expires soon', zh: '即将失效' },
  current: { en: 'Current token', zh: '当前 Token' },
  previous: { en: 'Previous token', zh: '旧 Token' },
  created: { en: 'Created', zh: '创建时间' },
  lastUsed: { en: 'Last used', zh: '最近使用' },
  never: { en: 'Never', zh: '从未使用' },
  acceptedUntil: { en: 'Accepted until', zh: '有效至' },
  formerOwners: {
    en: 'A former owner of this application knows its token. Transfers through the API wait until you replace it. Replace the keys of the gateway as well. With keys from before the hand-over, lists and counts show nothing since then, and the gateway shows no balance.',
    zh: '此应用的原所有者知道现有的 Token。更换之前，接口不能转账。网关的密钥也请一并更换：用移交前的密钥查询时，列表和统计不含移交之后的内容，网关也不显示余额。',
  },
  rotate: { en: 'Replace the token', zh: '更换 Token' },
  rotated: (until: string) => ({
    en: `A new token is in use. The previous one is ${until === '' ? 'refused from now on' : `accepted until ${until}`}.`,
    zh: `新的 Token 已启用。旧 Token ${until === '' ? '已失效' : `有效至 ${until}`}。`,
  }),
  createAddress: { en: 'Create a payment (POST)', zh: '创建支付（POST）' },
  keyTitle: { en: 'Your new Merchant KEY', zh: '新的商户 KEY' },
  keyText: {
    en: 'Put it into your shop’s plugin now. To see it again later, open “Keys and gateway” and sign in again.',
    zh: '请立即填入商店的插件。之后可在“密钥与网关”页面重新登录后查看。',
  },
  nextText: {
    made: {
      en: 'Put these values into your shop or program, then create a first payment.',
      zh: '把这些值填入你的商店或程序，然后创建第一笔支付。',
    },
    token: {
      en: 'Put the new key into every program that signs with the old one. The other values stay.',
      zh: '请在每个使用旧密钥签名的程序中换上新密钥，其他值不变。',
    },
    key: {
      en: 'The plugin needs these values beside the KEY. They have not changed.',
      zh: '插件除 KEY 外还需要以下值，它们没有变化。',
    },
    events: {
      en: 'Your server verifies each event at this address with the new secret.',
      zh: '你的服务器在此地址用新密钥验证每个事件。',
    },
    access: {
      en: 'Your program needs these values beside the secret.',
      zh: '除密钥外，你的程序还需要以下值。',
    },
    pair: {
      en: 'Put the private key into the plugin, together with these values.',
      zh: '请把私钥和以下值一起填入插件。',
    },
  },
  rotateHint: {
    en: 'Every program that signs with it needs the new one. Both pairs work for the time that you set. A callback is signed with the pair that signed its order, while that is valid, so you can exchange it machine by machine.',
    zh: '每个用它签名的程序都要换成新的；在所填时间内，新旧两对都有效。回调用创建该订单时签名的那一对签名（只要仍有效），因此可以逐台更换。',
  },
  overlapWrong: (max: number) => ({
    en: `Whole hours, from 0 to ${max}.`,
    zh: `整数小时，0 到 ${max}。`,
  }),
  overlap: {
    en: 'Hours that the previous pair stays valid',
    zh: '旧的 Token 与 Secret Key 继续有效的小时数',
  },
  endOverlap: { en: 'End the previous token', zh: '停用旧 Token' },
  merchantKey: { en: 'Merchant KEY (V1, MD5)', zh: '商户 KEY（V1，MD5）' },
  show: { en: 'Show the KEY', zh: '显示 KEY' },
  showHint: { en: 'You sign in again to see it.', zh: '重新登录后显示。' },
  shown: {
    en: 'Enter it in your shop’s plugin, and nowhere else.',
    zh: '请只填入商店的插件，不要发给任何人。',
  },
  resetKey: { en: 'Replace the Merchant KEY', zh: '更换商户 KEY' },
  resetHint: {
    en: 'The old KEY stops working at once, also for notifications that are on their way.',
    zh: '旧 KEY 立即失效，包括进行中的通知。',
  },
  ask: {
    which: (name: string, pid: string) => ({ en: `${name}, pid ${pid}`, zh: `${name}，商户号 ${pid}` }),
    newKey: { en: 'New', zh: '新的' },
    oldKey: { en: 'Old', zh: '旧的' },
    shownOnce: { en: 'generated now and shown once', zh: '现在生成，仅显示一次' },
    madeNow: { en: 'generated now', zh: '现在生成' },
    until: (moment: string) => ({ en: `accepted until ${moment}`, zh: `有效至 ${moment}` }),
    atOnce: { en: 'refused from now on', zh: '立即被拒绝' },
    lastUsed: { en: 'Previous one last used', zh: '旧的最近使用' },
    rotate: { en: 'Replace the token?', zh: '更换 Token？' },
    rotateButton: { en: 'Generate the new token', zh: '生成新的 Token' },
    rotateNote: {
      en: 'Put the new token or Secret Key into every program that signs with the old one.',
      zh: '请在每个使用旧密钥签名的程序中换上新的 Token 或 Secret Key。',
    },
    rotateNow: {
      en: 'With 0 hours there is no overlap: requests signed with the previous pair are refused with code 1001.',
      zh: '填 0 小时则没有过渡期：用旧的 Token 或 Secret Key 签名的请求会被拒绝（1001）。',
    },
    end: { en: 'End the previous token?', zh: '停用旧 Token？' },
    endButton: { en: 'End it now', zh: '立即停用' },
    endFact: { en: 'Planned end', zh: '原定停用' },
    endNote: {
      en: 'Requests that are signed with it are refused with code 1001 from now on.',
      zh: '此后用它签名的请求会以 1001 被拒绝。',
    },
    reset: { en: 'Replace the Merchant KEY?', zh: '更换商户 KEY？' },
    resetButton: { en: 'Replace the KEY', zh: '更换 KEY' },
    resetNote: {
      en: 'There is no overlap: until your shop has the new KEY, we refuse its V1 requests and it refuses our notifications. Notifications are repeated for 15 hours.',
      zh: '没有过渡期：换上新 KEY 之前，商店的 V1 请求会被拒绝，商店也会拒绝我们的通知；通知会在 15 小时内重试。',
    },
    onTheirWay: { en: 'Notifications on their way', zh: '进行中的通知' },
    publicKey: { en: 'Replace your public key?', zh: '更换商户公钥？' },
    publicKeyButton: { en: 'Replace the public key', zh: '更换公钥' },
    pair: { en: 'Replace your key pair?', zh: '更换密钥对？' },
    pairButton: { en: 'Generate a new pair', zh: '生成新的密钥对' },
    publicKeyNote: {
      en: 'There is no overlap: V2 requests that are signed with the old private key are refused from now on.',
      zh: '没有过渡期：此后用旧私钥签名的 V2 请求会被拒绝。',
    },
    versions: { en: 'Switch requests off?', zh: '停止接受请求？' },
    versionsButton: { en: 'Switch off', zh: '停止接受' },
    versionsNote: {
      en: 'New orders in this version are refused. Notifications of paid orders continue.',
      zh: '使用该版本的新订单会被拒绝；已付款订单照常通知。',
    },
    version: { v1: { en: 'V1 (MD5)', zh: 'V1（MD5）' }, v2: { en: 'V2 (RSA)', zh: 'V2（RSA）' } },
    off: { en: 'switched off', zh: '停止接受' },
    stays: { en: 'accepted', zh: '接受' },
  },
  done: {
    ended: { en: 'The previous token has ended.', zh: '旧 Token 已停用。' },
    reset: (end: string, waiting: string, n: number) => ({
      en: `The Merchant KEY was replaced; the new one ends in ${end}. ${n === 0 ? 'No notification was on its way.' : `${waiting} ${counted(n, 'notification', 'notifications')} on the way will be signed with the new one.`}`,
      zh: `商户 KEY 已更换，新的以 ${end} 结尾。${n === 0 ? '没有进行中的通知。' : `${waiting} 条进行中的通知将用新的 KEY 签名。`}`,
    }),
    publicKey: (bits: number, fingerprint: string) => ({
      en: `Your public key is in use: RSA, ${bits} bits, SHA-256 ${fingerprint}…`,
      zh: `公钥已启用：${bits} 位 RSA，SHA-256 ${fingerprint}…`,
    }),
    versions: (v1: boolean, v2: boolean) => ({
      en: `V1 requests are ${v1 ? 'accepted' : 'refused'}, V2 requests are ${v2 ? 'accepted' : 'refused'}.`,
      zh: `V1 请求：${v1 ? '接受' : '拒绝'}；V2 请求：${v2 ? '接受' : '拒绝'}。`,
    }),
  },
} satisfies Texts

/** Texts of the gateway card of a payment application. */
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
  ownPair: { en: 'Or use a key pair of your own', zh: '或使用自己的密钥对' },
  notSet: { en: 'Not set', zh: '未设置' },
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
