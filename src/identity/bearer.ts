/** Access tokens as they come with a request (RFC 6750), and whom they speak for. */
import { sql } from 'kysely'
import { isBarred, type User, userColumns } from '../accounts/users.ts'
import type { Db } from '../database/connection.ts'
import { AppError } from '../errors.ts'
import { sha256 } from '../secrets.ts'
import { BEARER_CHALLENGE, bearerError } from './errors.ts'

/**
 * The token of an Authorization header or, where the route takes one, of the form body; a token in the query is
 * never looked at (RFC 9700 4.3.2). Throws invalid_token when there is none, invalid_request when it cannot be
 * told which.
 */
export function readBearer(authorization: string | undefined, bodyToken?: string): string {
  const token = readHeader(authorization)
  if (token !== undefined && bodyToken !== undefined) {
    throw bearerError('invalid_request', 'The access token was given in two places')
  }
  const found = token ?? bodyToken
  if (found !== undefined) return found
  // RFC 6750 3.1: a request without credentials is told no error code in the challenge.
  throw new AppError('invalid_token', 'An access token is required', {
    data: { challenge: BEARER_CHALLENGE },
  })
}

function readHeader(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer\b/i.test(authorization)) return undefined
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1]
  if (token === undefined) throw bearerError('invalid_request', 'The Authorization header is malformed')
  return token
}

/** Whom a live access token speaks for, what it was granted, and to which application. */
export type Bearer = { user: User; scopes: string[]; app: { redirect_uris: string[] } }

type LiveToken = { user_id: bigint; scopes: string[]; redirect_uris: string[] }

/** Throws invalid_token for a token that is unknown, expired or revoked, or whose user or application is barred. */
export async function getBearer(db: Db, access_token: string, now: Date): Promise<Bearer> {
  const live = sql<LiveToken>`live_access_token(${sha256(access_token)}, ${now})`
  const row = await db
    .selectFrom(live.as('token'))
    .innerJoin('users', 'users.id', 'token.user_id')
    .select(userColumns)
    .select(['token.scopes', 'token.redirect_uris'])
    .executeTakeFirst()
  if (row === undefined || isBarred(row, now)) {
    throw bearerError('invalid_token', 'The access token is wrong, expired or revoked')
  }
  const { scopes, redirect_uris, ...user } = row
  return { user, scopes, app: { redirect_uris } }
}

/** The application that a token was issued to, live or not. */
export async function findAppOf(db: Db, access_token: string): Promise<Bearer['app'] | undefined> {
  return db
    .selectFrom('access_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .innerJoin('oauth_apps as app', 'app.id', 'family.app_id')
    .where('token.token_hash', '=', sha256(access_token))
    .select('app.redirect_uris')
    .executeTakeFirst()
}
