/** Texts of searching and turning pages in a list. */
import type { Texts } from './languages.ts'
import { counted } from './plurals.ts'

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
  shown: (first: string, last: string, of: string | undefined, isMore: boolean) => ({
    en: `${first}–${last}${of === undefined ? '' : ` of ${isMore ? 'at least ' : ''}${of}`}`,
    zh: `第 ${first}–${last} 条${of === undefined ? '' : `，共 ${of} 条${isMore ? '以上' : ''}`}`,
  }),
  fileRows: (formatted: string, { rows, isMore }: { rows: number; isMore: boolean }, max: string) => ({
    en: isMore
      ? `The CSV file will have at least ${formatted} rows, at most ${max}, the newest first.`
      : `The CSV file will have ${formatted} ${counted(rows, 'row', 'rows')}, the newest first.`,
    zh: isMore
      ? `CSV 文件将至少有 ${formatted} 行，最多 ${max} 行，从新到旧。`
      : `CSV 文件将有 ${formatted} 行，从新到旧。`,
  }),
} satisfies Texts
