/**
 * Orders of both doors: their status, and how they are found, closed and expired. place.ts places them, pay.ts pays them.
 * spec/points 3.1.
 */
import { type Selectable, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { columnsOf, inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { named } from '../../database/named-statements.ts'
import type { OrderStatus, OrdersTable } from '../../database/tables/payments.ts'

const SWEEP_MAX = 500

/** The query that marks a payer whom the shop has sent to the pay page again. The receipt then redirects to the shop. */
export const RETURNS = 'from=shop'

export type Order = Selectable<OrdersTable>

/** The address of an order's pay page. */
export function payUrl({ config }: Pick<Core, 'config'>, transaction_id: string): string {
  return `${config.PAYMENT_PUBLIC_URL}/payment/pay/${transaction_id}`
}

/** The status words of the HMAC API. An expired order is still pending. spec/payment-api 3.2. */
export type StatusWord = 'pending' | 'completed' | 'cancelled' | 'refunded'

const WORDS = {
  unpaid: 'pending',
  expired: 'pending',
  paid: 'completed',
  closed: 'cancelled',
  refunded: 'refunded',
} satisfies Record<OrderStatus, StatusWord>

/** The status word of an order. */
export function statusWord(order: Pick<Order, 'status'>): StatusWord {
  return WORDS[order.status]
}

/** Whether the order has expired, by the clock and not only by the sweep. */
export function isExpired(order: Pick<Order, 'status' | 'expires_at'>, now: Date): boolean {
  return order.status === 'expired' || (order.status === 'unpaid' && order.expires_at <= now)
}

/** Closes an unpaid or expired order. Returns whether it was one. */
export async function closeOrder(db: Db, id: bigint, now: Date): Promise<boolean> {
  const closed = await db
    .updateTable('orders')
    .set({ status: 'closed', updated_at: now })
    .where('id', '=', id)
    .where('status', 'in', ['unpaid', 'expired'])
    .executeTakeFirst()
  return closed.numUpdatedRows > 0n
}

/**
 * Expires an unpaid order of a link or a tip for the member who placed it. A payment at the same moment locks the same row, so exactly
 * one of them ends it. The end is that of the placing, because the payment's clock may be earlier. Returns whether it was unpaid.
 * spec/points 3.1.
 */
export async function leaveOrder(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  { transaction_id, user_id }: { transaction_id: string; user_id: bigint },
): Promise<boolean> {
  const left = await db
    .updateTable('orders')
    .set({ status: 'expired', expires_at: sql`orders.created_at`, updated_at: clock() })
    .where('transaction_id', '=', transaction_id)
    .where('status', '=', 'unpaid')
    .where('frozen_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb.exists(
          eb
            .selectFrom('link_orders')
            .whereRef('order_id', '=', 'orders.id')
            .where('for_user_id', '=', user_id)
            .select('order_id'),
        ),
        eb.exists(
          eb
            .selectFrom('tips')
            .whereRef('order_id', '=', 'orders.id')
            .where('from_user_id', '=', user_id)
            .select('order_id'),
        ),
      ]),
    )
    .executeTakeFirst()
  return left.numUpdatedRows > 0n
}

type OrderLook = { app_id: bigint; transaction_id: string }

/** Makes the HMAC API's look-up of orders for this process. Look-ups at the same time share a statement. */
export function makeFindTransaction(deps: Core): (look: OrderLook) => Promise<Order | undefined> {
  return makeBatcher<OrderLook, Order | undefined>({
    name: 'find orders',
    ...deps.batching,
    run: async (looks) => {
      const { rows } = await sql<Order & { item: number }>`
        select ${named} item, (found).* from find_orders(
          ${columnsOf(looks, { app_id: 'bigint', transaction_id: 'text' })}
        )`.execute(deps.db)
      return inOrder(looks, rows, (order) => order)
    },
  })
}

/** Finds a sale of the application's links, or a tip, by its transaction_id. */
export function findSale(
  db: Db,
  { app_id, transaction_id, doors }: OrderLook & { doors: readonly Order['door'][] },
): Promise<Order | undefined> {
  return db
    .selectFrom('orders')
    .where('transaction_id', '=', transaction_id)
    .where('app_id', '=', app_id)
    .where('door', 'in', doors)
    .selectAll()
    .executeTakeFirst()
}

/** Finds the order of an order_id in the application's own book. */
export function findOrder(
  db: Db,
  { app_id, door, order_id }: { app_id: bigint; door: Order['door']; order_id: string },
): Promise<Order | undefined> {
  return db
    .selectFrom('orders')
    .where('app_id', '=', app_id)
    .where('book', '=', (eb) => eb.selectFrom('payment_apps').where('id', '=', app_id).select('book'))
    .where('door', '=', door)
    .where('order_id', '=', order_id)
    .selectAll()
    .executeTakeFirst()
}

/**
 * Marks orders that have expired by the database's time, at most SWEEP_MAX at once; several processes share the work. Returns
 * the count.
 */
export async function expireOrders({ db, databaseTime }: Pick<Core, 'db' | 'databaseTime'>): Promise<number> {
  const now = await databaseTime()
  const { rows } = await sql<{ count: number }>`
    select expire_orders(${now}::timestamptz, ${SWEEP_MAX}::integer) as count`.execute(db)
  return rows[0]!.count
}
