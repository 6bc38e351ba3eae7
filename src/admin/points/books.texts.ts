/** Texts of the books: their proof, the daily closes, and the fees. */
import type { InvariantName } from '../../ledger/books.ts'
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const books = {
  title: { en: 'Books', zh: '账本' },
  lead: {
    en: 'Checked each day, and once a week from the first journal on.',
    zh: '每天核验新增部分，每周核验全部。',
  },
  never: { en: 'The books have not been checked yet.', zh: '账本尚未核验。' },
  at: { en: 'As of', zh: '截至' },
  pass: { en: 'The books balance', zh: '账本平衡' },
  fail: {
    en: 'The books do not balance',
    zh: '账本未通过核验',
  },
  proven: { en: 'The check is finished.', zh: '核验完成。' },
  everything: { en: 'everything', zh: '全部凭证' },
  sinceJournal: (id: string) => ({
    en: `what is new after journal ${id}`,
    zh: `凭证 ${id} 之后的新增部分`,
  }),
  checked: { en: 'Checked', zh: '已核验' },
  sums: (wallets: string, fees: string, issued: string) => ({
    en: `${wallets} in wallets and ${fees} in fees are the ${issued} issued.`,
    zh: `钱包 ${wallets} 与手续费 ${fees} 合计等于发行总额 ${issued}。`,
  }),
  prove: { en: 'Check now', zh: '立即核验' },
  whatHolds: { en: 'Rules', zh: '核验规则' },
  allHold: (n: number) => ({ en: `${n} ${counted(n, 'holds', 'hold')}`, zh: `${n} 条均成立` }),
  holds: { en: 'holds', zh: '成立' },
  broken: { en: 'broken', zh: '不成立' },
  notChecked: { en: 'not checked', zh: '未核验' },
  withoutKey: { en: 'needs APP_SECRET', zh: '缺少 APP_SECRET' },
  counts: (checked: string, broken: string) => ({
    en: `${checked} checked, ${broken} broken`,
    zh: `检查 ${checked}，异常 ${broken}`,
  }),
  more: (count: string) => ({ en: `and ${count} more`, zh: `另有 ${count} 条` }),
  wallets: { en: `${POINTS} in circulation`, zh: `流通中的${POINTS}` },
  fees: { en: 'Fees', zh: '手续费收入' },
  issued: { en: 'Issued', zh: '发行总额' },
  play: {
    en: `Play ${POINTS} of test mode, not in these totals`,
    zh: `测试模式的虚拟${POINTS}，不计入以上各项`,
  },
  playParts: (wallets: string, fees: string) => ({
    en: `${wallets} in wallets, ${fees} in fees`,
    zh: `钱包 ${wallets}，手续费 ${fees}`,
  }),
  seal: { en: 'Audit seal', zh: '审计校验链' },
  allSealed: (id: string) => ({ en: `through journal ${id}`, zh: `已含最新凭证 ${id}` }),
  sealsWait: (count: string) => ({ en: `${count} journals wait`, zh: `${count} 张凭证等待加入` }),
  unsealed: { en: 'no journal yet', zh: '还没有凭证' },
  sealed: { en: 'Last seal', zh: '最新校验值' },
  sealedHint: {
    en: 'Keep this line in another place. Later, tessera books verify --sealed with this line shows whether the chain before it was shortened or rewritten.',
    zh: '请把这一行保存在别处：日后运行 tessera books verify --sealed 并附上它，即可查出此前的校验链是否被截断或重写。',
  },
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
      zh: '已冲正的转账都有金额正确的冲正凭证，其余没有',
    },
    reversal_journals_have_transfers: {
      en: 'Every reversal journal belongs to one reversed transfer',
      zh: '每张冲正凭证对应一笔已冲正的转账',
    },
    points_come_from_grants: {
      en: `${POINTS} are issued and taken back only by grants and adjustments`,
      zh: `${POINTS}只经发放和调整产生或收回`,
    },
    charges_are_within_mandates: {
      en: 'Every charge is within its mandate: its member, its application and its caps',
      zh: '每笔扣款都符合其预授权：成员、应用和限额',
    },
    running_sums_are_sums: {
      en: 'Every running sum of a mandate’s period is the sum of its charges',
      zh: '预授权每期的累计额等于该期扣款之和',
    },
    charges_count_when_they_are_paid: {
      en: 'Every charge counts in the period in which it was paid',
      zh: '每笔扣款都计入其付款当日所在的一期',
    },
    payments_without_actor_are_charges: {
      en: 'Every payment without an actor is a charge under a mandate, and no other payment is',
      zh: '没有操作人的付款都是预授权扣款，其余付款都不是',
    },
    sales_are_of_links: {
      en: 'Every order of a link has its sale: its amount, its buyer and its application',
      zh: '每笔收款链接订单都有对应的销售记录：金额、买家和应用一致',
    },
    tips_pay_their_authors: {
      en: 'Every tip pays the author that it names',
      zh: '每笔打赏都付给所指的作者',
    },
    sold_units_are_sums: {
      en: 'Every running sum of a link is the sum of its sold units, within its limits',
      zh: '收款链接的累计销量等于已售数量之和，且不超过限量',
    },
    sales_have_their_delivery: {
      en: 'Every sale has exactly its delivery, and no unpaid order has one',
      zh: '每笔销售都恰好有其交付内容，未付款的订单没有',
    },
    paid_lines_have_transfers: {
      en: 'Every paid line of a payout has its transfer: its amount, its fee and its recipient',
      zh: '批量付款中每一行已付款都有对应的转账：金额、手续费和收款人一致',
    },
    takings_are_sums: {
      en: 'Every running total of a shop’s takings is the sum of its payments',
      zh: '商店收款的累计数等于其全部付款之和',
    },
    sales_are_sums: {
      en: 'A shop’s sums by day and product are those of its orders',
      zh: '商店按日和按商品的合计与其订单一致',
    },
    seals_hold: {
      en: 'No sealed journal was edited, deleted or inserted',
      zh: '校验链内的凭证没有被修改、删除或插入',
    },
    seals_are_ours: {
      en: 'Every seal was made with the key of this service',
      zh: '校验链均出自本服务的密钥',
    },
  } as Record<InvariantName, Text>,
  faults: {
    edited: { en: 'differs from its seal: it was edited', zh: '与校验链不符：被修改过' },
    deleted: { en: 'was deleted', zh: '已被删除' },
    inserted: {
      en: 'has no seal: it was inserted afterwards, or its seal was deleted',
      zh: '不在校验链内：事后插入，或校验记录被删除',
    },
    forged: {
      en: 'was sealed without the key: it, or one before it, was edited and sealed again',
      zh: '校验并非出自本服务的密钥：它或它之前的凭证被修改后重新生成',
    },
    foreign: { en: 'was sealed under another APP_SECRET', zh: '校验出自另一个 APP_SECRET' },
  } as Record<string, Text>,
} satisfies Texts

export const days = {
  title: { en: 'Daily closes', zh: '每日结账' },
  lead: {
    en: 'Written once after each day, in the live book. Days end at midnight in China (UTC+8), regardless of the site’s time zone.',
    zh: '每天结束后记录一次，以北京时间（UTC+8）零点为界，与站点时区无关。',
  },
  none: { en: 'The first day is closed an hour after it ends.', zh: '首日结束 1 小时后结账。' },
  day: { en: 'Day', zh: '日期' },
  columns: {
    paid: { en: 'Paid', zh: '付款' },
    given_back: { en: 'Refunded', zh: '退款' },
    transferred: { en: 'Transferred', zh: '转账' },
    fees: { en: 'Fees, net', zh: '手续费净额' },
    issued: { en: 'Issued, net', zh: '发行净额' },
    journals: { en: 'Journals', zh: '凭证数' },
  },
} satisfies Texts

export const fees = {
  title: { en: 'Fee account', zh: '手续费账户' },
  lead: {
    en: 'Every fee that was taken or returned. The balance is from the last check of the books.',
    zh: '每一笔收取或退还的手续费。余额取自最近一次账本核验。',
  },
  none: { en: 'No fees yet', zh: '还没有手续费' },
} satisfies Texts
