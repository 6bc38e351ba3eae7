/** Texts of the statement for paper. */
import type { Texts } from '../web/languages.ts'
import { POINTS } from '../web/site-words.ts'

export const paperStatement = {
  title: { en: 'Statement', zh: '对账单' },
  show: { en: 'Show', zh: '查看' },
  member: { en: 'Member', zh: '成员' },
  period: { en: 'Period', zh: '期间' },
  opening: { en: 'Opening balance', zh: '期初余额' },
  closing: { en: 'Closing balance', zh: '期末余额' },
  date: { en: 'Date', zh: '日期' },
  in: { en: 'In', zh: '收入' },
  out: { en: 'Out', zh: '支出' },
  /** Of a period that goes on. */
  soFar: { en: 'Balance so far', zh: '截至目前余额' },
  unit: (isTest: boolean) => ({
    en: `Amounts in ${isTest ? 'play ' : ''}${POINTS}`,
    zh: `单位：${isTest ? '虚拟' : ''}${POINTS}`,
  }),
  sums: { en: 'Totals', zh: '合计' },
  moneyIn: (rows: number) => ({ en: `In (${rows})`, zh: `收入（${rows} 笔）` }),
  moneyOut: (rows: number) => ({ en: `Out (${rows})`, zh: `支出（${rows} 笔）` }),
  nothing: { en: 'No movements in this time.', zh: '此期间没有变动。' },
  /** Of a sheet that does not begin or end with the period. */
  broughtForward: { en: 'Brought forward', zh: '承前页' },
  carriedForward: { en: 'Carried forward', zh: '转次页' },
  earlier: { en: 'The movements before these', zh: '查看更早的变动' },
  tooManyLater: {
    en: 'Balances are left out: too many movements are later than this time. The CSV file has them.',
    zh: '此后的变动过多，未列出余额。CSV 文件中有余额。',
  },
  worth: {
    en: `${POINTS} are not money, and this is not a tax document. Check it at (sign in first)`,
    zh: `${POINTS}不是货币，本对账单不能用于报税。登录后可在此核对：`,
  },
} satisfies Texts
