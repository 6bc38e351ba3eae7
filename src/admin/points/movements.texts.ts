/** Texts of movements of points, of a wallet, and of the acts of administrators. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

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
