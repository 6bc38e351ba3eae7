// This room: charges that a member has permitted in advance, within limits.
// Verbs: offerMandate, acceptMandate, makeChargeMandate, revokeOwn, changeOwn, finishMandates.
// Tables: mandates, mandate_refusals, charge_notices.
// Clauses: spec/mandates 1.1–1.3, 2.1–2.4, 3.1–3.3.
/**
 * What a member does with an accepted mandate, how a merchant or the staff ends one, and how its last day
 * does: spec/mandates 1.2.
 */

import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { MandateNotice } from '../../database/tables/mandates.ts'
import { AppError } from '../../platform/errors.ts'
import { type Actor, lockPermitted } from '../rights/rights.ts'
import {
  type AgreeingFault,
  faultOfApplication,
  faultOfCaps,
  isNotFresh,
  lockToAgree,
  type MandateState,
  readMandateState,
} from './agreeing.ts'
import { findMandate, type Mandate } from './mandates.ts'
import { tell } from './notices.ts'
import { latestLastDay } from './offers.ts'
import { nextPeriod, periodOf } from './periods.ts'
import { endMandates, lockMandate, noteAct, termsBefore, writeEvent } from './record.ts'
import { mandateNotFound } from './refusals.ts'

/**
 * Revokes a mandate by its merchant's program, an offer too. Returns it as it is then; one that has ended stays as it is.
 * Throws mandate_not_found.
 * @param reason the member reads it.
 */
export async function revokeByProgram(
  { db, clock }: Core,
  { app_id, mandate_id, reason, ip }: { app_id: bigint; mandate_id: string; reason: string; ip: string },
): Promise<Mandate> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    await lockMandate(tx, mandate_id)
    const mandate = await findMandate(tx, { mandate_id, app_id }, now)
    if (mandate === undefined) throw mandateNotFound()
    const detail = { by: 'merchant', from: 'program', text: reason }
    return endAs(tx, mandate, { reason: 'merchant', now, actor_id: null, ip, detail })
  })
}

/** Revokes a mandate on its application's page. Throws what lockPermitted throws, and not_found. */
export async function revokeByTeam(
  { db, clock }: Core,
  payment_id: string,
  { mandate_id, reason }: { mandate_id: string; reason: string },
  actor: Actor,
): Promise<Mandate> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    const { id: app_id } = await lockPermitted(tx, payment_id, actor, 'mandates.revoke')
    await lockMandate(tx, mandate_id)
    const mandate = await findMandate(tx, { mandate_id, app_id }, now)
    if (mandate === undefined) throw noMandate()
    const detail = { by: 'merchant', from: 'page', text: reason }
    return endAs(tx, mandate, { reason: 'merchant', now, actor_id: actor.user_id, ip: actor.ip, detail })
  })
}

/** Ends an accepted mandate by an administrator, or by the operator without an id. Throws not_found, and conflict for an offer. */
export async function revokeByStaff(
  { db, clock }: Core,
  { mandate_id, reason }: { mandate_id: string; reason: string },
  { actor_id, ip }: { actor_id: bigint | null; ip: string | null },
): Promise<Mandate> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    await lockMandate(tx, mandate_id)
    const mandate = await findMandate(tx, { mandate_id }, now)
    if (mandate === undefined) throw noMandate()
    if (mandate.accepted_at === null) throw new AppError('conflict', 'No member has accepted this mandate')
    return endAs(tx, mandate, { reason: 'staff', now, actor_id, ip, detail: { by: 'staff', text: reason } })
  })
}

/** Revokes a member's own mandate. It works always, and again without an effect. Throws not_found. */
export async function revokeOwn({ db, clock }: Core, mandate_id: string, member: Actor): Promise<Mandate> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    const mandate = await lockOwn(tx, mandate_id, member, now)
    const { user_id: actor_id, ip } = member
    return endAs(tx, mandate, { reason: 'member', now, actor_id, ip, detail: { by: 'member' } })
  })
}

/** Pauses a member's own mandate. It works always, and again without an effect. Throws not_found. */
export async function pauseOwn({ db, clock }: Core, mandate_id: string, member: Actor): Promise<Mandate> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    const mandate = await lockOwn(tx, mandate_id, member, now)
    if (mandate.status === 'ended' || mandate.reason === 'member') return mandate
    const before = await termsBefore(tx, mandate.id)
    await change(tx, mandate, { status: 'paused' }, now)
    const { user_id: actor_id, ip } = member
    await noteAct(tx, mandate.id, { action: 'mandate.pause', before, actor_id, ip, detail: { by: 'member' } })
    await writeEvent(tx, mandate.id, 'mandate.changed')
    return (await findMandate(tx, { mandate_id }, now))!
  })
}

