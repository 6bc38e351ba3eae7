/** Authenticates OAuth clients (RFC 6749 2.3.1). spec/sign-in 2.2. */
import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { named } from '../../database/named-statements.ts'
import { sha256 } from '../../platform/secrets.ts'
import { countRefusedClient, invalidClient, presentedCredentials } from '../../web/oauth/credentials.ts'
import type { Sent } from '../../web/oauth/parameters.ts'
import type { Client } from '../apps/access.ts'
import { isAddress, isStillAdmitted } from '../metadata/client-id.ts'
import type { TokenRequest } from './shapes.ts'

/** The accuracy of a secret's `last_used_at`. Writing the row at every token request would cost too much. */
const LAST_USED_MINUTES = 10
/** Compared with the secret of an unknown client, so that it takes as long as a wrong secret. */
const NO_SECRET = Buffer.alloc(32)
const KEY_LENGTH_MAX = 64
type ClientFields = Pick<Sent<typeof TokenRequest>, 'client_id' | 'client_secret'>

export type AuthenticateClient = (
  request: Pick<FastifyRequest, 'headers' | 'ip'>,
  body: ClientFields,
  now: Date,
) => Promise<Client>

/**
 * Makes the function that authenticates the client of a request. Simultaneous requests of a process share a statement. It
 * accepts Basic, body parameters, or both when they agree. A public client sends only its client_id, in the body. It throws
 * invalid_client, with one message for unknown clients and wrong secrets, and invalid_request when header and body differ.
 * It throws too_many_attempts after too many failures of this client from this network.
 */
export function makeAuthenticateClient(deps: Core): AuthenticateClient {
  const find = makeBatcher<string, ClientSecret[]>({
    name: 'find client secrets',
    run: (client_ids) => findSecrets(deps.db, client_ids),
  })
  return async (request, body, now) => {
    const { authorization } = request.headers
    const { client_id, client_secret } = presentedCredentials(authorization, body) ?? {}
    if (client_id === undefined) throw invalidClient(authorization !== undefined)
    const key = failureKey(client_id, request.ip)
    deps.limits.refuseFull('token_failures', key)
    const known = client_secret === undefined ? [] : await find(client_id)
    const client =
      client_secret === undefined
        ? await findPublicClient(deps, client_id)
        : await provenClient(deps.db, known, client_secret, now)
    if (client !== undefined) return client
    // Unknown client ids share one count, because each count is a row.
    const countedKey = known.length === 0 ? `unknown clients of ${networkOf(request.ip)}` : key
    await countRefusedClient(deps, { client_id, key: countedKey, address: request.ip, at: now })
    throw invalidClient(authorization !== undefined)
  }
}

/**
 * Counts a useless grant of an authenticated client. It is counted apart from failed authentications, so that the client's
 * valid requests go on. Throws too_many_attempts above the limit.
 */
export async function countUselessGrant({ limits }: Core, client: Client, address: string): Promise<void> {
  await limits.hit('token_failures', `grants of ${failureKey(client.client_id, address)}`)
}

/** Addresses of one site begin alike, so their hashes are counted. */
function failureKey(client_id: string, address: string): string {
  const named = isAddress(client_id)
    ? sha256(client_id).toString('base64url')
    : client_id.slice(0, KEY_LENGTH_MAX)
  return `${named} ${networkOf(address)}`
}

type ClientSecret = Client & {
  secret_id: bigint
  secret_hash: Buffer
  last_used_at: Date | null
  expires_at: Date | null
}

/**
 * Finds applications with their secrets in one statement, in the order of the ids.
 * NOTE: a suspended application gets the same invalid_client as an unknown one (RFC 6749 5.2 has no other code for it).
 */
async function findSecrets(db: Db, client_ids: string[]): Promise<ClientSecret[][]> {
  const { rows } = await sql<ClientSecret>`
    select ${named} * from clients_with_secrets(${[...new Set(client_ids)]}::text[])`.execute(db)
  const found = Map.groupBy(rows, ({ client_id }) => client_id)
  return client_ids.map((client_id) => found.get(client_id) ?? [])
}

async function provenClient(
  db: Db,
  known: ClientSecret[],
  client_secret: string,
  now: Date,
): Promise<Client | undefined> {
  const presented = sha256(client_secret)
  const live = known.filter(({ expires_at }) => expires_at === null || expires_at > now)
  const hashes = live.length === 0 ? [NO_SECRET] : live.map((each) => each.secret_hash)
  const matches = hashes.map((hash) => timingSafeEqual(hash, presented))
  const proven = live[matches.indexOf(true)]
  if (proven === undefined) return undefined
  const { secret_id, last_used_at } = proven
  const isNoted = last_used_at !== null && now.getTime() - last_used_at.getTime() < LAST_USED_MINUTES * 60_000
  if (!isNoted) await noteUse(db, secret_id, now)
  return proven
}

/** Stores the last use in its own statement, because planning an update with each search would cost more. */
async function noteUse(db: Db, secret_id: bigint, now: Date): Promise<void> {
  await db.updateTable('app_secrets').set({ last_used_at: now }).where('id', '=', secret_id).execute()
}

/**
 * Finds a public client by its client_id alone. PKCE or the rotation of refresh tokens proves its grants. A client by its document
 * must be admitted still; the document is not fetched.
 */
async function findPublicClient({ db, settings }: Core, client_id: string): Promise<Client | undefined> {
  const found = await db
    .selectFrom('oauth_apps')
    .where('client_id', '=', client_id)
    .where('token_endpoint_auth_method', '=', 'none')
    .where('suspended_at', 'is', null)
    .select(['id', 'client_id', 'redirect_uris', 'allow_groups', 'deny_groups'])
    .select(['id_token_signed_response_alg', 'token_endpoint_auth_method', 'document_url'])
    .executeTakeFirst()
  if (found === undefined || !(await isStillAdmitted({ settings }, found.document_url))) return undefined
  const { document_url: _, ...client } = found
  return client
}
