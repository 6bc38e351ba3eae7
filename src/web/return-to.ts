/** Checks the address to return to after sign-in, which must be a path of this site. */
import { isLoopback } from '../platform/config.ts'

const OWN = 'https://own.invalid'

/**
 * Returns the path and query to return to. It returns `/` for anything that a browser might read as another site: schemes,
 * `//host`, backslashes, control characters.
 */
export function safeReturnTo(text: unknown): string {
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
 * Returns `leavesSite` for a page whose form continues to `returnTo`. When a program on the member's own machine asked for
 * the sign-in, it is that program's address, because the redirects may end there. /oauth2/auth checks its registration.
 */
export function leadsTo(returnTo: string): string | true {
  const uri = new URL(returnTo, OWN).searchParams.get('redirect_uri') ?? ''
  if (privateUseScheme(uri) !== undefined) return uri
  return uri.startsWith('http:') && URL.canParse(uri) && isLoopback(uri) ? uri : true
}
