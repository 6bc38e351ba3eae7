/** Lists and revokes the applications that a member has authorised, and signs a member out everywhere. spec/registry 3.2. */
import { sql } from 'kysely'
import type { MemberAct } from '../accounts/members.ts'
import { lockUser } from '../accounts/people/users.ts'
import { recordSecurityEvent } from '../accounts/security/security-events.ts'
import { queueLogoutsOf } from '../accounts/session/ended-sessions.ts'
import { endSessionsOf } from '../accounts/session/session.ts'
import type { MandateConsents } from '../accounts/sign-in/mandate-consent.ts'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'
import { endGrantsOf } from './grants/grants.ts'

const APPS_MAX = 200
const SIGN_INS_MAX = 50

/** Returns the authorised applications, the last used first. The issued tokens show the last use. */
export async function authorisedApps(db: Db, user_id: bigint) {
  return db
    .selectFrom('consents as consent')
    .innerJoin('oauth_apps as app', 'app.id', 'consent.app_id')
    .leftJoin('users as owner', 'owner.id', 'app.owner_id')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('grants as family')
          .leftJoin('access_tokens as token', 'token.grant_id', 'family.id')
          .whereRef('family.user_id', '=', 'consent.user_id')
          .whereRef('family.app_id', '=', 'consent.app_id')
          .select((eb) => [
            eb.fn.max('family.created_at').as('signed_in_at'),
            eb.fn.max('token.created_at').as('token_at'),
          ])
          .as('use'),
      (join) => join.onTrue(),
    )
    .where('consent.user_id', '=', user_id)
    .select([
      'app.client_id',
      'app.name',
      'app.logo_url',
      'app.homepage',
      'app.suspended_at',
      'app.reviewed_at',
      'app.document',
      'owner.username as owner_username',
      'consent.scopes',
      'consent.created_at as first_used_at',
      sql<Date>`greatest(consent.updated_at, "use".signed_in_at, "use".token_at)`.as('last_used_at'),
    ])
    .orderBy('last_used_at', 'desc')
    .limit(APPS_MAX)
    .execute()
}

/** Returns the newest sign-ins to applications, in the order of their times, the newest first. Address and device are known while the session exists. */
export async function signInsOf(db: Db, user_id: bigint, now: Date) {
  return db
    .selectFrom('grants as family')
    .innerJoin('oauth_apps as app', 'app.id', 'family.app_id')
    .leftJoin('sessions', 'sessions.id', 'family.session_id')
    .where('family.user_id', '=', user_id)
    .select(['family.id', 'app.name', 'app.client_id', 'family.created_at', 'family.is_on_device'])
    .select(['sessions.ip', 'sessions.agent'])
    .select((eb) =>
      eb
        .or([eb('family.revoked_at', 'is not', null), eb('family.expires_at', '<=', now)])
        .$castTo<boolean>()
        .as('has_ended'),
    )
    .orderBy('family.created_at', 'desc')
    .orderBy('family.id', 'desc')
    .limit(SIGN_INS_MAX)
    .execute()
}

/**
 * Returns an authorised application, and how many of the member's sign-ins to it have not ended. Throws not_found without a
 * consent.
 */
export async function authorisedApp(
  db: Db,
  { user_id, client_id, now }: { user_id: bigint; client_id: string; now: Date },
) {
  const found = await db
    .selectFrom('consents as consent')
    .innerJoin('oauth_apps as app', 'app.id', 'consent.app_id')
    .where('consent.user_id', '=', user_id)
    .where('app.client_id', '=', client_id)
    .select(['app.name', 'consent.created_at as first_used_at'])
    .select((eb) =>
      eb
        .selectFrom('grants as family')
        .whereRef('family.user_id', '=', 'consent.user_id')
        .whereRef('family.app_id', '=', 'consent.app_id')
        .where('family.revoked_at', 'is', null)
        .where('family.expires_at', '>', now)
        .select((count) => count.fn.countAll<bigint>().as('count'))
        .$asScalar()
        .as('sign_ins'),
    )
    .executeTakeFirst()
  if (found === undefined) throw notAllowed()
  return { ...found, sign_ins: found.sign_ins ?? 0n }
}

