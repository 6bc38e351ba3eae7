/**
 * The documentation in Markdown, for agents and programs: each page at its address with `.md`, GET /docs/llms.txt, which lists
 * them, and GET /docs/llms-full.txt, which has them all, with programs for a shell only. https://llmstxt.org
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '../core/core.ts'
import { type Text, textKey } from '../web/languages.ts'
import { type SiteWords, siteWords } from '../web/site-words.ts'
import { filledText, inSiteWords } from './guides/fill.ts'
import {
  CHAPTERS,
  type Chapter,
  GUIDES,
  type GuideName,
  guideIn,
  guidePath,
  inGuideWords,
  linkOf,
} from './guides/guides.ts'
import { guideInMarkdown } from './guides/in-markdown.ts'
import { sectionsOf } from './guides/markdown.ts'
import { findReader, valuesOf } from './guides/reader.ts'
import { programsAt } from './guides.page.ts'
import { markdownPath, SECTIONS, titleOf } from './navigation.ts'
import { gatewayCodes, OAUTH_CODES, PAYMENT_CODES } from './operations/codes.ts'
import { madeUpSamples } from './operations/samples.ts'
import { SCHEDULE, WEBHOOKS } from './operations/webhooks.ts'
import {
  areaInMarkdown,
  inPieces,
  isShown,
  operationInMarkdown,
  type Writing,
  webhookInMarkdown,
} from './reference/in-markdown.ts'
import { AREAS, OPERATIONS, operationId, serverOf } from './reference/openapi.ts'
import { rulesOf } from './rules.ts'

type Context = { deps: Core; request: FastifyRequest; words: SiteWords } & Writing
type Page = { href: string; write(context: Context): string | Promise<string> }

const PAGES: readonly Page[] = [
  ...GUIDES.map((name): Page => ({ href: guidePath(name), write: (context) => writeGuide(name, context) })),
  ...AREAS.flatMap((area): Page[] => [
    { href: `/docs/${area}`, write: (writing) => areaInMarkdown(area, markdownPath, writing) },
    ...OPERATIONS.filter((operation) => operation.area === area).map((operation) => ({
      href: `/docs/${area}/${operationId(operation)}`,
      write: (context: Context) =>
        operationInMarkdown(operation, serverOf(area, context.deps.config), context),
    })),
  ]),
  { href: '/docs/notifications', write: writeNotifications },
  ...WEBHOOKS.map((webhook) => ({
    href: `/docs/notifications/${webhook.name}`,
    write: (writing: Writing) => webhookInMarkdown(webhook, writing),
  })),
  { href: '/docs/codes', write: writeCodes },
  { href: '/docs/rules', write: writeRules },
]

/** Registers the documentation in Markdown. */
export async function markdownPages(app: FastifyInstance, deps: Core): Promise<void> {
  const contextOf = async (request: FastifyRequest, isBrief = false): Promise<Context> => {
    const { language, t } = request.locale
    return {
      deps,
      request,
      words: siteWords(deps.settings.latest(), language),
      t,
      language: textKey(language),
      samples: await madeUpSamples(),
      isBrief,
    }
  }
  app.addHook('onSend', async (_, reply) => {
    // The signatures of its examples hold only for a while.
    reply.headers({ 'cache-control': 'no-store', 'access-control-allow-origin': '*' })
  })
  for (const { href, write } of PAGES) {
    app.get(markdownPath(href), async (request, reply) =>
      reply.type('text/markdown; charset=utf-8').send(await write(await contextOf(request))),
    )
  }
  app.get('/docs/start.md', (_, reply) => reply.redirect(markdownPath(guidePath('start'))))
  app.get('/docs/llms.txt', async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(writeList(await contextOf(request))),
  )
  app.get('/docs/llms-full.txt', async (request, reply) => {
    const context = await contextOf(request, true)
    const written = await Promise.all(PAGES.map(({ write }) => write(context)))
    return reply.type('text/plain; charset=utf-8').send(written.join('\n'))
  })
}

