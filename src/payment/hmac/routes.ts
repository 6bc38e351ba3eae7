/** The HMAC API: place an order, query it, transfer, list. Takes forms, JSON and multipart; answers JSON without cookies. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { acceptMultipart } from '../../web/parameters.ts'
import { publicIdOf } from '../mandates/mandates.ts'
import { findOrder, makeFindTransaction, type Order, payUrl, statusWord } from '../orders/orders.ts'
import { makeCreateOrder, type PlaceOrder } from '../orders/place.ts'
import { receivedRequest } from '../orders/received.ts'
import { countTestOrder } from '../orders/test-mode.ts'
import { isTransfer, makePostTransfer } from '../orders/transfers.ts'
import { isoSeconds } from '../signing/hmac.ts'
import { keepRefused, rememberRefusals } from '../signing/refused-requests.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'
import { describeOrder, describeTransfer } from './answers.ts'
import {
  type Authenticate,
  type Authenticated,
  makeAuthenticate,
  requireApproved,
  requireReadable,
} from './authenticate.ts'
import { sendPaymentError } from './errors.ts'
import { listRoutes } from './lists.ts'
import { mandateRoutes } from './mandates.ts'
import {
  checked,
  type OpenedOrder,
  type OrderAnswer,
  ProcessRequest,
  QueryRequest,
  type Route,
  readerOf,
  type TransferAnswer,
  TransferRequest,
} from './shapes.ts'

/** POST /payment/pay/:payment_id/process, /payment/query/:payment_id, /payment/transfer/:payment_id, the lists, and mandates. */
export async function hmacRoutes(app: FastifyInstance, deps: Core, placeOrder: PlaceOrder): Promise<void> {
  app.setErrorHandler(async (error, request, reply) => {
    await keepRefused(deps, request, error)
    return sendPaymentError(error, request, reply)
  })
  rememberRefusals(app)
  acceptMultipart(app)
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })

  const authenticate = makeAuthenticate(deps)
  const createOrder = makeCreateOrder(deps, placeOrder)

  app.post<Route<typeof OpenedOrder>>('/payment/pay/:payment_id/process', async (request) => {
    const { api, parameters, token_id } = await authenticate(request)
    requireReadable(api)
    const read = readerOf(ProcessRequest, parameters)
    const asked = {
      app_id: api.id,
      token_id,
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
  })

  queryRoute(app, deps, authenticate)
  transferRoute(app, deps, authenticate)
  listRoutes(app, deps, authenticate)
  mandateRoutes(app, deps, authenticate)
}

const A_TRANSFER =
  'this is a transfer. Send the transfer again with its order_id to read its result, or list transfers at POST /payment/transfers/:payment_id'

function queryRoute(app: FastifyInstance, deps: Core, authenticate: Authenticate): void {
  const findTransaction = makeFindTransaction(deps)

  async function queriedOrder({ api, parameters, isFormerOwners }: Authenticated): Promise<Order> {
    const { transaction_id, order_id } = parameters
    const read = readerOf(QueryRequest, parameters)
    const asker = { app_id: api.id, from_user_id: api.applicant_id, isFormerOwners }
    if (transaction_id) {
      const order = QueryRequest.shape.transaction_id.safeParse(transaction_id).success
        ? await findTransaction({ app_id: api.id, transaction_id })
        : undefined
      if (order !== undefined) return order
      const isSent = await isTransfer(deps.db, asker, { transaction_id })
      throw new AppError(
        'payment_not_found',
        isSent ? `Payment not found: ${A_TRANSFER}` : 'Payment not found',
      )
    }
    if (order_id) {
      const look = { app_id: api.id, door: 'hmac', order_id: read('order_id')! } as const
      const order = await findOrder(deps.db, look)
      if (order !== undefined) return order
      const isSent = await isTransfer(deps.db, asker, { order_id })
      throw new AppError('order_not_found', isSent ? `Order not found: ${A_TRANSFER}` : 'Order not found')
    }
    throw new AppError('parameter_missing', 'Missing parameter: transaction_id')
  }

  app.post<Route<typeof OrderAnswer>>('/payment/query/:payment_id', async (request) => {
    const asked = await authenticate(request)
    requireReadable(asked.api)
    const order = await queriedOrder(asked)
    const mandate_id = await publicIdOf(deps.db, order.mandate_id)
    return { success: true, ...describeOrder(order, deps.clock(), mandate_id) }
  })
}

/** Leaves out the amount, which has two names. */
const Recipient = TransferRequest.omit({ amount: true })

function transferRoute(app: FastifyInstance, deps: Core, authenticate: Authenticate): void {
  const postTransfer = makePostTransfer(deps)

  app.post<Route<typeof TransferAnswer>>('/payment/transfer/:payment_id', async (request) => {
    const { api, parameters, isFormerOwners } = await authenticate(request).catch(asTransferFailure)
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
    const transfer = await postTransfer(asked, () => requireApproved(api))
    return { success: true, ...describeTransfer(transfer) }
  })
}

/** An unknown Payment ID fails like an unusable one, because clients of transfers do not expect a 404. spec/payment-api 2.5. */
function asTransferFailure(error: unknown): never {
  if (error instanceof AppError && error.code === 'application_not_found') {
    throw new AppError('unknown_application', error.message)
  }
  throw error
}

/** Reads `amount`, or `points`, its name in some clients. Throws parameter_invalid for both, parameter_missing for none. */
function transferAmount(parameters: FlatParameters): bigint {
  const { amount = '', points = '' } = parameters
  if (amount !== '' && points !== '')
    throw new AppError('parameter_invalid', 'Invalid amount: given twice, as amount and as points')
  if (amount === '' && points === '') throw new AppError('parameter_missing', 'Missing parameter: amount')
  return BigInt(checked('amount', TransferRequest.shape.amount, amount || points))
}
