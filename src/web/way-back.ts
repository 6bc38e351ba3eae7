/** Finds the page from which a request came, so that a failure leads back to it. Our pages send no Referer. */
import type { FastifyRequest } from 'fastify'
import type { PageCode } from '../platform/errors.ts'
import { type Destination, destinationOf } from './destinations.ts'
import { safeReturnTo } from './return-to.ts'

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
export function wayBackOf(request: FastifyRequest): string | undefined {
  const { method, routeOptions, params, url } = request
  if (method === 'GET' || method === 'HEAD') return safeReturnTo(url)
  const { page } = routeOptions.config
  if (typeof page === 'function') return safeReturnTo(page(request))
  const route = pageRouteOf(request)
  if (route === undefined) return undefined
  const given = params as Record<string, string>
  const path = route.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''))
  return safeReturnTo(path + (/\?.*/.exec(url)?.[0] ?? ''))
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

export type WaysOn = {
  /** The page to return to, or to try again. */
  back: string | undefined
  /** What waits at that page. */
  destination: Destination | undefined
  /** Where the page leads after a sign-in. */
  after: string
}

/** Returns where the page about a failure leads. */
export async function waysOnFrom(request: FastifyRequest, code: Code): Promise<WaysOn> {
  const isForm = request.method !== 'GET' && request.method !== 'HEAD'
  const page = WITHOUT_PAGE.includes(code) ? undefined : wayBackOf(request)
  const back = isForm || PASSING.includes(code) ? page : undefined
  const isOnTheWay = isForm && back !== undefined && ON_THE_WAY.includes(code)
  // A failure must not hide behind another one.
  const destination = isOnTheWay
    ? await destinationOf(request.server, back).catch(() => undefined)
    : undefined
  return { back, destination, after: page ?? '/' }
}
