/** /api/payment: the acts of the HMAC API without a signature, as JSON. spec/access-keys 3.1. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { malformed } from '../../web/parameters.ts'
import { API_PATH } from '../access-keys/token.ts'
import type { Acts, QueryScope } from '../hmac/acts.ts'
import { describeTransfer } from '../hmac/answers.ts'
import { type Authenticated, requireReadable } from '../hmac/caller.ts'
import { sendPaymentError } from '../hmac/errors.ts'
import { type ListedDoor, listOrders, listTransfers } from '../hmac/lists.ts'
import type { ChargeAnswer, MandateAnswer, MandatePage, OfferAnswer } from '../hmac/mandate-shapes.ts'
import {
  type OpenedOrder,
  type OrderAnswer,
  type OrderPage,
  readerOf,
  type TransferAnswer,
  type TransferPage,
} from '../hmac/shapes.ts'
import { findTransfer } from '../orders/transfers.ts'
import { flatParameters } from '../wire-fields/fields.ts'
import { challengeOf, makeAuthenticate } from './authenticate.ts'
import { payoutRoutes } from './payouts.ts'
import { DOORS, OrdersQuery } from './shapes.ts'

const JSON_ONLY = 'Send the body as JSON (Content-Type: application/json)'
const OF_TRANSFER = `this is a transfer. Read it at GET ${API_PATH}/transfers/:transaction_id`

type Route<Answer extends z.ZodType> = { Reply: z.output<Answer> }

/** Registers every path below /api/payment. They read no cookie and answer JSON. */
export async function restRoutes(app: FastifyInstance, deps: Core, acts: Acts): Promise<void> {
  app.setErrorHandler((error, request, reply) => {
    const challenge = challengeOf(error, request)
    if (challenge !== undefined) reply.header('www-authenticate', challenge)
    return sendPaymentError(error, request, reply)
  })
  app.decorateRequest('tokenCaller', undefined)
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  takeJsonOnly(app)

  const authenticate = makeAuthenticate(deps)
  const reading = { onRequest: authenticate('orders:read') }
  const ordering = { onRequest: authenticate('orders:write') }
  const transferring = { onRequest: authenticate('transfers') }

  app.post<Route<typeof OpenedOrder>>(`${API_PATH}/orders`, ordering, async (request) =>
    acts.create(asked(request), request),
  )
  app.get<Route<typeof OrderPage | typeof OrderAnswer>>(`${API_PATH}/orders`, reading, async (request) =>
    orders(deps, acts, asked(request)),
  )
  app.get<Route<typeof OrderAnswer>>(`${API_PATH}/orders/:transaction_id`, reading, async (request) =>
    acts.query(asked(request), queriesOf(DOORS)),
  )
  app.post<Route<typeof TransferAnswer>>(`${API_PATH}/transfers`, transferring, async (request) =>
    acts.transfer(asked(request), request),
  )
  app.get<Route<typeof TransferPage>>(`${API_PATH}/transfers`, reading, async (request) =>
    listTransfers(deps, asked(request)),
  )
  app.get<Route<typeof TransferAnswer>>(`${API_PATH}/transfers/:transaction_id`, reading, async (request) =>
    transfer(deps, asked(request)),
  )
  payoutRoutes(app, deps, { onRequest: authenticate('payouts') })
  mandateRoutes(app, acts, { onRequest: authenticate('mandates') })
}

function mandateRoutes(
  app: FastifyInstance,
  { mandates }: Acts,
  guarded: { onRequest: (request: FastifyRequest) => Promise<void> },
): void {
  app.post<Route<typeof OfferAnswer>>(`${API_PATH}/mandates`, guarded, async (request) =>
    mandates.offer(asked(request), request),
  )
  app.get<Route<typeof MandatePage>>(`${API_PATH}/mandates`, guarded, async (request) =>
    mandates.list(asked(request), request),
  )
  app.get<Route<typeof MandateAnswer>>(`${API_PATH}/mandates/:mandate_id`, guarded, async (request) =>
    mandates.query(asked(request), request),
  )
  app.post<Route<typeof ChargeAnswer>>(
    `${API_PATH}/mandates/:mandate_id/charges`,
    guarded,
    async (request) => {
      const charge = asked(request)
      // The member's token, since the header has the one of the key.
      return mandates.charge(charge, charge.parameters.access_token || undefined)
    },
  )
  app.post<Route<typeof MandateAnswer>>(`${API_PATH}/mandates/:mandate_id/revoke`, guarded, async (request) =>
    mandates.revoke(asked(request), request),
  )
}

/** What a request asks: its body, or its query, and what its path names. A hand-over ends all keys, so none is a former owner's. */
function asked({ tokenCaller, method, body, query, params }: FastifyRequest): Authenticated {
  const sent = flatParameters(method === 'POST' ? body : query)
  const parameters = Object.assign(Object.create(null), sent, params)
  return { api: tokenCaller!, parameters, isFormerOwners: false, token_id: undefined }
}

const queriesOf = (doors: readonly ListedDoor[]): QueryScope => ({ doors, ofTransfer: OF_TRANSFER })

/** One order by its order_id, or a page of orders. */
function orders(
  deps: Core,
  acts: Acts,
  request: Authenticated,
): Promise<z.output<typeof OrderPage | typeof OrderAnswer>> {
  const { door, order_id } = request.parameters
  const doors = door ? [readerOf(OrdersQuery, request.parameters)('door')!] : DOORS
  return order_id ? acts.query(request, queriesOf(doors)) : listOrders(deps, request, doors)
}

async function transfer(
  { db }: Core,
  { api, parameters }: Authenticated,
): Promise<z.output<typeof TransferAnswer>> {
  requireReadable(api)
  const asker = { app_id: api.id, from_user_id: api.applicant_id }
  const found = await findTransfer(db, asker, parameters.transaction_id!)
  if (found === undefined) throw new AppError('payment_not_found', 'Payment not found')
  return { success: true, ...describeTransfer(found) }
}

function takeJsonOnly(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/x-www-form-urlencoded', 'text/plain'])
  app.addContentTypeParser('*', (_request, _payload, done) => done(malformed(JSON_ONLY)))
}
