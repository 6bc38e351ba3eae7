/** The HMAC API: place an order, query it, transfer, list. Takes forms, JSON and multipart; answers JSON without cookies. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { acceptMultipart } from '../../web/parameters.ts'
import { keepRefused, rememberRefusals } from '../signing/refused-requests.ts'
import type { Acts, QueryScope } from './acts.ts'
import { makeAuthenticate } from './authenticate.ts'
import { sendPaymentError } from './errors.ts'
import { listOrders, listTransfers } from './lists.ts'
import { mandateRoutes } from './mandates.ts'
import type { OpenedOrder, OrderAnswer, OrderPage, Route, TransferAnswer, TransferPage } from './shapes.ts'

const SIGNED_QUERIES: QueryScope = {
  doors: ['hmac', 'tip'],
  ofTransfer:
    'this is a transfer. Send the transfer again with its order_id to read its result, or list transfers at POST /payment/transfers/:payment_id',
}

/** POST /payment/pay/:payment_id/process, /payment/query/:payment_id, /payment/transfer/:payment_id, the lists, and mandates. */
export async function hmacRoutes(app: FastifyInstance, deps: Core, acts: Acts): Promise<void> {
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

  app.post<Route<typeof OpenedOrder>>('/payment/pay/:payment_id/process', async (request) =>
    acts.create(await authenticate(request), request),
  )
  app.post<Route<typeof OrderAnswer>>('/payment/query/:payment_id', async (request) =>
    acts.query(await authenticate(request), SIGNED_QUERIES),
  )
  app.post<Route<typeof TransferAnswer>>('/payment/transfer/:payment_id', async (request) =>
    acts.transfer(await authenticate(request).catch(asTransferFailure), request),
  )
  app.post<Route<typeof OrderPage>>('/payment/orders/:payment_id', async (request) =>
    listOrders(deps, await authenticate(request), SIGNED_QUERIES.doors),
  )
  app.post<Route<typeof TransferPage>>('/payment/transfers/:payment_id', async (request) =>
    listTransfers(deps, await authenticate(request)),
  )
  mandateRoutes(app, acts.mandates, authenticate)
}

/** An unknown Payment ID fails like an unusable one, because clients of transfers do not expect a 404. spec/payment-api 2.5. */
function asTransferFailure(error: unknown): never {
  if (error instanceof AppError && error.code === 'application_not_found') {
    throw new AppError('unknown_application', error.message)
  }
  throw error
}
