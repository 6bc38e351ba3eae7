/** The guides below /docs, the search over the documentation, and the choice of the applications that it shows. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { cookieOptions, sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { safeBack } from '../web/back.ts'
import { escapeHtml } from '../web/html.ts'
import { type Icon, icon } from '../web/icons.ts'
import { siteWords } from '../web/site-words.ts'
import { filled, withFound } from './guides/fill.ts'
import {
  type Chapter,
  chapterOf,
  GUIDES,
  type GuideName,
  guideIn,
  guidePath,
  inGuideWords,
  linkOf,
  shownIn,
} from './guides/guides.ts'
import { type Heading, writeDocument } from './guides/markdown.ts'
import { CHOICE_COOKIE, findReader, type Reader, valuesOf, withTestApp } from './guides/reader.ts'
import { docsNav, type Link, markdownPath, titleOf, type Ways } from './navigation.ts'
import type { Samples } from './operations/samples.ts'
import { callOf } from './programs/call.ts'
import { type Program, programsOf } from './programs/programs.ts'
import { OPERATIONS, operationId } from './reference/openapi.ts'
import { tabWords } from './reference/tabs.ts'
import { type Found, searchDocs } from './search.ts'

/** The pictures of the roads from the first page, by the last guide of each. */
const ROADS: Record<string, Icon> = {
  'start-gateway.md': 'wallet',
  'sign-in-programs.md': 'user',
  'other-forum.md': 'shield',
}
const QUERY_LENGTH_MAX = 100
/** The pages that an address without a page offers. */
const PERHAPS_MAX = 5
/** The lines of a list of contents. */
const CONTENTS_MAX = 18
const CHOICE_SECONDS = 31_536_000

const SearchQuery = z.object({
  q: z.string().trim().max(QUERY_LENGTH_MAX).catch('').default(''),
  /** The address of the one page whose results are shown. */
  page: z.string().max(QUERY_LENGTH_MAX).optional().catch(undefined),
})
const Choice = z.object({
  payment_id: z
    .string()
    .regex(/^\w{0,60}$/)
    .catch('')
    .default(''),
  client_id: z
    .string()
    .regex(/^\w{0,60}$/)
    .catch('')
    .default(''),
  return_to: z.string().optional().catch(undefined),
})

declare module '../web/views.ts' {
  interface PageData {
    'docs/guide': {
      nav: AreaNav
      guide: { title: string; html: string; headings: Heading[]; chapter: Chapter; isFirst: boolean }
      shown: readonly ('payment' | 'signIn')[]
      reader: Reader
      ways: Ways
    }
    /** The titles, paths and excerpts are HTML, with the words of the query marked. `count` counts what is not listed too. */
    'docs/search': {
      nav: AreaNav
      query: string
      count: number
      found: Found[]
      /** Pages with more results, how many, and the address that lists them. */
      elsewhere: { href: string; title: string; count: number }[]
    }
    /** `found` are the pages that the words of the address find. */
    'docs/missing': { nav: AreaNav; query: string; found: Link[] }
  }
  interface PartData {
    /** The ways to the headings of a page, shown on small screens. */
    'docs/contents': { headings: Heading[] }
    /** The same, shown beside the page on wide screens. */
    'docs/on-page': { headings: Heading[] }
    'docs/ways': { ways: Ways }
    'docs/reader': { shown: readonly ('payment' | 'signIn')[]; reader: Reader }
  }
}

/** Finds the applications of the reader of a page. */
export function readerOf(deps: Pick<Core, 'db'>, { session, cookies }: FastifyRequest): Promise<Reader> {
  return findReader(deps, session?.user.id, cookies[CHOICE_COOKIE])
}

/** Registers the guides, the search and the choice. */
export async function guidePages(app: FastifyInstance, deps: Core): Promise<void> {
  for (const name of GUIDES) {
    app.get(guidePath(name), async (request, reply) => {
      const found = await readerOf(deps, request)
      const reader = chapterOf(name) === 'begin' ? withTestApp(found) : found
      const { locale } = request
      return reply.page('docs/guide', {
        nav: docsNav(locale),
        guide: writeGuide(deps, request, name, reader),
        shown: shownIn(name),
        reader,
        ways: waysFrom(deps, request, name),
      })
    })
  }

  app.get('/docs/start', (_, reply) => reply.redirect(guidePath('start')))
  app.get('/docs/recipes', (_, reply) => reply.redirect(guidePath('sign-in-clients')))

  app.get('/docs/search', async (request, reply) => {
    const { q, page } = SearchQuery.parse(request.query)
    const { locale } = request
    const { words, count, found, elsewhere } = searchDocs(locale, deps.settings.latest(), q, page)
    const marked = found.map(({ entries, ...page }) => ({
      ...page,
      entries: entries.map(({ places, excerpt }) => ({
        places: places.map(({ href, title, path }) => ({
          href,
          title: withFound(title, words),
          path: withFound(path, words),
        })),
        excerpt: withFound(excerpt, words),
      })),
    }))
    return reply.page('docs/search', {
      nav: docsNav(locale, q),
      query: q,
      count,
      found: marked,
      elsewhere: elsewhere.map((page) => ({
        ...page,
        href: `/docs/search?${new URLSearchParams({ q, page: page.href })}`,
      })),
    })
  })

  app.get('/docs/*', async (request, reply) => {
    const { locale } = request
    const query = (request.url.split('?')[0] ?? '')
      .split('/')
      .at(-1)!
      .replace(/\.\w+$/, '')
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
      .slice(0, QUERY_LENGTH_MAX)
    const { found } = searchDocs(locale, deps.settings.latest(), query)
    const data = { nav: docsNav(locale, query), query, found: found.slice(0, PERHAPS_MAX) }
    return reply.page('docs/missing', data, { status: 404 })
  })

  app.post('/docs/applications', async (request, reply) => {
    const { user } = sessionOf(request)
    const { payment_id, client_id, return_to } = Choice.parse(request.body ?? {})
    const choice = `${payment_id}.${client_id}`
    reply.setCookie(CHOICE_COOKIE, choice, { ...cookieOptions(deps.config), maxAge: CHOICE_SECONDS })
    const { payment, signIn } = await findReader(deps, user.id, choice)
    const names = [payment.chosen, signIn.chosen].flatMap((app) => (app === undefined ? [] : [app.name]))
    return reply.done(safeBack(return_to), {
      text: request.locale.t.docs.reader.changed([...new Set(names)]),
    })
  })
}

