/** Texts of refunds, reversals, grants and adjustments. */
import type { Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const adjustments = {
  title: { en: 'Refunds and adjustments', zh: '退款与调整' },
  /** In the navigation, where the title would take two lines. */
  nav: { en: 'Adjustments', zh: '调整' },
  lead: {
    en: 'Each act adds new entries to the books. The members concerned see the reason.',
    zh: '每次操作都会新增账目，当事成员能看到理由。',
  },
  find: { en: 'Number of an order or transfer', zh: '订单或转账的编号' },
  search: { en: 'Search', zh: '搜索' },
  nothing: { en: 'No order or transfer has this number', zh: '没有与此编号相符的订单或转账' },
  nothingText: {
    en: 'Enter a transaction ID, a trade number or the shop’s order number.',
    zh: '请输入交易号、平台订单号或商户的订单号。',
  },
  refund: { en: 'Refund', zh: '退款' },
  reversal: { en: 'Reverse the transfer', zh: '冲正转账' },
  amount: { en: 'Amount', zh: '金额' },
  toRefundPoints: { en: `${POINTS} to refund`, zh: `退还${POINTS}` },
  leftOf: (left: string, whole: string) => ({
    en: `${left} of ${whole} left`,
    zh: `还可退 ${left}，共 ${whole}`,
  }),
  fee: { en: 'fee', zh: '手续费' },
  refundedSoFar: { en: 'Refunded so far', zh: '已退款' },
  withFee: { en: 'The platform returns its part of the fee', zh: '平台同时退还相应手续费' },
  reasonHint: { en: 'Both members see it.', zh: '双方都能看到。' },
  toRefund: { en: 'Next: check the refund', zh: '下一步：核对退款' },
  toReversal: { en: 'Next: check the reversal', zh: '下一步：核对冲正' },
  points: { en: `Give or take ${POINTS}`, zh: `发放或扣除${POINTS}` },
  direction: { en: 'Act', zh: '操作' },
  directions: { give: { en: 'Give', zh: '发放' }, take: { en: 'Take', zh: '扣除' } },
  seen: { en: 'The member sees it in the statement.', zh: '成员能在明细中看到。' },
  many: { en: 'Several members at once', zh: '批量调整多位成员' },
  lines: { en: 'One member per line', zh: '每行一位成员' },
  linesHint: {
    en: 'Write username,amount on each line. A negative amount deducts. You see the total before anything moves.',
    zh: '每行写“用户名,金额”，负数为扣除。执行前会显示合计供你核对。',
  },
  check: { en: 'Next: check', zh: '下一步：核对' },
  balanceOf: (username: string) => ({ en: `Balance of @${username}`, zh: `@${username} 的余额` }),
  feeBack: { en: 'From the platform’s fee', zh: '平台退还手续费' },
  none: { en: 'none', zh: '无' },
  leftAfter: { en: 'Left to refund after this', zh: '此后还可退' },
  of: (part: string, whole: string) => ({ en: `${part} of ${whole}`, zh: `${part} / ${whole}` }),
  granted: { en: 'Granted in total', zh: '发放合计' },
  taken: { en: 'Deducted in total', zh: '扣除合计' },
  members: { en: 'Members', zh: '成员数' },
  moreLines: (count: string) => ({
    en: `and ${count} more ${count === '1' ? 'line' : 'lines'}`,
    zh: `另有 ${count} 行`,
  }),
  toOrder: { en: 'See the order', zh: '查看订单' },
  sheets: {
    refund: {
      title: (points: string, payer: string) => ({
        en: `Refund ${pointsOf(points)} to @${payer}?`,
        zh: `向 @${payer} 退还 ${points} ${POINTS}？`,
      }),
      lead: (app: string, whole: string) => ({
        en: `For an order of ${pointsOf(whole)} at ${app}.`,
        zh: `${app} 的订单，共 ${whole} ${POINTS}。`,
      }),
      read: { en: 'The buyer and the merchant see the reason.', zh: '买家和商户都能看到理由。' },
      button: (points: string) => ({ en: `Refund ${pointsOf(points)}`, zh: `退还 ${points} ${POINTS}` }),
    },
    reversal: {
      title: (points: string, sender: string) => ({
        en: `Return ${pointsOf(points)} to @${sender}?`,
        zh: `将 ${points} ${POINTS} 退回 @${sender}？`,
      }),
      lead: (app: string) => ({
        en: `Reverses the whole transfer that ${app} sent.`,
        zh: `冲正 ${app} 发起的整笔转账。`,
      }),
      read: { en: 'Both members see the reason.', zh: '双方都能看到理由。' },
      button: (points: string) => ({ en: `Reverse ${pointsOf(points)}`, zh: `冲正 ${points} ${POINTS}` }),
    },
    points: {
      title: (n: number) => ({
        en: `Adjust the ${counted(n, 'wallet', 'wallets')} of ${n} ${counted(n, 'member', 'members')}?`,
        zh: `调整 ${n} 位成员的钱包？`,
      }),
      give: (points: string, username: string) => ({
        en: `Give ${pointsOf(points)} to @${username}?`,
        zh: `向 @${username} 发放 ${points} ${POINTS}？`,
      }),
      take: (points: string, username: string) => ({
        en: `Take ${pointsOf(points)} from @${username}?`,
        zh: `从 @${username} 扣除 ${points} ${POINTS}？`,
      }),
      lead: {
        en: `Either all lines are carried out, or none. The total supply of ${POINTS} changes.`,
        zh: `全部执行或全部不执行，${POINTS}总量随之变化。`,
      },
      read: { en: 'Each member sees the reason in the statement.', zh: '每位成员都能在明细中看到理由。' },
      button: { en: 'Adjust', zh: '确认调整' },
    },
  },
  done: {
    refunded: (points: string, whole: string, payer: string, app: string, rest: string) =>
      rest === '0'
        ? {
            en: `Refunded ${points} of ${pointsOf(whole)} to @${payer}. The order is now refunded in full.`,
            zh: `已向 @${payer} 退还 ${points} ${POINTS}（共 ${whole}），此订单已全额退款。`,
          }
        : {
            en: `Refunded ${points} of ${pointsOf(whole)} to @${payer}. ${app} keeps ${rest}.`,
            zh: `已向 @${payer} 退还 ${points} ${POINTS}（共 ${whole}），${app} 保留 ${rest}。`,
          },
    reversed: (recipient: string, points: string, sender: string, back: string) => ({
      en: `Reversed: @${recipient} returned ${pointsOf(points)}, and @${sender} got ${back} back.`,
      zh: `已冲正：@${recipient} 退回 ${points} ${POINTS}，@${sender} 收回 ${back}。`,
    }),
    points: (granted: string, taken: string, n: number) => ({
      en: `Adjusted ${n} ${counted(n, 'wallet', 'wallets')}: ${pointsOf(granted)} granted, ${taken} deducted.`,
      zh: `已调整 ${n} 个钱包：发放 ${granted} ${POINTS}，扣除 ${taken}。`,
    }),
    repeated: { en: 'This was already done. Nothing moved again.', zh: '此操作之前已执行，没有重复变动。' },
  },
  problems: {
    reason: { en: 'Enter a reason of at most 500 characters.', zh: '请填写理由，最多 500 个字符。' },
    amount: { en: 'Enter a whole number above 0.', zh: '请填写大于 0 的整数。' },
    username: { en: 'Enter a username.', zh: '请填写用户名。' },
    lines: { en: 'Enter at least one line.', zh: '请至少填写一行。' },
    count: (max: string) => ({ en: `Enter 1 to ${max} lines.`, zh: `请填写 1 至 ${max} 行。` }),
    faulty: (n: number) => ({
      en: `Nothing moved: ${n} ${counted(n, 'line needs', 'lines need')} correcting.`,
      zh: `没有任何变动：${n} 行需要更正。`,
    }),
    noOrder: { en: 'There is no paid order with this number.', zh: '没有此编号的已付订单。' },
    noTransfer: { en: 'There is no transfer with this number.', zh: '没有此编号的转账。' },
    reversed: { en: 'This transfer is already reversed.', zh: '此转账已冲正。' },
    tooMuch: (left: string, whole: string) => ({
      en: `Only ${left} of ${pointsOf(whole)} can still be refunded.`,
      zh: `此订单共 ${whole} ${POINTS}，只剩 ${left} 可退。`,
    }),
    tooPoor: (username: string, have: string, need: string) => ({
      en: `@${username} has only ${pointsOf(have)}, and would have to return ${need}.`,
      zh: `@${username} 只有 ${have} ${POINTS}，不够退回 ${need}。`,
    }),
  },
  line: (n: number) => ({ en: `Line ${n}`, zh: `第 ${n} 行` }),
  member: { en: 'Member', zh: '成员' },
  memberHint: { en: 'Username or part of a name', zh: '用户名或名称的一部分' },
  which: { en: 'Which member?', zh: '是哪位成员？' },
  otherName: { en: 'Another name', zh: '换一个名称' },
  faults: {
    unreadable: { en: 'not a username and an amount', zh: '不是“用户名,金额”' },
    unknownMember: { en: 'no member has this username', zh: '没有此用户名的成员' },
    insufficient: { en: 'the member does not have that many', zh: '该成员余额不足' },
    refused: { en: 'cannot be posted', zh: '无法入账' },
  },
  status: {
    unpaid: { en: 'Unpaid', zh: '未付款' },
    paid: { en: 'Paid', zh: '已付款' },
    partlyRefunded: { en: 'Partly refunded', zh: '部分退款' },
    expired: { en: 'Expired', zh: '已过期' },
    closed: { en: 'Cancelled', zh: '已取消' },
    refunded: { en: 'Refunded', zh: '已退款' },
    completed: { en: 'Completed', zh: '已完成' },
    reversed: { en: 'Reversed', zh: '已冲正' },
  },
} satisfies Texts
