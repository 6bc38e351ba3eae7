/** Texts of the profile page, but for its section on security. */
import type { Texts } from '../web/languages.ts'

export const profile = {
  tab: { en: 'Profile', zh: '资料' },
  about: { en: 'About you', zh: '关于你' },
  name: { en: 'Name', zh: '名称' },
  nameHint: {
    en: 'Applications that you sign in to see it beside your username.',
    zh: '你登录的应用会在用户名旁看到它。',
  },
  nameWrong: {
    en: 'At most 60 characters, without control or invisible ones.',
    zh: '最多 60 个字符，且不能包含控制字符或不可见字符。',
  },
  nameAtForum: {
    en: 'Your name is kept at the forum: change it there.',
    zh: '名称由论坛管理，请到论坛修改。',
  },
  languageHint: {
    en: 'For every page and every mail, in every browser.',
    zh: '用于你在任何浏览器中看到的页面和收到的邮件。',
  },
  authorisedAppsSummary: {
    en: 'Applications you have allowed, and your sign-ins to them.',
    zh: '你授权过的应用，以及登录它们的记录。',
  },
  show: { en: 'Show', zh: '查看' },
  ownData: { en: 'Your data', zh: '你的数据' },
  ownDataSummary: {
    en: 'Take out what is kept about you, or leave for good.',
    zh: '导出与你有关的数据，或永久注销账号。',
  },
} satisfies Texts
