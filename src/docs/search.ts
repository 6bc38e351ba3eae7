/** Search over the documentation: the sections of the guides, and the operations, messages, codes and rules of the API. */
import type { SettingValues } from '../core/setting-values.ts'
import { inWords, type Language, type Locale, textKey } from '../web/languages.ts'
import { type SiteWords, siteWords } from '../web/site-words.ts'
import { markName, withNameSpaces } from '../web/spacing.ts'
import { docs } from './docs.texts.ts'
import { inSiteWords } from './guides/fill.ts'
import { GUIDES, guideIn, guidePath, inGuideWords } from './guides/guides.ts'
import { sectionsOf } from './guides/markdown.ts'
import { SECTIONS, titleOf } from './navigation.ts'
import { gatewayCodes, OAUTH_CODES, PAYMENT_CODES } from './operations/codes.ts'
import { WEBHOOKS } from './operations/webhooks.ts'
import { describeOperation } from './reference/describe.ts'
import { OPERATIONS, operationId } from './reference/openapi.ts'
import { rulesOf } from './rules.ts'
import { synonymsOf } from './synonyms.ts'

/** The best places of a search, and the places of the one page that a reader asked for. */
const FOUND_MAX = 10
const FOUND_ON_PAGE_MAX = 40
/** Characters before a word that was found in a text, and from there to the end: about three lines on a phone. */
const AROUND: Record<Language, { before: number; after: number }> = {
  en: { before: 30, after: 80 },
  'zh-CN': { before: 15, after: 40 },
}

const CODES = '/docs/codes'
/** A line that says too little to begin a text: the heading of a column, or a name. */
const SHORT: Record<Language, number> = { en: 25, 'zh-CN': 12 }

/** The meaning of an error code is its title, and what to do about it is the text. */
const FIRST_SENTENCE = /^(.+?)(?:[.。；;] ?|$)(.*)$/s

type Page = { href: string; title: string }
/**
 * A place that the search leads to, and the page on which it is. An operation has the path that its requests go to, and an error code
 * its number. Its text has a line a paragraph, item or cell. Readers look for guides before they look for the reference.
 */
type Entry = Page & { path?: string; text: string; page: Page; isGuide?: boolean }

/** Places of a page whose texts say the same. */
type FoundEntry = { places: (Page & { path: string })[]; excerpt: string }

/** What was found on a page. */
export type Found = Page & { entries: FoundEntry[] }

/**
 * Finds the entries that contain every word or another word for it, in their title, path, text or the title of their page. The best
 * come first: titles before texts, and guides before the reference.
 * `count` counts all of them, `found` lists the best, and `elsewhere` names the pages that have more, with how many.
 * @param onPage the address of the only page whose entries are listed.
 */
export function searchDocs(
  locale: Pick<Locale, 't' | 'language'>,
  settings: SettingValues,
  query: string,
  onPage?: string,
): { words: string[]; count: number; found: Found[]; elsewhere: (Page & { count: number })[] } {
  const { language } = locale
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const marked = (each: readonly string[]) => [...each, ...each.flatMap(synonymsOf)]
  const all = [...entriesIn(locale, settings), ...ruleEntries(language, settings)]
  const entries = onPage === undefined ? all : all.filter(({ page }) => page.href === onPage)
  const found = rank(entries, words)
  const pairs = words.flatMap(pairsOf)
  const [ranked, sought] = found.length > 0 ? [found, marked(words)] : [rank(entries, pairs), pairs]
  const best = ranked.slice(0, onPage === undefined ? FOUND_MAX : FOUND_ON_PAGE_MAX)
  const others = Map.groupBy(ranked.slice(best.length), ({ page }) => page.href)
  return {
    words: sought,
    count: ranked.length,
    found: byPage(best, sought, language),
    elsewhere: [...others.values()].map((entries) => ({ ...entries[0]!.page, count: entries.length })),
  }
}

