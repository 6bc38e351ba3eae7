/** Reads access tokens of requests (RFC 6750), and finds their members. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { isBannedOrSuspended, memberOf, type User, userColumns } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import { columnsOf, inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { sha256 } from '../../platform/secrets.ts'
import { BEARER_CHALLENGE, bearerError } from '../../web/oauth/errors.ts'
import { RESOURCE_METADATA_PATH } from '../apps/addresses.ts'
import { isStillAdmitted } from '../metadata/client-id.ts'

/**
 * Returns the token of the Authorization header, which is the only place for it: addresses and bodies reach more logs. Throws
 * invalid_token without a token, and invalid_request for a malformed header.
 */
export function readBearer(authorization: string | undefined): string {
  const token = readHeader(authorization)
  if (token !== undefined) return token
  // RFC 6750 3.1: the challenge to a request without credentials has no error code.
  throw new AppError('invalid_token', 'An access token is required', {
    data: { challenge: BEARER_CHALLENGE },
  })
}

function readHeader(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer\b *\S/i.test(authorization)) return undefined
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1]
  if (token === undefined) throw bearerError('invalid_request', 'The Authorization header is malformed')
  return token
}

/** Names the document about this resource in the challenges of a scope (RFC 9728 5.1). */
export function nameResourceMetadata(app: FastifyInstance, { config }: Pick<Core, 'config'>): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const challenge = reply.getHeader('www-authenticate')
    if (reply.statusCode === 401 && typeof challenge === 'string' && challenge.startsWith('Bearer')) {
      const address = config.PUBLIC_URL + RESOURCE_METADATA_PATH
      reply.header('www-authenticate', `${challenge}, resource_metadata="${address}"`)
    }
    done(null, payload)
  })
}

/** The member, the scopes and the application of a live access token. */
export type Bearer = {
  user: TokenUser
  scopes: string[]
  /** Whether a device has the token, which its member allowed elsewhere. */
  isOnDevice: boolean
  app: {
    id: bigint
    /** Null for a client that is known by its document. */
    owner_id: bigint | null
    name: string
    redirect_uris: string[]
  }
}
export type TokenUser = User & { is_silenced: boolean }

export type GetBearer = (access_token: string) => Promise<Bearer>

type LiveToken = {
  item: number
  scopes: string[]
  app_id: bigint
  app_owner_id: bigint | null
  app_name: string
  redirect_uris: string[]
  document_url: string | null
  is_on_device: boolean
  member: unknown
}
type FoundToken = User & Omit<LiveToken, 'item' | 'member'> & { silenced_till: Date | null }
type Look = { token_hash: Buffer; now: Date }

/**
 * Makes the function that finds the bearer of an access token. Simultaneous requests of a process share a statement. It
 * throws invalid_token for an unknown, expired or revoked token. It does so too when the member is suspended or banned, or
 * the application is suspended, or a client by its document is no longer admitted.
 */
export function makeGetBearer({ db, clock, settings }: Pick<Core, 'db' | 'clock' | 'settings'>): GetBearer {
  const look = makeBatcher<Look, FoundToken | undefined>({
    name: 'find access tokens',
    run: (looks) => findLive(db, looks),
  })
  return async (access_token) => {
    const now = clock()
    const found = await look({ token_hash: sha256(access_token), now })
    const isLive = found !== undefined && (await isStillAdmitted({ settings }, found.document_url))
    if (!isLive || isBannedOrSuspended(found, now)) {
      throw bearerError('invalid_token', 'The access token is wrong, expired or revoked')
    }
    const { scopes, app_id, app_owner_id, app_name, redirect_uris, is_on_device, silenced_till, ...rest } =
      found
    const { document_url: _, ...user } = rest
    const is_silenced = silenced_till !== null && silenced_till > now
    const app = { id: app_id, owner_id: app_owner_id, name: app_name, redirect_uris }
    return { user: { ...user, is_silenced }, scopes, isOnDevice: is_on_device, app }
  }
}

async function findLive(db: Db, looks: Look[]) {
  const live = sql<LiveToken>`live_access_tokens(
    ${columnsOf(looks, { token_hash: 'bytea', now: 'timestamptz' })}
  )`
  const rows = await db
    .selectFrom(live.as('token'))
    .innerJoinLateral(memberOf('token').as('users'), (join) => join.onTrue())
    .select(userColumns)
    .select(['token.item', 'token.scopes', 'token.redirect_uris', 'token.is_on_device'])
    .select(['token.app_id', 'token.app_owner_id', 'token.app_name', 'token.document_url'])
    .select(sql<Date | null>`silenced_till(users.id)`.as('silenced_till'))
    .execute()
  return inOrder(looks, rows, (row) => row)
}

/** Returns the application of a token, live or not. */
export async function findAppOf(
  db: Db,
  access_token: string,
): Promise<Pick<Bearer['app'], 'redirect_uris'> | undefined> {
  return db
    .selectFrom('access_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .innerJoin('oauth_apps as app', 'app.id', 'family.app_id')
    .where('token.token_hash', '=', sha256(access_token))
    .select('app.redirect_uris')
    .executeTakeFirst()
}
