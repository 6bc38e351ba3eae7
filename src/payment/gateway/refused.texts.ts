/** Texts of the page that shows a refused request to the payer. */
import type { Texts } from '../../web/languages.ts'
import { POINTS } from '../../web/site-words.ts'

export const refused = {
  title: { en: 'This payment cannot be started', zh: '无法发起付款' },
  text: {
    en: 'Nothing was charged. The shop sent a request that we cannot accept. Go back to the shop and send it this message:',
    zh: `没有扣除任何${POINTS}。商家发来的请求无法受理，请返回商家，并把以下信息告诉商家：`,
  },
} satisfies Texts
