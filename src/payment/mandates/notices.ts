/**
 * Tells members of their live mandates, by alert and mail: spec/mandates 3.3. The unique cause of an alert keeps it to one,
 * however many processes look. The test book sends no notices, because its points are worth nothing.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { MandateAlertKind } from '../../database/tables/notifications.ts'
import { plainText } from '../../web/parameters.ts'
import { raiseAlert } from '../alerts/alerts.ts'

const CHARGES_MAX = 100
const DUE_MAX = 500
/** How long after an act the round still looks for members who were not told. */
const LOOKED_BACK_DAYS = 2
/** Days before the end of a fixed mandate, and before its next month or week. */
const ENDING_DAYS = 14
const RENEWAL_DAYS = { month: 3, week: 1 }

type Told = { mandate_id: string; app_id: bigint; user_id: bigint; purpose: string }

/** Tells of all that is due. Several processes may run it at once. */
export async function tellOfMandates(deps: Core): Promise<void> {
  await tellOfCharges(deps)
  await tellOfRefusals(deps)
  await tellOfEnds(deps)
  await tellOfOwners(deps)
  await tellAhead(deps)
}

/** Tells within the transaction of the cause. */
export async function tell(
  tx: Tx,
  deps: Core,
  { mandate_id, app_id, user_id, purpose }: Told,
  { kind, cause, facts }: { kind: MandateAlertKind; cause: string; facts: Record<string, string> },
): Promise<void> {
  await raiseAlert(tx, deps, {
    app_id,
    kind,
    cause: `${mandate_id}:${cause}`,
    facts: { ...facts, mandate: mandate_id, purpose: plainText(purpose) },
    to: { user_id },
  })
}

type Due = Told & { cause: string; facts: Record<string, string> }

/** Tells of each row, in a transaction of its own. */
async function tellEach(deps: Core, kind: MandateAlertKind, rows: Due[]): Promise<void> {
  for (const { cause, facts, ...told } of rows)
    await deps.db.transaction().execute((tx) => tell(tx, deps, told, { kind, cause, facts }))
}

type Charged = Told & {
  is_live: boolean
  is_digest: boolean
  transaction_id: string
  amount: bigint
  paid_at: Date
  /** Of the wallet just after the charge. */
  balance: bigint
  /** The first day of the next period, of a fixed mandate that goes on. */
  next: string | null
  day: string
  day_count: number
  day_points: bigint
}

/** Tells of charges, each or by the day as the member wishes. A notice is deleted with its delivery. */
async function tellOfCharges(deps: Core): Promise<void> {
  const now = deps.clock()
  const tellSome = async (tx: Tx) => {
    const { rows } = await sql<Charged>`
      with due as (
        delete from charge_notices where order_id in (
          select order_id from charge_notices where due_at <= ${now} order by due_at
          limit ${CHARGES_MAX} for update skip locked
        ) returning order_id, due_at
      )
      select m.mandate_id, m.app_id, m.user_id, m.purpose, m.book = 'live' as is_live,
        due.due_at > o.paid_at as is_digest, o.transaction_id, o.amount, o.paid_at, day.day::text, sums.day_count, sums.day_points,
        wallet.balance - coalesce((
          select sum(amount) from entries where account_id = wallet.id
            and id > (select max(id) from entries where journal_id = o.journal_id)
        ), 0)::bigint as balance,
        case when m.kind = 'fixed' and next.day <= m.ends_on then next.day::text end as next
      from due
      join orders as o on o.id = due.order_id
      join mandates as m on m.id = o.mandate_id
      join ledger_accounts as wallet on wallet.user_id = m.user_id and wallet.book = m.book and wallet.kind = 'wallet'
      cross join lateral (select mandate_day(o.paid_at, 0) as day) as day
      cross join lateral (select next_mandate_period(m.starts_on, m.period, o.mandate_period) as day) as next
      cross join lateral (
        select count(*)::integer as day_count, sum(amount)::bigint as day_points from orders as other
        where due.due_at > o.paid_at and other.mandate_id = m.id and mandate_day(other.paid_at, 0) = day.day
      ) as sums`.execute(tx)
    for (const row of rows.filter(({ is_live }) => is_live)) {
      const { transaction_id, amount, paid_at, balance, next, day, day_count, day_points } = row
      await tell(
        tx,
        deps,
        row,
        row.is_digest
          ? {
              kind: 'mandate_digest',
              cause: day,
              facts: { day, count: String(day_count), points: String(day_points) },
            }
          : {
              kind: 'mandate_charged',
              cause: transaction_id,
              facts: {
                ...{ points: String(amount), transaction: transaction_id, at: paid_at.toISOString() },
                ...{ balance: String(balance), ...(next !== null && { next }) },
              },
            },
      )
    }
    return rows.length
  }
  while ((await deps.db.transaction().execute(tellSome)) === CHARGES_MAX);
}

