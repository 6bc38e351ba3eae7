/** Texts of the statistics of a merchant. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const statistics = {
  lead: (zone: string) => ({
    en: `Orders count on the day they were created. Days begin at midnight, ${zone}.`,
    zh: `订单计入创建当天。每天从零点开始（${zone}）。`,
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
  rate: { en: 'Paid, of ended orders', zh: '付款率（已结束的订单）' },
  rateText: (paid: string, ended: string, open: string, opened: number) => ({
    en: `${paid} of ${ended} that were paid, expired or cancelled. ${opened === 0 ? 'No order is still open.' : `${open} still open, not counted.`}`,
    zh: `已付款、过期或取消的 ${ended} 笔中付款 ${paid} 笔。${opened === 0 ? '没有仍可付款的订单。' : `另有 ${open} 笔仍可付款，未计入。`}`,
  }),
  ofCreated: (paid: string, share: string) => ({
    en: `${paid} paid, ${share} of all created`,
    zh: `已付款 ${paid} 笔，占全部创建订单的 ${share}`,
  }),
  points: { en: `${POINTS} paid`, zh: '收款' },
  pointsText: (received: string) => ({
    en: `${received} received after the fee`,
    zh: `扣除手续费后到账 ${received}`,
  }),
  received: { en: 'Received', zh: '到账' },
  refunded: { en: 'Refunded', zh: '退款' },
  refundedText: (orders: string, n: number, share: string) => ({
    en: `on ${orders} ${counted(n, 'order', 'orders')}, ${share} of what was paid`,
    zh: `${orders} 笔，占收款的 ${share}`,
  }),
  noRefunds: { en: 'No order was refunded', zh: '没有退款' },
  notRefunded: { en: 'Net received', zh: '净收款' },
  latency: { en: 'Time to confirm', zh: '商店确认耗时' },
  latencyOf: (delivered: string, atOnce: string) => ({
    en: `average of the last ${delivered} confirmed notifications; ${atOnce} at the first attempt`,
    zh: `最近 ${delivered} 条已确认通知的平均值；${atOnce} 首次即确认`,
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
  file: { en: 'Export all products (CSV)', zh: '导出全部商品（CSV）' },
  noProducts: { en: 'No sales in this period', zh: '这段时间没有售出商品' },
  noProductsText: {
    en: 'Choose a longer period, or check the orders that were not paid.',
    zh: '可以选择更长的时间，或查看未付款的订单。',
  },
} satisfies Texts
