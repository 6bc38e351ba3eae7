/** Texts of the launch page. */
import type { Texts } from '../web/languages.ts'
import { POINTS } from '../web/site-words.ts'

export const launch = {
  lead: {
    en: 'Where this account works.',
    zh: '可以使用此账号的地方。',
  },
  find: { en: 'Search apps and shops', zh: '搜索应用与商家' },
  findHint: { en: 'Name or what it is for', zh: '名称或用途' },
  found: (q: string) => ({ en: `Found for “${q}”`, zh: `“${q}”的搜索结果` }),
  nothingFound: { en: 'Nothing found', zh: '没有找到' },
  nothingFoundText: (q: string) => ({
    en: `No app or shop here mentions “${q}”.`,
    zh: `没有名称或简介包含“${q}”的应用或商家。`,
  }),
  more: {
    en: 'There are more. Search for them by name or what they are for.',
    zh: '还有更多，可按名称或用途搜索。',
  },
  all: { en: 'Show all', zh: '显示全部' },
  used: { en: 'Yours', zh: '你的' },
  shops: { en: 'Shops', zh: '商家' },
  shopsNote: { en: `pay with ${POINTS}`, zh: `用${POINTS}付款` },
  apps: { en: 'Applications', zh: '应用' },
  appsNote: { en: 'sign in with this account', zh: '用此账号登录' },
  paid: { en: 'Last paid', zh: '上次付款' },
  signedIn: { en: 'Last signed in', zh: '上次登录' },
  own: { en: 'You own it', zh: '由你管理' },
  noHomepage: { en: 'It names no homepage to open.', zh: '没有可打开的主页。' },
  none: { en: 'No apps yet', zh: '还没有应用' },
  noneText: {
    en: 'Apps that you sign in to and shops where you pay are shown here, and those that the staff has reviewed.',
    zh: '你登录过的应用和付过款的商家，以及经本站审核的应用与商家，会显示在这里。',
  },
  missing: {
    en: 'One of your own is missing? Its page says whether it has a homepage and is reviewed:',
    zh: '没有看到你自己的应用？它的页面会说明是否已填写主页、是否已通过审核：',
  },
} satisfies Texts