/** No alert of this kind with this cause. */
const untold = (kind: MandateAlertKind, cause: ReturnType<typeof sql>) => sql`not exists (
  select from alerts where alerts.user_id = m.user_id and alerts.app_id = m.app_id and alerts.kind = ${kind}
    and alerts.cause = m.mandate_id || ':' || ${cause}
)`
const told = sql`m.mandate_id, m.app_id, m.user_id, m.purpose`

/** Tells of the first refusal of its kind in a period. */
async function tellOfRefusals(deps: Core): Promise<void> {
  const { rows } = await sql<Due>`
    select ${told}, r.period || ':' || r.outcome as cause,
      jsonb_build_object('points', r.last_amount::text, 'outcome', r.outcome) as facts
    from mandate_refusals as r join mandates as m on m.id = r.mandate_id
    where r.last_at > ${since(deps)} and r.outcome <> 'inactive' and m.book = 'live'
      and ${untold('mandate_refused', sql`r.period || ':' || r.outcome`)}
    limit ${DUE_MAX}`.execute(deps.db)
  await tellEach(deps, 'mandate_refused', rows)
}

/** Tells of mandates that others or the clock have ended, with the reason that they gave. */
async function tellOfEnds(deps: Core): Promise<void> {
  const { rows } = await sql<Due>`
    select ${told}, 'ended' as cause, jsonb_build_object('reason', m.ended_reason, 'note', coalesce((
      select detail->>'text' from audit_log
      where subject = m.mandate_id and action = 'mandate.end' order by id desc limit 1
    ), '')) as facts
    from mandates as m
    where m.status = 'ended' and m.accepted_at is not null and m.ended_at > ${since(deps)}
      and m.ended_reason in ('merchant', 'staff', 'finished', 'account_closed') and m.book = 'live'
      and ${untold('mandate_ended', sql`'ended'`)}
    limit ${DUE_MAX}`.execute(deps.db)
  await tellEach(deps, 'mandate_ended', rows)
}

/** Tells of applications that have changed hands. Their mandates wait until each member resumes. */
async function tellOfOwners(deps: Core): Promise<void> {
  const { rows } = await sql<Due>`
    select ${told}, app.applicant_id::text as cause, jsonb_build_object('owner', owner.username) as facts
    from mandates as m
    join payment_apps as app on app.id = m.app_id
    join users as owner on owner.id = app.applicant_id
    where m.status in ('active', 'paused') and m.payee_id <> app.applicant_id and m.book = 'live'
      and ${untold('mandate_owner', sql`app.applicant_id::text`)}
    limit ${DUE_MAX}`.execute(deps.db)
  await tellEach(deps, 'mandate_owner', rows)
}

/** Tells of the next period of fixed mandates, and of their end, some days ahead. */
async function tellAhead(deps: Core): Promise<void> {
  const today = sql`mandate_day(${deps.clock()}::timestamptz, 0)`
  const inForce = sql`m.kind = 'fixed' and m.status = 'active' and m.book = 'live'
    and m.payee_id = (select applicant_id from payment_apps where id = m.app_id)`
  const { rows: renewals } = await sql<Due>`
    select ${told}, next.day::text as cause,
      jsonb_build_object('points', m.charge_max::text, 'day', next.day::text) as facts
    from mandates as m
    cross join lateral (
      select case when ${today} < m.starts_on then m.starts_on
        else next_mandate_period(m.starts_on, m.period, mandate_period(m.starts_on, m.period, ${today})) end as day
    ) as next
    where ${inForce} and next.day <= m.ends_on and next.day > ${today}
      and next.day - ${today} <= case m.period
        when 'month' then ${RENEWAL_DAYS.month}::integer when 'week' then ${RENEWAL_DAYS.week} else 0
      end
      and ${untold('mandate_renews', sql`next.day::text`)}
    limit ${DUE_MAX}`.execute(deps.db)
  await tellEach(deps, 'mandate_renews', renewals)
  const { rows: endings } = await sql<Due>`
    select ${told}, m.ends_on::text as cause,
      jsonb_strip_nulls(jsonb_build_object('until', m.ends_on::text, 'offered', m.asked_ends_on::text)) as facts
    from mandates as m
    where ${inForce} and m.ends_on - ${today} between 0 and ${ENDING_DAYS}
      -- A member who agreed within these days knows the last day.
      and m.ends_on - m.agreed_on > ${ENDING_DAYS}
      and ${untold('mandate_ending', sql`m.ends_on::text`)}
    limit ${DUE_MAX}`.execute(deps.db)
  await tellEach(deps, 'mandate_ending', endings)
}

const since = ({ clock }: Core) => new Date(clock().getTime() - LOOKED_BACK_DAYS * 86_400_000)
