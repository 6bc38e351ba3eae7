/** Who may use an application, and where it may be answered. Pure: no HTTP, no SQL. */
import { groupsOf, isBannedOrSuspended, type User } from '../../accounts/people/users.ts'
import { isLoopback } from '../../platform/config.ts'
import type { SigningAlgorithm } from '../keys/keys.ts'

/** An application as the endpoints for programs know it, once it has proved itself. */
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

/** What is wrong with an address that an application wants to register. */
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
 * Registered addresses are later compared and sent as the text they are, so the text itself must be safe to put
 * into a Location header, and mean one place to every reader. https, or http to this very machine (RFC 8252 7.3).
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

/** `%2e`, `0x7f.1` and the like are read as another host than they look, and not by every reader as the same one. */
function isHostAsBrowsersWriteIt(uri: string, authority: string): boolean {
  const { host, protocol } = new URL(uri)
  const defaultPort = protocol === 'https:' ? ':443' : ':80'
  const written = authority.toLowerCase()
  return written === host || written === host + defaultPort
}

/** What is wrong with an address that pages link to or show a picture from: as above, and https alone. */
export function webAddressFault(address: string): RedirectUriFault | undefined {
  return redirectUriFault(address) ?? (address.startsWith('https://') ? undefined : 'scheme')
}

/** Whether it keeps no secret, because it runs where others can look: in a browser, on a phone (RFC 6749 2.1). */
export function isPublic(app: { token_endpoint_auth_method: string }): boolean {
  return app.token_endpoint_auth_method === 'none'
}

/** Character by character: two spellings of one address are two addresses (RFC 9700 4.1.3). */
export function isRegistered(app: { redirect_uris: string[] }, redirect_uri: string): boolean {
  return app.redirect_uris.includes(redirect_uri)
}

/** The rule that keeps a member out. */
export type Refusal =
  | { rule: 'barred' }
  | { rule: 'deny'; group: string }
  | { rule: 'allow'; groups: readonly string[] }

export type GroupRules = { allow_groups: string[]; deny_groups: string[] }

/** What of a member the group rules look at. */
export type Standing = Pick<
  User,
  'trust_level' | 'is_admin' | 'is_moderator' | 'custom_groups' | 'is_banned' | 'suspended_till'
>

/**
 * Deny wins over allow, an empty allow list admits everyone, and a banned or suspended member passes nowhere
 * (decisions.md 2.3). Trust levels are cumulative, as `groupsOf` lists them.
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

/** The refusal as one English sentence, for programs. */
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
