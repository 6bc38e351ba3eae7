/** Finds the page from which a request came, so that a failure leads back to it. Our pages send no Referer. */
import type { FastifyRequest } from 'fastify'
import type { PageCode } from '../platform/errors.ts'
import { type Destination, destinationOf } from './destinations.ts'
import { safeReturnTo } from './return-to.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The page of a form whose address is not the page's, nor below it. The body may be missing. */
    page?: (request: FastifyRequest) => string
  }
}

/**
 * Returns the page of a request, a path of this site. It is the request's own address for a GET. For a form it is the nearest
 * address above that shows a page. Returns undefined where there is none.
 */
export function wayBackOf(request: FastifyRequest): string | undefined {
  const { method, server, routeOptions } = request
  const { url: route, config } = routeOptions
  if (method === 'GET' || method === 'HEAD') return safeReturnTo(request.url)
  if (route === undefined) return undefined
  if (config.page !== undefined) return safeReturnTo(config.page(request))
  const named = partsOf(route)
  const [path = ''] = request.url.split('?')
  const given = partsOf(path)
  for (let length = named.length; length > 0; length -= 1) {
    const url = `/${named.slice(0, length).join('/')}`
    if (server.hasRoute({ method: 'GET', url })) return safeReturnTo(`/${given.slice(0, length).join('/')}`)
  }
  return undefined
}

/** The router ignores doubled slashes and the last one. */
function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}

/** Failures of a moment: the same request may succeed later. */
const PASSING: readonly Code[] = ['too_many_attempts', 'overloaded', 'unavailable', 'internal_error']
/** Failures whose page is gone, or never was. */
const WITHOUT_PAGE: readonly Code[] = ['not_found', 'method_not_allowed']
/** Failures that happen to somebody on the way to a shop or an application, while the database answers. */
const ON_THE_WAY: readonly Code[] = ['form_expired', 'sign_in_required', 'conflict', 'too_many_attempts']

type Code = PageCode | 'internal_error'

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
