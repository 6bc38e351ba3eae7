/** Texts of movements of points, of a wallet, and of the acts of administrators. */
import type { Text, Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const ledger = {
  title: { en: 'Ledger', zh: '账本' },
  nothing: { en: `No ${POINTS} have moved.`, zh: `没有${POINTS}变动。` },
  journal: { en: 'Journal', zh: '凭证' },
  reference: { en: 'Of', zh: '来源' },
  test: { en: 'test', zh: '测试' },
  fee: { en: 'Fee', zh: '手续费' },
  through: { en: 'Through', zh: '经由' },
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
  since: { en: 'Member since', zh: '注册时间' },
  applications: { en: 'Payment applications', zh: '收款应用' },
} satisfies Texts

export const history = {
  none: { en: 'Nothing was done to it by hand.', zh: '没有人工操作记录。' },
  acts: {
    refund: { en: 'Refunded', zh: '已退款' },
    reverse: { en: 'Reversed', zh: '已冲正' },
    freeze: { en: 'Frozen', zh: '已冻结' },
    unfreeze: { en: 'Unfrozen', zh: '已解冻' },
  } as Record<string, Text>,
  fields: {} as Record<string, Text>,
} satisfies Texts