type Revocation = { user_id: bigint; client_id: string; now: Date; ip: string }
type Revoked = { sign_ins: number; mandates: number }

/**
 * Revokes a member's consent and its tokens, and the mandates that were accepted with it, and tells the application. Returns how
 * many sign-ins and mandates ended. Throws not_found without a consent.
 */
export async function revokeAuthorisation(
  { db, mandateConsents }: { db: Db; mandateConsents: MandateConsents },
  { user_id, client_id, now, ip }: Revocation,
): Promise<Revoked> {
  return db.transaction().execute(async (tx) => {
    // Before the consent, as a sign-in that allows charges locks them.
    const mandates = await mandateConsents.end(tx, client_id, { user_id, ip, now })
    const consent = await tx
      .deleteFrom('consents')
      .using('oauth_apps as app')
      .whereRef('app.id', '=', 'consents.app_id')
      .where('consents.user_id', '=', user_id)
      .where('app.client_id', '=', client_id)
      .returning(['consents.app_id', 'consents.scopes'])
      .executeTakeFirst()
    if (consent === undefined) throw notAllowed()
    const { app_id, scopes } = consent
    const grants = await endGrantsOf(tx, { user_id, app_id, now })
    await queueLogoutsOf(tx, { user_id, app_id, now })
    await recordAudit(tx, {
      actor_id: user_id,
      action: 'oauth_consent.revoked',
      subject: client_id,
      detail: { before: { user_id: user_id.toString(), scopes, grants }, after: null },
      ip,
    })
    return { sign_ins: grants, mandates }
  })
}

/**
 * Ends one of the member's own sign-ins to an application, for example on a lost device, with all its tokens. Throws not_found
 * for one that has ended.
 */
export async function endSignIn(
  db: Db,
  { user_id, grant_id, now, ip }: { user_id: bigint; grant_id: bigint; now: Date; ip: string },
): Promise<{ name: string }> {
  return db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable('grants as family')
      .from('oauth_apps as app')
      .whereRef('app.id', '=', 'family.app_id')
      .where('family.id', '=', grant_id)
      .where('family.user_id', '=', user_id)
      .where('family.revoked_at', 'is', null)
      .where('family.expires_at', '>', now)
      .set({ revoked_at: now })
      .returning(['app.name', 'app.client_id'])
      .executeTakeFirst()
    if (ended === undefined) throw new AppError('not_found', 'This sign-in has ended already')
    await recordAudit(tx, {
      actor_id: user_id,
      action: 'oauth_grant.ended',
      subject: ended.client_id,
      detail: { grant_id: grant_id.toString(), user_id: user_id.toString() },
      ip,
    })
    return { name: ended.name }
  })
}

function notAllowed(): AppError {
  return new AppError('not_found', 'You have not allowed this application')
}

/** Ends all sessions, unfinished sign-ins, codes and tokens of a member. Throws not_found. */
export async function signOutEverywhere(
  deps: Core,
  { user_id, actor_id, reason, ip }: MemberAct,
): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    await lockUser(tx, user_id)
    const sessions = await endSessionsOf(tx, deps, user_id)
    const grants = await endGrantsOf(tx, { user_id, now })
    const detail = { reason, sessions: sessions.length, grants }
    await recordSecurityEvent(tx, deps, { event: 'signed_out', user_id, actor_id, ip, detail })
  })
}

/** Returns the applications with live grants of the member, and the number of grants. */
export async function liveGrants(db: Db, user_id: bigint, now: Date) {
  return db
    .selectFrom('grants as family')
    .innerJoin('oauth_apps as app', 'app.id', 'family.app_id')
    .where('family.user_id', '=', user_id)
    .where('family.revoked_at', 'is', null)
    .where('family.expires_at', '>', now)
    .groupBy(['app.client_id', 'app.name'])
    .select(['app.client_id', 'app.name'])
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .orderBy('app.name')
    .execute()
}
