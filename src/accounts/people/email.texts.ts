// This room: a member’s row and what every area asks of it, and the mail to members.
// Verbs: createUser, findUserByUsername, lockUser, enqueueMail, sendDueMail.
// Tables: users, outgoing_mails.
// Clauses: spec/accounts 1.2, 4.3.
/** Texts of every mail: its sender and subject, its first line, its facts and its last lines. */
import type { Texts } from '../../web/languages.ts'

export const letter = {
  subject: (site: string, title: string) => ({ en: `[${site}] ${title}`, zh: `【${site}】${title}` }),
  greeting: (name: string) => ({ en: `Hello @${name},`, zh: `@${name}，你好：` }),
  when: { en: 'When', zh: '时间' },
  browser: { en: 'Browser', zh: '浏览器' },
  address: { en: 'IP address', zh: 'IP 地址' },
  inZone: (time: string, zone: string) => ({ en: `${time} (${zone})`, zh: `${time}（${zone}）` }),
  expires: (until: string) => ({
    en: `The link works once, until ${until}.`,
    zh: `链接只能使用一次，有效期至 ${until}。`,
  }),
  copyHint: {
    en: 'If the button does not open, copy this address into your browser:',
    zh: '按钮打不开时，请把这个地址复制到浏览器：',
  },
  sentTo: (address: string) => ({
    en: `Sent to ${address}. Replies are not read.`,
    zh: `这封邮件发往 ${address}，由系统自动发送，请勿回复。`,
  }),
  neverAsks: {
    en: 'We never ask for a password by email.',
    zh: '我们不会通过邮件索要密码。',
  },
} satisfies Texts
