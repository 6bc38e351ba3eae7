// This room: OAuth applications: registration, owners’ pages, secrets, access rules, reviews.
// Verbs: registerApp, updateApp, suspendApp, addSecret, judgeSecret.
// Tables: oauth_apps, app_secrets.
// Clauses: spec/registry 1.1–1.4, 2.3, 3.1, 4.1–4.2.
/** The rules of group access, without HTTP and SQL. */
import { groupsOf, isBannedOrSuspended, type User } from '../../accounts/people/users.ts'
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

/** Whether an application is a public client, which has no secret because it runs in a browser or on a phone (RFC 6749 2.1). */
export function isPublic(app: { token_endpoint_auth_method: string }): boolean {
  return app.token_endpoint_auth_method === 'none'
}

/**
 * Whether the site keeps an application, which waits for its owner, from this member or visitor (spec/registry 2.3, the setting
 * apps_by_any_token).
 */
export function isKeptForOwner(
  { confirmed_at, owner_id }: { confirmed_at: Date | null; owner_id: bigint | null },
  { apps_by_any_token }: { apps_by_any_token: 'open' | 'draft' },
  user_id: bigint | undefined,
): boolean {
  return confirmed_at === null && apps_by_any_token === 'draft' && user_id !== owner_id
}

/** The rule that refuses a member: `barred` for a suspension or a ban, or a group rule. */
export type Refusal =
  | { rule: 'barred' }
  | { rule: 'deny'; group: string }
  | { rule: 'allow'; groups: readonly string[] }

export type GroupRules = { allow_groups: string[]; deny_groups: string[] }

/** The properties of a member that group rules use. */
export type MemberStatus = Pick<
  User,
  'trust_level' | 'is_admin' | 'is_moderator' | 'custom_groups' | 'is_banned' | 'suspended_till'
>

/**
 * Returns the rule that refuses a member, or undefined. Deny wins over allow, an empty allow list admits everyone, and a
 * banned or suspended member is always refused (spec/registry 1.3). Trust levels are cumulative, as in `groupsOf`.
 */
export function refusalOf(user: MemberStatus, rules: GroupRules, now: Date): Refusal | undefined {
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
