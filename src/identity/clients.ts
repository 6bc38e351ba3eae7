/** Applications as OAuth clients: who is calling the token endpoint (RFC 6749 2.3.1). */
import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Db } from '../database/connection.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { networkOf } from '../limits.ts'
import { recordRefusal } from '../refusals.ts'
import { sha256 } from '../secrets.ts'
import { BASIC_CHALLENGE } from './errors.ts'
import type { SigningAlgorithm } from './keys.ts'
import type { Single } from './parameters.ts'

/** How exactly the last use of a secret is kept: a row written at every token request would be a hot one. */
const LAST_USED_MINUTES = 10
/** What an unknown client's secret is compared with, so that it takes as long as a wrong secret. */
const NO_SECRET = Buffer.alloc(32)
const KEY_LENGTH_MAX = 64

export type Client = {
  id: bigint
  client_id: string
  redirect_uris: string[]
  allow_groups: string[]
  deny_groups: string[]
  id_token_signed_response_alg: SigningAlgorithm
  token_endpoint_auth_method: string
}

const columns = [
  'app.id',
  'app.client_id',
  'app.redirect_uris',
  'app.allow_groups',
  'app.deny_groups',
  'app.id_token_signed_response_alg',
  'app.token_endpoint_auth_method',
] as const

/**
 * The authenticated client of a request. Basic, body parameters, or both when they agree; a public application
 * gives its client_id in the body and nothing else. Throws invalid_client, in the same words for an unknown client
 * and a wrong secret; invalid_request when header and body differ; and too_many_attempts after too many failures of
 * this client at this address.
 */
export async function authenticateClient(
  deps: Deps,
  request: Pick<FastifyRequest, 'headers' | 'ip'>,
  body: Single,
  now: Date,
): Promise<Client> {
  const { authorization } = request.headers
  const refused = () => invalidClient(authorization !== undefined)
  const credentials =
    authorization === undefined
      ? { client_id: body.client_id, client_secret: body.client_secret }
      : readBasic(authorization)
  const { client_id, client_secret } = credentials ?? {}
  if (client_id === undefined) throw refused()
  for (const [name, value] of Object.entries({ client_id, client_secret })) {
    if (body[name] !== undefined && body[name] !== value)
      throw new AppError('invalid_request', `${name} differs between header and body`)
  }
  const key = failureKey(client_id, request.ip)
  deps.limits.refuseFull('token_failures', key)
  const client =
    client_secret === undefined
      ? await findPublicClient(deps.db, client_id)
      : await findClient(deps.db, client_id, client_secret, now)
  if (client !== undefined) return client
  const { ip: address } = request
  try {
    await deps.limits.hit('token_failures', key)
  } catch (error) {
    await recordRefusal(deps.db, { kind: 'client_throttled', client_id, address, at: now })
    throw error
  }
  await recordRefusal(deps.db, { kind: 'client_refused', client_id, address, at: now })
  throw refused()
}

/**
 * A client that has proved itself and then presents what is worth nothing: answered as long as the limit allows, and
 * counted apart, so that its right requests go on.
 */
export async function countUselessGrant({ limits }: Deps, client: Client, address: string): Promise<void> {
  await limits.hit('token_failures', `grants of ${failureKey(client.client_id, address)}`)
}

function failureKey(client_id: string, address: string): string {
  return `${client_id.slice(0, KEY_LENGTH_MAX)} ${networkOf(address)}`
}

export function invalidClient(usedHeader: boolean): AppError {
  const data = usedHeader ? { challenge: BASIC_CHALLENGE } : {}
  return new AppError('invalid_client', 'The client ID or the client secret is wrong', { data })
}

type Credentials = { client_id: string; client_secret: string }

/** RFC 6749 2.3.1: each half is form-encoded before the pair is base64-encoded. */
function readBasic(authorization: string): Credentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return undefined
  const pair = bytes.toString()
  const colon = pair.indexOf(':')
  if (colon === -1) return undefined
  const client_id = decodeForm(pair.slice(0, colon))
  const client_secret = decodeForm(pair.slice(colon + 1))
  // Postgres stores no NUL, so no client has one.
  if (client_id === undefined || client_secret === undefined || client_id.includes('\0')) return undefined
  return { client_id, client_secret }
}

function decodeForm(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/**
 * NOTE: a suspended application cannot authenticate, in the same words as one that does not exist (RFC 6749 5.2 leaves
 * invalid_client for every way in which that fails).
 */
async function findClient(
  db: Db,
  client_id: string,
  client_secret: string,
  now: Date,
): Promise<Client | undefined> {
  const rows = await db
    .selectFrom('oauth_apps as app')
    .innerJoin('app_secrets as secret', 'secret.app_id', 'app.id')
    .where('app.client_id', '=', client_id)
    .where('app.suspended_at', 'is', null)
    .where((eb) => eb.or([eb('secret.expires_at', 'is', null), eb('secret.expires_at', '>', now)]))
    .select([...columns, 'secret.id as secret_id', 'secret.secret_hash', 'secret.last_used_at'])
    .execute()
  const presented = sha256(client_secret)
  const hashes = rows.length === 0 ? [NO_SECRET] : rows.map((row) => row.secret_hash)
  const matches = hashes.map((hash) => timingSafeEqual(hash, presented))
  const row = rows[matches.indexOf(true)]
  if (row === undefined) return undefined
  const { secret_id, secret_hash: _, last_used_at, ...client } = row
  const isNoted = last_used_at !== null && now.getTime() - last_used_at.getTime() < LAST_USED_MINUTES * 60_000
  if (!isNoted) await noteUse(db, secret_id, now)
  return client
}

/** Apart from finding it: in one statement, planning the update would cost every request more than this does a few. */
async function noteUse(db: Db, secret_id: bigint, now: Date): Promise<void> {
  await db.updateTable('app_secrets').set({ last_used_at: now }).where('id', '=', secret_id).execute()
}

/** Whoever knows the client_id may say so: what such a client presents is proved by PKCE, or was rotated. */
async function findPublicClient(db: Db, client_id: string): Promise<Client | undefined> {
  return db
    .selectFrom('oauth_apps as app')
    .where('app.client_id', '=', client_id)
    .where('app.token_endpoint_auth_method', '=', 'none')
    .where('app.suspended_at', 'is', null)
    .select(columns)
    .executeTakeFirst()
}
