/** Tells the team of an application that a payout has halted or ended. spec/payouts 3.3. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { type Alert, raiseAlert } from '../alerts/alerts.ts'
import { rolesWith } from '../rights/rights.ts'

/** The worker raises the alert about a payout within this time after its end, and does not look for older ones. */
const TOLD_HOURS = 24
const HOUR_MS = 3_600_000

type Due = {
  id: bigint
  app_id: bigint
  kind: Alert['kind']
  cause: string
  reference: string
  paid: string
  count: string
}

/** Raises the alerts that are due, each once for a halt or an end. Several processes may run it at once. */
export async function tellOfPayouts(deps: Core): Promise<void> {
  const since = new Date(deps.clock().getTime() - TOLD_HOURS * HOUR_MS)
  const { rows } = await sql<Due>`
    select due.*, lines.* from (
      select id, app_id, reference, 'payout_halted' as kind, id || ' ' || halted_at as cause
      from payouts where status = 'halted' and halted_at is not null
      union all
      select id, app_id, reference, 'payout_finished', id::text
      from payouts where finished_at >= ${since} and status in ('finished', 'refused')
    ) as due
    cross join lateral (
      select (count(*) filter (where status = 'paid'))::text as paid, count(*)::text as count
      from payout_lines where payout_id = due.id
    ) as lines
    where not exists (
      select from alerts where alerts.app_id = due.app_id and alerts.kind = due.kind and alerts.cause = due.cause
    )`.execute(deps.db)
  for (const { id, app_id, kind, cause, reference, paid, count } of rows)
    await deps.db.transaction().execute(async (tx) => {
      const facts = { payout: String(id), reference, paid, count }
      await raiseAlert(tx, deps, { app_id, kind, cause, facts, to: { roles: rolesWith('settings.edit') } })
    })
}
