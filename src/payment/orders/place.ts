/** The act of placing an order at either door. Its rule is the database function receive_orders; this file calls it in batches. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { makeBatcher, skippingArguments, unlessLocked } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import type { LockedRow, Skipping } from '../../database/lock-waits.ts'
import { named } from '../../database/named-statements.ts'
import { type RowType, rowArray } from '../../database/rows.ts'
import type { ReceivedRequest } from '../../database/tables/payments.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { findOrder, isExpired, type Order, statusWord } from './orders.ts'
import { madeBefore, requireUnpaused } from './repeats.ts'

export type NewOrder = {
  app_id: bigint
  order_id: string
  description: string
  /** Whole points. */
  amount: bigint
  /** The token that signed the request, of an order of the HMAC API. */
  token_id?: bigint
  /** Present for an order of the gateway. */
  gateway?: GatewayFacts
  /** The request that placed the order, kept with a new one. */
  received?: ReceivedRequest
}

export const ASKED_ORDER = {
  type: 'asked_order',
  columns: [
    ...([
      'app_id',
      'door',
      'order_id',
      'transaction_id',
      'description',
      'amount',
      'expires_at',
      'now',
    ] as const),
    ...(['trade_no', 'protocol', 'pid_sent', 'money', 'rate', 'type', 'param', 'notify_url'] as const),
    ...(['return_url', 'token_id', 'received'] as const),
  ],
} as const satisfies RowType<string>

/** The further facts of a gateway order: exactly the merchant's parameters, and the exchange rate at that moment. */
export type GatewayFacts = {
  trade_no: string
  protocol: 'v1' | 'v2'
  pid_sent: string
  money: string
  rate: string
  type: string | null
  param: string | null
  /** Null for the application's own address. */
  notify_url: string | null
  return_url: string | null
}

/**
 * Places an order of either door, or returns the order of the same order_id. Throws payments_paused, and application_unusable for the
 * application of tips.
 * @param requireAllowed throws the refusal of a new order. An earlier order that has not expired is returned anyway; an
 * expired one counts as new.
 */
export type PlaceOrder = (order: NewOrder, requireAllowed?: () => Promise<void>) => Promise<Order>

/** Makes the placeOrder of this process. Orders of both doors that arrive together share a commit. */
export function makePlaceOrder(deps: Core): PlaceOrder {
  const place = makeBatcher<NewOrder & { now: Date }, Order | undefined>({
    name: 'place orders',
    ...deps.batching,
    canSkip: true,
    regroups: true,
    run: (orders, patience_ms, skipping) => placeOrders(deps, orders, patience_ms, skipping),
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
    const placed = before ?? (await place(order))
    if (placed !== undefined) return placed
    throw new AppError('application_unusable', 'This payment application is for tips only')
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
  skipping: Skipping | undefined,
): Promise<(Order | LockedRow | undefined)[]> {
  const { order_expiry_minutes } = await deps.settings.read()
  const asked = orders.map(({ gateway, ...order }) => ({
    ...order,
    ...gateway,
    door: doorOf({ gateway }),
    transaction_id: `txn_${randomText(24, LOWER_ALNUM)}`,
    expires_at: new Date(order.now.getTime() + order_expiry_minutes * 60_000),
  }))
  const { rows } = await sql<Order & { locked: string | null }>`
    select ${named} locked, (placed).* from receive_orders(
      ${within(patience_ms, rowArray(ASKED_ORDER, asked))}, ${skippingArguments(skipping)}
    ) order by item
  `.execute(deps.db)
  return unlessLocked(rows, (order) => ((order.id as bigint | null) === null ? undefined : order))
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
 * is paid, refunded or closed, order_frozen, and what placeOrder throws. spec/payment-api 3.1.
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
