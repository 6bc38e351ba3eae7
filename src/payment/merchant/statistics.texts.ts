/** Texts of the statistics of a merchant. */
import type { Texts } from '../../web/languages.ts'
import { pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const statistics = {
  lead: {
    en: 'Orders count on the day on which they were created. A day begins at midnight in China (UTC+8), a week on Monday.',
    zh: '订单按创建日期计入。每天从北京时间零点开始，每周从周一开始。',
  },
  by: { en: 'Show by', zh: '统计单位' },
  units: {
    day: { en: 'Day', zh: '日' },
    week: { en: 'Week', zh: '周' },
  },
  show: { en: 'Show', zh: '查看' },
  orders: { en: 'Orders', zh: '订单' },
  paid: { en: 'Paid', zh: '已付款' },
  notPaid: { en: 'Not paid', zh: '未付款' },
  successRate: { en: 'Success rate', zh: '付款成功率' },
  points: { en: `${POINTS} paid`, zh: `付款${POINTS}` },
  received: { en: 'Received after the fee', zh: '扣除手续费后入账' },
  refunded: { en: 'Given back', zh: '已退还' },
  kept: { en: 'Kept', zh: '未退还' },
  latency: { en: 'Until your shop confirmed', zh: '商店确认耗时' },
  latencyOf: (delivered: string, atOnce: string) => ({
    en: `on average, of the latest ${delivered} confirmed; ${atOnce} at the first attempt`,
    zh: `为最近 ${delivered} 条已确认通知的平均值；${atOnce} 首次即确认`,
  }),
  ordersChart: {
    en: 'A bar for each period: orders, and of them those that were paid. The table below has the figures.',
    zh: '每个时间段一根柱：订单数及其中已付款的数量。具体数字见下方表格。',
  },
  pointsChart: {
    en: `A bar for each period: ${POINTS} paid, and of them those not given back. The table below has the figures.`,
    zh: `每个时间段一根柱：付款${POINTS}及其中未退还的部分。具体数字见下方表格。`,
  },
  table: { en: 'The figures as a table', zh: '以表格查看数字' },
  products: { en: 'What sold best', zh: '热销商品' },
  noProducts: { en: 'Nothing was sold in this time.', zh: '这段时间没有售出商品。' },
  sold: (times: string, points: string) => ({
    en: `${times} × · ${pointsOf(points)}`,
    zh: `${times} 次 · ${points} ${POINTS}`,
  }),
} satisfies Texts
