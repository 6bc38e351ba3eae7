/** Texts of the transfers of a merchant. */
import type { Texts } from '../../web/languages.ts'
import { areLeft, pointsOf } from '../../web/plurals.ts'
import { POINTS } from '../../web/site-words.ts'

export const merchantTransfers = {
  empty: { en: `No ${POINTS} have been transferred yet.`, zh: `还没有转出过${POINTS}。` },
  searchHint: {
    en: 'Your own number, the transaction, or the username of who received.',
    zh: '商户单号、交易号或收款人用户名。',
  },
  send: { en: `Send ${POINTS}`, zh: `转出${POINTS}` },
  lead: {
    en: 'From your wallet to a member. You see what it costs before anything moves.',
    zh: '从你的钱包转给一位用户。确认之前会先显示费用，不会有任何变动。',
  },
  to: { en: 'Username of the recipient', zh: '收款人用户名' },
  amount: { en: `${POINTS} to receive`, zh: `对方收到的${POINTS}` },
  orderId: { en: 'Your own number', zh: '商户单号' },
  orderIdHint: {
    en: 'Whatever is sent twice under one number moves once. Empty: one is made.',
    zh: '同一个单号无论提交几次，只转一次。留空则自动生成。',
  },
  quote: { en: 'Work it out …', zh: '计算费用…' },
  limits: (min: string, max: string) => ({
    en: `${min} to ${pointsOf(max)} at a time.`,
    zh: `每次 ${min} 至 ${max} ${POINTS}。`,
  }),
  leftToday: (left: string) => ({ en: `${areLeft(left)} today.`, zh: `今天还可转 ${left} ${POINTS}。` }),
  have: { en: 'You have', zh: '现有' },
  need: { en: 'You need', zh: '需要' },
  fee: { en: 'Fee, on top', zh: '另付手续费' },
  sent: (points: string, username: string) => ({
    en: `@${username} has received ${pointsOf(points)}.`,
    zh: `@${username} 已收到 ${points} ${POINTS}。`,
  }),
  confirmTitle: { en: `Send these ${POINTS}?`, zh: `确认转出这些${POINTS}？` },
  confirm: (formatted: string, username: string) => ({
    en: `Send ${pointsOf(formatted)} to @${username}`,
    zh: `向 @${username} 转出 ${formatted} ${POINTS}`,
  }),
  again: { en: `Sending this page twice sends the ${POINTS} once.`, zh: '重复提交本页只会转一次。' },
  signIn: { en: `Sign in again to send this many ${POINTS}`, zh: `转出这么多${POINTS}需要重新登录` },
  statuses: {
    completed: { en: 'Completed', zh: '已完成' },
    reversed: { en: 'Taken back', zh: '已撤回' },
  },
  faults: {
    recipient_mismatch: { en: 'No member has this username.', zh: '没有这个用户名。' },
    transfer_to_self: { en: `These would be your own ${POINTS}.`, zh: '不能转给自己。' },
    below_minimum: { en: 'That is less than one transfer may be.', zh: '低于每次转账的最低额度。' },
    above_maximum: { en: 'That is more than one transfer may be.', zh: '超过每次转账的最高额度。' },
    daily_limit_reached: { en: 'That is more than is left today.', zh: '超过今天剩余的额度。' },
    insufficient_points: { en: `You do not have that many ${POINTS}.`, zh: `你的${POINTS}不足。` },
    transfers_disabled: { en: 'Transfers are switched off at the moment.', zh: '转账功能目前已关闭。' },
    payments_paused: {
      en: 'Payments and transfers are paused for maintenance. Try again later.',
      zh: '系统维护中，暂停付款和转账，请稍后再试。',
    },
    wallet_frozen: { en: 'An administrator has frozen this wallet.', zh: '管理员已冻结这个钱包。' },
    application_unusable: {
      en: 'This application is not approved, so it cannot transfer.',
      zh: '这个应用未获批准，不能转账。',
    },
    parameter_invalid: { en: 'This number was used for another transfer.', zh: '这个单号已用于另一笔转账。' },
    order_exists: { en: 'The transfer with this number was taken back.', zh: '使用这个单号的转账已被撤回。' },
    amount: { en: `A whole number of ${POINTS} from 1.`, zh: '请填写不小于 1 的整数。' },
    order_id: {
      en: 'Up to 128 letters, digits and signs without spaces and &.',
      zh: '最多 128 个字符，可用字母、数字和符号，不含空格与 &。',
    },
  },
} satisfies Texts
