/** Texts of the books: their proof, the daily closes, and the fees. */
import type { InvariantName } from '../../ledger/books.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const books = {
  title: { en: 'Books', zh: '账本' },
  lead: {
    en: 'Proven once a day, and whenever you ask. In a large database a proof takes minutes.',
    zh: '每天核验一次，也可随时手动核验。数据库较大时需要数分钟。',
  },
  never: { en: 'The books have not been proven yet.', zh: '账本尚未核验。' },
  pass: { en: 'Every invariant holds.', zh: '所有规则均成立。' },
  fail: { en: 'The books do not pass.', zh: '账本未通过核验。' },
  provenAt: { en: 'Proven', zh: '核验于' },
  prove: { en: 'Prove the books now', zh: '立即核验' },
  open: { en: 'Look at the books', zh: '查看账本' },
  whatHolds: { en: 'What must hold', zh: '必须成立的规则' },
  holds: { en: 'holds', zh: '成立' },
  broken: { en: 'broken', zh: '不成立' },
  notChecked: { en: 'open', zh: '未查' },
  withoutKey: { en: 'not checked, for want of APP_SECRET', zh: '缺少 APP_SECRET，未核验' },
  counts: (checked: string, broken: string) => ({
    en: `${checked} checked, ${broken} broken`,
    zh: `检查 ${checked}，异常 ${broken}`,
  }),
  more: (count: string) => ({ en: `and ${count} more`, zh: `另有 ${count} 条` }),
  figures: { en: 'Figures', zh: '数据' },
  wallets: { en: 'In the wallets of members', zh: '成员钱包合计' },
  fees: { en: 'Taken in fees', zh: '手续费收入' },
  issued: { en: 'Issued in all', zh: '发行总额' },
  play: {
    en: `Play ${POINTS} of test mode, apart from all of these`,
    zh: `测试模式的虚拟${POINTS}，不计入以上各项`,
  },
  playParts: (wallets: string, fees: string) => ({
    en: `${wallets} in wallets, ${fees} in fees`,
    zh: `钱包 ${wallets}，手续费 ${fees}`,
  }),
  sealed: { en: 'Last seal', zh: '最后的封印' },
  sealedHint: {
    en: 'Keep this line elsewhere: npm run books -- --sealed and the line shows later whether the chain before it was cut off or written anew.',
    zh: '请把这一行保存在别处：日后用 npm run books -- --sealed 加上它，即可查出此前的链是否被截断或重写。',
  },
  unsealed: { en: 'Journals waiting for their seal', zh: '等待封印的凭证' },
  invariants: {
    entries_sum_to_zero: { en: 'All entries of a book sum to zero', zh: '每个账簿的分录合计为零' },
    journals_sum_to_zero: { en: 'Every journal sums to zero', zh: '每张凭证合计为零' },
    balances_are_sums: { en: 'Every stored balance is the sum of its entries', zh: '每个余额等于其分录之和' },
    none_below_zero: { en: 'No wallet and no fee account is below zero', zh: '钱包和手续费账户均不为负' },
    no_journal_mixes_books: { en: 'No journal mixes books', zh: '凭证不跨账簿' },
    paid_orders_have_journals: {
      en: 'Every paid order has its payment journal, with the right amounts',
      zh: '每笔已付订单都有金额正确的付款凭证',
    },
    payment_journals_have_orders: {
      en: 'Every payment journal belongs to one paid order',
      zh: '每张付款凭证对应一笔已付订单',
    },
    orders_are_refunded_by_refunds: {
      en: 'Every order has been refunded by the sum of its refunds, and by its amount at most',
      zh: '订单的已退金额等于退款之和，且不超过订单金额',
    },
    refunds_have_journals: {
      en: 'Every refund has its journal, with the right amounts',
      zh: '每笔退款都有金额正确的凭证',
    },
    refund_journals_have_refunds: {
      en: 'Every refund journal belongs to one refund',
      zh: '每张退款凭证对应一笔退款',
    },
    transfers_have_journals: {
      en: 'Every transfer has its journal, with the right amounts',
      zh: '每笔转账都有金额正确的凭证',
    },
    transfer_journals_have_transfers: {
      en: 'Every transfer journal belongs to one transfer',
      zh: '每张转账凭证对应一笔转账',
    },
    reversed_transfers_have_reversals: {
      en: 'Every reversed transfer has its reversal, with the right amounts, and no other has one',
      zh: '已撤销的转账都有金额正确的撤销凭证，其余没有',
    },
    reversal_journals_have_transfers: {
      en: 'Every reversal journal belongs to one reversed transfer',
      zh: '每张撤销凭证对应一笔已撤销的转账',
    },
    points_come_from_grants: {
      en: `${POINTS} are issued and taken back by grants and adjustments alone`,
      zh: `${POINTS}只经发放和调整产生或收回`,
    },
    seals_hold: {
      en: 'No sealed journal was edited, deleted or inserted',
      zh: '已封印的凭证没有被修改、删除或插入',
    },
    seals_are_ours: {
      en: 'Every seal was made with the key of this service',
      zh: '所有封印均出自本服务的密钥',
    },
  } as Record<InvariantName, Text>,
  faults: {
    edited: { en: 'does not fit its seal: it was edited', zh: '与封印不符：被修改过' },
    deleted: { en: 'is gone: it was deleted', zh: '不存在：已被删除' },
    inserted: {
      en: 'has no seal: it was inserted afterwards, or its seal was deleted',
      zh: '没有封印：事后插入，或封印被删除',
    },
    forged: {
      en: 'was sealed without the key: it, or one before it, was edited and sealed again',
      zh: '封印并非出自本服务的密钥：它或它之前的凭证被修改后重新封印',
    },
    foreign: { en: 'was sealed under another APP_SECRET', zh: '封印出自另一个 APP_SECRET' },
  } as Record<string, Text>,
} satisfies Texts

export const days = {
  title: { en: 'Days closed', zh: '每日结账' },
  lead: {
    en: `What each day has moved, in ${POINTS}, written down once after it is over. A day ends at midnight in China (UTC+8).`,
    zh: `每天结束后记录一次当日的${POINTS}变动，以北京时间零点为界。`,
  },
  day: { en: 'Day', zh: '日期' },
  journals: { en: 'Journals', zh: '凭证数' },
  paid: { en: 'Paid', zh: '付款' },
  transferred: { en: 'Transferred', zh: '转账' },
  givenBack: { en: 'Given back', zh: '退还' },
  fees: { en: 'Fees, net', zh: '手续费净额' },
  issued: { en: 'Issued, net', zh: '发行净额' },
} satisfies Texts

export const fees = {
  title: { en: 'The platform’s fees', zh: '平台手续费账户' },
  lead: {
    en: 'Every movement of the account that fees go to, and come back from. Its balance is their sum.',
    zh: '手续费账户的每一笔收支，余额即其总和。',
  },
} satisfies Texts
