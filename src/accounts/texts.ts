/** Lists the texts of the rooms of accounts. */

import type { Texts, Translated } from '../web/languages.ts'
import { forum } from './forum/forum.texts.ts'
import { passkeys } from './passkeys/passkeys.texts.ts'
import { letter } from './people/email.texts.ts'
import { profile } from './profile.texts.ts'
import { emailAddress } from './security/email-address.texts.ts'
import { mails } from './security/mails.texts.ts'
import { messages } from './security/message.texts.ts'
import { password } from './security/password.texts.ts'
import { recovery } from './security/recovery.texts.ts'
import { secondFactor } from './security/second-factor.texts.ts'
import { security } from './security/security.texts.ts'
import { sessions } from './session/sessions.texts.ts'
import { signInAgain } from './session/sign-in-again.texts.ts'
import { signInLink } from './sign-in/link.texts.ts'
import { mandates } from './sign-in/mandates.texts.ts'
import { register } from './sign-in/register.texts.ts'
import { secondStep } from './sign-in/second-step.texts.ts'
import { signIn } from './sign-in/sign-in.texts.ts'
import { wallet } from './wallet.texts.ts'

export const texts = {
  signIn,
  register,
  mandates,
  account: wallet,
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
