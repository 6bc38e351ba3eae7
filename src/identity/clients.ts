/** Applications as OAuth clients: who is calling the token endpoint (RFC 6749 2.3.1). */
import { timingSafeEqual } from 'node:crypto'
import type { Db } from '../database/connection.ts'
import { AppError } from '../errors.ts'
import { sha256 } from '../secrets.ts'
import { BASIC_CHALLENGE } from './errors.ts'
import type { Single } from './parameters.ts'

/** How exactly the last use of a secret is kept: a row written at every token request would be a hot one. */
const LAST_USED_MINUTES = 10
/** What an unknown client's secret is compared with, so that it takes as long as a wrong secret. */
const NO_SECRET = Buffer.alloc(32)

export type Client = {
  id: bigint
  client_id: string
  redirect_uris: string[]
  allow_groups: string[]
  deny_groups: string[]
}

/**
 * The authenticated client of a request. Basic, body parameters, or both when they agree. Throws invalid_client,
 * in the same words for an unknown client and a wrong secret; invalid_request when header and body differ.
 */
export async function authenticateClient(
  db: Db,
  authorization: string | undefined,
  body: Single,
  now: Date,
): Promise<Client> {
  const refused = invalidClient(authorization !== undefined)
  const credentials =
    authorization === undefined
      ? { client_id: body.client_id, client_secret: body.client_secret }
      : readBasic(authorization)
  const { client_id, client_secret } = credentials ?? {}
  if (client_id === undefined || client_secret === undefined) throw refused
  for (const [name, value] of Object.entries({ client_id, client_secret })) {
    if (body[name] !== undefined && body[name] !== value)
      throw new AppError('invalid_request', `${name} differs between header and body`)
  }
  const client = await findClient(db, client_id, client_secret, now)
  if (client === undefined) throw refused
  return client
}

function invalidClient(usedHeader: boolean): AppError {
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
 * One statement, which also notes the use of the secret. NOTE: a suspended application cannot authenticate, in the same
 * words as one that does not exist (RFC 6749 5.2 leaves invalid_client for every way in which that fails).
 */
async function findClient(
  db: Db,
  client_id: string,
  client_secret: string,
  now: Date,
): Promise<Client | undefined> {
  const presented = sha256(client_secret)
  const rows = await db
    .with('used', (q) =>
      q
        .updateTable('app_secrets as secret')
        .from('oauth_apps as app')
        .set({ last_used_at: now })
        .whereRef('app.id', '=', 'secret.app_id')
        .where('app.client_id', '=', client_id)
        .where('app.suspended_at', 'is', null)
        .where('secret.secret_hash', '=', presented)
        .where((eb) => eb.or([eb('secret.expires_at', 'is', null), eb('secret.expires_at', '>', now)]))
        .where((eb) =>
          eb.or([
            eb('secret.last_used_at', 'is', null),
            eb('secret.last_used_at', '<', new Date(now.getTime() - LAST_USED_MINUTES * 60_000)),
          ]),
        ),
    )
    .selectFrom('oauth_apps as app')
    .innerJoin('app_secrets as secret', 'secret.app_id', 'app.id')
    .where('app.client_id', '=', client_id)
    .where('app.suspended_at', 'is', null)
    .where((eb) => eb.or([eb('secret.expires_at', 'is', null), eb('secret.expires_at', '>', now)]))
    .select([
      'app.id',
      'app.client_id',
      'app.redirect_uris',
      'app.allow_groups',
      'app.deny_groups',
      'secret.secret_hash',
    ])
    .execute()
  const hashes = rows.length === 0 ? [NO_SECRET] : rows.map((row) => row.secret_hash)
  const matches = hashes.map((hash) => timingSafeEqual(hash, presented))
  const row = rows[matches.indexOf(true)]
  if (row === undefined) return undefined
  const { secret_hash: _, ...client } = row
  return client
}
