/** The pages of the API: its areas, operations, notifications, error codes and rules. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../core/core.ts'
import { type Text, textKey } from '../web/languages.ts'
import { type SiteWords, siteWords } from '../web/site-words.ts'
import { inSiteWords, withMarks } from './guides/fill.ts'
import type { Reader } from './guides/reader.ts'
import { readerOf } from './guides.page.ts'
import { docsNav, type Ways, waysInApi } from './navigation.ts'
import { gatewayCodes, MOST_MET, OAUTH_CODES, PAYMENT_CODES } from './operations/codes.ts'
import type { Area } from './operations/operation.ts'
import type { FindSamples, Samples } from './operations/samples.ts'
import { SCHEDULE, WEBHOOKS } from './operations/webhooks.ts'
import { callOf } from './programs/call.ts'
import { programsOf } from './programs/programs.ts'
import { settingEnvironment } from './programs/shell.ts'
import { describeArea, describeOperation, describeWebhook, type Field } from './reference/describe.ts'
import { exampleInColours } from './reference/highlight.ts'
import { AREAS, OPERATIONS, operationId, serverOf } from './reference/openapi.ts'
import { tabWords, writeTabs } from './reference/tabs.ts'
import { rulesOf } from './rules.ts'

const CODE_AREAS = ['identity', 'payment', 'v1', 'v2'] as const
type CodeArea = (typeof CODE_AREAS)[number]
/** A code as the page shows it. `id` is its place; of a code that has several lines, the first one's. */
type CodeRow = { code: string; id: string; beside: string; about: string; isMostMet: boolean }
/** Codes of an area to show, out of `count` that were searched for. */
type CodesShown = { area: CodeArea; rows: CodeRow[]; count: number }

const CodesQuery = z.object({
  q: z.string().trim().max(100).catch('').default(''),
  of: z.enum(CODE_AREAS).optional().catch(undefined),
})

type InWords<Code> = Omit<Code, 'about'> & { about: string }

declare module '../web/views.ts' {
  interface PageData {
    'docs/area': { nav: AreaNav; ways: Ways; area: Area } & ReturnType<typeof describeArea>
    'docs/operation': {
      nav: AreaNav
      ways: Ways
      area: Area
      server: string
      isLive: boolean
      reader: Reader
      operation: ReturnType<typeof describeOperation> & { environment: string; programs: string }
    }
    'docs/notifications': {
      nav: AreaNav
      ways: Ways
      webhooks: { id: string; title: string; when: string }[]
      schedule: string
    }
    'docs/notification': {
      nav: AreaNav
      ways: Ways
      webhook: Awaited<ReturnType<typeof describeWebhook>>
    }
    'docs/codes': {
      nav: AreaNav
      ways: Ways
      /** What was searched for, and the one area that is shown. */
      query: string
      of: CodeArea | undefined
      /** Each area, and how many of its codes were found. */
      areas: { area: CodeArea; count: number }[]
      /** The areas that have codes to show, in their order. Without an area and a search, these are the codes met most. */
      shown: CodesShown[]
    }
    'docs/rules': { nav: AreaNav; ways: Ways; rules: ReturnType<typeof rulesOf> }
  }
  interface PartData {
    'docs/fields': { fields: Field[] }
  }
}

