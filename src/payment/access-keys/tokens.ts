/** Issues and ends the tokens of access keys, and finds the application that a token speaks for. spec/access-keys 2.1 and 2.2. */
import { timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { named } from '../../database/named-statements.ts'
import type { AccessScope } from '../../database/tables/access-keys.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { type Credentials, countRefusedClient, invalidClient } from '../../web/oauth/credentials.ts'
import { namesIn } from '../../web/oauth/parameters.ts'
import { isAllowedAddress } from '../wire-fields/addresses.ts'

export const TOKEN_SECONDS = 3_600
const USE_NOTED_MS = 60_000
/** Compared with the secret of an unknown key, so that it takes as long as a wrong secret. */
const NO_SECRET = Buffer.alloc(32)
const KEY = /^ak_[a-z0-9]{20}$/

/** A key that has proved its secret. */
export type ProvenKey = {
  id: bigint
  public_id: string
  scopes: AccessScope[]
  expires_at: Date
  key_addresses: string[]
  allowed_addresses: string[]
}

type Presented = { credentials: Credentials | undefined; usedHeader: boolean; ip: string }

/**
 * Proves a key by its secret. Throws invalid_client with one wording for an unknown, revoked or expired key, a wrong secret and the
 * setting off, and too_many_attempts after too many failures.
 */
export async function proveKey(deps: Core, { credentials, usedHeader, ip }: Presented): Promise<ProvenKey> {
  const { client_id = '', client_secret = '' } = credentials ?? {}
  const isKey = KEY.test(client_id)
  const unknown = `unknown access keys of ${networkOf(ip)}`
  const ofKey = isKey ? `${client_id} ${networkOf(ip)}` : unknown
  deps.limits.refuseFull('token_failures', ofKey)
  const now = deps.clock()
  const found = isKey ? await findKey(deps.db, client_id, now) : undefined
  const isSecret = timingSafeEqual(found?.secret_hash ?? NO_SECRET, sha256(client_secret))
  const { access_keys } = await deps.settings.read()
  if (found !== undefined && isSecret && access_keys === 'on') return found
  // Unknown ids share one count, because each count is a row.
  const key = found === undefined ? unknown : ofKey
  await countRefusedClient(deps, { client_id, key, address: ip, at: now })
  throw invalidClient(usedHeader)
}

async function findKey(db: Db, public_id: string, now: Date) {
  return db
    .selectFrom('access_keys as key')
    .innerJoin('payment_apps as app', 'app.id', 'key.app_id')
    .where('key.public_id', '=', public_id)
    .where('key.revoked_at', 'is', null)
    .where('key.expires_at', '>', now)
    .select(['key.id', 'key.public_id', 'key.secret_hash', 'key.scopes', 'key.expires_at'])
    .select([
      sql<string[]>`key.allowed_addresses::text[]`.as('key_addresses'),
      sql<string[]>`app.allowed_addresses::text[]`.as('allowed_addresses'),
    ])
    .executeTakeFirst()
}

export type IssuedToken = { access_token: string; expires_in: number; scopes: AccessScope[] }

/**
 * Issues a token of an hour, or until its key ends. `scope` is the wanted part of the key's scopes; without it the token has all.
 * Throws invalid_scope, unauthorized_client for an address that may not use the key, too_many_attempts, and invalid_client for a
 * key that was revoked meanwhile.
 */
export async function issueToken(
  deps: Core,
  key: ProvenKey,
  { scope, ip, usedHeader }: { scope: string | undefined; ip: string; usedHeader: boolean },
): Promise<IssuedToken> {
  const scopes = scopesIn(key, scope)
  if (!mayCallFrom(ip, key))
    throw new AppError('unauthorized_client', `This address may not use the key: ${ip}`)
  await deps.limits.take('access_tokens', key.public_id)
  const now = deps.clock()
  const expires_at = new Date(Math.min(now.getTime() + TOKEN_SECONDS * 1000, key.expires_at.getTime()))
  const access_token = randomToken()
  const { rows } = await sql<{ is_issued: boolean }>`
    select issue_access_token(${key.id}::bigint, ${sha256(access_token)}::bytea, ${scopes}::text[],
      ${now}::timestamptz, ${expires_at}::timestamptz) as is_issued`.execute(deps.db)
  if (!rows[0]!.is_issued) throw invalidClient(usedHeader)
  return { access_token, expires_in: Math.floor((expires_at.getTime() - now.getTime()) / 1000), scopes }
}

function scopesIn(key: ProvenKey, scope = ''): AccessScope[] {
  const wanted = namesIn(scope)
  if (wanted.length === 0) return key.scopes
  const missing = wanted.find((name) => !(key.scopes as string[]).includes(name))
  if (missing !== undefined) throw new AppError('invalid_scope', `This key has only: ${key.scopes.join(' ')}`)
  return key.scopes.filter((each) => wanted.includes(each))
}

/** Whether both lists, the key's and its application's, allow the address. */
export function mayCallFrom(
  ip: string,
  { key_addresses, allowed_addresses }: Pick<ProvenKey, 'key_addresses' | 'allowed_addresses'>,
): boolean {
  return isAllowedAddress(ip, key_addresses) && isAllowedAddress(ip, allowed_addresses)
}

/** Ends a token of this key. Another token, or none, changes nothing (RFC 7009 2.2). */
export async function endToken({ db }: Core, key: ProvenKey, token: string): Promise<void> {
  await db
    .deleteFrom('access_key_tokens')
    .where('token_hash', '=', sha256(token))
    .where('key_id', '=', key.id)
    .execute()
}

/** The application that a token speaks for, and what limits the token. */
export type TokenCaller = {
  key_id: bigint
  scopes: AccessScope[]
  key_addresses: string[]
  last_used_at: Date | null
  id: bigint
  book: Book
  status: PaymentAppStatus
  applicant_id: bigint
  allowed_addresses: string[]
}

export type FindToken = (token: string) => Promise<TokenCaller | undefined>

/**
 * Makes the look-up of this process, which finds no token while access keys are off (spec/access-keys 3.3). Requests that arrive together share a statement.
 */
export function makeFindToken(deps: Core): FindToken {
  const find = makeBatcher<Buffer, TokenCaller | undefined>({
    name: 'find access tokens',
    ...deps.batching,
    run: async (hashes) => {
      const { rows } = await sql<TokenCaller & { token_hash: Buffer }>`
        select ${named} * from access_key_callers(${hashes}::bytea[], ${deps.clock()}::timestamptz)`.execute(
        deps.db,
      )
      const found = new Map(rows.map((row) => [row.token_hash.toString('hex'), row]))
      return hashes.map((hash) => found.get(hash.toString('hex')))
    },
  })
  return async (token) => {
    const { access_keys } = await deps.settings.read()
    const caller = access_keys === 'on' ? await find(sha256(token)) : undefined
    if (caller !== undefined) await noteUse(deps, caller)
    return caller
  }
}

/** Notes the use of a key for its list, at most once a minute. */
async function noteUse({ db, clock }: Core, { key_id, last_used_at }: TokenCaller): Promise<void> {
  const now = clock()
  if (last_used_at !== null && now.getTime() - last_used_at.getTime() < USE_NOTED_MS) return
  await db.updateTable('access_keys').set({ last_used_at: now }).where('id', '=', key_id).execute()
}
