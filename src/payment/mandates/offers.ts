/** Offers of mandates by merchants: spec/mandates 2.1. A member accepts one, or it lapses. */
import type { Core } from '../../core/core.ts'
import { type Tx, violatedConstraint } from '../../database/connection.ts'
import type { Book } from '../../database/tables/columns.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { requireUnpaused } from '../orders/repeats.ts'
import { findMandate, type Mandate, publicIdOf } from './mandates.ts'
import { beginningOf, dayOf, daysAfter, type Period } from './periods.ts'
import { formerOwners, mandateInactive, mandateNotFound, mandatesUnavailable } from './refusals.ts'

const OFFER_MS = 24 * 3_600_000
/** How far ahead the first day may be, and the last day after the first. */
const AHEAD_DAYS_MAX = 90
const LAST_DAY_MAX = 366

/** The latest last day that a member may set `today`: that of the offer, or a year ahead. */
export function latestLastDay(asked_ends_on: string | null, today: string): string {
  const ahead = daysAfter(today, LAST_DAY_MAX)
  return asked_ends_on !== null && asked_ends_on < ahead ? asked_ends_on : ahead
}

/** The terms of an offer. Points are whole, days are `YYYY-MM-DD` in Asia/Shanghai. */
export type OfferedTerms = {
  reference: string
  purpose: string
  /** Exactly one amount once a period, or any amounts within both caps. */
  caps: { amount: bigint } | { charge_max: bigint; period_max: bigint }
  period: Period
  starts_on: string | undefined
  ends_on: string | undefined
  /** Only this member may accept. */
  user_id: bigint | undefined
  with_token: boolean
  /** The mandate_id of the mandate that the acceptance ends. */
  replaces: string | undefined
}

export type Offerer = {
  app_id: bigint
  book: Book
  /** Whether a former owner knows the request's key. It then offers nothing. */
  isFormerOwners: boolean
}

/**
 * Stores an offer, or returns the one with the same reference and terms. A lapsed one gets a new window. Terms never change.
 * Throws order_exists for a reference that was accepted or has ended, parameter_invalid for other terms and for days out of
 * range, mandate_not_found and mandate_inactive for `replaces`, and the refusals of a new offer: application_unusable,
 * mandates_unavailable and payments_paused.
 * @param requireAllowed throws further refusals of a new offer. A pending offer is returned anyway.
 */
export async function offerMandate(
  deps: Core,
  offerer: Offerer,
  terms: OfferedTerms,
  requireAllowed: () => Promise<void>,
): Promise<Mandate> {
  const settings = await deps.settings.read()
  const now = deps.clock()
  const refuse = async (tx: Tx) => {
    await requireAllowed()
    requireUnpaused(settings)
    if (offerer.isFormerOwners) throw formerOwners()
    if (settings.mandates !== 'on' || !(await mayOffer(tx, offerer))) throw mandatesUnavailable()
  }
  const store = () => deps.db.transaction().execute((tx) => storeOffer(tx, { offerer, terms, now, refuse }))
  const mandate_id = await store().catch((error: unknown) => {
    // An offer with the same reference came first. Now it is found.
    if (violatedConstraint(error) !== 'mandates_reference_key') throw error
    return store()
  })
  return (await findMandate(deps.db, { mandate_id }, now))!
}

/** Whether the application has the right to mandates and no change that waits for a review. Test applications need neither. */
async function mayOffer(tx: Tx, { app_id, book }: Offerer): Promise<boolean> {
  if (book === 'test') return true
  const app = await tx
    .selectFrom('payment_apps')
    .where('id', '=', app_id)
    .where('mandate_right', '=', 'granted')
    .where('unreviewed_change_at', 'is', null)
    .select('id')
    .executeTakeFirst()
  return app !== undefined
}

type Offer = { offerer: Offerer; terms: OfferedTerms; now: Date; refuse: (tx: Tx) => Promise<void> }

