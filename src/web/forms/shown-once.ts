/**
 * Shows a new secret once, on a page of its own. A form that makes a secret redirects to that page, so a reload neither
 * shows the secret again nor makes another one. A cookie carries the secret to the page, encrypted for the session and the
 * page. The database never holds it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'

const COOKIE = 'shown_once'
const KEPT_MS = 120_000

type Deps = Pick<Core, 'secrets' | 'config' | 'clock'>

const contextOf = ({ session }: FastifyRequest, page: string) =>
  `shown once at ${page} in session ${session?.id ?? ''}`

/** Keeps what the page at a path shows once, for two minutes. `shown` is JSON of at most 2,500 bytes, as cookies hold 4,096. */
export function showOnce(
  reply: FastifyReply,
  page: string,
  shown: object,
  { secrets, config, clock }: Deps,
): void {
  const text = JSON.stringify({ shown, until: clock().getTime() + KEPT_MS })
  const value = secrets.encrypt(contextOf(reply.request, page), text).toString('base64url')
  // Without an age, browsers do not write it to a disk.
  reply.setCookie(COOKIE, value, { path: page, httpOnly: true, sameSite: 'lax', secure: config.production })
}

/** Returns what the requested page shows once, and forgets it. Returns undefined when it was shown or is too old. */
export function readOnce<Shown extends object>(
  reply: FastifyReply,
  { secrets, clock }: Deps,
): Shown | undefined {
  const { request } = reply
  const page = request.url.split('?')[0]!
  const value = request.cookies[COOKIE]
  if (value === undefined) return undefined
  reply.clearCookie(COOKIE, { path: page })
  try {
    const text = secrets.decrypt(contextOf(request, page), Buffer.from(value, 'base64url'))
    const { shown, until } = JSON.parse(text) as { shown: Shown; until: number }
    return clock().getTime() < until ? shown : undefined
  } catch {
    // It is of another session or page.
    return undefined
  }
}
