/**
 * Orders of both doors: created by a merchant, paid once by a member, or run out. The act of paying is the
 * database function pay_orders; here is its caller, and the rules of creating.
 */
import { type Selectable, sql } from 'kysely'
import { makeBatcher } from '../database/batcher.ts'
import type { Db } from '../database/connection.ts'
import type { OrderStatus, OrdersTable } from '../database/tables.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { LOWER_ALNUM, randomText } from '../secrets.ts'

const SWEEP_MAX = 500

export const TRANSACTION_ID = /^txn_[a-z0-9]{24}$/

export type Order = Selectable<OrdersTable>

/** The status words of the HMAC API, decisions.md 5.8. An expired order is a pending one past its time. */
export type StatusWord = 'pending' | 'completed' | 'cancelled' | 'refunded'

const WORDS = {
  unpaid: 'pending',
  expired: 'pending',
  paid: 'completed',
  closed: 'cancelled',
  refunded: 'refunded',
} satisfies Record<OrderStatus, StatusWord>

export function statusWord(order: Pick<Order, 'status'>): StatusWord {
  return WORDS[order.status]
}

/** Whether the order's time to be paid is over. The clock decides, not the sweep. */
export function isExpired(order: Pick<Order, 'status' | 'expires_at'>, now: Date): boolean {
  return order.status === 'expired' || (order.status === 'unpaid' && order.expires_at <= now)
}

export type NewOrder = {
  app_id: bigint
  order_id: string
  description: string
  /** Whole points. */
  amount: bigint
  /** With these it is an order of the gateway. */
  trade?: TradeFacts
}

/** What an order of the gateway has besides: exactly as its merchant sent it, and the rate of that moment. */
export type TradeFacts = {
  trade_no: string
  protocol: 'v1' | 'v2'
  pid_sent: string
  money: string
  rate: string
  type: string | null
  param: string | null
  notify_url: string
  return_url: string | null
}

/**
 * Writes a new order, or finds the one of the same door and order_id. That one stays as it is; only if its time is
 * over and it asks for the same amount (of the gateway: the same money) does its time begin again.
 */
export async function placeOrder(deps: Deps, { trade, ...order }: NewOrder): Promise<Order> {
  const now = deps.clock()
  const { order_expiry_minutes } = await deps.settings.read()
  const expires_at = new Date(now.getTime() + order_expiry_minutes * 60_000)
  const transaction_id = `txn_${randomText(24, LOWER_ALNUM)}`
  const door = trade === undefined ? 'hmac' : 'gateway'
  const written = await deps.db
    .insertInto('orders')
    .values({ ...order, ...trade, door, transaction_id, expires_at, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .constraint('orders_order_id_key')
        .doUpdateSet({ status: 'unpaid', expires_at, updated_at: now })
        // Only an order that nobody can pay any more is opened again.
        .where('orders.status', 'in', ['unpaid', 'expired'])
        .where('orders.expires_at', '<=', now)
        .where(
          sql<boolean>`coalesce(orders.money::numeric = excluded.money::numeric, orders.amount = excluded.amount)`,
        ),
    )
    .returningAll()
    .executeTakeFirst()
  return written ?? existingOrder(deps.db, order, door)
}

function existingOrder(
  db: Db,
  { app_id, order_id }: Pick<NewOrder, 'app_id' | 'order_id'>,
  door: Order['door'],
): Promise<Order> {
  return db
    .selectFrom('orders')
    .where('app_id', '=', app_id)
    .where('book', '=', 'live')
    .where('door', '=', door)
    .where('order_id', '=', order_id)
    .selectAll()
    .executeTakeFirstOrThrow()
}

/**
 * Creates an order of the HMAC door, or finds the one of the same order_id: unpaid with the same amount is the
 * same transaction, with a new window if its time was over. Throws parameter_invalid for another amount and
 * order_exists for one that is paid, refunded or closed. decisions.md 5.7.
 */
export async function createOrder(deps: Deps, asked: Omit<NewOrder, 'trade'>): Promise<Order> {
  const order = await placeOrder(deps, asked)
  const word = statusWord(order)
  if (word !== 'pending') {
    const data = { status: word, transaction_id: order.transaction_id }
    throw new AppError('order_exists', `Order already exists with status ${word}`, { data })
  }
  // Without a status: clients settle an order from a status word wherever they find one.
  if (order.amount !== asked.amount) {
    throw new AppError('parameter_invalid', 'Invalid amount: this order_id was created with another amount')
  }
  return order
}

/** Takes an unpaid order back, whether or not its time is over. Answers whether it was unpaid. */
export async function closeOrder(db: Db, id: bigint, now: Date): Promise<boolean> {
  const closed = await db
    .updateTable('orders')
    .set({ status: 'closed', updated_at: now })
    .where('id', '=', id)
    .where('status', 'in', ['unpaid', 'expired'])
    .executeTakeFirst()
  return closed.numUpdatedRows > 0n
}

export async function findOrder(
  db: Db,
  app_id: bigint,
  by: { transaction_id: string } | { order_id: string },
): Promise<Order | undefined> {
  const query = db.selectFrom('orders').where('app_id', '=', app_id).where('door', '=', 'hmac').selectAll()
  return 'transaction_id' in by
    ? query.where('transaction_id', '=', by.transaction_id).executeTakeFirst()
    : query.where('order_id', '=', by.order_id).where('book', '=', 'live').executeTakeFirst()
}

export type PayOutcome =
  | 'paid'
  | 'paid_before'
  | 'paid_by_other'
  | 'expired'
  | 'closed'
  | 'unusable'
  | 'changed'
  | 'insufficient'
  | 'daily_limit'
  | 'not_found'

export type Payment = {
  transaction_id: string
  payer_id: bigint
  /** The amount the payer was shown, in points: another one is not paid. */
  expected_amount: bigint
}

export type PayOrder = (payment: Payment) => Promise<PayOutcome>

/** Makes the payOrder of this process: payments that arrive together share a commit. */
export function makePayOrder(deps: Deps): PayOrder {
  const pay = makeBatcher<Payment & { now: Date }, PayOutcome>({
    ...deps.batching,
    run: async (payments) => {
      const { points_payment_fee_rate } = await deps.settings.read()
      const { rows } = await sql<{ outcome: PayOutcome }>`
        select outcome from pay_orders(
          ${payments.map((payment) => payment.transaction_id)}::text[],
          ${payments.map((payment) => payment.payer_id)}::bigint[],
          ${payments.map((payment) => payment.expected_amount)}::bigint[],
          ${payments.map((payment) => payment.now)}::timestamptz[],
          ${points_payment_fee_rate}::numeric
        ) order by item`.execute(deps.db)
      return rows.map((row) => row.outcome)
    },
  })
  return (payment) => pay({ ...payment, now: deps.clock() })
}

/** Marks orders whose time is over, a bounded number at once; several processes share the work. Answers how many. */
export async function expireOrders(db: Db, now: Date): Promise<number> {
  const expired = await db
    .updateTable('orders')
    .set({ status: 'expired', updated_at: now })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('orders')
        .where('status', '=', 'unpaid')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(SWEEP_MAX)
        .select('id')
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst()
  return Number(expired.numUpdatedRows)
}
