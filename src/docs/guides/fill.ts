// This room: the guides of docs/en and docs/zh-CN as pages, with the reader’s own values.
// Verbs: writeDocument.
/** Fills a reader's own values into the texts of guides and samples, and marks them. */
import { escapeHtml } from '../../web/html.ts'
import type { Text } from '../../web/languages.ts'
import type { SiteWords } from '../../web/site-words.ts'
import { markName, withNameSpaces } from '../../web/spacing.ts'

/** The words of the guides that stand for a value. A value that is not known keeps its word. */
export type Values = {
  'https://YOUR-TESSERA': string
  'https://YOUR-TESSERA-PAYMENTS': string
  'YOUR-PAYMENT-ID'?: string | undefined
  'YOUR-PID'?: string | undefined
  'YOUR-CLIENT-ID'?: string | undefined
}

const STANDING_IN =
  /https:\/\/YOUR-TESSERA(?:-PAYMENTS)?(?![A-Z-])|YOUR-(?:PAYMENT-ID|PID|CLIENT-ID)(?![A-Z-])/g
const OWN_WORDS = /\bTessera\b|\b[Pp]oints?\b|积分/g

/** Writes a text as HTML, with the values that are known. */
export function filled(text: string, values: Values): string {
  return marked(text, STANDING_IN, (word) => values[word as keyof Values])
}

/** Puts in the values that are known. */
export function filledText(text: string, values: Values): string {
  return text.replace(STANDING_IN, (word) => values[word as keyof Values] ?? word)
}

const escapeExpression = (text: string) => text.replaceAll(/[^\w]/g, '\\$&')

/** Writes a text as HTML, and marks each of these values in it. */
export function withMarks(text: string, found: readonly string[]): string {
  if (found.length === 0) return escapeHtml(text)
  const either = found.map(escapeExpression).join('|')
  const pattern = new RegExp(`(?<![\\w-])(?:${either})(?![\\w-])`, 'g')
  return marked(text, pattern, (value) => value)
}

/** Writes a text as HTML, and marks each of these words in it, in any case. */
export function withFound(text: string, words: readonly string[]): string {
  if (words.length === 0) return escapeHtml(text)
  const either = words.toSorted((a, b) => b.length - a.length).map(escapeExpression)
  return marked(text, new RegExp(either.join('|'), 'gi'), (word) => word)
}

function marked(text: string, pattern: RegExp, valueFor: (word: string) => string | undefined): string {
  let html = ''
  let end = 0
  for (const { 0: word, index } of text.matchAll(pattern)) {
    const value = valueFor(word)
    const shown = value === undefined ? escapeHtml(word) : `<mark>${escapeHtml(value)}</mark>`
    html += escapeHtml(text.slice(end, index)) + shown
    end = index + word.length
  }
  return html + escapeHtml(text.slice(end))
}

/** Replaces the name of the program and of its points by those of the site, with the spaces that Chinese has beside them. */
export function inSiteWords(text: string, key: keyof Text, { site, point, points }: SiteWords): string {
  const replaced = (as: (word: string) => string) =>
    text.replace(OWN_WORDS, (word) => {
      if (word === 'Tessera') return as(site)
      const own = /^point$/i.test(word) ? point : points
      return as(word.startsWith('P') ? own[0]!.toUpperCase() + own.slice(1) : own)
    })
  return key === 'zh' ? withNameSpaces(replaced(markName)) : replaced((word) => word)
}
