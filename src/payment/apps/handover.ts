/**
 * The handover of a payment application: its owner offers it, another member accepts it. The former owner keeps the points
 * of earlier orders and bears their refunds; later orders pay the new owner.
 */
import { sql } from 'kysely'
import { findUserByUsername, isBannedOrSuspended, lockUser } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'
import { linkedSignInApp, recordLink } from '../../shops/links.ts'
import { onceADay, raiseAlert } from '../alerts/alerts.ts'
import { type Actor, audit, getPermitted, lockPermitted } from '../rights/rights.ts'
import { refuseLongQueue } from './apps.ts'

const OFFER_DAYS = 7
const DAY_MS = 86_400_000

/** Why an offer failed: no member has this name, it is the owner's own, or the member's trust level is too low. */
export type OfferFault = 'unknown' | 'self' | 'trust_level'

/**
 * Offers an application to a member and replaces any earlier offer. The member gets at most one alert a day. Throws
 * conflict for a suspended application, and too_many_attempts.
 */
export async function offerApplication(
  deps: Core,
  payment_id: string,
  username: string,
  actor: Actor,
): Promise<OfferFault | undefined> {
  const now = deps.clock()
  await deps.limits.hit('invitations', actor.user_id.toString())
  const { payment_apps_min_trust_level } = await deps.settings.read()
  return deps.db.transaction().execute(async (tx) => {
    const { id: app_id, status } = await lockPermitted(tx, payment_id, actor, 'application.hand_over')
    if (status === 'suspended') throw suspended()
    const chosen = await chosenOwner(tx, username, { actor, now, payment_apps_min_trust_level })
    if (typeof chosen === 'string') return chosen
    const offer = {
      from_user_id: actor.user_id,
      to_user_id: chosen.id,
      offered_at: now,
      expires_at: new Date(now.getTime() + OFFER_DAYS * DAY_MS),
    }
    await tx
      .insertInto('payment_app_offers')
      .values({ app_id, ...offer })
      .onConflict((conflict) => conflict.column('app_id').doUpdateSet(offer))
      .execute()
    await raiseAlert(tx, deps, {
      app_id,
      kind: 'offered',
      cause: onceADay(now),
      to: { user_id: chosen.id },
    })
    await audit(tx, 'payment_app.offer', payment_id, { to: String(chosen.id) }, actor)
    return undefined
  })
}

/**
 * Predicts why an offer would fail, before the owner is asked to confirm it. Undefined if it would not. Throws conflict for a
 * suspended application, and too_many_attempts.
 */
export async function offerFault(
  deps: Core,
  payment_id: string,
  username: string,
  actor: Actor,
): Promise<OfferFault | undefined> {
  // Counts here too, because the answer says whether a member exists.
  await deps.limits.hit('invitations', actor.user_id.toString())
  const { payment_apps_min_trust_level } = await deps.settings.read()
  const { status } = await getPermitted(deps.db, payment_id, actor.user_id, 'application.hand_over')
  if (status === 'suspended') throw suspended()
  const conditions = { actor, now: deps.clock(), payment_apps_min_trust_level }
  const chosen = await chosenOwner(deps.db, username, conditions)
  return typeof chosen === 'string' ? chosen : undefined
}

/** Finds the member who is to own the application, or says why nobody of this name can. */
async function chosenOwner(
  db: Db,
  username: string,
  {
    actor,
    now,
    payment_apps_min_trust_level,
  }: { actor: Actor; now: Date; payment_apps_min_trust_level: number },
): Promise<OfferFault | { id: bigint }> {
  const chosen = await findUserByUsername(db, username)
  if (chosen === undefined || isBannedOrSuspended(chosen, now)) return 'unknown'
  if (chosen.id === actor.user_id) return 'self'
  return chosen.trust_level < payment_apps_min_trust_level ? 'trust_level' : chosen
}

/** Withdraws an offer. Throws conflict if there is none. */
export async function withdrawOffer(deps: Core, payment_id: string, actor: Actor): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'application.hand_over')
    const withdrawn = await tx
      .deleteFrom('payment_app_offers')
      .where('app_id', '=', id)
      .returning('to_user_id')
      .executeTakeFirst()
    if (withdrawn === undefined) throw new AppError('conflict', 'There is no open offer')
    await audit(tx, 'payment_app.withdraw_offer', payment_id, { to: String(withdrawn.to_user_id) }, actor)
  })
}

/**
 * Makes the member the owner of an application and of its test application, and ends its link. Throws not_found without a
 * current offer, and forbidden below the trust level that applying needs. Throws conflict while the application is
 * suspended, or if it is pending and the member has PENDING_APPS_MAX pending ones. A refusal changes nothing.
 */