/** An act of a member on a page that showed a version of the mandate. */
export type OwnAct = Actor & {
  version: number
  /** Whether the member has signed in recently: the rule isFresh of sessions. */
  isFresh: boolean
}

/**
 * Resumes a mandate that its member has paused, or whose application has a new owner, and agrees to the present owner.
 * Returns why that is impossible; nothing has changed then. Undefined once it is resumed.
 */
export async function resumeOwn(
  deps: Core,
  mandate_id: string,
  act: OwnAct,
): Promise<AgreeingFault | undefined> {
  const settings = await deps.settings.read()
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const state = await lockMandateState(tx, mandate_id, act, now)
    if ('fault' in state) return state
    const { id, owner_id, today, charge_max, period_max } = state
    if (state.status !== 'paused') return { fault: 'out_of_date' }
    const agreed = { charge_max, period_max, isFresh: act.isFresh }
    const fault =
      faultOfApplication(settings, state, state.payee_id !== owner_id) ??
      (state.is_frozen ? { fault: 'wallet_frozen' as const } : undefined) ??
      faultOfCaps(settings, state, agreed)
    if (fault !== undefined) return fault
    if (isNotFresh(settings, state, agreed)) return { fault: 'not_fresh' }
    const before = await termsBefore(tx, id)
    await change(tx, state, { status: 'active', payee_id: owner_id, agreed_on: today }, now)
    const { user_id: actor_id, ip } = act
    await noteAct(tx, id, { action: 'mandate.resume', before, actor_id, ip, detail: { by: 'member' } })
    await writeEvent(tx, id, 'mandate.changed')
    await tellOfMore(tx, deps, state, { user_id: act.user_id, until: state.ends_on! })
    return undefined
  })
}

/** New terms. Missing ones stay. Points are whole, the last day is `YYYY-MM-DD`. */
export type NewTerms = {
  charge_max?: bigint | undefined
  period_max?: bigint | undefined
  ends_on?: string | undefined
}

/**
 * Sets the caps of an up-to mandate and the last day of any, to at most what was offered. Where the offer names no last day, it is
 * at most today + 366. More than before is agreeing. Returns why that is impossible; nothing has changed then. Undefined once it
 * is done.
 */
export async function changeOwn(
  deps: Core,
  mandate_id: string,
  terms: NewTerms,
  act: OwnAct,
): Promise<AgreeingFault | undefined> {
  const settings = await deps.settings.read()
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const state = await lockMandateState(tx, mandate_id, act, now)
    if ('fault' in state) return state
    const { charge_max = state.charge_max, period_max = state.period_max, ends_on = state.ends_on! } = terms
    const isMore = charge_max > state.charge_max || period_max > state.period_max || ends_on > state.ends_on!
    if (isMore) {
      const fault = faultOfApplication(settings, state, false)
      if (fault !== undefined) return fault
      if (state.is_frozen) return { fault: 'wallet_frozen' }
    }
    if (!isAllowed(state, { charge_max, period_max, ends_on })) return { fault: 'terms' }
    if (isMore) {
      const agreed = { charge_max, period_max, isFresh: act.isFresh }
      const fault = faultOfCaps(settings, state, agreed)
      if (fault !== undefined) return fault
      if (isNotFresh(settings, state, agreed)) return { fault: 'not_fresh' }
    }
    const before = await termsBefore(tx, state.id)
    const agreed_on = isMore ? { agreed_on: state.today } : {}
    await change(tx, state, { charge_max, period_max, ends_on, ...agreed_on }, now)
    const { user_id: actor_id, ip } = act
    await noteAct(tx, state.id, {
      action: 'mandate.change',
      before,
      actor_id,
      ip,
      detail: { by: 'member' },
    })
    await writeEvent(tx, state.id, 'mandate.changed')
    if (isMore) await tellOfMore(tx, deps, state, { user_id: act.user_id, until: ends_on })
    return undefined
  })
}

/** Tells the member that more may be charged now than before. The version tells one act from the next. */
async function tellOfMore(
  tx: Tx,
  deps: Core,
  state: MandateState,
  { user_id, until }: { user_id: bigint; until: string },
): Promise<void> {
  if (state.book === 'test') return
  const cause = String(state.version)
  await tell(tx, deps, { ...state, user_id }, { kind: 'mandate_more', cause, facts: { until } })
}

/** Whether the member may set these terms. An unchanged last day may be later than that which the member could set now. */
function isAllowed(
  { kind, asked_charge_max, asked_period_max, asked_ends_on, starts_on, today, ...now }: MandateState,
  { charge_max, period_max, ends_on }: Required<{ [Name in keyof NewTerms]: NonNullable<NewTerms[Name]> }>,
): boolean {
  const first = starts_on! > today ? starts_on! : today
  const isInTime =
    ends_on >= first && (ends_on === now.ends_on || ends_on <= latestLastDay(asked_ends_on, today))
  if (kind === 'fixed') return isInTime && charge_max === now.charge_max && period_max === now.period_max
  const isWithin = charge_max <= asked_charge_max && period_max <= asked_period_max
  return isInTime && isWithin && charge_max >= 1n && charge_max <= period_max
}

