/** What a member's own page reads of a mandate: its charges, its refused charges, and its history. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { shopsById } from './shop.ts'

const REFUSALS_MAX = 20
const HISTORY_MAX = 50

/** The charges of a mandate, the last one first. `before` is the id of the last order of the page before. */
export async function chargesOf(
  db: Db,
  mandate: bigint,
  { before, limit }: { before: bigint | undefined; limit: number },
) {
  let charges = db
    .selectFrom('orders')
    .where('mandate_id', '=', mandate)
    .orderBy('mandate_id', 'desc')
    .orderBy('mandate_period', 'desc')
    .orderBy('mandate_spent', 'desc')
    .limit(limit)
    .select(['id', 'transaction_id', 'description', 'amount', 'refunded_amount', 'paid_at', 'mandate_period'])
  if (before !== undefined)
    charges = charges.where(
      sql<boolean>`(mandate_period, mandate_spent) < (
        select mandate_period, mandate_spent from orders where id = ${before} and mandate_id = ${mandate}
      )`,
    )
  return charges.execute()
}

/** The charges that are added up for a page. */
const SUMMED_MAX = 5_000

/** All charges of a mandate, in points, and what was refunded of them. */
export type Charged = { count: number; points: bigint; refunded: bigint }

/** Adds up the charges of a mandate. Undefined for too many to add up for a page. */
export async function chargedSoFar(db: Db, mandate: bigint): Promise<Charged | undefined> {
  const { rows } = await sql<Charged>`
    select count(*)::integer as count, coalesce(sum(amount), 0)::bigint as points,
      coalesce(sum(refunded_amount), 0)::bigint as refunded
    from (
      select amount, refunded_amount from orders where mandate_id = ${mandate} limit ${SUMMED_MAX + 1}
    ) as charge`.execute(db)
  return rows[0]!.count > SUMMED_MAX ? undefined : rows[0]
}

/** The refused charges of a mandate by period and outcome, the last one first. */
export function refusalsOf(db: Db, mandate: bigint) {
  return db
    .selectFrom('mandate_refusals')
    .where('mandate_id', '=', mandate)
    .orderBy('last_at', 'desc')
    .limit(REFUSALS_MAX)
    .select(['period', 'outcome', 'times', 'last_amount', 'last_at'])
    .execute()
}

type Terms = { charge_max: string; period_max: string; ends_on: string; notice: string }
/** Who acted, why, and the terms before and after it. */
type Detail = {
  by: 'member' | 'merchant' | 'staff' | 'service'
  reason?: string
  text?: string
  before: Terms
  after: Terms
}

/** The acts on a mandate, the last one first. The audit log is the evidence. */
export async function historyOf(db: Db, mandate_id: string) {
  const acts = await db
    .selectFrom('audit_log')
    .where('subject', '=', mandate_id)
    .where('action', 'like', 'mandate.%')
    .orderBy('id', 'desc')
    .limit(HISTORY_MAX)
    .select(['action', 'detail', 'created_at'])
    .execute()
  return acts.map(({ action, detail, created_at }) => ({
    action: action.slice('mandate.'.length) as
      | 'accept'
      | 'change'
      | 'end'
      | 'next_period'
      | 'pause'
      | 'resume',
    detail: detail as unknown as Detail,
    created_at,
  }))
}

/** Adds its shop to each mandate. */
export async function withShops<Row extends { app_id: bigint }>(db: Db, mandates: Row[]) {
  const shops = await shopsById(
    db,
    mandates.map(({ app_id }) => app_id),
  )
  return mandates.map((mandate) => ({ mandate, shop: shops.get(mandate.app_id)! }))
}
