/**
 * What a member may agree to: spec/mandates 2.2. Whatever lets more be charged is agreeing: accepting,
 * resuming, a higher cap, a later last day. Everything else reduces, and needs none of this.
 */
import { sql } from 'kysely'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { MandateKind } from '../../database/tables/mandates.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import type { MandateReason, MandateStatus } from './mandates.ts'
import type { Period } from './periods.ts'

/** How many mandates of one application a member may have at once. */
export const MANDATES_MAX = 10

/** Why a member cannot agree, in the order of the checks. `limit` is the points that would be possible. */
export type AgreeingFault =
  | { fault: 'off' | 'payments_paused' | 'app_unusable' | 'no_right' | 'app_changed' }
  /** `taken`: another member accepted it. `accepted`: this member did. */
  | { fault: 'not_found' | 'taken' | 'accepted' | 'lapsed' | 'ended' }
  /** The offer is for another member. */
  | { fault: 'other_member' }
  | { fault: 'wallet_frozen' }
  /** The posted terms are not what was offered, or less. */
  | { fault: 'terms' }
  /** The form is older than the last change. */
  | { fault: 'out_of_date' }
  | { fault: 'charge_max' | 'month_max'; limit: bigint }
  | { fault: 'too_many' }
  /** The mandate to replace has ended, or is another member's. */
  | { fault: 'replaced_gone' }
  | { fault: 'not_fresh' }

/** Everything that the checks read, as it is for one member. Points are whole, days are `YYYY-MM-DD`. */
export type MandateState = {
  id: bigint
  mandate_id: string
  app_id: bigint
  book: Book
  kind: MandateKind
  purpose: string
  period: Period
  stored: 'offered' | 'active' | 'paused' | 'ended'
  status: MandateStatus
  reason: MandateReason | null
  asked_charge_max: bigint
  asked_period_max: bigint
  asked_starts_on: string | null
  asked_ends_on: string | null
  charge_max: bigint
  period_max: bigint
  starts_on: string | null
  ends_on: string | null
  only_user_id: bigint | null
  user_id: bigint | null
  payee_id: bigint | null
  version: number
  /** The day of the mandate, which in the test book may be ahead of the calendar. */
  today: string
  owner_id: bigint
  app_status: PaymentAppStatus
  has_right: boolean
  is_changed: boolean
  level: number
  is_frozen: boolean
  /** What the member's other mandates may take in a month, and how many of them are of this application. */
  others_month: bigint
  others_here: number
  replaces: bigint | null
  /** Whether the mandate to replace still binds this member to this application. */
  can_replace: boolean
}

/** Points of a month, at most, for each point of a period. */
const MONTH = { day: 31n, week: 5n, month: 1n } satisfies Record<Period, bigint>

/** Reads what the checks need. The mandate that it replaces does not count among the others. Undefined: no such mandate. */
export async function readMandateState(
  db: Db,
  mandate_id: string,
  user_id: bigint,
  now: Date,
): Promise<MandateState | undefined> {
  const { rows } = await sql<MandateState>`
    select m.id, m.mandate_id, m.app_id, m.book, m.kind, m.purpose, m.period, m.status as stored,
      state.words[1] as status, state.words[2] as reason,
      m.asked_charge_max, m.asked_period_max, m.asked_starts_on, m.asked_ends_on,
      m.charge_max, m.period_max, m.starts_on, m.ends_on, m.only_user_id, m.user_id, m.payee_id, m.version,
      mandate_day(${now}::timestamptz, m.test_days) as today,
      app.applicant_id as owner_id,
      app_status(app.status, owner.is_banned, owner.suspended_till, ${now}::timestamptz) as app_status,
      m.book = 'test' or app.mandate_right = 'granted' as has_right,
      m.book = 'live' and app.unreviewed_change_at is not null as is_changed,
      member.trust_level as level,
      is_banned_or_suspended(member.is_banned, member.suspended_till, ${now}::timestamptz)
        or exists (
          select from ledger_accounts as wallet
          where wallet.user_id = member.id and wallet.book = m.book and wallet.kind = 'wallet'
            and wallet.frozen_at is not null
        ) as is_frozen,
      others.month as others_month, others.here as others_here, m.replaces,
      coalesce(
        replaced.user_id = member.id
          and mandate_status(replaced, app.applicant_id, ${now}::timestamptz) && array['active', 'paused'],
        false
      ) as can_replace
    from mandates as m
    join payment_apps as app on app.id = m.app_id
    join users as owner on owner.id = app.applicant_id
    join users as member on member.id = ${user_id}
    left join mandates as replaced on replaced.id = m.replaces
    cross join lateral (select mandate_status(m, app.applicant_id, ${now}::timestamptz) as words) as state
    cross join lateral (
      select count(*) filter (where other.app_id = m.app_id)::integer as here,
        coalesce(sum(other.period_max * case other.period
          when 'day' then ${MONTH.day}::numeric when 'week' then ${MONTH.week} else ${MONTH.month}
        end) filter (where other.book = 'live'), 0)::bigint as month
      from mandates as other
      where other.user_id = member.id and other.status in ('active', 'paused')
        and other.ends_on >= mandate_day(${now}::timestamptz, other.test_days)
        and other.id <> m.id and other.id is distinct from m.replaces
    ) as others
    where m.mandate_id = ${mandate_id}`.execute(db)
  return rows[0]
}

