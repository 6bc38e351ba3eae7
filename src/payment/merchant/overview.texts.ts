/** Texts of the overview of an application, and of its statistics. */
import { common } from '../../web/common.texts.ts'
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const overview = {
  asOf: { en: 'Updated', zh: '更新时间' },
  statistics: { en: 'All statistics', zh: '全部统计' },
  today: { en: 'Paid today', zh: '今日收款' },
  todayText: (paid: string, n: number, received: string) => ({
    en: `${paid} ${counted(n, 'payment', 'payments')}, ${received} received after the fee`,
    zh: `${paid} 笔，扣除手续费后到账 ${received}`,
  }),
  quiet: { en: 'No payments today or yesterday', zh: '今天和昨天都没有付款' },
  more: (points: string) => ({
    en: `${points} more than yesterday at this time`,
    zh: `比昨天此时多 ${points}`,
  }),
  less: (points: string) => ({
    en: `${points} less than yesterday at this time`,
    zh: `比昨天此时少 ${points}`,
  }),
  /** What the range has more or less than as many days before. */
  onBefore: (signed: string, days: number) => ({
    en: `${signed} on the ${days} days before`,
    zh: `较此前 ${days} 天 ${signed}`,
  }),
  same: { en: 'As much as yesterday at this time', zh: '与昨天此时相同' },
  compared: { en: 'Today against yesterday', zh: '今天与昨天' },
  compare: {
    today: { en: 'Today', zh: '今天' },
    soFar: { en: 'Yesterday by this time', zh: '昨天此时' },
    yesterday: { en: 'Yesterday in all', zh: '昨天全天' },
  },
  rate: { en: 'Payment rate', zh: '付款成功率' },
  rateText: (paid: string, finished: string, n: number) => ({
    en: `${paid} of ${finished} finished ${counted(n, 'order', 'orders')}`,
    zh: `${finished} 笔已结束的订单中付款 ${paid} 笔`,
  }),
  noRate: { en: 'No order has finished yet', zh: '还没有已结束的订单' },
  newest: {
    days: { en: 'Orders created in the last 30 days.', zh: '近 30 天创建的订单。' },
    cut: (looked: string) => ({ en: `The newest ${looked} orders.`, zh: `最近 ${looked} 笔订单。` }),
  },
  stillOpen: (formatted: string, n: number) => ({
    en: `${formatted} ${counted(n, 'is', 'are')} still open and not counted.`,
    zh: `${formatted} 笔仍可付款，未计入。`,
  }),
  latency: { en: 'Time to confirm', zh: '商店确认耗时' },
  median: (delivered: string) => ({
    en: `From payment to confirmation, median of the newest ${delivered}`,
    zh: `从付款到确认，最近 ${delivered} 条的中位数`,
  }),
  retried: (retried: string, delivered: string) => ({
    en: `${retried} of ${delivered} needed a retry`,
    zh: `${delivered} 条中有 ${retried} 条经过重试`,
  }),
  noneRetried: (delivered: string, n: number) => ({
    en: `${n === 1 ? 'It was' : `All ${delivered} were`} confirmed at the first attempt`,
    zh: `${delivered} 条都在首次通知时确认`,
  }),
  chart: { en: 'Paid in 30 days', zh: '近 30 天收款' },
  chartLabel: (from: string, until: string, sum: string) => ({
    en: `${POINTS} paid each day from ${from} to ${until}: ${sum} in all. The table below has the figures.`,
    zh: `${from} 至 ${until} 每天的收款，共 ${sum}。数字见下方表格。`,
  }),
  payments: { en: 'Payments', zh: '付款笔数' },
  figures: { en: 'Show the figures', zh: '查看数字' },
  lastOrders: { en: 'Last orders', zh: '最近订单' },
  allOrders: { en: 'All orders', zh: '全部订单' },
  bestSellers: { en: 'Best sellers', zh: '热销商品' },
  paidUnconfirmed: (what: string) => ({
    en: `${what} is paid, but your shop has not confirmed it`,
    zh: `${what} 已付款，但商店尚未确认`,
  }),
  unconfirmed: (what: string, kind: string) => ({
    en: `${what}: your shop has not confirmed “${kind}”`,
    zh: `${what}：商店尚未确认“${kind}”`,
  }),
  troubleText: (host: string, answer: string) => ({ en: `${host}: ${answer}`, zh: `${host}：${answer}` }),
  buyerWaits: (points: string) => ({
    en: `A buyer paid ${points} and may be waiting.`,
    zh: `买家已支付 ${points}，可能正在等待。`,
  }),
  tries: (attempts: number) => ({ en: `${attempts} of 6 attempts`, zh: `已尝试 ${attempts} 次，共 6 次` }),
  noMoreTries: {
    en: 'It is not sent again unless you ask.',
    zh: '不会再自动重发。',
  },
  troubleLink: { en: 'What it answered', zh: '查看响应' },
  otherTrouble: (n: number, formatted: string) => ({
    en: `${formatted} other ${counted(n, 'notification is', 'notifications are')} not confirmed`,
    zh: `另有 ${formatted} 条通知未确认`,
  }),
  status: (code: number) => ({ en: `HTTP ${code}.`, zh: `HTTP ${code}。` }),
  needs: { en: 'Needs attention', zh: '需要处理' },
  request: { en: 'A refund request waits for an administrator', zh: '退款申请等待管理员处理' },
  ending: {
    token: { en: 'The previous token expires soon', zh: '旧 Token 即将失效' },
    event_secret: { en: 'The previous event secret expires soon', zh: '旧的事件密钥即将失效' },
  },
  until: { en: 'Accepted until', zh: '有效至' },
  lastUsed: { en: 'Last used', zh: '最近使用' },
  refused: (n: number, formatted: string) => ({
    en: `${formatted} ${counted(n, 'request was', 'requests were')} refused in 24 hours`,
    zh: `24 小时内有 ${formatted} 个请求被拒绝`,
  }),
  refusedText: { en: 'The signature debugger shows why.', zh: '原因见签名调试。' },
  formerOwners: { en: 'A former owner knows this application’s token', zh: '原所有者知道此应用的 Token' },
  formerOwnersText: {
    en: 'Transfers through the API wait until you replace it.',
    zh: '更换之前，接口不能转账。',
  },
  eventsGone: { en: 'Events were switched off', zh: '事件已关闭' },
  eventsGoneText: { en: 'Your address answered 410 Gone:', zh: '你的地址返回了 410 Gone：' },
  unreviewedText: {
    en: `Sales continue. The pay page shows “${common.reviewed.en}” again after the next review.`,
    zh: `照常收款；再次审核后，付款页会重新显示“${common.reviewed.zh}”。`,
  },
  review: {
    pending: { en: 'This application waits for its review', zh: '正在等待管理员审核' },
    rejected: { en: 'This application was rejected', zh: '申请已被驳回' },
    suspended: { en: 'This application is suspended', zh: '此应用已停用' },
  },
  pendingLinks: {
    en: 'It cannot take payments until an administrator has approved it. Meanwhile, prepare your payment link.',
    zh: '通过之前不能收款。你可以先准备收款链接。',
  },
  linkLow: (title: string, left: number) => ({
    en: `${title}: ${left} left`,
    zh: `${title}：剩余 ${left} 份`,
  }),
  linkLowText: { en: 'Raise its stock to keep selling.', zh: '请提高库存。' },
  linkCodesText: { en: 'Add codes to keep selling.', zh: '请补充卡密。' },
  linkSoldOut: (title: string) => ({ en: `${title}: sold out`, zh: `${title}：已售罄` }),
  linkWaiting: (n: number) => ({
    en: `${n} ${counted(n, 'message waits', 'messages wait')} for your approval`,
    zh: `有 ${n} 条留言等待批准`,
  }),
  reviewText: {
    pending: {
      en: 'It cannot take payments until an administrator has approved it. Meanwhile, connect your shop with a test application.',
      zh: '通过之前不能收款。你可以先用测试应用接入商店。',
    },
    rejected: { en: 'Make the requested changes, and apply again.', zh: '按审核意见修改后，可以重新申请。' },
    suspended: {
      en: 'It cannot take payments. Earlier orders, their refunds and notifications are not affected.',
      zh: '不能收款；已有订单、退款和通知不受影响。',
    },
  },
  steps: {
    live: { en: 'Getting ready', zh: '上线准备' },
    test: { en: 'First test payment', zh: '第一笔测试付款' },
  },
  stepsDone: (done: number, all: number) => ({
    en: `${done} of ${all} done`,
    zh: `完成 ${done} 步，共 ${all} 步`,
  }),
  step: {
    created: { en: 'Create the application', zh: '创建应用' },
    tested: { en: `Pay one order with play ${POINTS}`, zh: `用虚拟${POINTS}付一笔测试订单` },
    reviewed: { en: 'Pass the review', zh: '通过审核' },
    ordered: { en: 'Let your shop create an order', zh: '让商店创建第一笔订单' },
    paid: { en: 'Receive the first payment', zh: '收到第一笔付款' },
    linked: { en: 'Make your first payment link', zh: '创建第一个收款链接' },
    published: { en: 'Publish the link', zh: '发布收款链接' },
    sold: { en: 'Make the first sale', zh: '卖出第一份' },
  },
  stepText: {
    linked: {
      en: 'A title, a price, and what the buyer gets. You can prepare it before the review.',
      zh: '填写标题、价格和买家得到的内容；审核前即可准备。',
    },
    published: {
      en: 'Look at the page as buyers will see it, and publish it there.',
      zh: '先查看买家将看到的页面，再在那里发布。',
    },
    sold: {
      en: 'Share its address. Alone on a line of a forum post it becomes a preview with the price.',
      zh: '分享它的地址；在论坛帖子中单独成行时，会显示带价格的预览。',
    },
    tested: {
      en: 'A test application works at once and without a review.',
      zh: '测试应用无需审核，立即可用。',
    },
    reviewed: {
      en: 'An administrator checks the name, description and addresses.',
      zh: '管理员会查看名称、简介和地址。',
    },
    ordered: {
      en: 'Enter the pid, keys and addresses in your shop.',
      zh: '把 pid、密钥和接口地址填入商店。',
    },
    paid: {
      en: 'Open the payment link of an order and pay it as a buyer would.',
      zh: '打开一笔订单的付款链接，像买家一样付款。',
    },
  },
  /** In a test application, whose members all have play points. */
  linkedText: { en: 'A title, a price, and what the buyer gets.', zh: '填写标题、价格和买家得到的内容。' },
  boughtText: {
    en: `Open its page and buy it yourself, with play ${POINTS}.`,
    zh: `打开它的页面，用虚拟${POINTS}自己买一份。`,
  },
  stepLink: {
    bought: { en: 'Open the page', zh: '打开页面' },
    tested: { en: 'Open the test application', zh: '打开测试应用' },
    testedNew: { en: 'Create a test application', zh: '创建测试应用' },
    reviewed: { en: 'Settings', zh: '应用设置' },
    ordered: { en: 'Keys and gateway', zh: '密钥与网关' },
    paid: { en: 'Orders', zh: '查看订单' },
    linked: { en: 'New link', zh: '新建收款链接' },
    published: { en: 'Preview and publish', zh: '预览并发布' },
    sold: { en: 'Share the link', zh: '分享收款链接' },
  },
  byLink: { en: 'How a link sells', zh: '收款链接如何售卖' },
  byLinkText: {
    en: 'You share its address. A buyer signs in, pays, and has the code, the text or the address on the receipt at that moment.',
    zh: '你分享它的地址，买家登录并付款，随即在收据上得到卡密、文字或网址。',
  },
  ownProgram: { en: 'You also sell with a program of your own?', zh: '也用自己的程序售卖？' },
  noOrders: {
    en: 'After the first order, this page shows the figures of today and of 30 days.',
    zh: '商店创建订单后，这里会显示今天和近 30 天的数据。',
  },
} satisfies Texts

