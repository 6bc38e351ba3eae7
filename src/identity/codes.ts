/** Authorization codes: bound to all that was asked, valid for a minute, exchanged once. */
import { sql } from 'kysely'
import { userColumns } from '../accounts/users.ts'
import type { Db } from '../database/connection.ts'
import { AppError } from '../errors.ts'
import { recordRefusal } from '../refusals.ts'
import { randomToken, sha256 } from '../secrets.ts'
import { isRegistered } from './access.ts'
import type { Client } from './clients.ts'
import { rememberConsent } from './consents.ts'
import {
  asIssued,
  type Bound,
  familyEnd,
  type Issued,
  type IssuedTokens,
  isWelcome,
  later,
  type NewTokens,
  newTokens,
  revokeGrant,
} from './grants.ts'

const CODE_SECONDS = 60

export type NewCode = {
  app_id: bigint
  user_id: bigint
  session_id: bigint
  redirect_uri: string
  redirect_uri_sent: boolean
  scopes: string[]
  nonce: string | undefined
  code_challenge: string | undefined
  auth_time: Date
  amr: string[]
  now: Date
}

/** Issues a code for what the member has allowed before. */
export async function issueCode(db: Db, { session_id, now, ...bound }: NewCode): Promise<string> {
  const code = randomToken()
  await db
    .insertInto('authorization_codes')
    .values((eb) => ({
      ...bound,
      code_hash: sha256(code),
      // Null when the session has ended since this request began; held otherwise, so that it cannot now.
      session_id: eb.selectFrom('sessions').where('id', '=', session_id).select('id').forKeyShare(),
      expires_at: later(now, CODE_SECONDS * 1000),
    }))
    .execute()
  return code
}

/** Remembers the consent and issues the code, both or neither. */
export async function allowAndIssueCode(db: Db, code: NewCode): Promise<string> {
  return db.transaction().execute(async (tx) => {
    await rememberConsent(tx, code, code.scopes, code.now)
    return issueCode(tx, code)
  })
}

export type Exchange = {
  client: Client
  code: string
  redirect_uri: string | undefined
  code_verifier: string | undefined
  /** Where the request came from. */
  address: string
  now: Date
}

/**
 * Exchanges a code for tokens, once. Throws invalid_grant, in one wording, for whatever is wrong with the code, and
 * invalid_redirect_uri for an address that is not registered. A failed attempt spends nothing; a second use of
 * a spent code revokes what the first one got.
 */
export async function exchangeCode(db: Db, exchange: Exchange): Promise<IssuedTokens> {
  const { client, redirect_uri, now } = exchange
  if (redirect_uri !== undefined && !isRegistered(client, redirect_uri)) {
    throw new AppError('invalid_redirect_uri', 'The redirect_uri is not registered for this application')
  }
  const tokens = newTokens(now)
  const issued = await claimCode(db, exchange, tokens)
  if (issued !== undefined) return { ...tokens.told, ...issued }
  await revokeReplayed(db, exchange)
  throw new AppError('invalid_grant', 'The code is wrong, expired, already used, or was not issued for this')
}

/**
 * One statement. The session is locked before the code, which is the order of a sign-out (its cascade reaches
 * the code last), so the two cannot deadlock. The condition on `held_session` is always true: it only makes the
 * lock come first. When the sign-out was first, the code's session is null by the time its row is locked.
 */
async function claimCode(
  db: Db,
  { client, code, redirect_uri, code_verifier, now }: Exchange,
  { access, refresh }: NewTokens,
): Promise<Issued | undefined> {
  const code_hash = sha256(code)
  const sentUri = redirect_uri ?? null
  const row = await db
    .with(
      'held_session',
      () => sql`(
        select id from sessions
        where id = (select session_id from authorization_codes where code_hash = ${code_hash})
        for key share
      )`,
    )
    .with(
      'spent',
      () => sql<Bound & { nonce: string | null }>`(
        update authorization_codes as code set used_at = ${now}
        from users
        where code.code_hash = ${code_hash} and code.app_id = ${client.id}
          and code.used_at is null and code.expires_at > ${now}
          and (code.redirect_uri = ${sentUri} or (${sentUri}::text is null and not code.redirect_uri_sent))
          and code.code_challenge is not distinct from ${challengeOf(code_verifier)}
          and users.id = code.user_id and ${isWelcome(now)}
          and (select count(*) from held_session) >= 0
        returning code.id, code.app_id, code.user_id, code.session_id, code.scopes, code.nonce, code.auth_time, code.amr
      )`,
    )
    .with(
      'family',
      () => sql`(
        insert into grants (code_id, app_id, user_id, session_id, scopes, auth_time, amr, expires_at)
        select id, app_id, user_id, session_id, scopes, auth_time, amr, ${familyEnd(now)}
        from spent
        returning id, scopes
      )`,
    )
    .with(
      'access',
      () => sql`(
        insert into access_tokens (token_hash, grant_id, scopes, expires_at)
        select ${access.hash}, id, scopes, ${access.expires_at} from family
      )`,
    )
    .with(
      'refresh',
      () => sql`(
        insert into refresh_tokens (token_hash, grant_id, expires_at)
        select ${refresh.hash}, id, ${refresh.expires_at} from family
      )`,
    )
    .selectFrom('spent')
    .innerJoin('users', 'users.id', 'spent.user_id')
    .select(userColumns)
    .select(['spent.session_id', 'spent.nonce', 'spent.scopes', 'spent.auth_time', 'spent.amr'])
    .executeTakeFirst()
  return row === undefined ? undefined : asIssued(row)
}

/** The S256 challenge that this verifier answers; one of the wrong form answers none. */
function challengeOf(code_verifier: string | undefined): string | null {
  if (code_verifier === undefined) return null
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(code_verifier)) return ''
  return sha256(code_verifier).toString('base64url')
}

/** Ends the family that a spent code begot. A code of another application, or one never used, is left alone. */
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