/** Returns the mandate_id. */
async function storeOffer(tx: Tx, { offerer, terms, now, refuse }: Offer): Promise<string> {
  const { app_id, book } = offerer
  const earlier = await tx
    .selectFrom('mandates')
    .where('app_id', '=', app_id)
    .where('reference', '=', terms.reference)
    .selectAll()
    .forNoKeyUpdate()
    .executeTakeFirst()
  const asked = askedOf(terms)
  if (earlier === undefined) {
    await refuse(tx)
    requireDays(terms, now)
    const replaces = await findReplaced(tx, app_id, terms, now)
    const { charge_max, period_max } = capsOf(terms)
    const { mandate_id } = await tx
      .insertInto('mandates')
      .values({
        ...asked,
        mandate_id: `mdt_${randomText(24, LOWER_ALNUM)}`,
        app_id,
        book,
        replaces,
        charge_max,
        period_max,
        offer_expires_at: endOfOffer(terms, now),
        notice: asked.kind === 'fixed' ? 'each' : 'daily',
        created_at: now,
        updated_at: now,
      })
      .returning('mandate_id')
      .executeTakeFirstOrThrow()
      .catch(explainUnknownMember)
    return mandate_id
  }

  const { mandate_id, status } = earlier
  if (status !== 'offered') {
    const mandate = (await findMandate(tx, { mandate_id }, now))!
    const data = { status: mandate.status, mandate_id }
    throw new AppError('order_exists', `Mandate already exists with status ${mandate.status}`, { data })
  }
  const replaced = (await publicIdOf(tx, earlier.replaces)) ?? undefined
  const isSame = Object.entries(asked).every(([name, value]) => earlier[name as keyof typeof asked] === value)
  if (!isSame || replaced !== terms.replaces)
    throw new AppError('parameter_invalid', 'Invalid reference: it was offered with other terms')
  if (earlier.offer_expires_at > now) return mandate_id
  await refuse(tx)
  requireLastDay(terms, now)
  await findReplaced(tx, app_id, terms, now)
  await tx
    .updateTable('mandates')
    .set({ offer_expires_at: endOfOffer(terms, now), updated_at: now })
    .where('id', '=', earlier.id)
    .execute()
  return mandate_id
}

function capsOf({ caps }: OfferedTerms): { charge_max: bigint; period_max: bigint } {
  return 'amount' in caps ? { charge_max: caps.amount, period_max: caps.amount } : caps
}

/** The columns that no act changes, except `replaces`. */
function askedOf(terms: OfferedTerms) {
  const { charge_max, period_max } = capsOf(terms)
  return {
    reference: terms.reference,
    purpose: terms.purpose,
    kind: 'amount' in terms.caps ? ('fixed' as const) : ('up_to' as const),
    period: terms.period,
    asked_charge_max: charge_max,
    asked_period_max: period_max,
    asked_starts_on: terms.starts_on ?? null,
    asked_ends_on: terms.ends_on ?? null,
    only_user_id: terms.user_id ?? null,
    with_token: terms.with_token,
  }
}

/** Nobody can accept an offer after its last day. */
function endOfOffer({ ends_on }: OfferedTerms, now: Date): Date {
  const end = new Date(now.getTime() + OFFER_MS)
  if (ends_on === undefined) return end
  const last = beginningOf(daysAfter(ends_on, 1))
  return last < end ? last : end
}

function requireDays(terms: OfferedTerms, now: Date): void {
  const { starts_on } = terms
  const today = dayOf(now)
  const latest = daysAfter(today, AHEAD_DAYS_MAX)
  if (starts_on !== undefined && (starts_on < today || starts_on > latest))
    throw new AppError('parameter_invalid', `Invalid starts_on: a day from ${today} to ${latest}`)
  requireLastDay(terms, now)
}

function requireLastDay({ starts_on, ends_on }: OfferedTerms, now: Date): void {
  const today = dayOf(now)
  const first = starts_on !== undefined && starts_on > today ? starts_on : today
  const latest = daysAfter(first, LAST_DAY_MAX)
  if (ends_on !== undefined && (ends_on < first || ends_on > latest))
    throw new AppError('parameter_invalid', `Invalid ends_on: a day from ${first} to ${latest}`)
}

/** The id of the mandate that the offer replaces. It must bind a member to this application. */
async function findReplaced(
  tx: Tx,
  app_id: bigint,
  { replaces, user_id }: OfferedTerms,
  now: Date,
): Promise<bigint | null> {
  if (replaces === undefined) return null
  const mandate = await findMandate(tx, { mandate_id: replaces, app_id }, now)
  if (mandate === undefined) throw mandateNotFound()
  if (mandate.status !== 'active' && mandate.status !== 'paused') throw mandateInactive(mandate)
  if (user_id !== undefined && user_id !== mandate.user_id)
    throw new AppError('parameter_invalid', 'Invalid user_id: another member accepted the mandate to replace')
  return mandate.id
}

function explainUnknownMember(error: unknown): never {
  if (violatedConstraint(error) !== 'mandates_only_user_id_fkey') throw error
  throw new AppError('parameter_invalid', 'Invalid user_id: there is no such member', { cause: error })
}
