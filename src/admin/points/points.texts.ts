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
  number: { en: 'Member number', zh: '成员编号' },
  level: { en: 'Trust level', zh: '信任等级' },
  applications: { en: 'Payment applications', zh: '收款应用' },
} satisfies Texts

export const history = {
  title: { en: 'History', zh: '操作记录' },
  all: { en: 'In the audit log', zh: '在审计日志中查看' },
  none: { en: 'No administrator has acted on it yet.', zh: '还没有管理员操作记录。' },
} satisfies Texts

/** Texts of suspicious patterns. */
export const abuse = {
  title: { en: 'Suspicious activity', zh: '风险提示' },
  lead: {
    en: 'Patterns worth checking. They prove nothing: friends trade, shops are busy, and families share an address.',
    zh: '以下情况值得查看，但不代表违规：朋友会互相付款，热门商户的交易本来就多，家人会共用网络地址。',
  },
  nothing: { en: 'Nothing found', zh: '没有发现' },
  rings: { en: `${POINTS} that moved in a circle`, zh: `循环流转的${POINTS}` },
  ringsText: {
    en: 'Last 30 days: two or three members paid each other in turn, and the last one paid the first.',
    zh: '最近 30 天内，两三位成员依次付款或转账，最后又回到第一位。',
  },
  round: (points: string) => ({ en: `at least ${points} each`, zh: `每次至少 ${points}` }),
  movements: (count: string, n: number) => ({
    en: `${count} ${counted(n, 'movement', 'movements')}`,
    zh: `${count} 笔`,
  }),
  velocity: { en: 'Most movements', zh: '变动最多的成员' },
  velocityText: {
    en: 'Last 24 hours, payments and transfers together.',
    zh: '最近 24 小时的付款与转账合计。',
  },
  clusters: { en: 'Linked new accounts', zh: '相关联的新账号' },
  clustersText: {
    en: `Accounts of the last two weeks: three or more that signed in from one address, or sent ${POINTS} to one member.`,
    zh: `最近两周注册、三个以上从同一地址登录或向同一成员转出${POINTS}的账号。`,
  },
  tips: { en: 'Tips from new accounts', zh: '新账号的打赏' },
  tipsText: {
    en: 'Last 30 days: receivers of tips from five or more accounts of that time.',
    zh: '最近 30 天内，收到五个以上新注册账号打赏的成员。',
  },
  fromAddress: (count: string) => ({ en: `${count} accounts from`, zh: `${count} 个账号来自` }),
  toMember: (count: string, points: string) => ({
    en: `${count} accounts sent ${points} to`,
    zh: `${count} 个账号共转出 ${points} 给`,
  }),
  sent: { en: 'Sent', zh: '转出' },
  received: { en: 'Received', zh: '转入' },
  member: { en: 'Member', zh: '成员' },
  count: { en: 'Movements', zh: '笔数' },
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
  holds: (have: string) => ({ en: `That wallet has ${have}.`, zh: `该钱包现有 ${have}。` }),
} satisfies Texts
