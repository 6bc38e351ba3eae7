// This room: a member’s row and what every area asks of it, and the mail to members.
// Verbs: createUser, findUserByUsername, lockUser, enqueueMail, sendDueMail.
// Tables: users, outgoing_mails.
// Clauses: spec/accounts 1.2, 4.3.
/** Texts of every mail: its first line and its last ones. */
import type { Texts } from '../../web/languages.ts'
import { SITE } from '../../web/site-words.ts'

export const letter = {
  greeting: (name: string) => ({ en: `Hello @${name},`, zh: `@${name}，你好：` }),
  footer: (address: string) => ({
    en: `-- \n${SITE}, ${address}\nThis is an automatic email. Replies are not read.`,
    zh: `-- \n${SITE}，${address}\n此邮件由系统自动发送，请勿回复。`,
  }),
} satisfies Texts
