/** Texts of searching and turning pages in a list. */
import type { Texts } from './languages.ts'

export const lists = {
  search: { en: 'Search', zh: '搜索' },
  find: { en: 'Find', zh: '查找' },
  all: { en: 'All', zh: '全部' },
  older: { en: 'Older', zh: '更早' },
  newest: { en: 'To the newest', zh: '回到最新' },
  clear: { en: 'Show everything', zh: '显示全部' },
  nothing: { en: 'Nothing fits.', zh: '没有符合条件的记录。' },
  nothingYet: { en: 'Nothing found so far.', zh: '目前尚未找到。' },
  lookedBackTo: { en: 'Looked through back to', zh: '已查找至' },
  lookOn: { en: 'Look further back', zh: '继续往前查找' },
} satisfies Texts
