/** Texts of a merchant's lists: orders, transfers, mandates; and of the test of the shop's addresses. */
import type { DeliveryKind } from '../../database/tables/links.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { areLeft, counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const merchantOrders = {
  searchHint: { en: 'Order number, ID or product', zh: '订单号、交易号或商品名称' },
  product: { en: 'Product', zh: '商品' },
  created: { en: 'Created', zh: '创建时间' },
  states: { en: 'Status', zh: '状态' },
  more: { en: `Filter by buyer, ${POINTS} or date`, zh: `按买家、${POINTS}或日期筛选` },
  buyer: { en: 'Buyer’s username', zh: '买家用户名' },
  min: { en: `${POINTS}, from`, zh: `${POINTS}，最少` },
  max: { en: `${POINTS}, to`, zh: `${POINTS}，最多` },
  empty: { en: 'No orders yet', zh: '还没有订单' },
  emptyText: {
    en: 'Every order that your shop creates appears here. Connect your shop, or try it with a test application first.',
    zh: '商店创建的每一笔订单都会出现在这里。请先接入商店，或用测试应用走一遍。',
  },
  nothing: { en: 'No results', zh: '没有结果' },
  export: { en: 'Export CSV', zh: '导出 CSV' },
  exportOf: (formatted: string, rows: number) => ({
    en: `Export ${formatted} ${counted(rows, 'order', 'orders')}`,
    zh: `导出 ${formatted} 笔订单`,
  }),
  exportRows: (formatted: string, rows: number) => ({
    en: `${formatted} ${counted(rows, 'order matches', 'orders match')} the filter.`,
    zh: `有 ${formatted} 笔订单符合当前的筛选条件。`,
  }),
  exportCapped: (looked: string, max: string) => ({
    en: `Only the newest ${looked} were looked at. The file also has older orders, up to ${max} in all: choose fewer days to get the others.`,
    zh: `这里只统计了最新的 ${looked} 笔。文件还包含更早的订单，合计最多 ${max} 笔：请缩小日期范围来取得其余的订单。`,
  }),
  exportHint: {
    en: 'For spreadsheets: UTF-8, times in UTC, columns named as in the API. Text that a spreadsheet would run as a formula begins with an apostrophe.',
    zh: '供电子表格使用：UTF-8 编码，时间为 UTC，列名与接口相同。会被电子表格当作公式执行的文字前面加了一个撇号。',
  },
  download: { en: 'Download', zh: '下载' },
  timeline: { en: 'Order activity', zh: '订单动态' },
  events: {
    created: { en: 'Order created', zh: '创建订单' },
    viewed: { en: 'Pay page opened', zh: '买家打开付款页' },
    paid: { en: 'Paid', zh: '已付款' },
    expired: { en: 'Expired', zh: '订单已过期' },
    closed: { en: 'Cancelled by your shop', zh: '商店取消订单' },
    refunded: { en: 'Refunded', zh: '已退款' },
    refundAsked: { en: 'Refund requested', zh: '申请退款' },
    refundDeclined: { en: 'Refund declined', zh: '退款申请被拒绝' },
    refundWithdrawn: { en: 'Refund request withdrawn', zh: '退款申请已撤回' },
  },
  viewers: (times: number) => ({
    en: `by ${times} ${counted(times, 'member', 'members')}; this was the first`,
    zh: `共 ${times} 位成员，这是第一次`,
  }),
  told: { en: 'Shop confirmed', zh: '商店已确认' },
  untold: { en: 'Notification not confirmed', zh: '通知未确认' },
  shares: { en: 'Breakdown', zh: '金额明细' },
  paidByBuyer: { en: 'Buyer pays', zh: '买家支付' },
  rounded: { en: `rounded to whole ${POINTS}`, zh: `四舍五入为整数${POINTS}` },
  payUrl: { en: 'Pay page, for the buyer', zh: '付款页（发给买家）' },
  fee: { en: 'Platform fee', zh: '平台手续费' },
  feePending: { en: 'Calculated when the order is paid.', zh: '付款时计算。' },
  refundedToBuyer: { en: 'Refunded to the buyer', zh: '已退回买家' },
  feeReturned: { en: 'Fee returned', zh: '退还手续费' },
  received: { en: 'Net received', zh: '净收款' },
  buyerTitle: { en: 'Buyer', zh: '买家' },
  visits: (orders: string, n: number, points: string) => ({
    en: `${orders} paid ${counted(n, 'order', 'orders')}, ${pointsOf(points)}`,
    zh: `已付款 ${orders} 笔，共 ${points} ${POINTS}`,
  }),
  neverPaid: { en: 'The order ended without a payment.', zh: '订单未付款即已结束。' },
  noBuyer: { en: 'This order is not paid yet.', zh: '这笔订单尚未付款。' },
  numbers: { en: 'Numbers', zh: '编号' },
  orderId: { en: 'Order number', zh: '订单号' },
  transactionId: { en: 'Transaction ID', zh: '交易号' },
  tradeNo: { en: 'Trade number', zh: '平台订单号' },
  movements: { en: 'In the books', zh: '账本记录' },
  platformFee: { en: 'Platform fees', zh: '平台手续费' },
  request: { en: 'Original request', zh: '原始请求' },
  requestHint: {
    en: 'Signatures and secrets are hidden. Empty parameters are shown; they count as absent.',
    zh: '签名和密钥不显示；视为未提供的空参数也列出。',
  },
  fromAddress: { en: 'From address', zh: '来源地址' },
  hidden: { en: 'hidden', zh: '已隐藏' },
  leftOut: (n: number) => ({ en: `and ${n} more`, zh: `另有 ${n} 个` }),
  byAnswer: {
    en: 'The answer to the charge told your shop the result. With events, we notify it, too.',
    zh: '扣款接口的返回已告知商店结果。开启事件后，系统还会通知商店。',
  },
  ofLink: { en: 'Sold through a link', zh: '通过收款链接售出' },
  orderedByLink: { en: 'Ordered through a link', zh: '通过收款链接下单' },
  units: (n: number) => ({ en: `${n} ${counted(n, 'unit', 'units')}`, zh: `${n} 份` }),
  delivered: {
    none: { en: 'A receipt, at once.', zh: '付款后即得收据。' },
    text: { en: 'Delivered at once: the text of the link.', zh: '已即时交付：链接的文字内容。' },
    url: { en: 'Delivered at once: the address of the link.', zh: '已即时交付：链接的网址。' },
    codes: { en: 'Delivered at once', zh: '已即时交付' },
  } satisfies Record<DeliveryKind, Text>,
  byBrowserOnly: {
    en: 'Your shop learns the result from the buyer’s browser, or by querying the order. With events, we notify it at once.',
    zh: '商店通过买家的浏览器或主动查询得知结果。开启事件后，系统会立即通知商店。',
  },
  byQueryOnly: {
    en: 'The order has no notify_url, and the application had no notification address when it was placed. Your shop learns the result from the buyer’s browser, or by querying the order.',
    zh: '该订单没有 notify_url，创建时应用也未设置异步通知地址。商店通过买家的浏览器或主动查询得知结果。',
  },
  waits: { en: 'This page updates itself while something is under way.', zh: '处理期间本页会自动更新。' },
  frozen: { en: 'Frozen', zh: '已冻结' },
  payer: { en: 'Paid by', zh: '付款人' },
} satisfies Texts

