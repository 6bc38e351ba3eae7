// This room: the HMAC API: orders, queries, transfers, lists and mandates for a shop’s server.
// Verbs: makeAuthenticate, makeActs, hmacRoutes, listOrders, sendPaymentError.
// Clauses: spec/payment-api 1.6, 2.1–2.5, 3.2, 4.1, 5.1; spec/mandates 2.1, 3.1, 4.1.
/** What a merchant's program can do with orders and transfers, however the request proved its application. */
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { publicIdOf } from '../mandates/mandates.ts'
import { findOrder, findSale, makeFindTransaction, type Order, payUrl, statusWord } from '../orders/orders.ts'
import { type CreateOrder, makeCreateOrder, type PlaceOrder } from '../orders/place.ts'
import { receivedRequest } from '../orders/received.ts'
import { countTestOrder } from '../orders/test-mode.ts'
import { isTransfer, makePostTransfer, type PostTransfer } from '../orders/transfers.ts'
import { isoSeconds } from '../signing/hmac.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'
import { describeOrder, describeTransfer, type TipFacts } from './answers.ts'
import { type Authenticated, requireApproved, requireReadable } from './caller.ts'
import type { ListedDoor } from './lists.ts'
import { type MandateActs, makeMandateActs } from './mandates.ts'
import {
  type Act,
  checked,
  NewOrder,
  NewTransfer,
  type OpenedOrder,
  type OrderAnswer,
  OrderQuery,
  readerOf,
  type TransferAnswer,
} from './shapes.ts'

/** What a query may find. */
export type QueryScope = {
  doors: readonly ListedDoor[]
  /** Said when the number is of a transfer. */
  ofTransfer: string
}

export type Acts = {
  create: Act<typeof OpenedOrder>
  /** Reads an order by its transaction_id or its order_id. */
  query(asked: Authenticated, scope: QueryScope): Promise<z.output<typeof OrderAnswer>>
  transfer: Act<typeof TransferAnswer>
  mandates: MandateActs
}

/** Makes the acts of this process, whose requests share their batches. */
export function makeActs(deps: Core, placeOrder: PlaceOrder): Acts {
  const createOrder = makeCreateOrder(deps, placeOrder)
  const findTransaction = makeFindTransaction(deps)
  const postTransfer = makePostTransfer(deps)
  return {
    create: (asked, request) => create(deps, createOrder, asked, request),
    async query(asked, scope) {
      requireReadable(asked.api)
      const order = await queriedOrder(deps, findTransaction, asked, scope)
      const mandate_id = await publicIdOf(deps.db, order.mandate_id)
      const tip = order.door === 'tip' ? await readTip(deps, order.id) : null
      return { success: true, ...describeOrder(order, deps.clock(), mandate_id, tip) }
    },
    transfer: (asked) => transfer(postTransfer, asked),
    mandates: makeMandateActs(deps),
  }
}

async function readTip({ db }: Core, order_id: bigint): Promise<TipFacts> {
  const { rows } = await sql<{ tip: TipFacts }>`select tip_facts(${order_id}::bigint) as tip`.execute(db)
  return rows[0]!.tip
}

async function create(
  deps: Core,
  createOrder: CreateOrder,
  { api, parameters, token_id }: Authenticated,
  request: FastifyRequest,
): Promise<z.output<typeof OpenedOrder>> {
  requireReadable(api)
  const read = readerOf(NewOrder, parameters)
  const asked = {
    app_id: api.id,
    ...(token_id !== undefined && { token_id }),
    order_id: read('order_id'),
    description: read('description'),
    amount: BigInt(read('amount')),
    received: receivedRequest(request, parameters),
  }
  const order = await createOrder(asked, async () => {
    requireApproved(api)
    await countTestOrder(deps, api)
  })
  return {
    success: true,
    payment_url: payUrl(deps, order.transaction_id),
    transaction_id: order.transaction_id,
    status: statusWord(order),
    amount: Number(order.amount),
    expires_at: isoSeconds(order.expires_at),
  }
}

async function queriedOrder(
  { db }: Core,
  findTransaction: ReturnType<typeof makeFindTransaction>,
  { api, parameters, isFormerOwners }: Authenticated,
  { doors, ofTransfer }: QueryScope,
): Promise<Order> {
  const { transaction_id, order_id } = parameters
  const read = readerOf(OrderQuery, parameters)
  const asker = { app_id: api.id, from_user_id: api.applicant_id, isFormerOwners }
  if (transaction_id) {
    const look = { app_id: api.id, transaction_id }
    const isNumber = OrderQuery.shape.transaction_id.safeParse(transaction_id).success
    let order = isNumber ? await findTransaction(look) : undefined
    if (order === undefined && isNumber) order = await findSale(db, { ...look, doors })
    if (order !== undefined) return order
    const isSent = await isTransfer(db, asker, { transaction_id })
    throw new AppError('payment_not_found', isSent ? `Payment not found: ${ofTransfer}` : 'Payment not found')
  }
  if (order_id) {
    const look = { app_id: api.id, order_id: read('order_id')! }
    for (const door of doors) {
      const order = await findOrder(db, { ...look, door })
      if (order !== undefined) return order
    }
    const isSent = await isTransfer(db, asker, { order_id })
    throw new AppError('order_not_found', isSent ? `Order not found: ${ofTransfer}` : 'Order not found')
  }
  throw new AppError('parameter_missing', 'Missing parameter: transaction_id')
}

/** Leaves out the amount, which has two names. */
const Recipient = NewTransfer.omit({ amount: true })

async function transfer(
  postTransfer: PostTransfer,
  { api, parameters, isFormerOwners }: Authenticated,
): Promise<z.output<typeof TransferAnswer>> {
  requireReadable(api)
  const read = readerOf(Recipient, parameters)
  const asked = {
    app_id: api.id,
    from_user_id: api.applicant_id,
    isFormerOwners,
    to_user_id: BigInt(read('to_user_id')),
    to_username: read('to_username'),
    amount: transferAmount(parameters),
    order_id: read('order_id'),
  }
  const made = await postTransfer(asked, () => requireApproved(api))
  return { success: true, ...describeTransfer(made) }
}

/** Reads `amount`, or `points`, its name in some clients. Throws parameter_invalid for both, parameter_missing for none. */
function transferAmount(parameters: FlatParameters): bigint {
  const { amount = '', points = '' } = parameters
  if (amount !== '' && points !== '')
    throw new AppError('parameter_invalid', 'Invalid amount: given twice, as amount and as points')
  if (amount === '' && points === '') throw new AppError('parameter_missing', 'Missing parameter: amount')
  return BigInt(checked('amount', NewTransfer.shape.amount, amount || points))
}
