/** What administrators find of mandates: applications by their right, and mandates by id, reference and member. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import type { MandateRight } from '../../database/tables/payment-apps.ts'
import type { Mandate } from '../../payment/mandates/mandates.ts'

const APPS_MAX = 50
const FOUND_MAX = 50

export type AppWithRight = {
  id: bigint
  payment_id: string
  name: string
  owner: string
  mandate_right: MandateRight
  mandate_right_purpose: string | null
  mandate_right_reason: string | null
  mandate_right_at: Date | null
  mandate_daily_max: bigint | null
}

/** Applications that ask for the right, then those that ever had it, the last decision first; or the one of a name or a Payment ID. */
export function appsByRight(db: Db, text: string | undefined): Promise<AppWithRight[]> {
  const apps = db
    .selectFrom('payment_apps as app')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .select(['app.id', 'app.payment_id', 'app.name', 'owner.username as owner', 'app.mandate_right'])
    .select(['app.mandate_right_purpose', 'app.mandate_right_reason', 'app.mandate_right_at'])
    .select('app.mandate_daily_max')
    .where('app.mandate_right', '<>', 'none')
    .orderBy((eb) => eb('app.mandate_right', '<>', 'asked'))
    .orderBy('app.mandate_right_at', 'desc')
    .limit(APPS_MAX)
  if (text === undefined) return apps.execute()
  return apps
    .where((eb) =>
      eb.or([eb('app.payment_id', '=', text), eb(sql`lower(app.name)`, '=', text.toLowerCase())]),
    )
    .execute()
}

export type FoundMandate = Mandate & { payment_id: string; app_name: string }

/** Finds mandates by mandate_id, by reference, or of a member by name, the newest first. */
export async function findMandates(db: Db, text: string, now: Date): Promise<FoundMandate[]> {
  const { rows } = await sql<FoundMandate>`
    select facts.*, m.only_user_id, app.payment_id, app.name as app_name
    from mandates as m
    join payment_apps as app on app.id = m.app_id
    cross join lateral mandate_facts(m, ${now}::timestamptz) as facts
    where m.id in (
      select id from mandates where mandate_id = ${text}
      union all
      select id from mandates where reference = ${text}
      union all
      select id from mandates where user_id = (select id from users where lower(username) = ${text.toLowerCase()})
    )
    order by m.id desc limit ${FOUND_MAX}`.execute(db)
  return rows
}
