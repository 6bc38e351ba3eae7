/** Texts of searching and turning pages in a list. */
import type { Texts } from './languages.ts'

export const lists = {
  search: { en: 'Search', zh: '搜索' },
  find: { en: 'Search', zh: '搜索' },
  all: { en: 'All', zh: '全部' },
  older: { en: 'Older', zh: '更早' },
  newest: { en: 'Back to the newest', zh: '回到最新' },
  clear: { en: 'Show everything', zh: '显示全部' },
  nothing: { en: 'No results', zh: '没有结果' },
  nothingYet: { en: 'No results so far', zh: '目前没有结果' },
  lookedBackTo: { en: 'Searched back to', zh: '已搜索至' },
  lookOn: { en: 'Search further back', zh: '继续往前搜索' },
} satisfies Texts
