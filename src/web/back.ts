/**
 * Finds where the browser goes back to: the path that a sign-in was asked from, and the page of a form or a failure. It is
 * always a path of this site. Our pages send no Referer.
 */

import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../platform/config.ts'
import type { PageCode } from '../platform/errors.ts'
import { type NextStep, nextStepOf } from './next-steps.ts'

const OWN = 'https://own.invalid'

/**
 * Returns the path and query to return to. It returns `/` for anything that a browser might read as another site: schemes,
 * `//host`, backslashes, control characters.
 */
export function safeBack(text: unknown): string {
  if (typeof text !== 'string' || !text.startsWith('/') || /[\\\p{Cc}]/u.test(text)) return '/'
  if (!URL.canParse(text, OWN)) return '/'
  const url = new URL(text, OWN)
  // Uses the parsed form, because a dot segment could leave `//host` behind.
  if (url.origin !== OWN || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}

/**
 * Returns the scheme of an address that an application has for itself on a device (RFC 8252 7.1), or undefined. It is a
 * domain name reversed, so it holds a dot, which tells it from `javascript` and the schemes of browsers.
 */
export function privateUseScheme(uri: string): string | undefined {
  return /^([a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+):\//.exec(uri)?.[1]
}

/**
 * Returns `leavesSite` for a page whose form continues to `back`. When a program on the member's own machine asked for
 * the sign-in, it is that program's address, because the redirects may end there. /oauth2/auth checks its registration.
 */
export function leadsTo(back: string): string | true {
  const uri = new URL(back, OWN).searchParams.get('redirect_uri') ?? ''
  if (privateUseScheme(uri) !== undefined) return uri
  return uri.startsWith('http:') && URL.canParse(uri) && isLoopback(uri) ? uri : true
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The page of a form whose address is not the page's, nor below it: the route of a page, or a path by the request. The
     * body may be missing.
     */
    page?: string | ((request: FastifyRequest) => string)
  }
}

/**
 * Returns the page of a request, a path of this site. It is the request's own address for a GET. For a form it is that of
 * pageRouteOf, with the form's own query. Returns undefined where there is none.
 */
export function backOf(request: FastifyRequest): string | undefined {
  const { method, routeOptions, params, url } = request
  if (method === 'GET' || method === 'HEAD') return safeBack(url)
  const { page } = routeOptions.config
  if (typeof page === 'function') return safeBack(page(request))
  const route = pageRouteOf(request)
  if (route === undefined) return undefined
  const given = params as Record<string, string>
  const path = route.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''))
  return safeBack(path + (/\?.*/.exec(url)?.[0] ?? ''))
}

/** Returns the route of a form's page: the one that it names, or the nearest address above that shows a page. */
export function pageRouteOf({ server, routeOptions }: FastifyRequest): string | undefined {
  const { url = '', config } = routeOptions
  if (typeof config.page === 'string') return config.page
  for (let route = url; route !== ''; route = route.slice(0, route.lastIndexOf('/')))
    if (server.hasRoute({ method: 'GET', url: route })) return route
  return undefined
}

/** Failures of a moment: the same request may succeed later. */
const PASSING: readonly Code[] = ['too_many_attempts', 'overloaded', 'unavailable', 'internal_error']
/** Failures whose page is gone, or never was. */
const WITHOUT_PAGE: readonly Code[] = ['not_found', 'method_not_allowed']
/** Failures that happen to somebody on the way to a shop or an application, while the database answers. */
const ON_THE_WAY: readonly Code[] = ['form_expired', 'sign_in_required', 'conflict', 'too_many_attempts']

type Code = PageCode | 'internal_error'

/** A failure, as the error page shows it. */
export type PageFailure = {
  code: Code
  status: number
  message: string
  retry_after_seconds?: number | undefined
}

export type FailureLinks = {
  /** The page to return to, or to try again. */
  back: string | undefined
  /** The next step there. */
  nextStep: NextStep | undefined
  /** Where the page leads after a sign-in. */
  after: string
}

/** Returns where the page about a failure leads. */
export async function linksAfter(request: FastifyRequest, code: Code): Promise<FailureLinks> {
  const isForm = request.method !== 'GET' && request.method !== 'HEAD'
  const page = WITHOUT_PAGE.includes(code) ? undefined : backOf(request)
  const back = isForm || PASSING.includes(code) ? page : undefined
  const isOnTheWay = isForm && back !== undefined && ON_THE_WAY.includes(code)
  // A failure must not hide behind another one.
  const nextStep = isOnTheWay ? await nextStepOf(request.server, back).catch(() => undefined) : undefined
  return { back, nextStep, after: page ?? '/' }
}