/** Texts of the test of a shop's addresses. */
export const merchantAddresses = {
  lead: {
    en: 'Find out whether we can reach your shop. We call the address once, like a notification, but without parameters and signature. A shop that verifies signatures refuses that call, as it should.',
    zh: '测试我们能否访问你的商店。我们会像通知那样访问一次，但不带任何参数和签名：会验签的商店应当拒绝它，这是正确的。',
  },
  known: { en: 'Addresses of your shop', zh: '商店的地址' },
  kinds: {
    callback: { en: 'Callback address, where buyers come back', zh: '回调地址（买家付款后返回）' },
    own_notify: { en: 'Notification address of the application', zh: '应用的异步通知地址' },
    notify: { en: 'notify_url of the latest order', zh: '最近一笔订单的 notify_url' },
    return: { en: 'return_url of the latest order', zh: '最近一笔订单的 return_url' },
  },
  other: { en: 'Another address', zh: '其他地址' },
  try: { en: 'Test', zh: '测试' },
  noAnswer: { en: 'No response', zh: '无响应' },
  reached: { en: 'Reached.', zh: '可以访问。' },
  tooEasy: {
    en: 'Reached, but it confirms a notification that is not signed. Check that your shop verifies the signature before it trusts a payment.',
    zh: '可以访问，但它确认了没有签名的通知：请检查商店在相信付款之前是否验证签名。',
  },
  redirected: {
    en: 'Reached, but it redirects to another address. Browsers follow redirects, notifications do not, so a notify_url must be the final address.',
    zh: '可以访问，但会跳转到另一个地址。买家的浏览器会跟随跳转，通知不会，所以 notify_url 必须是最终地址。',
  },
  failed: {
    en: 'Reached, but your shop fails there. Check its log.',
    zh: '可以访问，但商店在那里出错了。请查看商店自己的日志。',
  },
} satisfies Texts

