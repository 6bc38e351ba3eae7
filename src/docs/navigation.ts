/** The navigation of the documentation: a search, the guides by chapter, the API, and the pages before and after a page. */

import type { Icon } from '../web/icons.ts'
import { type Locale, textKey } from '../web/languages.ts'
import type { AreaNav } from '../web/views.ts'
import { CHAPTERS, type Chapter, GUIDES, type GuideName, guidePath } from './guides/guides.ts'
import { WEBHOOKS } from './operations/webhooks.ts'
import { AREAS, OPERATIONS, operationId } from './reference/openapi.ts'

export type Link = { href: string; title: string }
/** The pages before and after a page, and the address of the page in Markdown. */
export type Ways = { previous: Link | undefined; next: Link | undefined; markdown: string }

/** The pages of the API, in the order of the navigation. */
export const SECTIONS = [...AREAS, 'notifications', 'codes', 'rules'] as const

const ICONS = {
  start: 'home',
  'start-gateway': 'swap',
  'test-mode': 'check',
  links: 'link',
  merchant: 'wallet',
  'access-keys': 'key',
  payouts: 'users',
  mandates: 'refresh',
  subscriptions: 'clock',
  'gateway-shop': 'shop',
  'gateway-clients': 'sliders',
  'oauth-application': 'user',
  'sign-in-programs': 'code',
  'sign-in-clients': 'sliders',
  operator: 'shield',
  discourse: 'users',
  'other-forum': 'globe',
  identity: 'key',
  payment: 'code',
  rest: 'key',
  v1: 'code',
  v2: 'code',
  notifications: 'bell',
  codes: 'alert',
  rules: 'scale',
} as const satisfies Record<GuideName | (typeof SECTIONS)[number], Icon>

/**
 * Builds the navigation in the language of a page.
 * @param query what the reader has searched for.
 */
export function docsNav({ t }: Locale, query = ''): AreaNav {
  const chapters = (Object.keys(CHAPTERS) as Chapter[]).map((chapter) => ({
    title: t.docs.chapters[chapter],
    folds: true,
    isOpen: chapter === 'payments',
    links: CHAPTERS[chapter].map((name) => guideLink(name, t)),
  }))
  const api = SECTIONS.map((section) => ({
    href: `/docs/${section}`,
    label: t.docs.areas[section].title,
    icon: ICONS[section],
  }))
  return {
    label: t.docs.title,
    search: { action: '/docs/search', label: t.docs.searchLabel, hint: t.docs.searchHint, query },
    groups: [...chapters, { title: t.docs.api, folds: true, links: api }],
    bar: BAR.map((name) => ({ ...guideLink(name, t), short: t.docs.short[name] })),
  }
}

/** The guides in the bar at the foot of a phone: the first one of each kind of client. */
const BAR = ['start', 'merchant', 'gateway-shop', 'oauth-application'] as const

const guideLink = (name: GuideName, { docs }: Locale['t']) => ({
  href: guidePath(name),
  label: docs.guides[name],
  icon: ICONS[name],
  isAlone: name === 'start',
})

/** Returns the title of a page, for a text that names it by its path. Undefined for any other text. */
export function titleOf(path: string, locale: Pick<Locale, 't' | 'language'>): string | undefined {
  const [page = ''] = path.split('#')
  const others: Record<string, string> = locale.t.docs.otherPages
  return others[page] ?? docsPages(locale).find(({ href }) => href === page)?.title
}

/** Returns the pages before and after a page of the API. */
export function waysInApi(path: string, locale: Locale): Ways {
  const pages = apiPages(locale)
  const at = pages.findIndex(({ href }) => href === path)
  return { previous: pages[at - 1], next: pages[at + 1], markdown: markdownPath(path) }
}

/** The address of a page in Markdown. */
export function markdownPath(href: string): string {
  const [page = '', place] = href.split('#')
  return `${page}.md${place ? `#${place}` : ''}`
}

const docsPages = (locale: Pick<Locale, 't' | 'language'>): Link[] => [
  ...GUIDES.map((name) => ({ href: guidePath(name), title: locale.t.docs.guides[name] })),
  ...apiPages(locale),
]

/** The pages of the API in their order. */
function apiPages({ t, language }: Pick<Locale, 't' | 'language'>): Link[] {
  const key = textKey(language)
  const section = (name: (typeof SECTIONS)[number]) => ({
    href: `/docs/${name}`,
    title: t.docs.areas[name].title,
  })
  return SECTIONS.flatMap((name): Link[] => [
    section(name),
    ...OPERATIONS.filter(({ area }) => area === name).map((operation) => ({
      href: `/docs/${name}/${operationId(operation)}`,
      title: operation.about[key],
    })),
    ...(name === 'notifications' ? WEBHOOKS : []).map((webhook) => ({
      href: `/docs/notifications/${webhook.name}`,
      title: webhook.title[key],
    })),
  ])
}
