/**
 * The words that a site chooses for itself: its name, and what a point is called. Texts contain a mark in the place of such
 * a word, because the site can change its words while the service runs. spec/pages 2.2.
 */
import type { SettingValues } from '../core/setting-values.ts'

/** The marks are private characters of Unicode, so no keyboard makes them. */
export const SITE = '\uE000'
export const POINT = '\uE001'
export const POINTS = '\uE002'

export type SiteWords = { site: string; point: string; points: string }

type Named = Pick<
  SettingValues,
  'site_name_en' | 'site_name_zh_cn' | 'point_one_en' | 'point_many_en' | 'point_zh_cn'
>

const OWN_NAME = 'Tessera'

/** Returns the words of a site. A name in one language only serves for both. */
export function siteWords(settings: Named, language: 'en' | 'zh-CN'): SiteWords {
  const { site_name_en: en, site_name_zh_cn: zh, point_one_en, point_many_en, point_zh_cn } = settings
  if (language === 'en') {
    const point = point_one_en || 'point'
    return { site: en || zh || OWN_NAME, point, points: point_many_en || (point_one_en ? point : 'points') }
  }
  const point = point_zh_cn || '积分'
  return { site: zh || en || OWN_NAME, point, points: point }
}

const MARKS = /[\uE000-\uE002]/g
const SENTENCE_BEGINS = /(^|[.!?]\s+)$/

/**
 * Replaces the marks in a text. A point's word at the beginning of a sentence gets a capital letter; a word alone does not,
 * because it follows an amount.
 * @param as writes a word, to mark it.
 */
export function withWords(text: string, words: SiteWords, as = (word: string) => word): string {
  return text.replace(MARKS, (mark, offset: number) => {
    if (mark === SITE) return as(words.site)
    const word = mark === POINT ? words.point : words.points
    const begins = text.length > 1 && SENTENCE_BEGINS.test(text.slice(0, offset))
    return as(begins ? word[0]!.toUpperCase() + word.slice(1) : word)
  })
}