function writeGuide(deps: Core, { locale }: FastifyRequest, name: GuideName, reader: Reader) {
  const document = guideIn(locale.language, name)
  const words = siteWords(deps.settings.latest(), locale.language)
  const inWords = (text: string) => inGuideWords(text, name, locale.language, words)
  const values = valuesOf(deps, reader)
  const html = writeDocument(document, {
    prose: (text) => escapeHtml(inWords(text)),
    code: (text) => filled(text, values),
    link: linkOf,
    page: (path) => titleOf(path, locale),
    programs: programsAt,
    words: tabWords(locale),
    ...(name === 'start' && { picture: (href: string) => icon(ROADS[href] ?? 'book') }),
  })
  return {
    title: inWords(document.title),
    html,
    headings: waysTo(document.headings).map((heading) => ({ ...heading, text: inWords(heading.text) })),
    chapter: chapterOf(name),
    isFirst: name === GUIDES[0],
  }
}

/** The headings that a page leads to: the first two levels, unless they are too many to be read at once. */
function waysTo(headings: readonly Heading[]): Heading[] {
  const both = headings.filter(({ level }) => level <= 3)
  return both.length <= CONTENTS_MAX ? both : both.filter(({ level }) => level === 2)
}

/** The guides of operators stand apart: readers of one chapter rarely read the other. */
function waysFrom(deps: Core, { locale }: FastifyRequest, name: GuideName): Ways {
  const isOperators = chapterOf(name) === 'operators'
  const alike = GUIDES.filter((other) => (chapterOf(other) === 'operators') === isOperators)
  const words = siteWords(deps.settings.latest(), locale.language)
  const linkTo = (guide: GuideName | undefined): Link | undefined =>
    guide && {
      href: guidePath(guide),
      title: inGuideWords(guideIn(locale.language, guide).title, guide, locale.language, words),
    }
  const at = alike.indexOf(name)
  return {
    previous: linkTo(alike[at - 1]),
    next: linkTo(alike[at + 1]),
    markdown: markdownPath(guidePath(name)),
  }
}

const ADDRESS = 'https://YOUR-TESSERA-PAYMENTS'
/** The keys in the programs of a guide. Each word is one that a guide explains, or that `filled` replaces. */
const WORDS: Samples = {
  isLive: false,
  issuer: 'https://YOUR-TESSERA',
  client_id: 'YOUR-CLIENT-ID',
  client_secret: 'YOUR-SECRET',
  redirect_uri: 'https://app.example/callback',
  code: 'YOUR-CODE',
  access_token: 'YOUR-ACCESS-TOKEN',
  payment_id: 'YOUR-PAYMENT-ID',
  token: 'YOUR-TOKEN',
  pid: 'YOUR-PID',
  merchant_key: 'YOUR-KEY',
  merchant_private_key: 'YOUR-PRIVATE-KEY',
  mandates: { charged: 'YOUR-MANDATE-ID', revoked: 'YOUR-MANDATE-ID' },
  access: {
    client_id: 'YOUR-ACCESS-KEY',
    client_secret: 'YOUR-ACCESS-SECRET',
    token: 'YOUR-ACCESS-TOKEN',
    order: 'YOUR-TRANSACTION-ID',
    transfer: 'YOUR-TRANSACTION-ID',
  },
  member: { id: '1', username: 'alice' },
}

/**
 * Writes the programs of an operation of the gateway, one per language. Programs of the HMAC API sign with a hash of the
 * token, which has no placeholder.
 * @param href the address of the operation's page.
 * @throws if no operation of the gateway has this page.
 */
export function programsAt(href: string): Program[] {
  const operation = OPERATIONS.find(
    (each) =>
      (each.area === 'v1' || each.area === 'v2') && `/docs/${each.area}/${operationId(each)}` === href,
  )
  if (operation === undefined) throw new Error(`No operation of the gateway at ${href}`)
  return programsOf(callOf(operation, WORDS, ADDRESS))
}
