/** Texts of the list of payment applications, of applying for one, of its pages, settings and terms. */
import { common } from '../../web/common.texts.ts'
import type { Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'

const minutes = (n: number) => `${n} ${counted(n, 'minute', 'minutes')}`

/** The time to pay on a site that sets less than an application may. */
const onlyEmpty = (max: number) => ({
  en: `Leave it empty: the site sets ${minutes(max)}, and no other time is allowed.`,
  zh: `请留空：站点设定为 ${max} 分钟，不能使用其他期限。`,
})

export const paymentApps = {
  title: { en: 'Payment applications', zh: '收款应用' },
  lead: {
    en: `Take payments in ${POINTS}, by a program of your own or by links.`,
    zh: `用自己的程序或收款链接收取${POINTS}。`,
  },
  docs: { en: 'How to connect a shop', zh: '如何接入商店' },
  testOrLive: { en: 'Test or live?', zh: '测试还是正式？' },
  kinds: { test: { en: 'Test', zh: '测试应用' }, live: { en: 'Live', zh: '正式应用' } },
  kindTexts: {
    test: {
      en: `Works at once, with play ${POINTS} that every member has. Go live from it later.`,
      zh: `立即可用，使用每位成员都有的虚拟${POINTS}，之后可转为正式应用。`,
    },
    live: {
      en: `Takes real ${POINTS} once an administrator has approved it.`,
      zh: `管理员审核通过后即可收取真实${POINTS}。`,
    },
  },
  application: { en: 'Application', zh: '应用' },
  apply: { en: 'Create an application', zh: '创建应用' },
  name: { en: 'Name', zh: '名称' },
  description: { en: 'What do you sell?', zh: '你出售什么？' },
  callbackUrl: { en: 'Callback address', zh: '回调地址' },
  callbackHint: {
    en: 'Buyers return here after paying. https, or http on this computer.',
    zh: '买家付款后返回此地址，须为 https（本机可用 http）。',
  },
  callbackShort: {
    en: 'Where buyers return after paying. Leave it empty to try.',
    zh: '买家付款后返回的地址，试用时可留空。',
  },
  sells: { en: 'How will you sell?', zh: '如何售卖？' },
  sellsBy: {
    site: { en: 'From my own site or program', zh: '用自己的网站或程序' },
    links: { en: 'By links, without a program', zh: '用收款链接，无需程序' },
  },
  submit: { en: 'Apply for a live application', zh: '申请正式应用' },
  needTrustLevel: (needed: number, have: number) => ({
    en: `A live application needs trust level ${needed}; yours is ${have}.`,
    zh: `申请正式应用需要信任等级 ${needed}，你目前为 ${have}。`,
  }),
  waiting: (max: number) => ({
    en: `${max} of your applications wait for their review. After one of them is decided, you can apply for another.`,
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
  takings: { en: 'Received, 30 days', zh: '近 30 天到账' },
  takingsText: { en: `Amounts: ${POINTS} received in 30 days`, zh: '金额为近 30 天到账' },
  credentialsTitle: { en: 'Copy these now', zh: '请立即保存' },
  credentialsText: {
    en: 'The token and the Secret Key are shown only this once and cannot be read again.',
    zh: 'Token 与 Secret Key 仅显示这一次，之后无法再查看。',
  },
  made: {
    live: (name: string) => ({
      en: `${name} was created and waits for its review.`,
      zh: `${name} 已创建，等待审核。`,
    }),
    forLinks: (name: string) => ({
      en: `${name} was created and waits for its review. Prepare your first link meanwhile.`,
      zh: `${name} 已创建，等待审核。可先准备第一个收款链接。`,
    }),
    test: (name: string) => ({
      en: `${name} was created and can be used at once.`,
      zh: `${name} 已创建，立即可用。`,
    }),
    testKeys: (name: string) => ({
      en: `${name} was created. Its keys are below, shown only this once.`,
      zh: `${name} 已创建，立即可用。密钥见下方，仅显示这一次。`,
    }),
  },
  token: { en: 'Token', zh: 'Token' },
  secretKey: { en: 'Secret Key', zh: 'Secret Key' },
  secretKeyHint: {
    en: 'Sign requests and verify callbacks with it. It is the SHA-256 of the token.',
    zh: '用它为请求签名、为回调验签。它是 Token 的 SHA-256。',
  },
  whichTitle: { en: 'Which of the two does my program need?', zh: '我的程序该填哪一个？' },
  which: {
    secretKey: {
      en: 'Enter the Secret Key in a client that uses its key as it is, for requests or only for callbacks. With the token instead, its requests are refused (1001), or its callbacks fail verification.',
      zh: 'Secret Key 填给直接使用密钥的客户端（请求和回调都直接用，或仅回调直接用）。误填 Token 时，请求被拒绝（1001），或回调验签失败。',
    },
    token: {
      en: 'Enter the token in a client that takes the SHA-256 of its key, for requests and for callbacks. With the Secret Key instead, its requests pass, but its callbacks fail verification.',
      zh: 'Token 填给请求和回调都先对密钥做 SHA-256 的客户端。误填 Secret Key 时，请求能通过，但回调验签失败。',
    },
  },
  done: { en: 'I have copied them', zh: '我已保存' },
  own: {
    lead: {
      en: 'Buyers see the name, description, homepage and logo on the pay page.',
      zh: '名称、简介、主页和图标会显示在付款页上。',
    },
    facts: { en: 'Shop', zh: '商店资料' },
    more: { en: 'Notifications, time to pay and servers', zh: '通知地址、付款期限与服务器' },
    notifyUrl: { en: 'Notification address (gateway)', zh: '异步通知地址（易支付接口）' },
    notifyHint: {
      en: 'Used by new gateway orders without a notify_url. If empty, no notification is sent for these orders.',
      zh: '用于未填写 notify_url 的易支付新订单；留空则不通知。',
    },
    homepage: { en: 'Homepage', zh: '主页' },
    logo: { en: 'Logo', zh: '图标' },
    logoHint: {
      en: 'The https address of a square picture. You can also upload one below. Buyers see it on the pay page.',
      zh: '方形图片的 https 地址，也可以在下方上传图片，会显示在付款页上。',
    },
    exchangeRate: {
      en: `Exchange rate: ${POINTS} per unit of currency`,
      zh: `兑换比例：每货币单位的${POINTS}`,
    },
    exchangeHint: {
      en: `At 100, a price of 9.90 becomes 990 ${POINTS}. A shop that sets its prices in ${POINTS} needs 1.`,
      zh: `比例为 100 时，9.90 即 990 ${POINTS}；直接以${POINTS}标价的商店应设为 1。`,
    },
    orderMinutes: { en: 'Time to pay an order', zh: '订单付款期限' },
    minutesUnit: { en: 'minutes', zh: '分钟' },
    orderMinutesHint: (min: number, max: number) =>
      max < min
        ? onlyEmpty(max)
        : {
            en: `From ${min} to ${minutes(max)}, for new orders. Empty: ${minutes(max)}, as the site sets.`,
            zh: `${min} 至 ${max} 分钟，对新订单生效；留空则为站点设定的 ${max} 分钟。`,
          },
    orderMinutesLowered: (max: number) => ({
      en: `The site now allows ${minutes(max)} at most, so new orders can be paid for ${minutes(max)}.`,
      zh: `站点现在最多允许 ${max} 分钟，因此新订单的付款期限为 ${max} 分钟。`,
    }),
    orderMinutesWrong: (min: number, max: number) =>
      max < min
        ? onlyEmpty(max)
        : {
            en: `Enter ${min} to ${minutes(max)}, or leave it empty.`,
            zh: `须为 ${min} 至 ${max} 分钟，或留空。`,
          },
    addresses: { en: 'Servers that may call the API', zh: '允许调用接口的服务器地址' },
    addressesHint: {
      en: 'One IP address or range per line. Empty: any server may call.',
      zh: '每行一个 IP 地址或网段；留空则不限制。',
    },
    save: { en: 'Save', zh: '保存' },
    reapply: { en: 'Save and apply again', zh: '保存并重新申请' },
    saved: { en: 'Saved.', zh: '已保存。' },
    savedRate: (before: string, after: string) => ({
      en: `Saved. The exchange rate was ${before} and is now ${after}. It applies to new orders.`,
      zh: `已保存。兑换比例由 ${before} 改为 ${after}，对新订单生效。`,
    }),
    reapplied: {
      en: 'Saved, and sent to the administrators for another review.',
      zh: '已保存，并重新提交审核。',
    },
    lowBalanceOn: (points: string) => ({
      en: `You get an alert when your wallet falls below ${pointsOf(points)}.`,
      zh: `钱包低于 ${points} ${POINTS}时会提醒你。`,
    }),
    lowBalanceOff: { en: 'The low balance alert is off.', zh: '余额不足提醒已关闭。' },
    losesMark: {
      en: `A changed name, description, address or logo is reviewed again. Until then the pay page does not show “${common.reviewed.en}”; sales continue.`,
      zh: `修改名称、简介、地址或图标后会再次审核；其间付款页不显示“${common.reviewed.zh}”，照常收款。`,
    },
    unreviewed: {
      en: `Changed since it was approved. The pay page does not show “${common.reviewed.en}” until the next review. Sales continue.`,
      zh: `审核通过后有过修改：再次审核前，付款页不显示“${common.reviewed.zh}”；照常收款。`,
    },
    handOver: { en: 'Hand over the application', zh: '移交应用' },
    handOverText: {
      en: 'Another member becomes the owner and receives the payments.',
      zh: '由另一位成员成为所有者并收款。',
    },
    suspend: { en: 'Suspend', zh: '停用' },
    cannotChange: { en: 'A suspended application cannot be changed.', zh: '已停用的应用不能修改。' },
    readOnly: {
      en: 'Only the owner and managers can change these settings.',
      zh: '只有所有者和应用管理员可以修改这些设置。',
    },
  },
  neverCalled: {
    port: {
      en: 'This address can never be called: its port must be 80, 443, or 1024 and above.',
      zh: '该地址无法访问：端口须为 80、443 或不小于 1024。',
    },
    host: {
      en: 'This address can never be called: its host must be public.',
      zh: '该地址无法访问：主机须为公网地址。',
    },
  },
  problems: {
    name: {
      en: 'Enter a name of 1 to 60 characters, without control or invisible characters.',
      zh: '名称须为 1 至 60 个字符，且不能包含控制字符或不可见字符。',
    },
    description: {
      en: 'Enter at most 500 characters, without control or invisible characters.',
      zh: '最多 500 个字符，且不能包含控制字符或不可见字符。',
    },
    callback_url: {
      en: 'Enter a complete https address (http only on this computer), without fragment or user name. Its query must not use the names of our parameters, or a name twice.',
      zh: '须为完整的 https 地址（本机可用 http），不含片段和用户名；查询参数不能与回调参数重名，也不能重复。',
    },
    notify_url: {
      en: 'Enter a complete http or https address of at most 1,000 characters, without user name, or leave it empty.',
      zh: '须为完整的 http 或 https 地址，不超过 1000 个字符，不含用户名；或留空。',
    },
    homepage: { en: 'Enter an https address, or leave it empty.', zh: '须为 https 地址，或留空。' },
    logo_url: {
      en: 'Enter an https address of at most 500 characters, or leave it empty.',
      zh: '须为不超过 500 个字符的 https 地址，或留空。',
    },
    exchange_rate: {
      en: 'Enter a number above 0 with at most 6 digits before and after the point.',
      zh: '须为大于 0 的数字，整数与小数部分各至多 6 位。',
    },
    allowed_addresses: {
      en: 'Enter at most 50 IP addresses or ranges such as 203.0.113.0/24.',
      zh: '最多 50 个 IP 地址或网段，如 203.0.113.0/24。',
    },
  },
} satisfies Texts

/** Texts of test mode. */
export const testMode = {
  lead: {
    en: `In test mode everything works as it does live, at once and without a review. It has its own keys, and every member has play ${POINTS} to pay with.`,
    zh: `在测试模式下，一切与正式环境相同，无需审核，立即可用；使用单独的密钥，以及每位成员都有的虚拟${POINTS}。`,
  },
  aboutTest: {
    en: `This application has play ${POINTS} only. Its Payment ID, token and KEY are marked as test, and its orders and transfers are not counted in live figures. Every member can be the buyer.`,
    zh: `该应用只有虚拟${POINTS}。它的 Payment ID、Token 和 KEY 都带有测试标记，其订单和转账不计入任何正式应用的数据。任何成员都可以充当买家。`,
  },
  create: { en: 'Create a test application', zh: '创建测试应用' },
  createTwin: { en: 'Create its test application', zh: '创建对应的测试应用' },
  toTest: { en: 'Its test application', zh: '对应的测试应用' },
  toLive: { en: 'The live application', zh: '对应的正式应用' },
} satisfies Texts

/** The pages of one payment application that other rooms name too. */
export const tabs = {
  orders: { en: 'Orders', zh: '订单' },
  links: { en: 'Links', zh: '收款链接' },
  transfers: { en: 'Transfers', zh: '转账' },
  payouts: { en: 'Payouts', zh: '批量付款' },
  notifications: { en: 'Notifications', zh: '通知' },
  statistics: { en: 'Statistics', zh: '统计' },
  mandates: { en: 'Mandates', zh: '预授权' },
  addresses: { en: 'Address test', zh: '地址测试' },
  events: { en: 'Events', zh: '事件' },
  signatures: { en: 'Signature debugger', zh: '签名调试' },
} satisfies Texts

/** Texts of the navigation of one payment application. */
export const area = {
  label: (name: string) => ({ en: `Pages of ${name}`, zh: `${name} 的页面` }),
  back: { en: 'Payment applications', zh: '收款应用' },
  overview: { en: 'Overview', zh: '概览' },
  developers: { en: 'Developers', zh: '接入' },
  keys: { en: 'Keys and gateway', zh: '密钥与网关' },
  team: { en: 'Team', zh: '团队' },
  settings: { en: 'Settings', zh: '应用设置' },
  live: { en: 'Live', zh: '正式' },
  test: { en: 'Test', zh: '测试' },
} satisfies Texts

/** Texts of the terms of a payment application: fee, daily limits, an example. */
export const terms = {
  title: { en: 'Terms', zh: '条款' },
  lead: { en: 'Set by the administrators.', zh: '由管理员设定。' },
  fee: { en: 'Payment fee', zh: '付款手续费' },
  feeText: (percent: string, isOwn: boolean) => ({
    en: `${percent}%${isOwn ? ', agreed for this application' : ''}`,
    zh: `${percent}%${isOwn ? '（本应用专属费率）' : ''}`,
  }),
  payments: { en: `${POINTS} it can receive per day`, zh: `每日可收取的${POINTS}` },
  transfers: { en: `${POINTS} it can transfer per day`, zh: `每日可转出的${POINTS}` },
  used: (used: string, max: string) => ({
    en: `${used} of ${max} used today`,
    zh: `今日已用 ${used} / ${max}`,
  }),
  unlimited: (used: string) => ({ en: `no limit; ${used} today`, zh: `不限；今日 ${used}` }),
  example: { en: 'For example', zh: '举例' },
  exampleText: (money: string, points: string, fee: string, received: string) => ({
    en: `a price of ${money} becomes ${pointsOf(points)}: the buyer pays ${points}, the fee is ${fee}, the merchant receives ${received}.`,
    zh: `标价 ${money} 即 ${points} ${POINTS}：买家支付 ${points}，手续费 ${fee}，商户收到 ${received}。`,
  }),
  rateHigh: (points: string) => ({
    en: `The exchange rate is unusually high: a price of 1.00 costs ${pointsOf(points)}. Is that what you mean?`,
    zh: `兑换比例异常高：标价 1.00 需要 ${points} ${POINTS}。确定是这样吗？`,
  }),
  rateLow: {
    en: `The exchange rate is unusually low: a price of 1.00 costs less than one ${POINT}. Is that what you mean?`,
    zh: `兑换比例异常低：标价 1.00 还不到一个${POINT}。确定是这样吗？`,
  },
  exampleTooSmall: (money: string) => ({
    en: `a price of ${money} would be less than one ${POINT}, and is refused.`,
    zh: `标价 ${money} 不足一个${POINT}，会被拒绝。`,
  }),
} satisfies Texts