/** Texts of the statistics of a merchant. */
export const statistics = {
  lead: (zone: string) => ({
    en: `Orders count on the day they were created (${zone}).`,
    zh: `订单计入创建当天（${zone}）。`,
  }),
  ranges: { en: 'Period', zh: '时间范围' },
  days: (n: number) => ({ en: `${n} days`, zh: `近 ${n} 天` }),
  from: { en: 'From', zh: '从' },
  until: { en: 'To', zh: '至' },
  show: { en: 'Show', zh: '查看' },
  byWeek: {
    en: 'Long periods are shown by week. Weeks begin on Monday.',
    zh: '时间较长，按周显示，每周从周一开始。',
  },
  units: {
    day: { en: 'Day', zh: '日' },
    week: { en: 'Week of', zh: '周（起始日）' },
  },
  orders: { en: 'Orders', zh: '订单' },
  created: { en: 'Orders created', zh: '创建的订单' },
  paid: { en: 'Paid', zh: '已付款' },
  notPaid: { en: 'Not paid', zh: '未付款' },
  rate: { en: 'Payment rate', zh: '付款成功率' },
  rateText: (paid: string, ended: string, open: string, opened: number) => ({
    en: `${paid} of ${ended} finished${opened === 0 ? '' : `, ${open} still open`}`,
    zh: `已结束 ${ended} 笔，付款 ${paid} 笔${opened === 0 ? '' : `，另有 ${open} 笔仍可付款`}`,
  }),
  paidOf: (paid: string, orders: string) => ({
    en: `${paid} of ${orders} paid`,
    zh: `付款 ${paid}/${orders}`,
  }),
  ofCreated: (paid: string, share: string) => ({
    en: `${paid} paid, ${share} of all created`,
    zh: `已付款 ${paid} 笔，占全部创建订单的 ${share}`,
  }),
  /** The figure of as many days before. It fits one line of a tile on a phone. */
  before: (figure: string) => ({ en: `before: ${figure}`, zh: `此前 ${figure}` }),
  points: { en: `${POINTS} paid`, zh: '收款' },
  pointsText: (received: string) => ({
    en: `${received} received after the fee`,
    zh: `扣除手续费后到账 ${received}`,
  }),
  received: { en: 'Received', zh: '到账' },
  refunded: { en: 'Refunded', zh: '退款' },
  refundedText: (orders: string, n: number, share: string) => ({
    en: `${orders} ${counted(n, 'order', 'orders')}, ${share} of paid`,
    zh: `${orders} 笔，占收款的 ${share}`,
  }),
  noRefunds: { en: 'No order was refunded', zh: '没有退款' },
  notRefunded: { en: 'Paid less refunds, before the fee', zh: '付款减退款（未扣手续费）' },
  pointsOf: (paid: string, refunded: string) => ({
    en: `${paid} paid, ${refunded} refunded`,
    zh: `付款 ${paid}，退款 ${refunded}`,
  }),
  ordersChart: (from: string, until: string) => ({
    en: `Orders from ${from} to ${until}, paid and not paid. The table below has the figures.`,
    zh: `${from} 至 ${until} 的订单数，已付款与未付款。数字见下方表格。`,
  }),
  pointsChart: (from: string, until: string) => ({
    en: `${POINTS} paid from ${from} to ${until}, kept and refunded. The table below has the figures.`,
    zh: `${from} 至 ${until} 的收款，净收款与退款。数字见下方表格。`,
  }),
  table: { en: 'Show the figures', zh: '查看数字' },
  products: { en: 'Best sellers', zh: '热销商品' },
  sold: (paid: string) => ({ en: `${paid} sold`, zh: `${paid} 笔` }),
  product: { en: 'Product', zh: '商品' },
  /** Columns of the products: the first counts orders, and the others add up points. */
  columns: {
    paid: { en: 'Orders paid', zh: '付款笔数' },
    refunded: { en: `${POINTS} refunded`, zh: `退款${POINTS}` },
    points: { en: `${POINTS} paid`, zh: `收款${POINTS}` },
  },
  file: { en: 'Export all products (CSV)', zh: '导出全部商品（CSV）' },
  noProducts: { en: 'No sales in this period', zh: '这段时间没有售出商品' },
  noProductsText: {
    en: 'Choose a longer period, or check the orders that were not paid.',
    zh: '可以选择更长的时间，或查看未付款的订单。',
  },
} satisfies Texts
