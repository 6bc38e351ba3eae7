/** Accepting and declining an offer: spec/mandates 1.2. A member accepts what was offered, or less. */
import type { MandateTerms } from '../../accounts/sign-in/mandate-consent.ts'
import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Tx } from '../../database/connection.ts'
import {
  type AgreeingFault,
  faultOfApplication,
  faultOfCaps,
  isNotFresh,
  lockToAgree,
  MANDATES_MAX,
  type MandateState,
  readMandateState,
} from './agreeing.ts'
import { firstChargeOf } from './mandates.ts'
import { tell } from './notices.ts'
import { lastDayOfYear } from './periods.ts'
import { endMandates, lockMandate, noteAct, termsBefore, writeEvent } from './record.ts'

/** A member's answer to an offer. Missing terms are as offered. */
export type Acceptance = {
  user_id: bigint
  ip: string
  /** Whole points, of an up-to mandate. */
  charge_max?: bigint | undefined
  period_max?: bigint | undefined
  /** `YYYY-MM-DD`. */
  ends_on?: string | undefined
  /** Whether the member has signed in recently: the rule isFresh of sessions. */
  isFresh: boolean
  /** The sign-in application on whose consent page the member accepts. */
  oauth_app_id?: bigint
}

/** An offer as it is for one member, and why the member cannot accept these terms, or the terms in full. */
export type LookedAt = { state: MandateState | undefined; judged: AgreeingFault | MandateTerms }

/** What the page of an offer shows. */
export async function lookAtOffer(deps: Core, mandate_id: string, acceptance: Acceptance): Promise<LookedAt> {
  const [settings, state] = await Promise.all([
    deps.settings.read(),
    readMandateState(deps.db, mandate_id, acceptance.user_id, deps.clock()),
  ])
  return { state, judged: judge(settings, state, acceptance) }
}

/**
 * Accepts an offer, and ends the mandate that it replaces in the same transaction. Returns why it cannot be accepted;
 * nothing has changed then. Undefined once it is accepted.
 */
export async function acceptMandate(
  deps: Core,
  mandate_id: string,
  acceptance: Acceptance,
): Promise<AgreeingFault | undefined> {
  // Reads the settings first: a transaction that waits for a second connection would block others with its locks.
  const settings = await deps.settings.read()
  return deps.db
    .transaction()
    .execute((tx) => acceptWithin(tx, deps, { settings, now: deps.clock() }, mandate_id, acceptance))
}

