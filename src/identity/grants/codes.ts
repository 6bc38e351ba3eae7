// This room: consents, codes and tokens: what a member has granted, exchanged once, rotated and revoked.
// Verbs: issueCode, makeExchangeCode, makeRotateRefreshToken, revokeGrant, redeemDeviceCode.
// Tables: consents, authorization_codes, grants, access_tokens, refresh_tokens.
// Clauses: spec/sign-in 2.3, 2.5, 5.2; spec/registry 6.1.
/**
 * Authorization codes. A code is bound to its request, valid for 60 seconds, and exchanged once.
 * spec/sign-in 2.3.
 */
import { sql } from 'kysely'
import { memberOf, userColumns } from '../../accounts/people/users.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { columnsOf, inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { findFrozen } from '../../database/lock-waits.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import type { Client } from '../apps/access.ts'
import { isRegistered } from '../apps/redirect-uris.ts'
import { rememberConsent } from './consents.ts'
import { revokeGrant } from './grants.ts'
import {
  ACCESS_LIFE,
  asIssued,
  type Claimed,
  FAMILY_LIFE,
  grantedDetails,
  IDLE_LIFE,
  type Issued,
  type IssuedTokens,
  type NewTokens,
  newTokens,
  sidOfClaimed,
} from './tokens.ts'

export const CODE_SECONDS = 60

export type NewCode = {
  app_id: bigint
  user_id: bigint
  session_id: bigint
  redirect_uri: string
  redirect_uri_sent: boolean
  scopes: string[]
  resource_app_id: bigint | null
  /** The mandate that the request named, which its tokens answer with. */
  mandate_id: bigint | null
  nonce: string | undefined
  code_challenge: string | undefined
  auth_time: Date
  amr: string[]
  now: Date
}

/** Issues a code for scopes that the member has allowed before. */
export async function issueCode(db: Db, { session_id, now, ...bound }: NewCode): Promise<string> {
  const code = randomToken()
  await db
    .insertInto('authorization_codes')
    .values((eb) => ({
      ...bound,
      code_hash: sha256(code),
      // Null when the session has ended meanwhile. Otherwise the lock keeps it from ending before the commit.
      session_id: eb.selectFrom('sessions').where('id', '=', session_id).select('id').forKeyShare(),
      expires_at: new Date(now.getTime() + CODE_SECONDS * 1000),
    }))
    .execute()
  return code
}

type Allowed = {
  document_version: Buffer | null
  /** Returns the id of the application, which this transaction may store. */
  appOf: (tx: Tx) => Promise<bigint>
  /** What the member decides besides, before anything else. Nothing happens if it resolves to false. */
  besides?: ((tx: Tx) => Promise<boolean>) | undefined
}

/** Stores the consent and issues the code in one transaction. Undefined if the decision besides is impossible. */
export async function allowAndIssueCode(
  db: Db,
  unbound: Omit<NewCode, 'app_id'>,
  { document_version, appOf, besides }: Allowed,
): Promise<string | undefined> {
  return db.transaction().execute(async (tx) => {
    if (besides !== undefined && !(await besides(tx))) return undefined
    const code = { ...unbound, app_id: await appOf(tx) }
    await rememberConsent(tx, { ...code, document_version }, code.scopes, code.now)
    return issueCode(tx, code)
  })
}

export type Exchange = {
  client: Client
  code: string
  redirect_uri: string | undefined
  code_verifier: string | undefined
  /** The address of the request. */
  address: string
  now: Date
}

type Claim = Pick<Exchange, 'redirect_uri' | 'now'> &
  Omit<NewTokens, 'plain'> & { code_hash: Buffer; app_id: bigint; challenge: string | null }

export type ExchangeCode = (exchange: Exchange) => Promise<IssuedTokens>

/**
 * Makes the function that exchanges a code for tokens, once. Simultaneous exchanges of a process share a commit. It throws
 * invalid_grant, with one message for all faults of a code, and invalid_redirect_uri for an unregistered address. A failed
 * attempt does not use the code. A second use of a used code revokes its tokens. It also throws overloaded and unavailable.
 */
