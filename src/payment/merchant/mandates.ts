/** What the page of an application's mandates reads besides the list. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { MandateRight } from '../../database/tables/payment-apps.ts'

const EXPECTED_DAYS = 30
/** The mandates that the sum of expected points looks at, the newest first. */
const EXPECTED_MAX = 2_000

export type RightState = {
  mandate_right: MandateRight
  mandate_right_purpose: string | null
  mandate_right_reason: string | null
  mandate_daily_max: bigint | null
  oauth_client_id: string | null
}

/** The right of an application to mandates, and the linked sign-in application. */
export function rightOf(db: Db, app_id: bigint): Promise<RightState> {
  return db
    .selectFrom('payment_apps')
    .where('id', '=', app_id)
    .select(['mandate_right', 'mandate_right_purpose', 'mandate_right_reason'])
    .select(['mandate_daily_max', 'oauth_client_id'])
    .executeTakeFirstOrThrow()
}

/** The sign-in applications of an owner, of which one can be linked. */
export function signInAppsOf(db: Db, owner_id: bigint) {
  return db
    .selectFrom('oauth_apps')
    .where('owner_id', '=', owner_id)
    .orderBy('id')
    .limit(100)
    .select(['client_id', 'name'])
    .execute()
}

/** Points that fixed mandates may bring in the next 30 days: those of the running period if it is not charged, and of the next ones. */
export async function expectedPoints(db: Db, app_id: bigint, now: Date): Promise<bigint> {
  const { rows } = await sql<{ expected: bigint }>`
    select coalesce(sum(m.charge_max * (
      select count(*) from generate_series(
        greatest(m.starts_on, day.today), least(m.ends_on, day.today + ${EXPECTED_DAYS - 1}::integer), interval '1 day'
      ) as each (at)
      cross join lateral (select mandate_period(m.starts_on, m.period, each.at::date) as first) as period
      where (period.first = each.at::date or each.at::date = greatest(m.starts_on, day.today)) and not exists (
        select from orders as o where o.mandate_id = m.id and o.mandate_period = period.first
      )
    )), 0)::bigint as expected
    from (
      select * from mandates where ${rowsOfApp('mandates', app_id)} order by app_id desc, id desc limit ${EXPECTED_MAX}
    ) as m
    join payment_apps as app on app.id = m.app_id
    cross join lateral (select mandate_day(${now}::timestamptz, m.test_days) as today) as day
    where m.kind = 'fixed' and m.status = 'active' and m.payee_id = app.applicant_id and m.ends_on >= day.today
  `.execute(db)
  return rows[0]!.expected
}
