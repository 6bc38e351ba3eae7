/** Texts of the wallet and its statement. */
import type { Texts } from '../web/languages.ts'
import { POINTS } from '../web/site-words.ts'

export const wallet = {
  title: { en: 'Wallet', zh: '钱包' },
  balance: { en: 'Balance', zh: '余额' },
  frozen: {
    en: 'This wallet is frozen: nothing can be paid or sent from it. An administrator can tell more.',
    zh: '此钱包已被冻结，无法付款或转出。详情请联系管理员。',
  },
  statement: { en: 'Statement', zh: '明细' },
  empty: { en: 'No movements yet.', zh: '暂无记录。' },
  kind: { en: 'Kind', zh: '类型' },
  searchHint: {
    en: 'What was bought, a shop, a member, a number, or an amount.',
    zh: `商品、商家、用户名、编号或${POINTS}数量。`,
  },
  username: { en: 'Username', zh: '用户名' },
  email: { en: 'E-mail', zh: '邮箱' },
  changePassword: { en: 'Change password', zh: '修改密码' },
  kinds: {
    grant: { en: `${POINTS} granted`, zh: `发放${POINTS}` },
    payment: { en: 'Payment', zh: '付款' },
    transfer: { en: 'Transfer', zh: '转账' },
    refund: { en: 'Refund', zh: '退款' },
    reversal: { en: 'Reversal', zh: '冲正' },
    adjustment: { en: 'Adjustment', zh: '调整' },
  },
  testWallet: { en: 'Test wallet', zh: '测试钱包' },
  playPoints: { en: `play ${POINTS}`, zh: `虚拟${POINTS}` },
} satisfies Texts
