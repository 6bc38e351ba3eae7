/** Texts of the pages that ask for a recent sign-in. */
import type { Texts } from '../../web/languages.ts'
import { counted } from '../../web/plurals.ts'

export const signInAgain = {
  title: { en: 'Confirm that it is you', zh: '请确认是你本人' },
  notice: {
    en: 'Confirm that it is you: sign in once more to go on.',
    zh: '请再次登录以确认是你本人，然后继续。',
  },
  text: (minutes: number) => ({
    en: `This needs a sign-in of the last ${counted(minutes, 'minute', `${minutes} minutes`)}. Nothing was changed.`,
    zh: `此操作要求在最近 ${minutes} 分钟内登录过。没有任何更改。`,
  }),
  submit: { en: 'Sign in again', zh: '重新登录' },
  back: { en: 'Back without changing anything', zh: '返回，不做更改' },
  toPay: {
    en: 'A payment of this size needs a recent sign-in. You come straight back here; nothing is paid before.',
    zh: '此金额的付款需要近期登录。登录后会直接回到本页，在此之前不会扣款。',
  },
} satisfies Texts
