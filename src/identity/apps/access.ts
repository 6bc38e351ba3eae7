/** The rules of group access and of redirect addresses, without HTTP and SQL. */
import { groupsOf, isBannedOrSuspended, type User } from '../../accounts/people/users.ts'
import { isLoopback } from '../../platform/config.ts'
import type { SigningAlgorithm } from '../keys/keys.ts'

/** An authenticated application. */
export type Client = {
  id: bigint
  client_id: string
  redirect_uris: string[]
  allow_groups: string[]
  deny_groups: string[]
  id_token_signed_response_alg: SigningAlgorithm
  token_endpoint_auth_method: string
}

const REDIRECT_URI_LENGTH_MAX = 2_000

/** A fault of an address that an application wants to register. */
export type RedirectUriFault =
  | 'too_long'
  | 'characters'
  | 'not_absolute'
  | 'scheme'
  | 'fragment'
  | 'user_name'
  | 'wildcard'
  | 'host'

/**
 * Checks an address for registration. Addresses are later compared and sent as text. So the text must be safe in a Location
 * header, and all parsers must read it alike. It is https, or http to the loopback (RFC 8252 7.3).
 */
export function redirectUriFault(uri: string): RedirectUriFault | undefined {
  if (uri.length > REDIRECT_URI_LENGTH_MAX) return 'too_long'
  if (!/^[\x21-\x7e]*$/.test(uri) || /[\\"<>]/.test(uri)) return 'characters'
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

/** Whether an application is a public client, which has no secret because it runs in a browser or on a phone (RFC 6749 2.1). */
export function isPublic(app: { token_endpoint_auth_method: string }): boolean {
  return app.token_endpoint_auth_method === 'none'
}

/** Whether an address is registered. Addresses are compared character by character (RFC 9700 4.1.3). */
export function isRegistered(app: { redirect_uris: string[] }, redirect_uri: string): boolean {
  return app.redirect_uris.includes(redirect_uri)
}

/** The rule that refuses a member: `barred` for a suspension or a ban, or a group rule. */
export type Refusal =
  | { rule: 'barred' }
  | { rule: 'deny'; group: string }
  | { rule: 'allow'; groups: readonly string[] }

export type GroupRules = { allow_groups: string[]; deny_groups: string[] }

/** The properties of a member that group rules use. */
export type Standing = Pick<
  User,
  'trust_level' | 'is_admin' | 'is_moderator' | 'custom_groups' | 'is_banned' | 'suspended_till'
>

/**
 * Returns the rule that refuses a member, or undefined. Deny wins over allow, an empty allow list admits everyone, and a
 * banned or suspended member is always refused (decisions.md 2.3). Trust levels are cumulative, as in `groupsOf`.
 */
export function refusalOf(user: Standing, rules: GroupRules, now: Date): Refusal | undefined {
  if (isBannedOrSuspended(user, now)) return { rule: 'barred' }
  const groups = new Set(groupsOf(user).map(lower))
  const isMember = (group: string) => groups.has(lower(group))
  const denied = rules.deny_groups.find(isMember)
  if (denied !== undefined) return { rule: 'deny', group: denied }
  if (rules.allow_groups.length === 0 || rules.allow_groups.some(isMember)) return undefined
  return { rule: 'allow', groups: rules.allow_groups }
}

const lower = (text: string) => text.toLowerCase()

/** Describes a refusal in English, for programs. */
export function refusalText(refusal: Refusal): string {
  switch (refusal.rule) {
    case 'barred':
      return 'This account is suspended'
    case 'deny':
      return `Members of ${refusal.group} may not use this application`
    case 'allow':
      return `Only members of these groups may use this application: ${refusal.groups.join(', ')}`
  }
}
