/** The side navigation of the documentation: the guides by chapter, then the API. */

import type { Icon } from '../web/icons.ts'
import type { Locale } from '../web/languages.ts'
import type { AreaNav } from '../web/views.ts'
import { CHAPTERS, type Chapter, type GuideName, guidePath } from './guides/guides.ts'
import { AREAS } from './openapi.ts'

/** The pages of the API, in the order of the navigation. */
export const SECTIONS = [...AREAS, 'notifications', 'codes', 'rules'] as const

const ICONS = {
  start: 'home',
  'test-mode': 'check',
  merchant: 'wallet',
  'gateway-shop': 'shop',
  'gateway-clients': 'sliders',
  'oauth-application': 'user',
  'sign-in-clients': 'sliders',
  operator: 'shield',
  discourse: 'users',
  identity: 'key',
  payment: 'code',
  v1: 'code',
  v2: 'code',
  notifications: 'bell',
  codes: 'alert',
  rules: 'scale',
} as const satisfies Record<GuideName | (typeof SECTIONS)[number], Icon>

/** Builds the navigation in the language of a page. */
export function docsNav({ t }: Locale): AreaNav {
  const chapters = (Object.keys(CHAPTERS) as Chapter[]).map((chapter) => ({
    title: t.docs.chapters[chapter],
    links: CHAPTERS[chapter].map((name) => ({
      href: guidePath(name),
      label: t.docs.guides[name],
      icon: ICONS[name],
      isAlone: name === 'start',
    })),
  }))
  const api = SECTIONS.map((section) => ({
    href: `/docs/${section}`,
    label: t.docs.areas[section].title,
    icon: ICONS[section],
  }))
  const search = { href: '/docs/search', label: t.docs.search, icon: 'search' as const }
  return {
    label: t.docs.title,
    groups: [{ links: [search] }, ...chapters, { title: t.docs.api, links: api }],
  }
}
