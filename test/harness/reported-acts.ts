/**
 * Holds every form to its report: when its act succeeds, the page to which it leads says what was done. The run ends with
 * the forms that no test has sent with success.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { KEPT_COOKIE } from '../../src/web/forms/kept-forms.ts'
import { routesOf } from './routes.ts'

/** The forms whose success shows by itself, and how. All others set the cookie of a report. */
const SHOWS_ITSELF: Record<string, string> = {
  '/payment/applications/:payment_id/payouts/new': 'the page of the draft',
  '/payment/applications/:payment_id/links/new': 'the page of the draft, which says that it is one',
  '/language': 'the page is in the chosen language',
  '/sign-in': 'the page that the member wanted',
  '/sign-in/second-factor': 'the page that the member wanted',
  '/sign-in/passkey': 'the page that the member wanted',
  '/sign-in/again': 'the page that the member wanted',
  '/sign-in/link': 'the page that the member wanted',
  '/register': 'the page that the new member wanted',
  '/sign-out': 'the front page offers to sign in',
  '/oauth2/logout/confirm': 'a page says that the member is signed out',
  '/tip': 'the pay page of the tip',
  '/oauth2/consent': 'the application',
  '/oauth2/auth/mandate': 'the application',
  '/apps/:client_id/test': 'the consent page of the application',
  '/payment/applications/:payment_id/test-order': 'the pay page of the new order',
  '/payment/applications/:payment_id/test-trade': 'the pay page of the new order',
  '/l/:slug': 'the pay page of the new order',
  '/payment/applications/:payment_id/links/:slug/codes/take-back': 'the file of the codes',
  '/payment/mandate/:mandate_id|:payment_id': 'the shop',
  '/payment/mandate/:mandate_id|:payment_id/refuse': 'the shop',
  '/payment/pay/:transaction_id|:payment_id': 'the shop, or the receipt',
  '/payment/pay/:transaction_id|:payment_id/leave':
    'the post, or the order that was paid or has ended before',
  '/payment/pay/:transaction_id|:payment_id/test': 'the shop, or the order as the tester wanted it',
}

/** These take forms of applications, and answer them as they answer GET. */
const OF_OTHER_SITES = ['/oauth2/auth', '/oauth2/authorize', '/oauth-provider/authorize', '/oauth2/logout']

/** The forms with the addresses that each takes. Every application of a process has the same, and a router tells them slowly. */
let patterns: Map<string, RegExp> | undefined

/** Returns the addresses that take forms. Endpoints of programs answer every method. */
export function formsOf(app: FastifyInstance): string[] {
  return routesOf(app)
    .filter(({ methods }) => methods.includes('POST') && !methods.includes('TRACE'))
    .map(({ path }) => path)
    .filter((path) => !OF_OTHER_SITES.includes(path))
}

/** The mark before a form that the application has, and before one that succeeded. */
const KNOWN = '? '
const SENT = '! '

/** Returns the forms in `log` that no test has sent with success. */
export function unsentForms(log: string): string[] {
  const lines = readFileSync(log, 'utf8').split('\n')
  const marked = (mark: string) =>
    new Set(lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length)))
  const sent = marked(SENT)
  return [...marked(KNOWN)].filter((form) => !sent.has(form))
}

/** Fails a test's request when a form succeeds in silence, and notes the form in `log`. */
export function requireReports(app: FastifyInstance, log: string): void {
  if (patterns === undefined) {
    patterns = patternsOf(app)
    appendFileSync(log, [...patterns.keys()].map((form) => `${KNOWN}${form}\n`).join(''))
  }
  const send = app.inject.bind(app) as (options: InjectOptions | string) => Promise<LightMyRequestResponse>
  app.inject = (async (options: InjectOptions | string) => {
    const response = await send(options)
    if (typeof options !== 'string' && isForm(options)) requireReport(options, response, log)
    return response
  }) as unknown as typeof app.inject
}

const isForm = ({ method, headers = {} }: InjectOptions) =>
  method === 'POST' && headers['sec-fetch-site'] === 'same-origin'

function requireReport(
  { url }: InjectOptions,
  { statusCode, headers, cookies }: LightMyRequestResponse,
  log: string,
): void {
  // A form that is kept was not carried out.
  if (cookies.some(({ name }) => name === KEPT_COOKIE)) return
  if (statusCode >= 400 || /^\/(sign-in|account\/second-factor)\?/.test(headers.location ?? '')) return
  const pathname = new URL(String(url), 'http://x').pathname
  const form = formAt(pathname)
  if (form === undefined) return
  appendFileSync(log, `${SENT}${form}\n`)
  const isReported = cookies.some(({ name, value }) => name === 'report' && value !== '')
  if (statusCode < 300 || isReported || SHOWS_ITSELF[form] !== undefined) return
  throw new Error(`POST ${form} led to ${headers.location} without a word about what was done`)
}

function patternsOf(app: FastifyInstance): Map<string, RegExp> {
  const patternOf = (form: string) =>
    new RegExp(`^${form.replaceAll('.', '\\.').replaceAll(/:[^/]+/g, '[^/]+')}$`)
  return new Map(formsOf(app).map((form) => [form, patternOf(form)]))
}

function formAt(pathname: string): string | undefined {
  const found = [...patterns!].filter(([, pattern]) => pattern.test(pathname))
  // A written address wins over one with a parameter.
  return found.map(([form]) => form).sort((a, b) => a.split(':').length - b.split(':').length)[0]
}
