/**
 * Orders of both doors: a shop places them, a member pays them once, or they expire. The database functions
 * receive_orders and pay_orders do it; here are their callers and the rules of creation.
 */
import { type Selectable, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { countOutcome } from '../../core/metrics.ts'
import { inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { findHeld } from '../../database/frozen.ts'
import type { OrderStatus, OrdersTable, ReceivedRequest } from '../../database/tables/payments.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { isPaused, requireUnpaused } from './maintenance.ts'
import { madeBefore } from './repeats.ts'

const SWEEP_MAX = 500

/** The query that marks a payer whom the shop has sent to the pay page again. The receipt then redirects to the shop. */
export const LED_BACK = 'from=shop'

export type Order = Selectable<OrdersTable>

/** The status words of the HMAC API. An expired order is still pending. decisions.md 5.8. */
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

/** Whether the order has expired, by the clock and not only by the sweep. */
export function isExpired(order: Pick<Order, 'status' | 'expires_at'>, now: Date): boolean {
  return order.status === 'expired' || (order.status === 'unpaid' && order.expires_at <= now)
}

export type NewOrder = {
  app_id: bigint
  order_id: string
  description: string
  /** Whole points. */
  amount: bigint
  /** Present for an order of the gateway. */
  gateway?: GatewayFacts
  /** The request that placed the order, kept with a new one. */
  received?: ReceivedRequest
}

/** The further facts of a gateway order: exactly the merchant's parameters, and the exchange rate at that moment. */
export type GatewayFacts = {
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
 * Places an order of either door, or returns the order of the same order_id. Throws payments_paused.
 * @param requireAllowed throws the refusal of a new order. An earlier order that has not expired is returned anyway; an
 * expired one counts as new.
 */
export type PlaceOrder = (order: NewOrder, requireAllowed?: () => Promise<void>) => Promise<Order>

/** Makes the placeOrder of this process. Orders of both doors that arrive together share a commit. */
export function makePlaceOrder(deps: Core): PlaceOrder {
  const place = makeBatcher<NewOrder & { now: Date }, Order>({
    name: 'place orders',
    ...deps.batching,
    findHeld: (orders) =>
      findHeld(
        deps.db,
        sql`unnest(
          ${orders.map(({ app_id }) => app_id)}::bigint[], ${orders.map(doorOf)}::text[],
          ${orders.map(({ order_id }) => order_id)}::text[]
        ) with ordinality as asked (app_id, door, order_id, item)`,
        sql`select xmax from orders
          where app_id = asked.app_id and door = asked.door and order_id = asked.order_id`,
      ),
    run: (orders, patience_ms) => placeOrders(deps, orders, patience_ms),
  })
  return async (asked, requireAllowed) => {
    const order = { ...asked, now: deps.clock() }
    const before = await madeBefore(
      async () => {
        await requireAllowed?.()
        requireUnpaused(await deps.settings.read())
      },
      () => findCurrentOrder(deps.db, order),
    )
    return before ?? place(order)
  }
}

/** The order of this order_id, unless it has expired. */
async function findCurrentOrder(db: Db, asked: NewOrder & { now: Date }): Promise<Order | undefined> {
  const { app_id, order_id, now } = asked
  const order = await findOrder(db, { app_id, door: doorOf(asked), order_id })
  return order === undefined || isExpired(order, now) ? undefined : order
}

async function placeOrders(
  deps: Core,
  orders: (NewOrder & { now: Date })[],
  patience_ms: number,
): Promise<Order[]> {
  const { order_expiry_minutes } = await deps.settings.read()
  const asked = orders.map(({ gateway, now, app_id, amount, ...order }, item) => ({
    ...order,
    ...gateway,
    item,
    app_id: String(app_id),
    amount: String(amount),
    door: doorOf({ gateway }),
    transaction_id: `txn_${randomText(24, LOWER_ALNUM)}`,
    now,
    expires_at: new Date(now.getTime() + order_expiry_minutes * 60_000),
  }))
  const { rows } = await sql<Order>`
    select (placed).* from receive_orders(${within(patience_ms, sql`${JSON.stringify(asked)}::jsonb`)}) order by item
  `.execute(deps.db)
  return rows
}

function doorOf({ gateway }: { gateway?: GatewayFacts | undefined }): 'hmac' | 'gateway' {
  return gateway === undefined ? 'hmac' : 'gateway'
}

export type CreateOrder = (
  order: Omit<NewOrder, 'gateway'>,
  requireAllowed?: () => Promise<void>,
) => Promise<Order>

/**
 * Makes the createOrder of the HMAC API. It creates an order, or returns the unpaid order of the same order_id and
 * amount; an expired one gets a new window. Throws parameter_invalid for another amount, order_exists for an order that
 * is paid, refunded or closed, order_frozen, and what placeOrder throws. decisions.md 5.7.
 */
export function makeCreateOrder(deps: Core, placeOrder = makePlaceOrder(deps)): CreateOrder {
  return async (asked, requireAllowed) => {
    const order = await placeOrder(asked, requireAllowed)
    const word = statusWord(order)
    if (word !== 'pending') {
      const data = { status: word, transaction_id: order.transaction_id }
      throw new AppError('order_exists', `Order already exists with status ${word}`, { data })
    }
    // Carries no status, because clients settle an order from any status word they find.
    if (order.amount !== asked.amount) {
      throw new AppError('parameter_invalid', 'Invalid amount: this order_id was created with another amount')
    }
    if (order.frozen_at !== null)
      throw new AppError('order_frozen', 'This order is frozen by an administrator')
    return order
  }
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

type OrderLook = { app_id: bigint; transaction_id: string }

/** Makes the HMAC API's look-up of orders for this process. Look-ups at the same time share a statement. */
export function makeFindTransaction(deps: Core): (look: OrderLook) => Promise<Order | undefined> {
  return makeBatcher<OrderLook, Order | undefined>({
    name: 'find orders',
    ...deps.batching,
    run: async (looks) => {
      const { rows } = await sql<Order & { item: number }>`
        select item, (found).* from find_orders(
          ${looks.map((look) => look.app_id)}::bigint[], ${looks.map((look) => look.transaction_id)}::text[]
        )`.execute(deps.db)
      return inOrder(looks, rows, (order) => order)
    },
  })
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
  | 'paused'
  | 'order_frozen'
  | 'wallet_frozen'

export type Payment = {
  transaction_id: string
  payer_id: bigint
  /** The points that the page showed to the payer. An order of another amount is not paid. */
  expected_amount: bigint
}

export type PayOrder = (payment: Payment) => Promise<PayOutcome>

/** Makes the payOrder of this process. Payments that arrive together share a commit. */
export function makePayOrder(deps: Core): PayOrder {
  const pay = makeBatcher<Payment & { now: Date }, PayOutcome>({
    name: 'pay orders',
    ...deps.batching,
    findHeld: (payments) =>
      findHeld(
        deps.db,
        sql`unnest(
          ${payments.map((payment) => payment.transaction_id)}::text[],
          ${payments.map((payment) => payment.payer_id)}::bigint[]
        ) with ordinality as asked (transaction_id, payer_id, item)`,
        sql`select xmax from orders where transaction_id = asked.transaction_id`,
        sql`select wallet.xmax from orders as o
          join payment_apps as app on app.id = o.app_id
          join ledger_accounts as wallet on wallet.user_id in (asked.payer_id, app.applicant_id)
            and wallet.book = o.book and wallet.kind = 'wallet'
          where o.transaction_id = asked.transaction_id`,
      ),
    run: async (payments, patience_ms) => {
      const { points_payment_fee_rate } = await deps.settings.read()
      const { rows } = await sql<{ outcome: PayOutcome }>`
        select outcome from pay_orders(
          ${within(patience_ms, sql`${payments.map((payment) => payment.transaction_id)}::text[]`)},
          ${payments.map((payment) => payment.payer_id)}::bigint[],
          ${payments.map((payment) => payment.expected_amount)}::bigint[],
          ${payments.map((payment) => payment.now)}::timestamptz[],
          ${points_payment_fee_rate}::numeric
        ) order by item`.execute(deps.db)
      return rows.map((row) => row.outcome)
    },
  })
  const payUnlessPaused = async (payment: Payment) =>
    (await isPaused(deps)) ? 'paused' : pay({ ...payment, now: deps.clock() })
  return (payment) => countOutcome(deps.metrics?.payments, payUnlessPaused(payment), (outcome) => outcome)
}

/** Marks expired orders, at most SWEEP_MAX at once; several processes share the work. Returns the count. */
export async function expireOrders(db: Db, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select expire_orders(${now}::timestamptz, ${SWEEP_MAX}::integer) as count`.execute(db)
  return rows[0]!.count
}
