/**
 * GET and POST /oauth2/userinfo: the current claims about the member of an access token. ID tokens carry a part of them.
 * spec/sign-in 1.3 and 3.1.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { groupsOf, type User } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import { USERINFO_PATHS } from '../apps/addresses.ts'
import { findAppOf, type GetBearer, readBearer, type TokenUser } from './bearer.ts'
import { admitOrigin } from './cross-origin.ts'
import type { Userinfo } from './shapes.ts'

/** GET and POST /oauth2/userinfo and /oauth-provider/userinfo in the machine scope. */
export async function userinfoRoutes(
  app: FastifyInstance,
  { getBearer, ...deps }: Pick<Core, 'db'> & { getBearer: GetBearer },
): Promise<void> {
  ignoreBodies(app)
  for (const url of USERINFO_PATHS)
    app.route({
      method: ['GET', 'POST'],
      url,
      handler: (request, reply) => answer(request, reply, deps, getBearer),
    })
}

/** Takes a body of any type, because libraries send some, and reads nothing from it: the token comes in the header. */
function ignoreBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { db }: Pick<Core, 'db'>,
  getBearer: GetBearer,
) {
  const token = readBearer(request.headers.authorization)
  try {
    const { user, app } = await getBearer(token)
    admitOrigin(request, reply, app)
    return userinfo(user)
  } catch (error) {
    // A page must be able to read that its token has expired. Only pages need the search for the application.
    const app = request.headers.origin === undefined ? undefined : await findAppOf(db, token)
    if (app !== undefined) admitOrigin(request, reply, app)
    throw error
  }
}

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