/** Locks the member, the application and the mandates, in this order, until the transaction ends. */
export async function lockToAgree(tx: Tx, mandate_id: string, user_id: bigint): Promise<void> {
  await tx.selectFrom('users').where('id', '=', user_id).select('id').forNoKeyUpdate().execute()
  // A hand-over and the end of the right lock the application. Other members may agree at the same time.
  await sql`
    select from payment_apps where id = (select app_id from mandates where mandate_id = ${mandate_id}) for share
  `.execute(tx)
  await sql`
    select from mandates
    where id in (
      select unnest(array[m.id, m.replaces]) from mandates as m where m.mandate_id = ${mandate_id}
    )
    order by id for no key update`.execute(tx)
}

/** The terms after the act. */
export type Agreed = { charge_max: bigint; period_max: bigint; isFresh: boolean }

/**
 * Why the member cannot agree to anything of this application now. Undefined if nothing prevents it.
 * @param isNewOwner whether the member agrees to the owner, too: then a change of the application is reviewed first.
 */
export function faultOfApplication(
  settings: SettingValues,
  { app_status, has_right, is_changed }: MandateState,
  isNewOwner: boolean,
): AgreeingFault | undefined {
  if (settings.mandates !== 'on') return { fault: 'off' }
  if (settings.payments_read_only === 'on') return { fault: 'payments_paused' }
  if (app_status !== 'approved') return { fault: 'app_unusable' }
  if (!has_right) return { fault: 'no_right' }
  if (isNewOwner && is_changed) return { fault: 'app_changed' }
  return undefined
}

/** Why the member cannot agree to these caps. Undefined if nothing prevents it. The test book has no limits. */
export function faultOfCaps(
  settings: SettingValues,
  { book, period, level, others_month }: MandateState,
  { charge_max, period_max }: Agreed,
): AgreeingFault | undefined {
  if (book === 'test') return undefined
  const largest = BigInt(settings[`mandate_charge_max_tl${asLevel(level)}`])
  if (charge_max > largest) return { fault: 'charge_max', limit: largest }
  const left = BigInt(settings[`mandate_month_max_tl${asLevel(level)}`]) - others_month
  if (period_max * MONTH[period] > left)
    return { fault: 'month_max', limit: left > 0n ? left / MONTH[period] : 0n }
  return undefined
}

/** Points that all mandates of the member could take in a month with these caps, and how many the member may permit. */
export function monthOf(
  settings: SettingValues,
  { period, level, others_month }: MandateState,
  period_max: bigint,
): { all: bigint; allowed: bigint } {
  const allowed = BigInt(settings[`mandate_month_max_tl${asLevel(level)}`])
  return { all: others_month + period_max * MONTH[period], allowed }
}

/** Whether agreeing to these caps needs a recent sign-in that the member does not have: spec/mandates 2.2. */
export function isNotFresh(
  { mandates_fresh_sign_in_above: above }: SettingValues,
  { book }: MandateState,
  { period_max, isFresh }: Agreed,
): boolean {
  return !isFresh && needsFreshSignIn(above, book, period_max)
}

/**
 * Whether agreeing to this cap of a period needs a recent sign-in.
 * @param above the setting mandates_fresh_sign_in_above: 0 is always, empty is never.
 */
export function needsFreshSignIn(above: string, book: Book, period_max: bigint): boolean {
  return book === 'live' && above !== '' && period_max > BigInt(above)
}

function asLevel(level: number): 0 | 1 | 2 | 3 | 4 {
  return level as 0 | 1 | 2 | 3 | 4
}
