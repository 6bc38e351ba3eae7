/** Renders pages: views, common data, security headers, and failures. spec/pages 1.2 and 3.3. */
import { join } from 'node:path'
import { fastifyView } from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../core/core.ts'
import { isPassing } from '../database/operator-messages.ts'
import { isLoopback } from '../platform/config.ts'
import { AppError, type PageCode, unavailable } from '../platform/errors.ts'
import { assetUrl } from './assets.ts'
import { backOf, linksAfter, type PageFailure } from './back.ts'
import { sparkPath } from './bar-chart.ts'
import { FORM_TOKEN_FIELD, formToken } from './forms/form-guard.ts'
import { formViews, registerForms, showFormAgain } from './forms/forms.ts'
import { registerKeptForms, repeatedFields, type TypedForm, typedForm } from './forms/kept-forms.ts'
import { icon } from './icons.ts'
import { chooseLanguageOf, LANGUAGE_COOKIE, type Language, type Locale } from './languages.ts'
import { currentLink, hueOf, navGroupsOf } from './navigation.ts'
import { plainText } from './parameters.ts'
import { openReports, type Report } from './report.ts'
import { type LocalizedSite, openSite } from './site.ts'
import { DOT, joinSentences, spaceBehind, withSpaceBefore } from './spacing.ts'
import type { Common, PageData } from './views.ts'

const VIEWS_DIR = join(import.meta.dirname, '../../views')

/**
 * Removes white space before a tag at the start of a line, the ends of lines that write nothing, and the end of the last line:
 * they are for readers of views. Behind a part that ended in white space, the dot of WITH_SPACING would have no space of its own.
 */
const WITHOUT_INDENTATION = {
  processTemplate: (view: string) =>
    view
      .trimEnd()
      .replace(/^[ \t]+(?=<)/gm, '')
      .replace(/^((?:<%(?![=~])(?:(?!%>)[\s\S])*%>)+)\n/gm, '$1'),
}

/**
 * Sets what stands between a text and what follows it in the way of the page's language. Views write a label and its value
 * as `<%= label %>: <%= value %>`, with an English colon. They join a text and a link with a space, which is left out after
 * Chinese punctuation, because that has its own, and between a Chinese word and a moment that begins with one (今天). They write a
 * dot between parts as ` · `, and no line ends in one.
 */
