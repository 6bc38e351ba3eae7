/** Texts of the orders of a merchant. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const merchantOrders = {
  searchHint: {
    en: 'Your own number, the transaction or the trade number; or words of what was sold.',
    zh: '商户订单号、交易号或 trade_no；也可以是商品名称中的文字。',
  },
  more: { en: `By buyer, ${POINTS} or day`, zh: `按买家、${POINTS}或日期筛选` },
  buyer: { en: 'Buyer’s username', zh: '买家用户名' },
  min: { en: `${POINTS}, from`, zh: `${POINTS}，最少` },
  max: { en: `${POINTS}, to`, zh: `${POINTS}，最多` },
  from: { en: 'Created from', zh: '创建日期，从' },
  until: { en: 'Created until', zh: '创建日期，至' },
  dayHint: {
    en: 'A day begins at midnight in China (UTC+8), as in every figure here.',
    zh: '与这里的所有统计一样，一天从北京时间零点（UTC+8）开始。',
  },
  empty: { en: 'Nobody has been sent here to pay yet.', zh: '还没有买家被带到这里付款。' },
  export: { en: 'As a file (CSV)', zh: '导出文件（CSV）' },
  exportRows: (formatted: string, rows: number) => ({
    en: `${formatted} ${counted(rows, 'order fits', 'orders fit')} what you were looking for.`,
    zh: `有 ${formatted} 个订单符合当前的筛选条件。`,
  }),
  exportCapped: (formatted: string) => ({
    en: `There are more. The file ends after the newest ${formatted}: narrow the days to get the others.`,
    zh: `还有更多。文件只包含最新的 ${formatted} 个：请缩小日期范围来取得其余的订单。`,
  }),
  exportHint: {
    en: 'For spreadsheets: UTF-8, times in UTC, columns named as in the API. A text that a spreadsheet would run as a formula begins with an apostrophe.',
    zh: '供电子表格使用：UTF-8 编码，时间为 UTC，列名与 API 相同。会被电子表格当作公式执行的文字前面加了一个撇号。',
  },
  download: { en: 'Download', zh: '下载' },
  timeline: { en: 'What happened', zh: '经过' },
  events: {
    created: { en: 'Created', zh: '创建' },
    viewed: { en: 'Opened to pay', zh: '打开付款页面' },
    paid: { en: 'Paid', zh: '已支付' },
    expired: { en: 'The time to pay was over', zh: '超过付款时间' },
    closed: { en: 'Cancelled by your shop', zh: '被商家取消' },
    refunded: { en: 'Given back', zh: '已退款' },
    refundAsked: { en: 'Refund asked for', zh: '申请退款' },
    refundDeclined: { en: 'Refund declined', zh: '退款申请被拒绝' },
    refundWithdrawn: { en: 'Request for a refund withdrawn', zh: '退款申请已撤回' },
  },
  viewers: (times: number) => ({
    en: `by ${times} ${counted(times, 'member', 'members')}; this was the first`,
    zh: `共 ${times} 位用户，这是第一次`,
  }),
  told: { en: 'Shop told', zh: '通知商家' },
  shares: { en: 'Who gets what', zh: '金额明细' },
  paidByBuyer: { en: 'The buyer pays', zh: '买家支付' },
  rounded: { en: `rounded to whole ${POINTS}`, zh: `四舍五入为整数${POINTS}` },
  fee: { en: 'Fee', zh: '手续费' },
  feeOf: (percent: string) => ({ en: `${percent} % of it`, zh: `占 ${percent} %` }),
  feePending: { en: 'Worked out when it is paid.', zh: '付款时计算。' },
  received: { en: 'Your share', zh: '你的所得' },
  refundedShare: (points: string, fee: string) => ({
    en: `−${points}, of which ${fee} from the fee`,
    zh: `−${points}，其中 ${fee} 来自手续费`,
  }),
  movements: { en: 'In the ledger', zh: '账本记录' },
  platformFee: { en: 'Fees of the platform', zh: '平台手续费' },
  request: { en: 'The request, as received', zh: '收到的请求' },
  requestHint: {
    en: 'Signatures and secrets are not shown. Parameters that count as absent are.',
    zh: '签名和密钥不显示；视为未提供的空参数也列出。',
  },
  fromAddress: { en: 'From address', zh: '来源地址' },
  hidden: { en: 'hidden', zh: '已隐藏' },
  leftOut: (n: number) => ({ en: `and ${n} more`, zh: `另有 ${n} 个` }),
  noRequest: { en: 'The request was not kept.', zh: '没有保存这个请求。' },
  byBrowserOnly: {
    en: 'Your shop learns of this order from its buyer’s browser, or by asking.',
    zh: '商家通过买家的浏览器或主动查询得知这个订单的结果。',
  },
  frozen: { en: 'Frozen', zh: '已冻结' },
  payer: { en: 'Paid by', zh: '付款人' },
} satisfies Texts
