/** Lists the texts of the rooms of accounts. */

import type { Texts, Translated } from '../web/languages.ts'
import { forum } from './forum/forum.texts.ts'
import { passkeys } from './passkeys/passkeys.texts.ts'
import { letter } from './people/email.texts.ts'
import { profile } from './profile.texts.ts'
import { mails, messages } from './security/mails.texts.ts'
import { emailAddress, password, recovery, secondFactor, security } from './security/security.texts.ts'
import { sessions, signInAgain } from './session/sessions.texts.ts'
import { keepAccess } from './sign-in/keep-access.texts.ts'
import { mandates, register, secondStep, signIn, signInLink } from './sign-in/sign-in.texts.ts'
import { paperStatement } from './statement.texts.ts'
import { wallet } from './wallet.texts.ts'

export const texts = {
  signIn,
  register,
  keepAccess,
  mandates,
  account: wallet,
  paperStatement,
  profile,
  password,
  security: {
    ...security,
    ...secondFactor,
    email: emailAddress,
    passkeys,
    recover: recovery,
    messages,
    signInLink,
    signInAgain,
    secondStep,
  },
  sessions,
  forum,
  letter,
  mails,
} satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
