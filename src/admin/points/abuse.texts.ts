/** Texts of suspicious patterns. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const abuse = {
  title: { en: 'Worth a look', zh: '值得留意' },
  lead: {
    en: 'None of this proves anything: friends trade, shops are busy, and households share an address.',
    zh: '以下内容并不能说明问题：朋友会互相付款，商家本来就忙，家人会共用网络地址。',
  },
  nothing: { en: 'Nothing of the kind.', zh: '没有此类情况。' },
  rings: { en: `${POINTS} that went round`, zh: `循环流转的${POINTS}` },
  ringsText: {
    en: `In the last 30 days: two or three members, each of whom paid or sent ${POINTS} to the next, and the last to the first.`,
    zh: '最近 30 天内，两三位成员依次付款或转账，最后又回到第一位。',
  },
  round: (points: string) => ({
    en: `at least ${points} ${POINTS} each`,
    zh: `每次至少 ${points} ${POINTS}`,
  }),
  movements: (count: string, n: number) => ({
    en: `${count} ${n === 1 ? 'movement' : 'movements'}`,
    zh: `${count} 笔`,
  }),
  velocity: { en: 'Who moved most', zh: '变动最多的成员' },
  velocityText: {
    en: 'In the last day, payments and transfers together: what went out, and what came in.',
    zh: '最近一天的付款与转账合计：转出与转入。',
  },
  clusters: { en: 'New accounts together', zh: '相关联的新账号' },
  clustersText: {
    en: `Accounts of the last two weeks, three or more that signed in from one address, or that sent ${POINTS} to one member.`,
    zh: `最近两周注册、三个以上从同一地址登录或向同一成员转出${POINTS}的账号。`,
  },
  fromAddress: (count: string) => ({ en: `${count} from`, zh: `${count} 个账号来自` }),
  toMember: (count: string, points: string) => ({
    en: `${count} sent ${points} ${POINTS} to`,
    zh: `${count} 个账号共转出 ${points} ${POINTS}给`,
  }),
} satisfies Texts