/** Registers the pages below /docs that describe the API. */
export async function referencePages(
  app: FastifyInstance,
  { findSamples, ...deps }: Core & { findSamples: FindSamples },
): Promise<void> {
  const frame = ({ locale, routeOptions: { url = '' } }: FastifyRequest) => ({
    nav: docsNav(locale),
    ways: waysInApi(url, locale),
    language: textKey(locale.language),
    words: siteWords(deps.settings.latest(), locale.language),
  })
  for (const area of AREAS) {
    app.get(`/docs/${area}`, async (request, reply) => {
      const { nav, ways, language } = frame(request)
      const { operations, refusal } = describeArea(area, language)
      return reply.page('docs/area', { nav, ways, area, operations, refusal: refusal && coloured(refusal) })
    })
  }
  for (const operation of OPERATIONS) {
    const { area } = operation
    app.get(`/docs/${area}/${operationId(operation)}`, async (request, reply) => {
      const { nav, ways, language } = frame(request)
      const [found, reader] = await Promise.all([findSamples(), readerOf(deps, request)])
      const { samples, own } = withOwnValues(found, reader)
      const server = serverOf(area, deps.config)
      const call = callOf(operation, samples, server)
      const tabs = { write: (code: string) => withMarks(code, own), words: tabWords(request.locale) }
      const environment = settingEnvironment(call)
      const { answers, ...about } = describeOperation(operation, language)
      const described = {
        ...about,
        answers: answers.map(coloured),
        environment: environment && writeTabs([{ language: 'sh', code: environment }], 'environment', tabs),
        programs: writeTabs(programsOf(call), 'sample', tabs),
      }
      const { isLive } = samples
      const data = { nav, ways, area, server, isLive, reader, operation: described }
      return reply.page('docs/operation', data)
    })
  }
  app.get('/docs/notifications', async (request, reply) => {
    const { nav, ways, language } = frame(request)
    const webhooks = WEBHOOKS.map(({ name, title, when }) => ({
      id: name,
      title: title[language],
      when: when[language],
    }))
    return reply.page('docs/notifications', { nav, ways, webhooks, schedule: SCHEDULE[language] })
  })
  for (const webhook of WEBHOOKS) {
    app.get(`/docs/notifications/${webhook.name}`, async (request, reply) => {
      const { nav, ways, language } = frame(request)
      const described = await describeWebhook(webhook, language, await findSamples())
      return reply.page('docs/notification', { nav, ways, webhook: coloured(described) })
    })
  }
  app.get('/docs/codes', async (request, reply) => {
    const { nav, ways, language, words } = frame(request)
    const { q: query, of } = CodesQuery.parse(request.query)
    const areas = codesIn(language, words, request.locale.t.docs.redirected)
    const found = CODE_AREAS.map((area): CodesShown => {
      const rows = areas[area].filter((row) => isFound(row, query))
      const isStart = of === undefined && query === ''
      return { area, rows: isStart ? rows.filter(({ isMostMet }) => isMostMet) : rows, count: rows.length }
    })
    const shown = found.filter(({ area, rows }) => (of ?? area) === area && rows.length > 0)
    return reply.page('docs/codes', { nav, ways, query, of, areas: found, shown })
  })
  app.get('/docs/rules', async (request, reply) => {
    const { nav, ways, language, words } = frame(request)
    const rules = rulesOf(await deps.settings.read(), language).map((rule) => ({
      ...rule,
      lines: rule.lines.map((line) => inSiteWords(line, language, words)),
    }))
    return reply.page('docs/rules', { nav, ways, rules })
  })
}

const coloured = <Body extends { example?: string | undefined }>(body: Body): Body => ({
  ...body,
  example: body.example && exampleInColours(body.example),
})

/** Returns the codes of each area, with what is beside them: a status of HTTP, or the words of the gateway. */
function codesIn(language: keyof Text, words: SiteWords, redirected: string): Record<CodeArea, CodeRow[]> {
  const gateway = (version: 'v1' | 'v2') =>
    inLanguage(gatewayCodes(version), language, words).map(({ name, code, msg, about }) => ({
      ...{ code: String(code), id: `${version}-${name}`, beside: msg, about, isMostMet: isMostMet(name) },
    }))
  const payment = inLanguage(PAYMENT_CODES, language, words)
  return {
    identity: inLanguage(OAUTH_CODES, language, words).map(({ code, status, about }) => ({
      ...{ code, id: code, beside: status ? `HTTP ${status}` : redirected, about },
      isMostMet: isMostMet(code),
    })),
    payment: payment.map(({ code, status, about }, i) => ({
      ...{ code: String(code), beside: `HTTP ${status}`, about, isMostMet: isMostMet(code) },
      id: payment[i - 1]?.code === code ? '' : `c${code}`,
    })),
    v1: gateway('v1'),
    v2: gateway('v2'),
  }
}

const isMostMet = (code: string | number) => MOST_MET.some((most) => most === code)

const isFound = ({ code, beside, about }: CodeRow, query: string) =>
  `${code} ${beside} ${about}`.toLowerCase().includes(query.toLowerCase())

function inLanguage<Code extends { about: Text }>(
  codes: readonly Code[],
  language: keyof Text,
  words: SiteWords,
): InWords<Code>[] {
  return codes.map(({ about, ...code }) => ({
    ...code,
    about: inSiteWords(about[language], language, words),
  }))
}

/** Puts the reader's own identifiers into made-up samples. The samples of the demo work as they are. */
function withOwnValues(samples: Samples, { payment, signIn }: Reader): { samples: Samples; own: string[] } {
  if (samples.isLive) return { samples, own: [] }
  const own = {
    ...(payment.chosen && { payment_id: payment.chosen.payment_id, pid: payment.chosen.pid }),
    ...(signIn.chosen && { client_id: signIn.chosen.client_id, redirect_uri: signIn.chosen.redirect_uri }),
  }
  return { samples: { ...samples, ...own }, own: Object.values(own).filter(Boolean) }
}
