/**
 * Orders of both doors: created by a merchant, paid once by a member, or run out. The act of paying is the
 * database function pay_orders; here is its caller, and the rules of creating.
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

/** The query of a pay page's address for a payer whom a shop has sent there again: the receipt leads on by itself. */
export const LED_BACK = 'from=shop'

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
  /** By which request it came, to be kept with a new one. */
  received?: ReceivedRequest
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
 * Places an order of either door, as the database function receive_orders does.
 * @param requireAllowed throws what refuses a new sale. An order that was placed before is answered all the same; only
 * one whose time is over would be a new sale.
 */
export type PlaceOrder = (order: NewOrder, requireAllowed?: () => Promise<void>) => Promise<Order>

/** Makes the placeOrder of this process: orders of both doors that arrive together share a commit. Throws payments_paused. */
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
      () => findStandingOrder(deps.db, order),
    )
    return before ?? place(order)
  }
}

/** The order of this order_id, unless its time is over. */
async function findStandingOrder(db: Db, asked: NewOrder & { now: Date }): Promise<Order | undefined> {
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
  const asked = orders.map(({ trade, now, app_id, amount, ...order }, item) => ({
    ...order,
    ...trade,
    item,
    app_id: String(app_id),
    amount: String(amount),
    door: doorOf({ trade }),
    transaction_id: `txn_${randomText(24, LOWER_ALNUM)}`,
    now,
    expires_at: new Date(now.getTime() + order_expiry_minutes * 60_000),
  }))
  const { rows } = await sql<Order>`
    select (placed).* from receive_orders(${within(patience_ms, sql`${JSON.stringify(asked)}::jsonb`)}) order by item
  `.execute(deps.db)
  return rows
}

function doorOf({ trade }: { trade?: TradeFacts | undefined }): 'hmac' | 'gateway' {
  return trade === undefined ? 'hmac' : 'gateway'
}

export type CreateOrder = (
  order: Omit<NewOrder, 'trade'>,
  requireAllowed?: () => Promise<void>,
) => Promise<Order>

/**
 * Makes the createOrder of the HMAC door. It creates an order, or finds the one of the same order_id: unpaid with the
 * same amount is the same transaction, with a new window if its time was over. Throws parameter_invalid for another
 * amount, order_exists for one that is paid, refunded or closed, and order_frozen. decisions.md 5.7.
 */
export function makeCreateOrder(deps: Core, placeOrder = makePlaceOrder(deps)): CreateOrder {
  return async (asked, requireAllowed) => {
    const order = await placeOrder(asked, requireAllowed)
    const word = statusWord(order)
    if (word !== 'pending') {
      const data = { status: word, transaction_id: order.transaction_id }
      throw new AppError('order_exists', `Order already exists with status ${word}`, { data })
    }
    // Without a status: clients settle an order from a status word wherever they find one.
    if (order.amount !== asked.amount) {
      throw new AppError('parameter_invalid', 'Invalid amount: this order_id was created with another amount')
    }
    if (order.frozen_at !== null)
      throw new AppError('order_frozen', 'This order is frozen by an administrator')
    return order
  }
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

type OrderLook = { app_id: bigint; transaction_id: string }

/** Makes the look at transactions of this process, for the HMAC door; those asked for together share a statement. */
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
  /** The amount the payer was shown, in points: another one is not paid. */
  expected_amount: bigint
}

export type PayOrder = (payment: Payment) => Promise<PayOutcome>

/** Makes the payOrder of this process: payments that arrive together share a commit. */
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

/** Marks orders whose time is over, a bounded number at once; several processes share the work. Answers how many. */
export async function expireOrders(db: Db, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select expire_orders(${now}::timestamptz, ${SWEEP_MAX}::integer) as count`.execute(db)
  return rows[0]!.count
}