export function makeExchangeCode(db: Db): ExchangeCode {
  const claim = makeBatcher<Claim, Issued | undefined>({
    name: 'claim codes',
    findFrozen: (claims) =>
      findFrozen(
        db,
        sql`unnest(${columnsOf(claims, { code_hash: 'bytea' })}) with ordinality as asked (code_hash, item)`,
        sql`select code.xmax from authorization_codes as code where code.code_hash = asked.code_hash`,
        sql`select app.xmax from authorization_codes as code
          join oauth_apps as app on app.id = code.app_id where code.code_hash = asked.code_hash`,
        sql`select session.xmax from authorization_codes as code
          join sessions as session on session.id = code.session_id where code.code_hash = asked.code_hash`,
      ),
    run: (claims, patience_ms) => claimCodes(db, claims, patience_ms),
  })
  return async (exchange) => {
    const { client, redirect_uri, code, code_verifier, now } = exchange
    if (redirect_uri !== undefined && !isRegistered(client, redirect_uri)) {
      throw new AppError('invalid_redirect_uri', 'The redirect_uri is not registered for this application')
    }
    const { plain, ...hashes } = newTokens()
    const challenge = challengeOf(code_verifier)
    const issued = await claim({
      code_hash: sha256(code),
      app_id: client.id,
      redirect_uri,
      challenge,
      now,
      ...hashes,
    })
    if (issued !== undefined) return { ...plain, ...issued }
    await revokeReplayed(db, exchange)
    throw new AppError(
      'invalid_grant',
      'The code is wrong, expired, already used, or was not issued for this',
    )
  }
}

/** Claims codes in one statement. The database function has the rules. */
async function claimCodes(db: Db, claims: Claim[], patience_ms: number): Promise<(Issued | undefined)[]> {
  const code_hashes = columnsOf(claims, { code_hash: 'bytea' })
  const claimed = sql<Claimed & { nonce: string | null }>`exchange_codes(
    ${within(patience_ms, code_hashes)},
    ${columnsOf(claims, { app_id: 'bigint', redirect_uri: 'text', challenge: 'text', now: 'timestamptz' })},
    ${columnsOf(claims, { access_hash: 'bytea', refresh_hash: 'bytea' })},
    ${FAMILY_LIFE}::interval, ${ACCESS_LIFE}::interval, ${IDLE_LIFE}::interval
  )`
  // The statement began before the call, so it sees the code and not yet the grant.
  const mandate = sql<bigint | null>`(
    select mandate_id from authorization_codes
    where code_hash = (${code_hashes})[claimed.item]
  )`
  const rows = await db
    .selectFrom(claimed.as('claimed'))
    .innerJoinLateral(memberOf('claimed').as('users'), (join) => join.onTrue())
    .select(userColumns)
    .select(grantedDetails(mandate, claims[0]!.now))
    .select(['claimed.item', sidOfClaimed(), 'claimed.nonce'])
    .select(['claimed.scopes', 'claimed.auth_time', 'claimed.amr'])
    .execute()
  return inOrder(claims, rows, asIssued)
}

/** Returns the S256 challenge of a verifier; an invalid verifier matches no challenge. */
export function challengeOf(code_verifier: string | undefined): string | null {
  if (code_verifier === undefined) return null
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(code_verifier)) return ''
  return sha256(code_verifier).toString('base64url')
}

/** Revokes the tokens of a used code. It ignores codes of other applications and unused codes. */
async function revokeReplayed(db: Db, { client, code, address, now }: Exchange): Promise<void> {
  const replayed = await db
    .selectFrom('authorization_codes as code')
    .innerJoin('grants as family', 'family.code_id', 'code.id')
    .where('code.code_hash', '=', sha256(code))
    .where('code.app_id', '=', client.id)
    .where('code.used_at', 'is not', null)
    .select(['family.id', 'family.user_id'])
    .executeTakeFirst()
  if (replayed === undefined) return
  await revokeGrant(db, replayed.id, 'code replayed', now)
  const { user_id } = replayed
  await recordRefusal(db, { kind: 'code_replayed', user_id, client_id: client.client_id, address, at: now })
}