/** Texts of the transfers of a merchant. */
export const merchantTransfers = {
  empty: { en: 'No transfers yet', zh: '还没有转账' },
  emptyText: {
    en: `${POINTS} that you send to members appear here, whether from this page or through the API.`,
    zh: `转给成员的${POINTS}会显示在这里，包括在本页和通过接口转出的。`,
  },
  searchHint: { en: 'Order number, ID or recipient', zh: '订单号、交易号或收款人用户名' },
  recipient: { en: 'Recipient', zh: '收款人' },
  time: { en: 'Sent', zh: '转出时间' },
  send: { en: `Send ${POINTS}`, zh: `转出${POINTS}` },
  to: { en: 'Recipient’s username', zh: '收款人用户名' },
  amount: { en: `${POINTS} to send`, zh: `转出的${POINTS}` },
  orderId: { en: 'Order number', zh: '订单号' },
  orderIdHint: {
    en: 'Your own number for this transfer. The same number never transfers twice. Leave empty to have one assigned.',
    zh: '你自己的编号。同一个编号无论提交几次，只转一次。留空则自动生成。',
  },
  quote: { en: 'Continue', zh: '下一步' },
  offer: {
    have: (points: string) => ({ en: `${pointsOf(points)} available`, zh: `可用 ${points} ${POINTS}` }),
    ownersHave: (points: string) => ({
      en: `${pointsOf(points)} available to the owner`,
      zh: `所有者可用 ${points} ${POINTS}`,
    }),
    each: (min: string, max: string) => ({ en: `${min}–${max} each`, zh: `每位 ${min}–${max}` }),
    fee: (percent: string) => ({ en: `fee ${percent}%`, zh: `手续费 ${percent}%` }),
    free: { en: 'no fee', zh: '免手续费' },
    example: (amount: string, need: string) => ({
      en: `${need} for ${amount} to arrive`,
      zh: `到账 ${amount} 共扣 ${need}`,
    }),
    today: (left: string) => ({ en: `${left} left today`, zh: `今日还剩 ${left}` }),
  },
  limits: (min: string, max: string) => ({
    en: `${min} to ${pointsOf(max)} per transfer.`,
    zh: `每次 ${min} 至 ${max} ${POINTS}。`,
  }),
  leftToday: (left: string) => ({
    en: `${areLeft(left)} today. Days begin at midnight in China (UTC+8).`,
    zh: `今天还可转 ${left} ${POINTS}，每天从北京时间零点算起。`,
  }),
  have: { en: 'Your balance', zh: '当前余额' },
  need: { en: 'Total', zh: '共扣除' },
  after: { en: 'Balance after', zh: '转出后余额' },
  fee: { en: 'Fee, in addition', zh: '另付手续费' },
  sent: (points: string, username: string, fee: string) => ({
    en: `@${username} has received ${pointsOf(points)}. The fee was ${fee}.`,
    zh: `@${username} 已收到 ${points} ${POINTS}，手续费 ${fee}。`,
  }),
  confirmTitle: { en: `Send these ${POINTS}?`, zh: `确认转出这些${POINTS}？` },
  confirm: (formatted: string, username: string) => ({
    en: `Send ${pointsOf(formatted)} to @${username}`,
    zh: `向 @${username} 转出 ${formatted} ${POINTS}`,
  }),
  again: { en: `Submitting this page twice sends the ${POINTS} only once.`, zh: '重复提交本页只会转一次。' },
  signIn: { en: `Sign in again to send this many ${POINTS}`, zh: `转出这么多${POINTS}需要重新登录` },
  statuses: {
    completed: { en: 'Completed', zh: '已完成' },
    reversed: { en: 'Reversed', zh: '已冲正' },
  },
  faults: {
    recipient_mismatch: { en: 'There is no member with this username.', zh: '没有这个用户名的成员。' },
    transfer_to_self: { en: 'You cannot send to yourself.', zh: '不能转给自己。' },
    below_minimum: { en: 'This is below the minimum for one transfer.', zh: '低于每次转账的最低额度。' },
    above_maximum: { en: 'This is above the maximum for one transfer.', zh: '超过每次转账的最高额度。' },
    daily_limit_reached: { en: 'This is more than you can still send today.', zh: '超过今天剩余的额度。' },
    insufficient_points: {
      en: `You do not have enough ${POINTS} for the amount and the fee.`,
      zh: `你的${POINTS}不足以支付金额与手续费。`,
    },
    transfers_disabled: { en: 'Transfers are currently switched off.', zh: '转账功能目前已关闭。' },
    payments_paused: {
      en: 'Payments and transfers are paused for maintenance. Try again later.',
      zh: '系统维护中，暂停付款和转账，请稍后再试。',
    },
    wallet_frozen: { en: 'An administrator has frozen this wallet.', zh: '管理员已冻结这个钱包。' },
    application_unusable: {
      en: 'This application is not approved, so it cannot transfer.',
      zh: '此应用未通过审核，不能转账。',
    },
    parameter_invalid: {
      en: 'This order number was used for another transfer.',
      zh: '此订单号已用于另一笔转账。',
    },
    order_exists: {
      en: 'The transfer with this order number was reversed.',
      zh: '使用此订单号的转账已冲正。',
    },
    amount: { en: 'Enter a whole number from 1.', zh: '请填写不小于 1 的整数。' },
    order_id: {
      en: 'Enter at most 128 letters, digits and symbols, without spaces or &.',
      zh: '最多 128 个字符，可用字母、数字和符号，不含空格与 &。',
    },
  },
} satisfies Texts