/** Sets whether the member hears of each charge or once a day. It works always. Throws not_found. */
export async function setNotice(
  { db, clock }: Core,
  mandate_id: string,
  notice: MandateNotice,
  member: Actor,
): Promise<void> {
  const now = clock()
  await db.transaction().execute(async (tx) => {
    const mandate = await lockOwn(tx, mandate_id, member, now)
    if (mandate.notice === notice || mandate.status === 'ended') return
    const before = await termsBefore(tx, mandate.id)
    await change(tx, mandate, { notice }, now)
    const { user_id: actor_id, ip } = member
    await noteAct(tx, mandate.id, {
      action: 'mandate.change',
      before,
      actor_id,
      ip,
      detail: { by: 'member' },
    })
  })
}

/** Moves a test mandate ahead to the first day of its next period. Throws not_found, and conflict when there is none. */
export async function beginNextPeriod({ db, clock }: Core, mandate_id: string, member: Actor): Promise<void> {
  const now = clock()
  await db.transaction().execute(async (tx) => {
    const { id, book, status } = await lockOwn(tx, mandate_id, member, now)
    const state = (await readMandateState(tx, mandate_id, member.user_id, now))!
    if (book !== 'test' || status === 'ended')
      throw new AppError('conflict', 'Only a test mandate can begin its next period')
    const { starts_on, period, today } = state
    const next =
      today < starts_on! ? starts_on! : nextPeriod(starts_on!, period, periodOf(starts_on!, period, today))
    if (next > state.ends_on!) throw new AppError('conflict', 'This mandate has no next period')
    const before = await termsBefore(tx, id)
    const days = Math.round((Date.parse(next) - Date.parse(today)) / DAY_MS)
    await tx
      .updateTable('mandates')
      .set((eb) => ({
        test_days: eb('test_days', '+', days),
        version: eb('version', '+', 1),
        updated_at: now,
      }))
      .where('id', '=', id)
      .execute()
    const { user_id: actor_id, ip } = member
    await noteAct(tx, id, {
      action: 'mandate.next_period',
      before,
      actor_id,
      ip,
      detail: { by: 'member', next },
    })
  })
}

const DAY_MS = 86_400_000

/** Locks a member's own mandate. An offer is nobody's. Throws not_found. */
async function lockOwn(tx: Tx, mandate_id: string, { user_id }: Actor, now: Date): Promise<Mandate> {
  await lockMandate(tx, mandate_id)
  const mandate = await findMandate(tx, { mandate_id }, now)
  if (mandate === undefined || mandate.user_id !== user_id) throw noMandate()
  return mandate
}

/** Locks what agreeing needs, and reads the member's own mandate in the version that the page showed. */
async function lockMandateState(
  tx: Tx,
  mandate_id: string,
  { user_id, version }: OwnAct,
  now: Date,
): Promise<AgreeingFault | MandateState> {
  await lockToAgree(tx, mandate_id, user_id)
  const state = await readMandateState(tx, mandate_id, user_id, now)
  if (state === undefined || state.user_id !== user_id) return { fault: 'not_found' }
  if (state.status === 'ended') return { fault: 'ended' }
  return state.version === version ? state : { fault: 'out_of_date' }
}

type Changed = {
  status?: 'active' | 'paused'
  payee_id?: bigint
  agreed_on?: string
  charge_max?: bigint
  period_max?: bigint
  ends_on?: string
  notice?: MandateNotice
}

async function change(
  tx: Tx,
  { id, version }: { id: bigint; version: number },
  changed: Changed,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('mandates')
    .set({ ...changed, version: version + 1, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Ends a mandate unless the clock or an act has ended it, and returns it as it is then. */
async function endAs(tx: Tx, mandate: Mandate, end: Parameters<typeof endMandates>[2]): Promise<Mandate> {
  if (mandate.status === 'ended') return mandate
  await endMandates(tx, [mandate.id], end)
  return (await findMandate(tx, { mandate_id: mandate.mandate_id }, end.now))!
}

const noMandate = () => new AppError('not_found', 'There is no such mandate')

const SWEEP_MAX = 500

/** Ends at most SWEEP_MAX mandates; several processes share the work. Returns the count. */
export async function finishMandates({
  db,
  databaseTime,
}: Pick<Core, 'db' | 'databaseTime'>): Promise<number> {
  const now = await databaseTime()
  const { rows } = await sql<{ count: number }>`
    select finish_mandates(${now}::timestamptz, ${SWEEP_MAX}::integer) as count`.execute(db)
  return rows[0]!.count
}