export async function acceptOffer(deps: Core, payment_id: string, actor: Actor): Promise<void> {
  const now = deps.clock()
  const { payment_apps_min_trust_level } = await deps.settings.read()
  await deps.db.transaction().execute(async (tx) => {
    // Locks the member before the application. The offer is read in a later statement, which sees commits from the wait.
    await lockUser(tx, actor.user_id)
    await tx
      .selectFrom('payment_apps')
      .where('payment_id', '=', payment_id)
      .select('id')
      .forNoKeyUpdate()
      .execute()
    const offer = await offersTo(tx, actor.user_id, now)
      .where('app.payment_id', '=', payment_id)
      .select(['app.id', 'offer.from_user_id', 'recipient.trust_level'])
      // Counts as suspended while the owner is banned, or an offer would evade the ban.
      .select(
        sql<PaymentAppStatus>`app_status(app.status, owner.is_banned, owner.suspended_till, ${now})`.as(
          'status',
        ),
      )
      .executeTakeFirst()
    if (offer === undefined) throw notOffered()
    if (offer.status === 'suspended') throw suspended()
    if (offer.trust_level < payment_apps_min_trust_level)
      throw new AppError(
        'forbidden',
        `Owning a payment application needs trust level ${payment_apps_min_trust_level}`,
      )
    if (offer.status === 'pending') await refuseLongQueue(tx, actor.user_id)
    const signIn = await linkedSignInApp(tx, offer.id)
    await sql`select hand_over_application(${offer.id}, ${actor.user_id}, ${now})`.execute(tx)
    const alert = { app_id: offer.id, cause: now.toISOString() }
    await raiseAlert(tx, deps, { ...alert, kind: 'received', to: { user_id: actor.user_id } })
    await raiseAlert(tx, deps, { ...alert, kind: 'given_away', to: { user_id: offer.from_user_id } })
    const detail = { from: String(offer.from_user_id), to: String(actor.user_id) }
    const moved = await tx
      .selectFrom('payment_apps')
      .where((eb) => eb.or([eb('id', '=', offer.id), eb('live_app_id', '=', offer.id)]))
      .orderBy('id')
      .select('payment_id')
      .execute()
    const by = { actor_id: actor.user_id, ip: actor.ip }
    if (signIn !== undefined) await recordLink(tx, 'unlinked', { client_id: signIn.id, payment_id }, by)
    for (const app of moved) await audit(tx, 'payment_app.hand_over', app.payment_id, detail, actor)
  })
}

/** Declines an offer. Throws not_found if the member has none. */
export async function declineOffer(deps: Core, payment_id: string, actor: Actor): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const declined = await tx
      .deleteFrom('payment_app_offers as offer')
      .using('payment_apps as app')
      .whereRef('app.id', '=', 'offer.app_id')
      .where('app.payment_id', '=', payment_id)
      .where('offer.to_user_id', '=', actor.user_id)
      .returning('offer.from_user_id')
      .executeTakeFirst()
    if (declined === undefined) throw notOffered()
    await audit(tx, 'payment_app.decline_offer', payment_id, { from: String(declined.from_user_id) }, actor)
  })
}

/**
 * The application offered to the member, or the owner's own one with its offer, and how many unsold codes of its links go with it.
 * Throws what getPermitted throws.
 */
export async function getHandover(deps: Core, payment_id: string, user_id: bigint) {
  const offered = await offersTo(deps.db, user_id, deps.clock())
    .where('app.payment_id', '=', payment_id)
    .select(['app.payment_id', 'app.name', 'app.status', 'owner.username as owner_username'])
    .select(['offer.expires_at', 'recipient.username as to_username'])
    .executeTakeFirst()
  if (offered !== undefined) {
    const unsoldCodes = await countUnsoldCodes(deps.db, payment_id)
    return { isMine: false as const, app: offered, offer: offered, unsoldCodes }
  }
  const app = await getPermitted(deps.db, payment_id, user_id, 'application.hand_over')
  const offer = await deps.db
    .selectFrom('payment_app_offers as offer')
    .innerJoin('users as recipient', 'recipient.id', 'offer.to_user_id')
    .where('offer.app_id', '=', app.id)
    .where('offer.expires_at', '>', deps.clock())
    .select(['offer.expires_at', 'recipient.username as to_username'])
    .executeTakeFirst()
  return { isMine: true as const, app, offer, unsoldCodes: await countUnsoldCodes(deps.db, payment_id) }
}

/** Counts the codes for sale at the links of an application. Those that were taken back are with the owner who took them. */
async function countUnsoldCodes(db: Db, payment_id: string): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from link_codes as code join links as link on link.id = code.link_id
    where link.app_id = (select id from payment_apps where payment_id = ${payment_id})
      and code.order_id is null and code.withdrawn_at is null`.execute(db)
  return rows[0]!.count
}

/** The current offers to a member, the newest first. */
export async function offersOf(db: Db, user_id: bigint, now: Date) {
  return offersTo(db, user_id, now)
    .orderBy('offer.offered_at', 'desc')
    .select(['app.payment_id', 'app.name', 'owner.username as owner_username', 'offer.expires_at'])
    .execute()
}

function offersTo(db: Db, user_id: bigint, now: Date) {
  return db
    .selectFrom('payment_app_offers as offer')
    .innerJoin('payment_apps as app', 'app.id', 'offer.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .innerJoin('users as recipient', 'recipient.id', 'offer.to_user_id')
    .where('offer.to_user_id', '=', user_id)
    .where('offer.expires_at', '>', now)
}

const notOffered = () => new AppError('not_found', 'There is no such offer')
const suspended = () => new AppError('conflict', 'A suspended application cannot change hands')
