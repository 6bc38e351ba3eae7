/** Texts of tips: the page of a tip, its payment and its receipt. */
import type { Text, Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'
import { POINT, POINTS } from '../../web/site-words.ts'
import type { Hindrance } from './place.ts'

export const tips = {
  title: (name: string) => ({ en: `Tip @${name}`, zh: `打赏 @${name}` }),
  /** The heading of the pay page. */
  gift: (name: string) => ({ en: `A gift to ${name}`, zh: `赠与 ${name}` }),
  author: { en: 'Author', zh: '作者' },
  /** In place of the description of the order, which is stored in English. */
  product: { en: 'Tip', zh: '打赏' },
  atForum: { en: 'Member of the forum', zh: '论坛成员' },
  post: { en: 'The post you came from', zh: '你打开的帖子' },
  /** The same on a receipt. */
  postShort: { en: 'Post', zh: '帖子' },
  amount: { en: 'How much', zh: '打赏多少' },
  left: (formatted: string, amount: bigint) => ({
    en: `You can give ${formatted} more ${counted(amount, POINT, POINTS)} today.`,
    zh: `你今天还可以打赏 ${formatted} ${POINTS}。`,
  }),
  oneMax: (formatted: string) => ({
    en: `At most ${formatted} at once. The day begins at midnight in China (UTC+8).`,
    zh: `单次最多 ${formatted} ${POINTS}，每天北京时间零点重新计算。`,
  }),
  isGift: { en: 'A tip is a gift. It cannot be taken back.', zh: '打赏是赠与，不能撤回。' },
  isNamed: { en: 'The author sees your username.', zh: '对方会看到你的用户名。' },
  submit: { en: 'Next: confirm', zh: '下一步：确认' },
  authorGets: { en: 'The author receives', zh: '作者收到' },
  afterFee: (fee: string) => ({ en: `(fee ${fee})`, zh: `（手续费 ${fee}）` }),
  backToPost: { en: 'Back to the post', zh: '返回帖子' },
  backToForum: { en: 'Back to the forum', zh: '返回论坛' },
  backToWallet: { en: 'Back to my wallet', zh: '返回钱包' },
  give: (formatted: string, amount: bigint) => ({
    en: `Give ${formatted} ${counted(amount, POINT, POINTS)}`,
    zh: `打赏 ${formatted} ${POINTS}`,
  }),
  cancel: { en: 'Do not tip', zh: '不打赏了' },
  none: { en: 'No tip possible', zh: '无法打赏' },
  off: { en: 'Tips are switched off here.', zh: '本站目前未开放打赏。' },
  noneText: { en: 'This member cannot receive tips here.', zh: '该成员暂时不能接收打赏。' },
  hindrances: {
    paused: {
      en: 'Payments are paused for maintenance. Please try again in a few minutes.',
      zh: '系统维护中，暂停支付。请几分钟后再试。',
    },
    unusable: {
      en: 'Tips cannot be given now. Please try again later.',
      zh: '暂时不能打赏，请稍后再试。',
    },
    frozen: { en: `Your wallet is frozen, so you cannot give ${POINTS}.`, zh: '你的钱包已冻结，不能打赏。' },
    tooNew: { en: 'Your account is too new to give tips.', zh: '你的账号注册时间太短，还不能打赏。' },
    level: {
      en: 'Members of your trust level cannot give tips yet.',
      zh: '你的信任等级还不能打赏。',
    },
    day: {
      en: 'You have given as much as you can today. The next day begins at midnight in China (UTC+8).',
      zh: '你今天的打赏额度已用完，北京时间零点恢复。',
    },
    pair: {
      en: 'You two have tipped each other as often as possible within a week.',
      zh: '你们一周内互相打赏的次数已满。',
    },
    received: {
      en: 'This author cannot receive more tips today.',
      zh: '该作者今天不能再接收打赏。',
    },
  } satisfies Record<Hindrance, Text>,
  fromLevel: (level: number) => ({
    en: `Members of trust level ${level} and above give tips.`,
    zh: `信任等级 ${level} 及以上的成员可以打赏。`,
  }),
  fromAge: (days: number) => ({
    en: `An account gives tips from ${days} ${counted(days, 'day', 'days')} after its creation.`,
    zh: `账号创建满 ${days} 天后可以打赏。`,
  }),
  /** In place of the texts of other orders, on the page of the payment. */
  states: {
    paid: { en: 'Tip given', zh: '已打赏' },
    paidText: {
      en: 'Thank you. The author has an alert with your name.',
      zh: '谢谢，作者会收到带你名字的提醒。',
    },
    refundedText: {
      en: `All ${POINTS} of this tip are back in your wallet.`,
      zh: `这笔打赏的${POINTS}已全部退回你的钱包。`,
    },
    paidByOtherText: {
      en: 'Nothing was charged to you. Another member has given this tip.',
      zh: `没有扣除你的${POINTS}。另一位成员已付了这笔打赏。`,
    },
    expired: { en: 'This tip has expired', zh: '打赏已过期' },
    expiredText: {
      en: 'Nothing was charged. You can begin again from the post.',
      zh: `没有扣除任何${POINTS}。可以回到帖子重新打赏。`,
    },
    frozenText: {
      en: 'Nothing was charged. An administrator is checking this tip, so it cannot be paid now.',
      zh: `没有扣除任何${POINTS}。管理员正在核查这笔打赏，暂时无法支付。`,
    },
    unusable: { en: 'Tips cannot be given now', zh: '暂时不能打赏' },
    unusableText: {
      en: 'Nothing was charged. Please try again later.',
      zh: `没有扣除任何${POINTS}，请稍后再试。`,
    },
    dailyLimit: { en: 'Tips have reached their limit of today', zh: '今天的打赏已达上限' },
    dailyLimitText: {
      en: 'Nothing was charged. The limit resets at midnight in China (UTC+8).',
      zh: `没有扣除任何${POINTS}。额度在北京时间零点恢复。`,
    },
  },
  /** What remains after a refund in part. */
  partlyRefunded: { en: 'Tip refunded in part', zh: '打赏已部分退回' },
} satisfies Texts
