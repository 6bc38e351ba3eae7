/** Search over the headings of the guides and the titles of the API. */
import { type Language, textKey } from '../web/languages.ts'
import { PAYMENT_CODES } from './codes.ts'
import { docs } from './docs.texts.ts'
import { GUIDES, guideIn, guidePath } from './guides/guides.ts'
import { SECTIONS } from './navigation.ts'
import { OPERATIONS, operationId } from './openapi.ts'
import { WEBHOOKS } from './webhooks.ts'

const FOUND_MAX = 40

export type Found = { href: string; title: string; page: string }

const index: Record<Language, Found[]> = { en: indexOf('en'), 'zh-CN': indexOf('zh-CN') }

/** Finds the headings that contain every word, in their own text or in the title of their page. */
export function findHeadings(language: Language, query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const holdsAll = (text: string) => words.every((word) => text.includes(word))
  const found = index[language].filter(({ title, page }) => holdsAll(`${title} ${page}`.toLowerCase()))
  const isOwn = ({ title }: Found) => Number(holdsAll(title.toLowerCase()))
  return found.sort((a, b) => isOwn(b) - isOwn(a)).slice(0, FOUND_MAX)
}

function indexOf(language: Language): Found[] {
  const key = textKey(language)
  const guides = GUIDES.flatMap((name) => {
    const { title, headings } = guideIn(language, name)
    const href = guidePath(name)
    const inside = headings.map(({ id, text }) => ({ href: `${href}#${id}`, title: text, page: title }))
    return [{ href, title, page: title }, ...inside]
  })
  const sections = SECTIONS.map((name) => {
    const title = docs.areas[name].title[key]
    return { href: `/docs/${name}`, title, page: docs.api[key] }
  })
  const operations = OPERATIONS.map((operation) => ({
    href: `/docs/${operation.area}/${operationId(operation)}`,
    title: `${operation.about[key]} ${operation.path}`,
    page: docs.areas[operation.area].title[key],
  }))
  const messages = WEBHOOKS.map(({ name, title }) => ({
    href: `/docs/notifications/${name}`,
    title: title[key],
    page: docs.areas.notifications.title[key],
  }))
  const codes = PAYMENT_CODES.map(({ code, about }) => ({
    href: '/docs/codes#payment',
    title: `${code} ${about[key]}`,
    page: docs.areas.codes.title[key],
  }))
  return [...guides, ...sections, ...operations, ...messages, ...codes]
}
