/** Texts of the page that shows a refused request to the payer. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const refused = {
  title: { en: 'This payment cannot be started', zh: '无法发起付款' },
  text: {
    en: 'The shop sent a request that was not accepted. Nothing was taken from you. Go back to the shop, and tell it this:',
    zh: `商家发来的请求未被接受，没有扣除你的${POINTS}。请返回商家，并告知以下信息：`,
  },
} satisfies Texts
