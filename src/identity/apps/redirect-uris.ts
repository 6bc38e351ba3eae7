/** The rules of redirect addresses, without HTTP and SQL. spec/registry 1.2. */
import { isLoopback } from '../../platform/config.ts'
import { privateUseScheme } from '../../web/back.ts'
import { isPublic } from './access.ts'

const REDIRECT_URI_LENGTH_MAX = 2_000
const PORT_MAX = 65_535

/** A fault of an address that an application wants to register. */
export type RedirectUriFault =
  | 'too_long'
  | 'characters'
  | 'not_absolute'
  | 'scheme'
  | 'query'
  | 'fragment'
  | 'user_name'
  | 'wildcard'
  | 'host'

/**
 * Checks an address for registration. Addresses are later compared and sent as text. So the text must be safe in a Location
 * header, and all parsers must read it alike. It is https, or http to the loopback (RFC 8252 7.3), or has a private-use
 * scheme (RFC 8252 7.1).
 */
export function redirectUriFault(uri: string): RedirectUriFault | undefined {
  if (uri.length > REDIRECT_URI_LENGTH_MAX) return 'too_long'
  if (!/^[\x21-\x7e]*$/.test(uri) || /[\\"<>]/.test(uri)) return 'characters'
  if (privateUseScheme(uri) !== undefined) return faultOfPrivateUse(uri)
  const [, scheme = '', authority = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)/i.exec(uri) ?? []
  if (authority === '' || !URL.canParse(uri)) return 'not_absolute'
  if (!/^https?$/i.test(scheme)) return 'scheme'
  if (uri.includes('#')) return 'fragment'
  if (authority.includes('@')) return 'user_name'
  if (uri.includes('*')) return 'wildcard'
  if (/^http$/i.test(scheme) && !isLoopback(uri)) return 'scheme'
  if (!isHostAsBrowsersWriteIt(uri, authority)) return 'host'
  return undefined
}

/** `/path`, `//host/path` or `///path` follows the scheme and nothing else, so nothing in it can be mistaken for an answer. */
function faultOfPrivateUse(uri: string): RedirectUriFault | undefined {
  if (uri.includes('#')) return 'fragment'
  if (uri.includes('?')) return 'query'
  if (uri.includes('@')) return 'user_name'
  if (uri.includes('*')) return 'wildcard'
  return /^[^:]+:\/(\/{0,2}[^/]|$)/.test(uri) && URL.canParse(uri) ? undefined : 'not_absolute'
}

/** Refuses hosts such as `%2e` and `0x7f.1`, which parsers read differently. */
function isHostAsBrowsersWriteIt(uri: string, authority: string): boolean {
  const { host, protocol } = new URL(uri)
  const defaultPort = protocol === 'https:' ? ':443' : ':80'
  const written = authority.toLowerCase()
  return written === host || written === host + defaultPort
}

/** Checks an address that pages link to or load a picture from. Only https is allowed. */
export function webAddressFault(address: string): RedirectUriFault | undefined {
  return redirectUriFault(address) ?? (address.startsWith('https://') ? undefined : 'scheme')
}

/**
 * Checks an address that we send logout tokens to: https, or in development http on this machine. The loopback of production is
 * our own machine and not the member's.
 */
export function logoutUriFault(address: string, isProduction: boolean): RedirectUriFault | undefined {
  const fault = redirectUriFault(address)
  if (fault !== undefined) return fault
  return kindOf(address) === 'web' || (kindOf(address) === 'loopback' && !isProduction) ? undefined : 'scheme'
}

/** What an address leads to: a site, or a program on the member's own device by the loopback or by a private-use scheme. */
export function kindOf(redirect_uri: string): 'web' | 'loopback' | 'scheme' {
  if (privateUseScheme(redirect_uri) !== undefined) return 'scheme'
  return redirect_uri.toLowerCase().startsWith('https:') ? 'web' : 'loopback'
}

type Registered = { redirect_uris: string[]; token_endpoint_auth_method: string }

/**
 * Whether the answer goes to a program on the member's device. Another program there can receive it, so such a code needs PKCE and
 * the member allows each sign-in (RFC 8252 8.1 and 8.6). An application with a secret and loopback addresses only is a site on its
 * developer's machine.
 */
export function isOnDevice(app: Registered, redirect_uri: string): boolean {
  const kind = kindOf(redirect_uri)
  if (kind !== 'loopback') return kind === 'scheme'
  return isPublic(app) || app.redirect_uris.some((uri) => kindOf(uri) !== 'loopback')
}

/**
 * Whether an address is registered. Addresses are compared character by character (RFC 9700 4.1.3). Of a public
 * application's loopback address the port is free, because the system gives the program one (RFC 8252 7.3).
 */
export function isRegistered(app: Registered, redirect_uri: string): boolean {
  if (app.redirect_uris.includes(redirect_uri)) return true
  const portless = isPublic(app) ? withoutLoopbackPort(redirect_uri) : undefined
  return portless !== undefined && app.redirect_uris.some((uri) => withoutLoopbackPort(uri) === portless)
}

function withoutLoopbackPort(uri: string): string | undefined {
  const [, origin, port = '1', rest] =
    /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9]\d{0,4}))?([/?].*)?$/.exec(uri) ?? []
  return origin === undefined || Number(port) > PORT_MAX ? undefined : origin + (rest ?? '')
}

/** Returns what an answer to this address reaches: a host, or the scheme that a program on the device has registered. */
export function redirectHost(redirect_uri: string): string {
  return privateUseScheme(redirect_uri) ?? new URL(redirect_uri).host
}