/** Accepts within a larger transaction, which has not locked an application, a mandate or a wallet before. */
export async function acceptWithin(
  tx: Tx,
  deps: Core,
  { settings, now }: { settings: SettingValues; now: Date },
  mandate_id: string,
  acceptance: Acceptance,
): Promise<AgreeingFault | undefined> {
  const { user_id, ip, oauth_app_id = null } = acceptance
  await lockToAgree(tx, mandate_id, user_id)
  const state = await readMandateState(tx, mandate_id, user_id, now)
  const judged = judge(settings, state, acceptance)
  if ('fault' in judged) return judged
  const { id, owner_id, today, version, replaces, book } = state!
  const before = await termsBefore(tx, id)
  await tx
    .updateTable('mandates')
    .set({
      ...judged,
      status: 'active',
      user_id,
      payee_id: owner_id,
      oauth_app_id,
      accepted_at: now,
      agreed_on: today,
      version: version + 1,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute()
  const from = oauth_app_id === null ? 'page' : 'consent'
  await noteAct(tx, id, {
    action: 'mandate.accept',
    before,
    actor_id: user_id,
    ip,
    detail: { by: 'member', from },
  })
  await writeEvent(tx, id, 'mandate.created')
  if (replaces !== null) {
    const detail = { by: 'member', replaced_by: mandate_id }
    await endMandates(tx, [replaces], { reason: 'replaced', now, actor_id: user_id, ip, detail })
  }
  if (book === 'live') {
    const { points, from } = firstChargeOf(judged, today)
    const facts = {
      until: judged.ends_on,
      each: String(points),
      ...(from === undefined ? {} : { from }),
    }
    await tell(tx, deps, { ...state!, user_id }, { kind: 'mandate_accepted', cause: 'accepted', facts })
  }
  return undefined
}

/** The checks of spec/mandates 2.2, in their order. */
function judge(
  settings: SettingValues,
  state: MandateState | undefined,
  acceptance: Acceptance,
): AgreeingFault | MandateTerms {
  if (state === undefined) return { fault: 'not_found' }
  const fault = faultOfApplication(settings, state, true) ?? faultOfOffer(state, acceptance.user_id)
  if (fault !== undefined) return fault
  const terms = termsOf(state, acceptance)
  if (state.is_frozen) return { fault: 'wallet_frozen' }
  if (!isOfferedOrLess(state, terms)) return { fault: 'terms' }
  const agreed = { ...terms, isFresh: acceptance.isFresh }
  const refused = faultOfCaps(settings, state, agreed)
  if (refused !== undefined) return refused
  if (state.others_here >= MANDATES_MAX) return { fault: 'too_many' }
  if (state.replaces !== null && !state.can_replace) return { fault: 'replaced_gone' }
  if (isNotFresh(settings, state, agreed)) return { fault: 'not_fresh' }
  return terms
}

function faultOfOffer(
  { status, reason, user_id: accepted_by, only_user_id }: MandateState,
  user_id: bigint,
): AgreeingFault | undefined {
  if (status !== 'pending') {
    // A member who may not accept the mandate learns nothing of it.
    if (accepted_by !== null && accepted_by !== user_id) return { fault: 'taken' }
    if (status !== 'ended') return { fault: 'accepted' }
    return { fault: reason === 'lapsed' ? 'lapsed' : 'ended' }
  }
  return only_user_id === null || only_user_id === user_id ? undefined : { fault: 'other_member' }
}

function termsOf(state: MandateState, { charge_max, period_max, ends_on }: Acceptance): MandateTerms {
  const { today, asked_starts_on, asked_ends_on } = state
  const starts_on = asked_starts_on !== null && asked_starts_on > today ? asked_starts_on : today
  return {
    charge_max: charge_max ?? state.asked_charge_max,
    period_max: period_max ?? state.asked_period_max,
    starts_on,
    ends_on: ends_on ?? asked_ends_on ?? lastDayOfYear(starts_on),
  }
}

function isOfferedOrLess(
  { kind, asked_charge_max, asked_period_max, asked_ends_on }: MandateState,
  { charge_max, period_max, starts_on, ends_on }: MandateTerms,
): boolean {
  const latest = asked_ends_on ?? lastDayOfYear(starts_on)
  const isInTime = starts_on <= ends_on && ends_on <= latest
  if (kind === 'fixed') return isInTime && charge_max === asked_charge_max && period_max === asked_period_max
  const isWithin = charge_max <= asked_charge_max && period_max <= asked_period_max
  return isInTime && isWithin && charge_max >= 1n && charge_max <= period_max
}

/** Declines an offer. Returns why it cannot be declined. Undefined once it is. */
export async function declineMandate(
  { db, clock }: Core,
  mandate_id: string,
  { user_id, ip }: { user_id: bigint; ip: string },
): Promise<AgreeingFault | undefined> {
  return db.transaction().execute((tx) => declineWithin(tx, mandate_id, { user_id, ip, now: clock() }))
}

/** Declines within a larger transaction, as the answer "sign in only" does. */
export async function declineWithin(
  tx: Tx,
  mandate_id: string,
  { user_id, ip, now }: { user_id: bigint; ip: string; now: Date },
): Promise<AgreeingFault | undefined> {
  await lockMandate(tx, mandate_id)
  const state = await readMandateState(tx, mandate_id, user_id, now)
  if (state === undefined) return { fault: 'not_found' }
  const fault = faultOfOffer(state, user_id)
  if (fault !== undefined) return fault
  const detail = { by: 'member' }
  await endMandates(tx, [state.id], { reason: 'declined', now, actor_id: user_id, ip, detail })
  return undefined
}
