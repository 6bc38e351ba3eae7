/** Tabs of samples that need no script: a radio button shows the sample that follows it. */

import { escapeHtml } from '../../web/html.ts'
import type { Locale } from '../../web/languages.ts'
import { highlighted } from './highlight.ts'

/** A sample and its language, by the word after ``` in a guide. */
export type Sample = { language: string; code: string; label?: string }

const LABELS: Record<string, string> = {
  sh: 'Shell',
  js: 'Node.js',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
  java: 'Java',
  ruby: 'Ruby',
  apache: 'Apache',
  ini: 'Settings',
  json: 'JSON',
  text: 'Text',
}

export type TabWords = { copy: string; copied: string; sample: string }

/** The words around samples, in the language of a page. */
export const tabWords = ({ t }: Pick<Locale, 't'>): TabWords => ({
  copy: t.common.copy,
  copied: t.common.copied,
  sample: t.docs.sample,
})

/**
 * Writes samples as tabs, the first one open.
 * @param name names the group: each group of a page has its own.
 * @param write writes a piece of code as HTML.
 */
export function writeTabs(
  samples: readonly Sample[],
  name: string,
  { write, words }: { write: (code: string) => string; words: TabWords },
): string {
  const tabs = samples.map(({ language, code, label = LABELS[language] ?? language }, i) => {
    const id = `${name}-${i}`
    const title = escapeHtml(label)
    const state = `${i === 0 ? ' checked' : ''}${samples.length === 1 ? ' hidden' : ''}`
    return [
      `<input type="radio" name="${name}" id="${id}" class="hush"${state}><label for="${id}">${title}</label>`,
      `<pre tabindex="0"><code id="${id}-code">${highlighted(code, language, write)}</code></pre>`,
      `<button type="button" class="quiet" hidden data-copy-from="${id}-code" data-said="${escapeHtml(words.copied)}"`,
      ` aria-label="${escapeHtml(words.copy)}: ${title}">${escapeHtml(words.copy)}</button>`,
    ].join('')
  })
  return `<div class="panel flush small code-tabs" role="group" aria-label="${escapeHtml(words.sample)}">${tabs.join('')}</div>`
}
