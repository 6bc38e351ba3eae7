/**
 * Test mode: orders and play points of the test book, and the faults that a tester may force. The database protects live
 * points: every row of an application carries its book in a foreign key, and no journal joins accounts of two books.
 * spec/payment-api 6.2.
 */
import { randomUUID } from 'node:crypto'
import { sql, type Updateable } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { ForcedFault, OrdersTable } from '../../database/tables/payments.ts'
import type { Actor } from '../rights/rights.ts'

/**
 * Limits new orders of the test book, because any member may have applications there, and orders are never deleted.
 * Throws too_many_attempts.
 */
export async function countTestOrder(
  { limits }: Pick<Core, 'limits'>,
  { book, applicant_id }: { book: Book; applicant_id: bigint },
): Promise<void> {
  if (book === 'test') await limits.hit('test_orders', applicant_id.toString())
}

/** Opens a member's test wallet if there is none. The database fills it with play points. */
export async function openPlayWallet(db: Db, user_id: bigint): Promise<void> {
  await sql`select open_wallets(array[${user_id}::bigint], array['test'])`.execute(db)
}

/** Refills a member's test wallet up to its opening balance. */
export async function refillPlayPoints({ db, clock }: Core, user_id: bigint): Promise<void> {
  await sql`select refill_play_points(${user_id}::bigint, ${randomUUID()}, ${clock()}::timestamptz)`.execute(
    db,
  )
}

/** Forces a fault for the payment of an order. Changes only unpaid test orders. */
export async function forceFault(
  { db }: Core,
  transaction_id: string,
  forced: ForcedFault,
  actor: Actor,
): Promise<void> {
  await changeTestOrder(db, transaction_id, { forced }, { ...actor, action: 'test_order.fault' })
}

/** Expires an order at once. Changes only unpaid test orders. */
export async function expireNow({ db, clock }: Core, transaction_id: string, actor: Actor): Promise<void> {
  const now = clock()
  const changed = { status: 'expired', expires_at: now, updated_at: now } as const
  await changeTestOrder(db, transaction_id, changed, { ...actor, action: 'test_order.expire' })
}

async function changeTestOrder(
  db: Db,
  transaction_id: string,
  changed: Updateable<OrdersTable>,
  { user_id: actor_id, ip, action }: Actor & { action: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const order = await tx
      .updateTable('orders')
      .set(changed)
      .where('transaction_id', '=', transaction_id)
      .where('book', '=', 'test')
      .where('status', '=', 'unpaid')
      .returning(['id', 'status', 'forced'])
      .executeTakeFirst()
    if (order === undefined) return
    const { id, status, forced } = order
    if (status === 'expired')
      await sql`select write_order_events('order.expired', array[${id}::bigint])`.execute(tx)
    await recordAudit(tx, { actor_id, action, subject: transaction_id, detail: { forced }, ip })
  })
}
