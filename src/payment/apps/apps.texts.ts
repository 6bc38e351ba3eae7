/** Texts of the list of payment applications, of applying for one, and of its own page. */
import type { Texts } from '../../web/languages.ts'
import { pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

export const paymentApps = {
  title: { en: 'Payment applications', zh: '收款应用' },
  lead: {
    en: `A payment application takes payments in ${POINTS} for you. An administrator reviews it before it can be used.`,
    zh: `收款应用为你收取${POINTS}，须经管理员审核后方可使用。`,
  },
  empty: { en: 'You have none yet.', zh: '你还没有收款应用。' },
  apply: { en: 'Apply for a payment application', zh: '申请收款应用' },
  name: { en: 'Name', zh: '名称' },
  description: { en: 'What do you sell?', zh: '你出售什么？' },
  callbackUrl: { en: 'Callback address', zh: '回调地址' },
  callbackHint: {
    en: 'Buyers come back here after paying: https, or http on this computer, without query or fragment.',
    zh: '买家付款后返回此地址：https（本机可用 http），不含查询参数和片段。',
  },
  submit: { en: 'Apply', zh: '提交申请' },
  needTrustLevel: (needed: number, have: number) => ({
    en: `Applying needs trust level ${needed}; yours is ${have}.`,
    zh: `申请需要信任等级 ${needed}，你目前为 ${have}。`,
  }),
  waiting: (max: number) => ({
    en: `${max} of your applications wait for their review. When one is decided, you can apply for another.`,
    zh: `你已有 ${max} 个应用在等待审核，审核完其中一个后才能再申请。`,
  }),
  status: {
    pending: { en: 'Waiting for review', zh: '待审核' },
    approved: { en: 'Approved', zh: '已通过' },
    rejected: { en: 'Rejected', zh: '已驳回' },
    suspended: { en: 'Suspended', zh: '已停用' },
  },
  statusLabel: { en: 'Status', zh: '状态' },
  reviewReason: { en: 'The reviewer wrote', zh: '审核意见' },
  paymentId: { en: 'Payment ID', zh: 'Payment ID' },
  pid: { en: 'pid (gateway)', zh: '商户号 pid' },
  merchantKey: { en: 'Merchant KEY (V1, MD5)', zh: '商户密钥 KEY（V1, MD5）' },
  rate: { en: 'Exchange rate', zh: '兑换比例' },
  rateText: (rate: string) => ({
    en: `${pointsOf(rate)} per unit of currency`,
    zh: `每 1 货币单位 ${rate} ${POINTS}`,
  }),
  takings: { en: 'Takings', zh: '累计收款' },
  credentialsTitle: { en: 'Keep these now', zh: '请立即保存' },
  credentialsText: {
    en: 'The token and the Secret Key are shown this once and cannot be read again.',
    zh: 'Token 与 Secret Key 仅显示这一次，之后无法再查看。',
  },
  token: { en: 'Token', zh: 'Token' },
  secretKey: { en: 'Secret Key', zh: 'Secret Key' },
  secretKeyHint: {
    en: 'The SHA-256 of the token: sign requests and verify callbacks with it.',
    zh: '即 Token 的 SHA-256，用于请求签名和回调验签。',
  },
  which: {
    secretKey: {
      en: 'Give the Secret Key to a client that uses its key as it is, for requests or only for callbacks. With the token instead, its requests are refused (1001), or its check of callbacks fails.',
      zh: 'Secret Key 填给直接使用密钥的客户端（请求和回调都直接用，或仅回调直接用）。误填 Token 时，请求被拒绝（1001），或回调验签失败。',
    },
    token: {
      en: 'Give the token to a client that takes the SHA-256 of its key, for requests and for callbacks. With the Secret Key instead, its requests pass, but its check of callbacks fails.',
      zh: 'Token 填给请求和回调都先对密钥做 SHA-256 的客户端。误填 Secret Key 时，请求能通过，但回调验签失败。',
    },
  },
  done: { en: 'I have stored them', zh: '我已保存' },
  own: {
    manage: { en: 'Manage', zh: '管理' },
    homepage: { en: 'Homepage', zh: '主页' },
    logo: { en: 'Logo', zh: '图标' },
    logoHint: {
      en: 'The https address of a square picture. Buyers see it where they pay.',
      zh: '方形图片的 https 地址，买家付款时会看到。',
    },
    exchangeRate: {
      en: `Exchange rate: ${POINTS} per unit of currency`,
      zh: `兑换比例：每货币单位的${POINTS}`,
    },
    exchangeHint: {
      en: `At 100, a price of 9.90 becomes 990 ${POINTS}. A shop whose unit is the ${POINT} needs 1.`,
      zh: `比例为 100 时，9.90 即 990 ${POINTS}；以${POINTS}为单位的商店应设为 1。`,
    },
    addresses: { en: 'Addresses that may call the API', zh: '允许调用接口的地址' },
    addressesHint: {
      en: 'One address or range a line; empty lets every address call.',
      zh: '每行一个地址或网段；留空则不限制。',
    },
    save: { en: 'Save', zh: '保存' },
    reapply: { en: 'Save and apply again', zh: '保存并重新申请' },
    losesMark: {
      en: 'Changing the name, description, callback, homepage or logo takes “approved by staff” off the pay page until the staff has looked at it again. Sales go on meanwhile.',
      zh: '修改名称、简介、回调地址、主页或图标后，付款页将不再显示“已通过审核”，直到管理人员重新审核；其间照常收款。',
    },
    unreviewed: {
      en: 'Changed since the staff approved it: until they have looked at it again, the pay page does not say “approved by staff”. Sales go on.',
      zh: '审核通过后有过修改：管理人员重新审核前，付款页不显示“已通过审核”；照常收款。',
    },
    keys: { en: 'Keys', zh: '密钥' },
    current: { en: 'Current token', zh: '当前 Token' },
    previous: { en: 'Previous token', zh: '旧 Token' },
    created: { en: 'made', zh: '创建于' },
    lastUsed: { en: 'last used', zh: '最近使用' },
    never: { en: 'never used', zh: '从未使用' },
    acceptedUntil: { en: 'accepted until', zh: '有效至' },
    formerOwners: {
      en: 'A former owner of this application knows its token. Transfers through the API wait until you have made a new one. Replace the keys of the gateway as well. By keys from before, lists and counts tell nothing since the hand-over, and the gateway tells no balance.',
      zh: '此应用的原所有者知道现有的 Token。更换之前，接口不能转账。网关的密钥也请一并更换：用移交前的密钥查询时，列表和统计不含移交之后的内容，网关也不显示余额。',
    },
    rotate: { en: 'Make a new token', zh: '更换 Token' },
    rotateHint: {
      en: 'The new token and Secret Key are shown once. The old pair is accepted for as long as you say.',
      zh: '新的 Token 与 Secret Key 仅显示一次，旧的一对在所填时间内仍有效。',
    },
    overlap: { en: 'Hours the old pair stays good', zh: '旧的一对继续有效的小时数' },
    endOverlap: { en: 'End the old token now', zh: '立即停用旧 Token' },
    resetKey: { en: 'Reset the Merchant KEY', zh: '重置商户密钥 KEY' },
    resetHint: {
      en: 'The old KEY stops at once, for requests and for notifications on their way.',
      zh: '旧 KEY 立即失效，包括进行中的通知。',
    },
    suspend: { en: 'Suspend', zh: '停用' },
    reinstate: { en: 'Reinstate', zh: '恢复' },
    all: { en: 'All payment applications', zh: '全部收款应用' },
    cannotChange: { en: 'A suspended application cannot be changed.', zh: '已停用的应用不能修改。' },
  },
  problems: {
    name: {
      en: 'Give a name of 1 to 60 characters, without control or invisible ones.',
      zh: '名称须为 1 至 60 个字符，且不能包含控制字符或不可见字符。',
    },
    description: {
      en: 'The description may have at most 500 characters, without control or invisible ones.',
      zh: '描述最多 500 个字符，且不能包含控制字符或不可见字符。',
    },
    callback_url: {
      en: 'The callback address must be absolute, https (http only on this machine), without query, fragment or user name.',
      zh: '回调地址须为完整的 https 地址（本机可用 http），不含查询参数、片段和用户名。',
    },
    homepage: { en: 'The homepage must be an https address, or empty.', zh: '主页须为 https 地址，或留空。' },
    logo_url: {
      en: 'The logo must be an https address of at most 500 characters, or empty.',
      zh: '图标须为不超过 500 个字符的 https 地址，或留空。',
    },
    exchange_rate: {
      en: `A number above 0 with at most 6 digits before and after the point.`,
      zh: '须为大于 0 的数字，整数与小数部分各至多 6 位。',
    },
    allowed_addresses: {
      en: 'At most 50 addresses or ranges such as 203.0.113.0/24.',
      zh: '最多 50 个地址或网段，如 203.0.113.0/24。',
    },
  },
} satisfies Texts
