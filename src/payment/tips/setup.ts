/** The application of tips, which an administrator names. spec/tips 1.2. */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { BIGGEST_ID, type Db, violatedConstraint } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import type { Actor } from '../rights/rights.ts'

export type TipsApp = { id: bigint; payment_id: string; name: string; status: string; owner: string }

/** Finds the application whose orders are the tips. */
export function findTipsApp(db: Db): Promise<TipsApp | undefined> {
  return db
    .selectFrom('payment_apps as app')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('app.is_tips', '=', true)
    .select(['app.id', 'app.payment_id', 'app.name', 'app.status', 'owner.username as owner'])
    .executeTakeFirst()
}

/** Applications that can become that of tips, and how many of the newest it looks through for them. */
const CANDIDATES_MAX = 50
const LOOKED_THROUGH = 500

/** Lists the newest approved live applications without orders and without the right to mandates, the newest first. */
export async function tipsCandidates(db: Db): Promise<Omit<TipsApp, 'status'>[]> {
  const { rows } = await sql<Omit<TipsApp, 'status'>>`
    select app.id, app.payment_id, app.name, owner.username as owner
    from (select * from payment_apps order by id desc limit ${LOOKED_THROUGH}) as app
    join users as owner on owner.id = app.applicant_id
    where app.book = 'live' and app.status = 'approved' and not app.is_tips and app.mandate_right <> 'granted'
      and not exists (select from orders where (app_id, id) > (app.id, 0) and (app_id, id) < (app.id, ${BIGGEST_ID}::bigint))
    order by app.id desc limit ${CANDIDATES_MAX}`.execute(db)
  return rows
}

/** When the newest tip was paid. Tips are the orders of this application. */
export async function lastTipAt(db: Db, app_id: bigint): Promise<Date | null> {
  const order = await db
    .selectFrom('orders')
    .where('app_id', '=', app_id)
    .where('paid_at', 'is not', null)
    .orderBy('paid_at', 'desc')
    .limit(1)
    .select('paid_at')
    .executeTakeFirst()
  return order?.paid_at ?? null
}

/** Whether a tip was ever ordered. From then on the application stays. */
export async function hasTips(db: Db): Promise<boolean> {
  return (await db.selectFrom('tips').select('order_id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Names the application of tips: an approved live one without orders and without the right to mandates. Another one can take its
 * place until the first tip. From then on its programs create no orders. Throws not_found, and conflict for another application.
 */
export async function nameTipsApp(
  deps: Core,
  payment_id: string,
  { user_id: actor_id, ip }: Actor,
): Promise<void> {
  const now = deps.clock()
  await deps.db
    .transaction()
    .execute(async (tx) => {
      const app = await tx
        .selectFrom('payment_apps')
        .where('payment_id', '=', payment_id)
        .select(['id', 'is_tips', 'mandate_right'])
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (app === undefined) throw new AppError('not_found', 'There is no such payment application')
      if (app.is_tips) return
      const before = await findTipsApp(tx)
      await tx
        .updateTable('payment_apps')
        .set({ is_tips: false, updated_at: now })
        .where('is_tips', '=', true)
        .execute()
      await tx
        .updateTable('payment_apps')
        .set({ is_tips: true, updated_at: now })
        .where('id', '=', app.id)
        .execute()
      const detail = { before: before?.payment_id ?? null }
      await recordAudit(tx, { actor_id, action: 'payment_app.tips', subject: payment_id, detail, ip })
    })
    .catch((error: unknown) => {
      if (!UNFIT.has(violatedConstraint(error) ?? '')) throw error
      throw new AppError('conflict', 'Tips need an approved live application without orders and mandates')
    })
}

const UNFIT = new Set([
  'payment_apps_tips',
  'payment_apps_tips_live',
  'payment_apps_tips_first',
  'payment_apps_tips_no_mandates',
])
