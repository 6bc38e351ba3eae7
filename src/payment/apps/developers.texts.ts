/** Texts of the page of an application's keys and of the questions before they are replaced. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const developers = {
  lead: {
    en: 'What you need to connect a shop: identifiers, keys and addresses.',
    zh: '商店接入所需的编号、密钥和接口地址。',
  },
  numbers: { en: 'Identifiers', zh: '应用编号' },
  next: { en: 'Next', zh: '接下来' },
  tryAddress: { en: 'Test your addresses', zh: '测试你的地址' },
  whyRefused: { en: 'See why a signature was refused', zh: '查看签名为何被拒绝' },
  noKeys: {
    en: 'Your role does not include the keys. The owner and managers can see and replace them.',
    zh: '你的角色看不到密钥。所有者和应用管理员可以查看和更换。',
  },
  token: { en: 'Token and Secret Key', zh: 'Token 与 Secret Key' },
  tokenLead: {
    en: 'For the HMAC API. Shown only once, when created. Replace it if you have lost it.',
    zh: '用于 HMAC 接口。仅在生成时显示一次，遗失后请更换。',
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