async function writeGuide(name: GuideName, { deps, request, words, isBrief }: Context): Promise<string> {
  const { locale } = request
  const values = valuesOf(deps, await findReader(deps, undefined))
  return guideInMarkdown(guideIn(locale.language, name), {
    prose: (text) => inGuideWords(text, name, locale.language, words),
    code: (text) => filledText(text, values),
    link: (href) => {
      const address = linkOf(href)
      const isPage = address !== undefined && PAGES.some((page) => page.href === address.split('#')[0])
      return isPage ? markdownPath(address) : address
    },
    page: (path) => titleOf(path, locale),
    programs: (href) => programsAt(href).filter((program) => isShown(program, isBrief)),
  })
}

function writeNotifications({ t, language }: Context): string {
  const { title, text } = t.docs.areas.notifications
  const list = WEBHOOKS.map(
    (webhook) =>
      `- [${webhook.title[language]}](${markdownPath(`/docs/notifications/${webhook.name}`)}): ${webhook.when[language]}`,
  )
  return inPieces([`# ${title}`, text, SCHEDULE[language], list.join('\n')])
}

function writeCodes({ t, language, words }: Context): string {
  const { title, text } = t.docs.areas.codes
  const line = (name: string, about: Text) => `- ${name}: ${inSiteWords(about[language], language, words)}`
  const oauth = OAUTH_CODES.map(({ code, status, about }) =>
    line(`\`${code}\` (${status || t.docs.redirected})`, about),
  )
  const payment = PAYMENT_CODES.map(({ code, status, about }) => line(`\`${code}\` (${status})`, about))
  const gateway = (version: 'v1' | 'v2') =>
    gatewayCodes(version).map(({ code, msg, about }) => line(`\`${code}\` ${msg}`, about))
  return inPieces([
    `# ${title}`,
    text,
    `## ${t.docs.areas.identity.title}`,
    oauth.join('\n'),
    t.docs.ofRedirect,
    `## ${t.docs.areas.payment.title}`,
    payment.join('\n'),
    t.docs.unknownPaymentId,
    `## ${t.docs.areas.v1.title}`,
    gateway('v1').join('\n'),
    `## ${t.docs.areas.v2.title}`,
    gateway('v2').join('\n'),
    t.docs.ofMsg,
  ])
}

async function writeRules({ deps, t, language, words }: Context): Promise<string> {
  const { title, text } = t.docs.areas.rules
  const rules = rulesOf(await deps.settings.read(), language).flatMap(({ title, lines, table }) => [
    `## ${title}`,
    lines.map((line) => `- ${inSiteWords(line, language, words)}`).join('\n'),
    table && tableOf(table),
  ])
  return inPieces([`# ${title}`, text, ...rules])
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const tableOf = ({ head, rows }: { head: string[]; rows: string[][] }) =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

/** Lists every page with its address. */
function writeList({ deps, request, words, t, language }: Context): string {
  const { docs } = t
  const link = (href: string, title: string, about?: string) =>
    `- [${title}](${deps.config.PUBLIC_URL}${markdownPath(href)})${about ? `: ${about}` : ''}`
  const chapters = (Object.keys(CHAPTERS) as Chapter[]).flatMap((chapter) => [
    `## ${docs.chapters[chapter]}`,
    CHAPTERS[chapter]
      .map((name: GuideName) => {
        const locale = request.locale
        const [{ text } = { text: '' }] = sectionsOf(guideIn(locale.language, name), (path) =>
          titleOf(path, locale),
        )
        const about = inGuideWords(firstSentence(text), name, locale.language, words)
        return link(guidePath(name), docs.guides[name], about)
      })
      .join('\n'),
  ])
  const api = SECTIONS.map((section) =>
    [
      link(`/docs/${section}`, docs.areas[section].title, docs.areas[section].text),
      ...OPERATIONS.filter(({ area }) => area === section).map((operation) =>
        link(`/docs/${section}/${operationId(operation)}`, operation.about[language]),
      ),
      ...(section === 'notifications' ? WEBHOOKS : []).map(({ name, title, when }) =>
        link(`/docs/notifications/${name}`, title[language], when[language]),
      ),
    ].join('\n'),
  )
  return inPieces([
    `# ${words.site}`,
    `> ${docs.forAgents}`,
    docs.otherForms(deps.config.PUBLIC_URL),
    ...chapters,
    `## ${docs.api}`,
    api.join('\n'),
  ])
}

/** The first sentence of a text in either language. */
const firstSentence = (text: string) => /^.*?[.。](?=\s|$|[^\s\d])/.exec(text)?.[0] ?? text
