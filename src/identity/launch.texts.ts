/** Texts of the launch page. */
import type { Texts } from '../web/languages.ts'
import { SITE } from '../web/site-words.ts'

export const launch = {
  title: { en: 'All apps', zh: '全部应用' },
  lead: { en: 'Open an app and sign in to it with this account.', zh: '打开应用，用此账号登录。' },
  used: { en: 'Apps you use', zh: '你在使用的应用' },
  listed: { en: 'More apps', zh: '更多应用' },
  none: { en: 'No apps yet', zh: '还没有应用' },
  noneText: {
    en: `Apps that you sign in to are shown here, and those that ${SITE} has reviewed.`,
    zh: '你登录过的应用，以及经本站审核的应用，会显示在这里。',
  },
} satisfies Texts
