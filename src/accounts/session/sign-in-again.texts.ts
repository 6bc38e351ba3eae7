/** Texts of the pages that ask for a recent sign-in. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const signInAgain = {
  title: { en: 'Confirm that it is you', zh: '请确认是你本人' },
  notice: {
    en: 'To continue, confirm that it is you: sign in once more.',
    zh: '请再次登录以确认是你本人，然后继续。',
  },
  text: (minutes: number) => ({
    en: `Nothing was changed. This step needs a sign-in within the last ${counted(minutes, 'minute', `${minutes} minutes`)}.`,
    zh: `没有任何更改。此操作需要最近 ${minutes} 分钟内登录过。`,
  }),
  submit: { en: 'Sign in again', zh: '重新登录' },
  back: { en: 'Back without changes', zh: '返回，不做更改' },
  toPay: {
    en: 'A payment of this size needs a recent sign-in. You then return to this page, and nothing is paid before you confirm.',
    zh: '此金额的付款需要近期登录。登录后会回到本页，确认之前不会扣款。',
  },
} satisfies Texts
