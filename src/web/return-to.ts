/** Where to go after sign-in: a path of ours or nowhere. */
import { isLoopback } from '../platform/config.ts'

const OWN = 'https://own.invalid'

/**
 * The path and query to return to, or `/` for anything that a browser might read as another site: schemes,
 * `//host`, backslashes, control characters.
 */
export function safeReturnTo(text: unknown): string {
  if (typeof text !== 'string' || !text.startsWith('/') || /[\\\p{Cc}]/u.test(text)) return '/'
  if (!URL.canParse(text, OWN)) return '/'
  const url = new URL(text, OWN)
  // The parsed form is what is sent on, so that a dot segment cannot leave `//host` behind.
  if (url.origin !== OWN || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}

/**
 * For `leavesSite` of a page whose form goes on to `returnTo`: the program on the member's own machine that asked for
 * this sign-in, because the form's redirects may end there at once. Whether it is registered is found out on the way.
 */
export function leadsTo(returnTo: string): string | true {
  const uri = new URL(returnTo, OWN).searchParams.get('redirect_uri') ?? ''
  return uri.startsWith('http:') && URL.canParse(uri) && isLoopback(uri) ? uri : true
}