/** Texts of the page of an application's mandates. */
export const merchantMandates = {
  lead: {
    en: 'Members who permit this application to charge them later, within limits. You charge by the HMAC API.',
    zh: '成员允许本应用日后在限额内扣款。扣款通过 HMAC API 进行。',
  },
  guide: { en: 'Guide', zh: '使用指南' },
  right: { en: 'The right to hold mandates', zh: '预授权资格' },
  rights: {
    none: { en: 'Not asked for', zh: '尚未申请' },
    asked: { en: 'Waiting for review', zh: '待审核' },
    granted: { en: 'Granted', zh: '已授予' },
    refused: { en: 'Refused', zh: '未通过' },
    withdrawn: { en: 'Withdrawn', zh: '已收回' },
  },
  testRight: { en: 'A test application needs no right.', zh: '测试应用无需申请。' },
  dailyMax: (formatted: string) => ({
    en: `All charges of a day: up to ${pointsOf(formatted)}.`,
    zh: `每日扣款合计最多 ${formatted} ${POINTS}。`,
  }),
  withdrawnText: {
    en: 'No charge is possible. Ask the staff to give the right back.',
    zh: '目前不能扣款。如需恢复请联系管理员。',
  },
  purpose: { en: 'What do you need mandates for?', zh: '申请用途' },
  purposeAsked: { en: 'Purpose', zh: '申请用途' },
  purposeHint: {
    en: '10 to 500 characters. An administrator reads it.',
    zh: '10 至 500 个字符，由管理员审核。',
  },
  ask: { en: 'Ask for the right', zh: '提交申请' },
  asked: { en: 'The staff will decide on the right.', zh: '已提交，等待管理员审核。' },
  link: { en: 'Sign-in application', zh: '登录应用' },
  linkHint: {
    en: 'Its access tokens may come with charges. Both applications must have the same owner.',
    zh: '扣款请求可附带该登录应用的访问令牌。两个应用的所有者须相同。',
  },
  noLink: { en: 'None', zh: '不关联' },
  linked: {
    en: 'Charges now take tokens of this sign-in application.',
    zh: '扣款现在接受此登录应用的令牌。',
  },
  unlinked: { en: 'Charges take tokens of no sign-in application.', zh: '扣款不再接受任何登录应用的令牌。' },
  notYours: { en: 'The owner has no such sign-in application.', zh: '所有者没有这个登录应用。' },
  expected: { en: 'Expected from fixed mandates in 30 days', zh: '30 天内固定金额预授权预计可扣' },
  list: { en: 'Mandates', zh: '预授权' },
  searchHint: { en: 'Reference, mandate_id or username', zh: '编号、mandate_id 或用户名' },
  empty: { en: 'No mandates', zh: '暂无预授权' },
  emptyText: {
    en: 'Offers that your shop makes appear here. The guide shows the request for one.',
    zh: '商店发起的邀请会显示在这里。使用指南说明如何发起。',
  },
  pending: { en: 'Offered', zh: '等待接受' },
  declined: { en: 'Declined', zh: '已拒绝' },
  lapsed: { en: 'Lapsed', zh: '已失效' },
  memberPaused: { en: 'Paused by the member', zh: '成员已暂停' },
  memberRevoked: { en: 'Revoked by the member', zh: '成员已撤销' },
  revoke: { en: 'Revoke', zh: '撤销' },
  reasonHint: { en: 'The member reads it.', zh: '成员会看到此理由。' },
  reasonWrong: { en: 'Say why in 1 to 255 characters.', zh: '请填写理由，1 至 255 个字符。' },
  revoked: (reference: string) => ({
    en: `The mandate ${reference} has ended.`,
    zh: `预授权 ${reference} 已结束。`,
  }),
} satisfies Texts
