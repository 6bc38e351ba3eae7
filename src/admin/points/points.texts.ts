/** Texts of the pages of wallets and orders: freezes, movements, suspicious patterns, refund requests. */
import type { Texts } from '../../web/languages.ts'
import { counted, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const freeze = {
  titles: {
    wallets: {
      freeze: { en: 'Freeze the wallet', zh: '冻结钱包' },
      unfreeze: { en: 'Unfreeze the wallet', zh: '解冻钱包' },
    },
    orders: {
      freeze: { en: 'Freeze the order', zh: '冻结订单' },
      unfreeze: { en: 'Unfreeze the order', zh: '解冻订单' },
    },
    'payment-applications': {
      freeze: { en: 'Suspend the application', zh: '停用应用' },
      unfreeze: { en: 'Reinstate the application', zh: '恢复应用' },
    },
  },
  questions: {
    wallets: {
      freeze: (name: string) => ({ en: `Freeze the wallet of ${name}?`, zh: `冻结 ${name} 的钱包？` }),
      unfreeze: (name: string) => ({ en: `Unfreeze the wallet of ${name}?`, zh: `解冻 ${name} 的钱包？` }),
    },
    orders: {
      freeze: (name: string) => ({ en: `Freeze the order “${name}”?`, zh: `冻结订单“${name}”？` }),
      unfreeze: (name: string) => ({ en: `Unfreeze the order “${name}”?`, zh: `解冻订单“${name}”？` }),
    },
    'payment-applications': {
      freeze: (name: string) => ({ en: `Suspend ${name}?`, zh: `停用 ${name}？` }),
      unfreeze: (name: string) => ({ en: `Reinstate ${name}?`, zh: `恢复 ${name}？` }),
    },
  },
  done: {
    wallets: {
      freeze: (name: string) => ({
        en: `The wallet of ${name} is frozen. They see your reason.`,
        zh: `已冻结 ${name} 的钱包，对方会看到理由。`,
      }),
      unfreeze: (name: string) => ({
        en: `The wallet of ${name} is unfrozen.`,
        zh: `已解冻 ${name} 的钱包。`,
      }),
    },
    orders: {
      freeze: (name: string) => ({
        en: `The order “${name}” is frozen. The merchant sees your reason.`,
        zh: `已冻结订单“${name}”，商户会看到理由。`,
      }),
      unfreeze: (name: string) => ({
        en: `The order “${name}” can be paid again.`,
        zh: `已解冻订单“${name}”，可以继续支付。`,
      }),
    },
    'payment-applications': {
      freeze: (name: string) => ({
        en: `${name} is suspended. The owner sees your reason.`,
        zh: `已停用 ${name}，所有者会看到理由。`,
      }),
      unfreeze: (name: string) => ({
        en: `${name} can take payments again.`,
        zh: `已恢复 ${name}，可以继续收款。`,
      }),
    },
  },
  balance: { en: 'Balance', zh: '余额' },
  amount: { en: 'Amount', zh: '金额' },
  application: { en: 'Application', zh: '应用' },
  owner: { en: 'Owner', zh: '所有者' },
  texts: {
    wallets: {
      freeze: {
        en: `The member cannot pay or transfer, and their applications cannot transfer. The wallet still receives ${POINTS}, and refunds are still paid from it.`,
        zh: '该成员无法付款或转出，其应用也无法转账；仍可收款，退款照常。',
      },
      unfreeze: { en: 'The member can pay and transfer again at once.', zh: '该成员可立即恢复付款和转账。' },
    },
    orders: {
      freeze: {
        en: 'It cannot be paid. Buyers who open it see that it is frozen.',
        zh: '无法支付；打开订单的买家会看到订单已冻结。',
      },
      unfreeze: { en: 'It can be paid again until it expires.', zh: '在有效期内可再次支付。' },
    },
    'payment-applications': {
      freeze: {
        en: 'It cannot create orders, take payments or transfer. Paid orders can still be queried and refunded, and notifications are still sent.',
        zh: '无法下单、收款或转账；已付款的订单仍可查询和退款，通知照常发送。',
      },
      unfreeze: { en: 'It can take payments again at once.', zh: '可立即恢复收款。' },
    },
  },
} satisfies Texts

/** Texts of movements of points, of a wallet, and of the acts of administrators. */
export const ledger = {
  title: { en: 'Journals', zh: '记账凭证' },
  nothing: { en: `No ${POINTS} have moved`, zh: `没有${POINTS}变动` },
  journal: { en: 'Journal', zh: '凭证' },
  reference: { en: 'Source', zh: '来源' },
  test: { en: 'test', zh: '测试' },
  fee: { en: 'Fee', zh: '手续费' },
  through: { en: 'Application', zh: '应用' },
  sender: { en: 'From', zh: '付款方' },
  recipient: { en: 'To', zh: '收款方' },
  accounts: {
    wallet: { en: 'Wallet', zh: '钱包' },
    fee: { en: 'Platform fees', zh: '平台手续费' },
    issuance: { en: 'Issuance', zh: '发行' },
  },
} satisfies Texts

export const wallet = {
  onlyWith: (count: string) => ({
    en: `Among the newest ${count} movements, only those with`,
    zh: `最近 ${count} 笔变动中，仅显示与此成员之间的：`,
  }),
  all: { en: 'All movements', zh: '全部变动' },
} satisfies Texts

export const history = {
  title: { en: 'History', zh: '操作记录' },
  all: { en: 'In the audit log', zh: '在审计日志中查看' },
  none: { en: 'No administrator has acted on it yet.', zh: '还没有管理员操作记录。' },
} satisfies Texts

/** Texts of suspicious patterns. */
export const abuse = {
  title: { en: 'Suspicious activity', zh: '可疑活动' },
  lead: {
    en: 'Patterns worth checking. They prove nothing: friends trade, shops are busy, and families share an address.',
    zh: '以下情况值得查看，但不代表违规：朋友会互相付款，热门商户的交易本来就多，家人会共用网络地址。',
  },
  shows: { open: { en: 'To look at', zh: '待查看' }, looked: { en: 'Looked at', zh: '已查看' } },
  nothing: { en: 'Nothing to look at', zh: '没有需要查看的' },
  nothingText: (least: string) => ({
    en: `No sum of ${pointsOf(least)} or more went round or was passed on, and no new accounts belong together.`,
    zh: `没有 ${least} ${POINTS}以上的循环流转或收到后转出，也没有相关联的新账号。`,
  }),
  noneLooked: { en: 'Nothing was looked at', zh: '还没有已查看的' },
  noneLookedText: {
    en: 'A finding that you mark stays here until its figure has grown by half, for 30 days at most.',
    zh: '标记后的条目留在这里，数额再增加一半或满 30 天后重新列出。',
  },
  floor: (least: string) => ({
    en: `Sums below ${pointsOf(least)} are left out.`,
    zh: `不足 ${least} ${POINTS}的往来未列入。`,
  }),
  floorLink: { en: 'Change', zh: '修改' },
  mark: { en: 'Mark as looked at', zh: '标为已看' },
  look: { en: 'Mark as looked at', zh: '标记为已查看' },
  note: { en: 'Note', zh: '备注' },
  noteHint: { en: 'For other administrators.', zh: '其他管理员可见。' },
  looked: (who: string) => ({
    en: `Marked as looked at: ${who}. It shows again when its figure has grown by half, or after 30 days.`,
    zh: `已标记为已查看：${who}。数额再增加一半或满 30 天后会重新列出。`,
  }),
  already: (username: string, note: string) => ({
    en: `@${username} was first: this is marked as looked at already.${note && ` Note: ${note}`}`,
    zh: `@${username} 已先标记为已查看。${note && `备注：${note}`}`,
  }),
  gone: (least: string) => ({
    en: `This is no longer found, or it is below ${pointsOf(least)} now. Nothing was marked.`,
    zh: `该条目已不再出现，或已低于 ${least} ${POINTS}，未作标记。`,
  }),
  lookedBy: (username: string) => ({ en: `Looked at by @${username}`, zh: `@${username} 已查看` }),
  grown: (size: string, username: string) => ({
    en: `Grown since @${username} looked: it was ${size}`,
    zh: `@${username} 查看时为 ${size}，之后又增加`,
  }),
  reopen: { en: 'Put back', zh: '重新列出' },
  reopened: { en: 'It is among those to look at again.', zh: '已重新列入待查看。' },
  strong: { en: 'Look first', zh: '优先查看' },
  rest: (count: string) => ({ en: `${count} more, less likely`, zh: `另外 ${count} 条，可能性较低` }),
  titles: {
    rings: { en: `${POINTS} that went round`, zh: `循环流转的${POINTS}` },
    movers: { en: `${POINTS} that were passed on`, zh: `收到后转出的${POINTS}` },
    byRecipient: { en: 'New accounts that send to one member', zh: '向同一成员转出的新账号' },
    byAddress: { en: 'New accounts from one address', zh: '来自同一地址的新账号' },
    byTips: { en: 'Tips from new accounts', zh: '新账号的打赏' },
  },
  texts: {
    rings: {
      en: 'Last 30 days: two or three members paid each other in turn.',
      zh: '最近 30 天内，两三位成员依次付款或转账，最后又回到第一位。',
    },
    movers: {
      en: 'Last 24 hours, payments and transfers together.',
      zh: '最近 24 小时的付款与转账合计。',
    },
    byRecipient: {
      en: 'Three or more accounts of the last two weeks that paid the same member.',
      zh: '最近两周注册、三个以上向同一成员付款的账号。',
    },
    byAddress: {
      en: 'Three or more accounts of the last two weeks.',
      zh: '最近两周注册的三个以上账号。',
    },
    byTips: {
      en: 'Last 30 days: receivers of tips from five or more accounts of that time.',
      zh: '最近 30 天内，收到五个以上新注册账号打赏的成员。',
    },
  },
  /** What an administrator does with a row. */
  next: {
    rings: {
      en: 'Open a name to see what moved to the next one. If the same sum only goes round, freeze the wallets and ask.',
      zh: '点开成员即可看到其与下一位之间的变动。若同一笔数额只是来回转，可冻结钱包并询问。',
    },
    movers: {
      en: 'Open the statement: many small sums in and one large sum out is how stolen ones leave.',
      zh: '请看明细：多笔小额转入、一笔大额转出，常见于盗用。',
    },
    byRecipient: {
      en: 'Open the accounts: if they did nothing else here, suspend them and ask their recipient.',
      zh: '请查看这些账号：若在本站没有其他活动，可暂停账号并询问收款人。',
    },
    byAddress: {
      en: 'Compare their devices and orders: families and schools share an address too.',
      zh: '请比较其设备与订单：家人、学校也会共用网络地址。',
    },
    byTips: {
      en: 'Open the givers: accounts that earn and then tip one author belong to one person.',
      zh: '请查看打赏者：只领取奖励再打赏同一作者的账号，多半属于同一人。',
    },
  },
  /** Why a row is listed. */
  why: {
    rings: (percent: number) => ({
      en: `${percent}% of all that they sent.`,
      zh: `占他们转出总额的 ${percent}%。`,
    }),
    movers: (level: string, received: string, sent: string, payout = '') => ({
      en: `${level}. Received ${received}, sent ${sent}${payout && ` (${payout})`}.`,
      zh: `${level}。转入 ${received}，转出 ${sent}${payout && `（${payout}）`}。`,
    }),
    payouts: (count: string, sent: string) => ({
      en: `${count} as a payout: ${sent}`,
      zh: `其中批量付款 ${count} 笔：${sent}`,
    }),
    byRecipient: (accounts: string, percent: number) => ({
      en: `${accounts} new accounts sent ${percent}% of what this member received.`,
      zh: `该成员收到的${POINTS}有 ${percent}% 来自 ${accounts} 个新账号。`,
    }),
    byAddress: (accounts: string, hours: number) => ({
      en: `${accounts} accounts, opened within ${hours < 48 ? `${hours} ${counted(hours, 'hour', 'hours')}` : `${Math.ceil(hours / 24)} days`}.`,
      zh: `${accounts} 个账号，在 ${hours < 48 ? `${hours} 小时` : `${Math.ceil(hours / 24)} 天`}内注册。`,
    }),
    byTips: (accounts: string, percent: number) => ({
      en: `${accounts} new accounts gave ${percent}% of the tips that this member received.`,
      zh: `该成员收到的打赏有 ${percent}% 来自 ${accounts} 个新账号。`,
    }),
  },
  movements: (count: string, n: number) => ({
    en: `${count} ${counted(n, 'movement', 'movements')}`,
    zh: `${count} 笔`,
  }),
} satisfies Texts

/** Texts of deciding on refund requests. */
export const refundDecisions = {
  none: { en: 'No refund requests', zh: '没有退款申请' },
  noneText: {
    en: 'When a merchant asks to refund an order, it appears here.',
    zh: '商户申请退款后会显示在这里。',
  },
  declined: (app: string, points: string) => ({
    en: `Declined: ${app} asked to refund ${pointsOf(points)}. The merchant and the buyer see your answer.`,
    zh: `已拒绝 ${app} 退还 ${points} ${POINTS} 的申请，商户和买家会看到你的答复。`,
  }),
  canReturn: (left: string, wallet: string, fee: string, payee: string) => ({
    en: `${pointsOf(left)} of this order can be refunded: ${wallet} from ${payee}, ${fee} from the fee.`,
    zh: `此订单还可退 ${left} ${POINTS}：${payee} 承担 ${wallet}，手续费退还 ${fee}。`,
  }),
  holds: (payee: string, have: string) => ({
    en: `@${payee}’s wallet has ${have}.`,
    zh: `@${payee} 的钱包现有 ${have}。`,
  }),
} satisfies Texts
