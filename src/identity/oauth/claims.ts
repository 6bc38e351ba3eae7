/** The claims about a member: the userinfo answer and the ID token. spec/sign-in 1.3. */
import type { z } from 'zod'
import { groupsOf, type User } from '../../accounts/people/users.ts'
import type { TokenUser } from './bearer.ts'
import type { Userinfo } from './shapes.ts'

/**
 * Returns the ID token's claims of these scopes: `email`, `groups`, and `profile`, which brings theirs too.
 * Unknown values are absent, never null or empty.
 */
export function claimsOf(user: User, scopes: readonly string[]) {
  if (scopes.includes('profile')) return profileClaims(user)
  return {
    ...(scopes.includes('email') ? emailClaims(user) : {}),
    ...(scopes.includes('groups') ? { groups: groupsOf(user) } : {}),
  }
}

function profileClaims(user: User) {
  return {
    username: user.username,
    preferred_username: user.username,
    // OIDC Core 5.1: relying parties show it, so it is never absent.
    name: user.name || user.username,
    ...present('picture', user.avatar_url),
    groups: groupsOf(user),
    trust_level: user.trust_level,
    ...emailClaims(user),
  }
}

function emailClaims(user: User) {
  return {
    ...present('email', user.email),
    // Some clients refuse an explicit false, and absence means the same.
    ...(user.email_verified && user.email ? { email_verified: true as const } : {}),
  }
}

/** Returns the userinfo answer, for a token of any scope. Suspended and banned members get none, so `active` is always true. */
export function userinfo(user: TokenUser): z.output<typeof Userinfo> {
  return {
    sub: user.id.toString(),
    id: Number(user.id),
    ...profileClaims(user),
    ...present('avatar_url', user.avatar_url),
    active: true,
    silenced: user.is_silenced,
  }
}

function present<Name extends string>(name: Name, value: string | null): { [key in Name]?: string } {
  return value === null || value === '' ? {} : ({ [name]: value } as { [key in Name]: string })
}