const WITH_SPACING = {
  processTemplate: (view: string) =>
    view
      .replaceAll(/(?<=>) · (?=[<@#])/g, DOT)
      .replaceAll(
        /%> <%~ ((?:it\.)?(?:when|dayOf)\((?:(?!%>).)*\)) %>/g,
        '%><%~ it.withSpaceBefore(__eta, $1) %>',
      )
      .replaceAll(/%>: (?=<)/g, '%><%= it.t.common.colon %>')
      .replaceAll(/%>(<\/strong>)? (?=<)/g, '%>$1<% __eta.res += it.spaceBehind(__eta) %>'),
  // Notes each part that a view writes.
  processFnString: (compiled: string) => compiled.replaceAll(/^__eta\.res\+=/gm, '__eta.res+=__eta.written='),
}

/** A process compiles each view once. `npm run dev` starts again when a view changes. */
const eta = new Eta({
  views: VIEWS_DIR,
  cache: true,
  autoTrim: false,
  plugins: [WITHOUT_INDENTATION, WITH_SPACING],
})

export type PageOptions = {
  status?: number
  /** The page's form ends in a redirect to another origin (sign-in, consent, pay), or to this address if it is known. */
  leavesSite?: boolean | string
  /**
   * The form that the page answers before its act. A switch of languages repeats it. A refused form and a question need no
   * such option.
   */
  answers?: TypedForm
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The site and its locale in a language. */
    siteIn(language: Language): LocalizedSite
  }
  interface FastifyRequest {
    /** The site and its locale in the language of the request. */
    localized: LocalizedSite
    locale: Locale
  }
  interface FastifyReply {
    /** Answers with a page. The view reads `data` as `it.…`, beside the common data. */
    page<V extends keyof PageData>(view: V, data: PageData[V], options?: PageOptions): FastifyReply
    /** Answers a form whose act succeeded: redirects to a path of this site, whose page says once what was done. */
    done(path: string, report: Report): FastifyReply
  }
}

const STATUS = {
  malformed_request: 400,
  invalid_form: 400,
  sign_in_required: 401,
  forbidden: 403,
  form_expired: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_many_attempts: 429,
  overloaded: 503,
  unavailable: 503,
} satisfies Record<PageCode, number>

/** Adds `reply.page`, `request.locale` and the headers that every answer carries. */
export async function registerPages(app: FastifyInstance, deps: Core, texts: object): Promise<void> {
  await app.register(fastifyView, {
    engine: { eta },
    templates: VIEWS_DIR,
    propertyName: 'render',
    // Without it the plugin switches the engine's cache off at each page.
    production: true,
  })

  registerForms(app)
  registerKeptForms(app, deps)
  const siteIn = openSite(deps.settings, texts)
  const reports = openReports(deps)
  app.decorate('siteIn', siteIn)
  app.decorateRequest('localized', {
    getter() {
      const chosen = this.session?.user.chosen_language ?? this.cookies?.[LANGUAGE_COOKIE]
      const acceptLanguage = this.headers['accept-language']
      return siteIn(chooseLanguageOf(chosen, { uiLocales: uiLocalesOf(this), acceptLanguage }))
    },
  })
  app.decorateRequest('locale', {
    getter() {
      return this.localized.locale
    },
  })
  app.decorateReply('page', function (view, data, options = {}) {
    return renderPage(this, view, data, options, deps, reports.read(this))
  })
  app.decorateReply('done', function (path, report) {
    reports.write(this, path, report)
    return this.redirect(path, 303)
  })
  const headers = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(deps.config.production ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

function renderPage<V extends keyof PageData>(
  reply: FastifyReply,
  view: V,
  data: PageData[V],
  { status = 200, leavesSite = false, answers }: PageOptions,
  deps: Core,
  report: Report | undefined,
): FastifyReply {
  const { locale, refused } = reply.request
  const shown = refused ?? answers ?? (view === 'confirm' ? typedForm(reply.request) : undefined)
  const { language } = locale
  reply
    .code(refused?.status ?? status)
    .header('cache-control', 'no-store')
    .header('x-frame-options', 'DENY')
    .header('content-security-policy', contentSecurityPolicy(leavesSite, deps.config.production))
    .header('permissions-policy', 'publickey-credentials-get=(self), publickey-credentials-create=(self)')
    .header('content-language', language)
    .header('vary', 'accept-language, cookie')
    .type('text/html; charset=utf-8')
  return (reply as FastifyReply & { render: FastifyReply['view'] }).render(view, {
    ...commonOf(reply, deps),
    repeated: shown === undefined ? '' : repeatedFields(shown),
    report,
    ...data,
  })
}

/** What every page has. */
function commonOf({ request }: FastifyReply, deps: Core): Omit<Common, 'report' | 'repeated'> {
  const cookieToken = request.session?.token ?? request.visitorToken
  const { locale, site } = request.localized
  const now = deps.clock()
  const token =
    cookieToken === undefined ? '' : formToken(deps.secrets, cookieToken, request.session?.user.id)
  return {
    ...locale,
    when: (moment) => locale.when(moment, now),
    dayOf: (moment) => locale.dayOf(moment, now),
    dayNamed: (moment) => locale.dayNamed(moment, now),
    dayOrMonth: (moment) => locale.dayOrMonth(moment, now),
    site,
    icon,
    spaceBehind,
    withSpaceBefore,
    joinSentences,
    user: request.session?.user,
    path: request.url,
    thisPage: backOf(request) ?? '/',
    navGroups: navGroupsOf(locale.t, request.session?.user),
    here: (links) => currentLink(request.url, links),
    hue: hueOf,
    spark: sparkPath,
    asset: assetUrl,
    plain: plainText,
    ...siteNotices(deps, locale.language),
    formTokenField: FORM_TOKEN_FIELD,
    formToken: token,
    form: formViews(request.refused, token),
    refusedForm: request.refused,
  }
}

/** Returns the notices of the page header. Each request has read the settings before, at least for its limit. */
function siteNotices({ settings }: Core, language: Language) {
  const { announcement_en, announcement_zh_cn, payments_read_only } = settings.latest()
  const [own, other] =
    language === 'en' ? [announcement_en, announcement_zh_cn] : [announcement_zh_cn, announcement_en]
  return { announcement: own || other, arePaymentsPaused: payments_read_only === 'on' }
}

/** Programs on the reader's own machine. */
const LOOPBACK = ' http://127.0.0.1:* http://localhost:*'

/**
 * Returns the targets of a form for form-action, because Chromium checks a form's whole redirect chain. A form that leaves
 * the site may reach any https address, because an application may redirect again. By http it may reach only the address it leads to,
 * and from a program on the member's own machine also other ports there.
 */
function formTargets(leavesSite: boolean | string, production: boolean): string {
  if (leavesSite === false) return ''
  if (leavesSite === true) return production ? ' https:' : ` https:${LOOPBACK}`
  const { protocol, hostname, origin } = new URL(leavesSite)
  if (protocol === 'https:') return ' https:'
  if (protocol !== 'http:') return ` https: ${protocol}`
  // NOTE: CSP cannot express an IPv6 address, so a page that leads to http://[::1] allows all of http. Its only form is
  // ours and holds nothing but the request and the browser's form token.
  if (hostname.startsWith('[')) return ' https: http:'
  return ` https: ${origin}${isLoopback(leavesSite) ? LOOPBACK : ''}`
}

function contentSecurityPolicy(leavesSite: boolean | string, production: boolean): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    `img-src 'self' data: https:${production ? '' : LOOPBACK}`,
    "connect-src 'self'",
    `form-action 'self'${formTargets(leavesSite, production)}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}

/** Whether the caller prefers HTML to JSON. Scripts (`*\/*`, application/json) get JSON. */
export function wantsHtml(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? ''
  const html = accept.indexOf('text/html')
  const json = accept.indexOf('application/json')
  return html !== -1 && (json === -1 || html < json)
}

/**
 * Renders a failure of the browser scope: a page for people, JSON for scripts. By the presence of `error_type`, shops'
 * clients distinguish an unknown address from an unknown Payment ID.
 */
export async function sendPageError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const failure = asPageFailure(asAnswered(thrown, request), request)
  if (failure.retry_after_seconds !== undefined) reply.header('retry-after', failure.retry_after_seconds)
  if (!wantsHtml(request)) {
    const { code, message } = failure
    return reply
      .code(failure.status)
      .header('cache-control', 'no-store')
      .send({ error: code, error_type: code, message, request_id: request.id })
  }
  if (await showFormAgain(thrown, failure, request, reply)) return reply
  const ways = await linksAfter(request, failure.code)
  const isLate = failure.code === 'form_expired' && ways.back !== undefined && !ways.nextStep?.order
  // A failure must not hide behind another one.
  const late = isLate ? await reply.keepLateForm(ways.back!).catch(() => 'lost' as const) : undefined
  return reply.page('error', { failure, late, requestId: request.id, ...ways }, { status: failure.status })
}

function asPageFailure(error: unknown, request: FastifyRequest): PageFailure {
  if (error instanceof AppError && error.code in STATUS) {
    const code = error.code as PageCode
    return {
      code,
      status: STATUS[code],
      message: error.message,
      retry_after_seconds: error.retry_after_seconds,
    }
  }
  const status = clientFaultStatus(error)
  if (status !== undefined) {
    return { code: 'malformed_request', status, message: (error as Error).message }
  }
  request.log.error({ err: error }, 'request failed')
  return { code: 'internal_error', status: 500, message: 'Something went wrong on our side' }
}

/**
 * Returns the error to answer with, in every scope. A temporary error of the database becomes unavailable. It is logged
 * here, because the answer does not show it.
 */
export function asAnswered(error: unknown, request: FastifyRequest): unknown {
  if (!isPassing(error)) return error
  request.log.error({ err: error }, 'the database could not act')
  return unavailable(error)
}

/** Returns the 4xx status of an error that Fastify raised for the request (media type, size, syntax). */
export function clientFaultStatus(error: unknown): number | undefined {
  const status = (error as FastifyError | undefined)?.statusCode
  return status !== undefined && status >= 400 && status < 500 ? status : undefined
}

/**
 * Returns the `ui_locales` of a request: its own, or those of the authorization request that its page returns to, or that its
 * form answers.
 */
function uiLocalesOf({ query, body }: Pick<FastifyRequest, 'query' | 'body'>): string | undefined {
  const sent = { ...(query as object), ...(body as object) } as Record<string, unknown>
  const { ui_locales, return_to, query: answered } = sent
  if (typeof ui_locales === 'string') return ui_locales
  const inner = typeof return_to === 'string' ? return_to.split('?')[1] : answered
  return typeof inner === 'string' ? (new URLSearchParams(inner).get('ui_locales') ?? undefined) : undefined
}
