/** The notifications of an application that its shop has not confirmed, and what its server answered last. Read only. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { StepTimes } from '../../egress/request.ts'

/** The newest notifications that are looked at, so that every page costs the same. */
const LOOKED_THROUGH_MAX = 500

export type Trouble = {
  /** The notifications that failed at least once and are not confirmed; those among them that get no further attempt. */
  failing: number
  given_up: number
  /** The latest failure, and the first one of its host. */
  host: string
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  is_tls: boolean
  step_ms: StepTimes | null
  since: Date
  /** The notification that failed last. */
  id: bigint
}

/** Reads what is wrong with an application's notifications. Undefined if nothing is. */
export async function troubleOf(db: Db, app_id: bigint): Promise<Trouble | undefined> {
  const { rows } = await sql<Trouble>`
    select (count(*) over ())::integer as failing, (count(*) filter (where status = 'failed') over ())::integer as given_up,
      host, outcome, detail, response_status, is_tls, step_ms, min(first_at) over (partition by host) as since, id
    from (
      select recent.id, recent.host, recent.status, latest.outcome, latest.detail, latest.response_status, latest.started_at, latest.step_ms,
        coalesce(latest.url like 'https:%', false) as is_tls,
        (select min(started_at) from notification_attempts where notification_id = recent.id) as first_at
      from (
        select n.id, n.host, n.kind, n.status, n.attempts from notifications as n
        where ${rowsOfApp('n', app_id)} order by n.app_id desc, n.id desc limit ${LOOKED_THROUGH_MAX}
      ) as recent
      cross join lateral (
        select outcome, detail, response_status, url, started_at, step_ms from notification_attempts
        where notification_id = recent.id order by claim desc limit 1
      ) as latest
      where (recent.status = 'failed' or (recent.status = 'due' and recent.attempts > 0))
        and latest.outcome not in ('delivered', 'withdrawn')
        and (recent.kind = 'gateway' or exists (select from payment_apps where id = ${app_id} and events_url is not null))
    ) as failed
    order by started_at desc limit 1`.execute(db)
  return rows[0]
}