/** Chinese has no spaces: a long word that is nowhere is searched for by each two characters that follow each other. */
function pairsOf(word: string): string[] {
  if (!/^\p{Script=Han}{3,}$/u.test(word)) return [word]
  return [...word].slice(1).map((character, i) => [...word][i] + character)
}

function rank(entries: readonly Entry[], words: readonly string[]): Entry[] {
  if (words.length === 0) return []
  return entries
    .map((entry) => ({ entry, score: Math.min(...words.map((word) => scoreOf(entry, word))) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || Number(b.entry.isGuide ?? false) - Number(a.entry.isGuide ?? false))
    .map(({ entry }) => entry)
}

/** Another word for what was typed counts as much in a title, and half elsewhere. */
function scoreOf(entry: Entry, word: string): number {
  const own = scoreOfWord(entry, word)
  const others = own >= 3 ? [] : synonymsOf(word).map((other) => scoreOfSynonym(scoreOfWord(entry, other)))
  return Math.max(own, ...others)
}

const scoreOfSynonym = (score: number) => (score >= 3 ? 3 : score / 2)

function scoreOfWord({ title, path = '', text, page }: Entry, word: string): number {
  if ([title, path].some((name) => name.toLowerCase().startsWith(word))) return 4
  if (title.toLowerCase().includes(word)) return 3
  if (path.toLowerCase().includes(word)) return 2.5
  if (page.title.toLowerCase().includes(word)) return 2
  return text.toLowerCase().includes(word) ? 1 : 0
}

/** Groups the best entries by their page. A page stands where its best entry stands. */
function byPage(best: readonly Entry[], words: readonly string[], language: Language): Found[] {
  return [...Map.groupBy(best, ({ page }) => page.href).values()].map((entries) => ({
    ...entries[0]!.page,
    entries: inOneRow(entries, words, language),
  }))
}

/** Describes the entries of a page. Those whose excerpts are equal share a row, except error codes. */
function inOneRow(entries: readonly Entry[], words: readonly string[], language: Language): FoundEntry[] {
  const excerpts = entries.map((entry) => ({
    place: { href: entry.href, title: entry.title, path: entry.path ?? '' },
    excerpt: excerptOf(entry.text, entry.title, words, language),
  }))
  const alike = Map.groupBy(excerpts, ({ place, excerpt }) =>
    place.href.startsWith(CODES) ? `${place.title} ${place.path}` : excerpt || place.href,
  )
  return [...alike.values()].map((rows) => ({
    excerpt: rows[0]!.excerpt,
    places: rows.map(({ place }) => place),
  }))
}

/**
 * Cuts the line of a text in which a word was found around the first such word, between words where it has spaces. Words of the
 * title are not looked for, so that the text of an entry found by its title begins at its beginning.
 */
function excerptOf(text: string, title: string, words: readonly string[], language: Language): string {
  const { before, after } = AROUND[language]
  const sought = words.filter((word) => !title.toLowerCase().includes(word))
  const lines = text.split('\n').map((line) => ({ line, at: firstOf(sought, line) }))
  const { line, at } = lines.find(({ at }) => at >= 0) ??
    lines.find(({ line }) => line.length >= SHORT[language]) ??
    lines[0] ?? { line: '', at: -1 }
  const from = at > before ? line.indexOf(' ', at - before) + 1 || at - before : 0
  const begin = from > at ? Math.max(at, 0) : from
  const last = begin + before + after
  const space = line.lastIndexOf(' ', last)
  const end = last < line.length && space > begin + before ? space : last
  return `${begin > 0 ? '…' : ''}${line.slice(begin, end)}${end < line.length ? '…' : ''}`
}

/** The first place of any of these words in a line, and -1 if it has none. */
function firstOf(words: readonly string[], line: string): number {
  const lower = line.toLowerCase()
  const found = words.map((word) => lower.indexOf(word)).filter((index) => index >= 0)
  return found.length === 0 ? -1 : Math.min(...found)
}

let kept: { key: string; entries: Entry[] } | undefined

/** The entries whose texts do not depend on fees and limits. They are kept until another language or name is asked for. */
function entriesIn(locale: Pick<Locale, 't' | 'language'>, settings: SettingValues): Entry[] {
  const { language } = locale
  const words = siteWords(settings, language)
  const key = JSON.stringify([language, words])
  if (kept?.key !== key)
    kept = { key, entries: [...guideEntries(locale, words), ...apiEntries(language, words)] }
  return kept.entries
}

function guideEntries(locale: Pick<Locale, 't' | 'language'>, words: SiteWords): Entry[] {
  const { language } = locale
  return GUIDES.flatMap((name) => {
    const inOwnWords = (text: string) => inGuideWords(text, name, language, words)
    const guide = guideIn(language, name)
    const titleAt = (path: string) => {
      const title = titleOf(path, locale)
      return title && markName(title)
    }
    const page = { href: guidePath(name), title: inOwnWords(guide.title) }
    return sectionsOf(guide, titleAt).map(({ heading, text }) => ({
      href: heading ? `${page.href}#${heading.id}` : page.href,
      title: heading ? inOwnWords(heading.text) : page.title,
      text: withNameSpaces(inOwnWords(text)),
      page,
      isGuide: true,
    }))
  })
}

function apiEntries(language: Language, words: SiteWords): Entry[] {
  const key = textKey(language)
  const entry = (page: Page, text: string, own: Partial<Entry> = {}): Entry => ({
    ...page,
    ...own,
    text,
    page,
  })
  const section = (name: (typeof SECTIONS)[number]): Page => ({
    href: `/docs/${name}`,
    title: inWords(docs.areas[name].title[key], key, words),
  })
  const sections = SECTIONS.map((name) =>
    entry(section(name), inWords(docs.areas[name].text[key], key, words)),
  )
  const operations = OPERATIONS.map((operation) => {
    const { path, about, introduction, sent, answers } = describeOperation(operation, key)
    const fields = [...(sent?.fields ?? []), ...answers.flatMap((answer) => answer.fields)]
    const described = fields.map(({ name, about }) => (about ? `${name}: ${about}` : name))
    return entry(section(operation.area), [introduction, ...described].join('\n'), {
      href: `/docs/${operation.area}/${operationId(operation)}`,
      title: about,
      path,
    })
  })
  const messages = WEBHOOKS.map(({ name, title, when, about, answer, schema }) =>
    entry(
      section('notifications'),
      [when[key], about[key], answer[key], ...Object.keys(schema.shape)].join('\n'),
      {
        href: `/docs/notifications/${name}`,
        title: title[key],
      },
    ),
  )
  const codes = [
    ...OAUTH_CODES.map(({ code, about }) => ({ at: `identity#${code}`, path: code, about })),
    ...PAYMENT_CODES.map(({ code, about }) => ({ at: `payment#c${code}`, path: String(code), about })),
    ...(['v1', 'v2'] as const).flatMap((area) =>
      gatewayCodes(area).map(({ name, code, msg, about }) => ({
        at: `${area}#${area}-${name}`,
        path: `${code} ${msg}`,
        about,
      })),
    ),
  ].map(({ at, path, about }) => {
    const [, title = path, text = ''] = FIRST_SENTENCE.exec(about[key]) ?? []
    return entry(section('codes'), text, { href: `${CODES}?of=${at}`, title, path })
  })
  // Both versions of the gateway give the same meaning to a code.
  const distinct = new Map(codes.map((code) => [`${code.title} ${code.path}`, code]))
  return [...sections, ...operations, ...messages, ...distinct.values()]
}

/** The rules show the settings in force. */
function ruleEntries(language: Language, settings: SettingValues): Entry[] {
  const key = textKey(language)
  const words = siteWords(settings, language)
  const page = { href: '/docs/rules', title: inWords(docs.areas.rules.title[key], key, words) }
  return rulesOf(settings, key).map(({ id, title, lines, table }) => ({
    href: `${page.href}#${id}`,
    title,
    text: inSiteWords([...lines, ...(table?.rows.flat() ?? [])].join('\n'), key, words),
    page,
  }))
}
