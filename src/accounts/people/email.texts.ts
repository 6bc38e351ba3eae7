/** Texts of every mail: its first line and its last ones. */
import type { Texts } from '../../web/languages.ts'

export const letter = {
  greeting: (name: string) => ({ en: `Hello @${name},`, zh: `@${name}，你好：` }),
  footer: (site: string) => ({
    en: `-- \nTessera, ${site}\nThis mail was sent by a machine that reads no answers.`,
    zh: `-- \nTessera，${site}\n此邮件由系统自动发送，请勿回复。`,
  }),
} satisfies Texts
