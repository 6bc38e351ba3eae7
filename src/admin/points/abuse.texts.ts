/** Texts of suspicious patterns. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

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
    en: `${count} ${n === 1 ? 'movement' : 'movements'}`,
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
