/** The guides of docs/, in both languages and in the order of the navigation. They are read once, at the start. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Language, textKey } from '../../web/languages.ts'
import type { SiteWords } from '../../web/site-words.ts'
import { inSiteWords } from './fill.ts'
import { type Document, readDocument } from './markdown.ts'

const FOLDER = join(import.meta.dirname, '../../../docs')

/** The guides under each title of the navigation. The first one is the page at /docs. */
export const CHAPTERS = {
  begin: ['start', 'start-gateway', 'test-mode'],
  payments: [
    'links',
    'merchant',
    'access-keys',
    'payouts',
    'mandates',
    'subscriptions',
    'gateway-shop',
    'gateway-clients',
  ],
  signIn: ['oauth-application', 'sign-in-programs', 'sign-in-clients'],
  operators: ['operator', 'discourse', 'other-forum'],
} as const

export type Chapter = keyof typeof CHAPTERS
export type GuideName = (typeof CHAPTERS)[Chapter][number]

export const GUIDES: readonly GuideName[] = Object.values(CHAPTERS).flat()

/** The kinds of application whose identifiers a guide shows. */
const SHOWN: Partial<Record<GuideName, readonly ('payment' | 'signIn')[]>> = {
  start: ['payment'],
  'start-gateway': ['payment'],
  'test-mode': ['payment'],
  merchant: ['payment'],
  'access-keys': ['payment'],
  payouts: ['payment'],
  'gateway-shop': ['payment'],
  'gateway-clients': ['payment'],
  'oauth-application': ['signIn'],
  'sign-in-programs': ['signIn'],
  'sign-in-clients': ['signIn'],
}

const read = (language: Language) =>
  Object.fromEntries(
    GUIDES.map((name) => [name, readDocument(readFileSync(join(FOLDER, language, `${name}.md`), 'utf8'))]),
  ) as Record<GuideName, Document>

const documents: Record<Language, Record<GuideName, Document>> = { en: read('en'), 'zh-CN': read('zh-CN') }

/** Returns a guide in a language. */
export function guideIn(language: Language, name: GuideName): Document {
  return documents[language][name]
}

/** The chapter of a guide. */
export function chapterOf(name: GuideName): Chapter {
  const chapters = Object.keys(CHAPTERS) as Chapter[]
  return chapters.find((chapter) => (CHAPTERS[chapter] as readonly string[]).includes(name))!
}

/** Writes a text of a guide in the words of the site. The guides of operators are about the program, so they keep its name. */
export function inGuideWords(text: string, name: GuideName, language: Language, words: SiteWords): string {
  return chapterOf(name) === 'operators' ? text : inSiteWords(text, textKey(language), words)
}

/** The kinds of application whose identifiers a guide shows. */
export function shownIn(name: GuideName): readonly ('payment' | 'signIn')[] {
  return SHOWN[name] ?? []
}

/** The address of a guide. */
export function guidePath(name: GuideName): string {
  return name === 'start' ? '/docs' : `/docs/${name}`
}

/** The address that a link of a guide leads to. A link to another file of the repository leads nowhere. */
export function linkOf(href: string): string | undefined {
  if (/^(https?:\/\/|\/(?!\/)|#)/.test(href)) return href
  const [, name, place = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? []
  const guide = GUIDES.find((each) => each === name)
  return guide && `${guidePath(guide)}${place}`
}
