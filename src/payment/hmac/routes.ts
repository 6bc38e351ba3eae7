/** The HMAC API: initiate a payment, query one, transfer. Form bodies, JSON and multipart; no cookies, no redirects, always JSON. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { AppError } from '../../errors.ts'
import { networkOf } from '../../limits.ts'
import { acceptMultipart } from '../../web/parameters.ts'
import { isAllowedAddress } from '../addresses.ts'
import { sendPaymentError } from '../errors.ts'
import { markTokenUsed } from '../keys.ts'
import { createOrder, findOrder, isExpired, type Order, statusWord, TRANSACTION_ID } from '../orders.ts'
import { type FlatParameters, flatParameters } from '../parameters.ts'
import { makePostTransfer } from '../transfers.ts'
import { type Caller, type FindCaller, makeFindCaller } from './caller.ts'
import { isoSeconds, verifySignature } from './signature.ts'

const PAYMENT_ID = /^pay_[a-z0-9]{20}$/
const AMOUNT = /^[1-9][0-9]{0,15}$/
/** Printable ASCII without space and `&`. */
const ORDER_ID = /^[!-%'-~]{1,128}$/
const DESCRIPTION_LENGTH_MAX = 255
const DRIFT_SECONDS_MAX = 300

/** POST /payment/pay/:payment_id/process, /payment/query/:payment_id and /payment/transfer/:payment_id. */
export async function hmacRoutes(app: FastifyInstance, deps: Deps): Promise<void> {
  app.setErrorHandler((error, request, reply) => sendPaymentError(error, request, reply))
  acceptMultipart(app)
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })

  const findCaller = makeFindCaller(deps)

  app.post<{ Params: { payment_id: string } }>('/payment/pay/:payment_id/process', async (request) => {
    const { api, parameters } = await authenticate(request, deps, findCaller)
    if (api.status !== 'approved') throw unusable()
    const [amount, description, order_id] = required(parameters, ['amount', 'description', 'order_id'])
    const order = await createOrder(deps, {
      app_id: api.id,
      order_id: validOrderId(order_id),
      description: validDescription(description),
      amount: validAmount(amount),
    })
    return {
      success: true,
      payment_url: `${deps.config.PAYMENT_PUBLIC_URL}/payment/pay/${order.transaction_id}`,
      transaction_id: order.transaction_id,
      status: statusWord(order),
      amount: Number(order.amount),
      expires_at: isoSeconds(order.expires_at),
    }
  })

  app.post<{ Params: { payment_id: string } }>('/payment/query/:payment_id', async (request) => {
    const { api, parameters } = await authenticate(request, deps, findCaller)
    // A suspended application may still ask about what it has sold (decisions.md 4.8).
    if (api.status !== 'approved' && api.status !== 'suspended') throw unusable()
    return describe(await queriedOrder(deps, api, parameters), deps.clock())
  })

  transferRoute(app, deps, findCaller)
}

function transferRoute(app: FastifyInstance, deps: Deps, findCaller: FindCaller): void {
  const postTransfer = makePostTransfer(deps)

  app.post<{ Params: { payment_id: string } }>('/payment/transfer/:payment_id', async (request) => {
    const { api, parameters } = await authenticate(request, deps, findCaller).catch(asTransferFailure)
    if (api.status !== 'approved') throw unusable()
    const [to_user_id, to_username, order_id] = required(parameters, [
      'to_user_id',
      'to_username',
      'order_id',
    ])
    const transfer = await postTransfer({
      app_id: api.id,
      to_user_id: validUserId(to_user_id),
      to_username,
      amount: validAmount(transferAmount(parameters)),
      order_id: validOrderId(order_id),
    })
    return {
      success: true,
      transaction_id: transfer.transaction_id,
      order_id: transfer.order_id,
      status: transfer.status,
      amount: Number(transfer.amount),
      fee: Number(transfer.fee),
      total_deduction: Number(transfer.amount + transfer.fee),
      from_user_id: Number(transfer.from_user_id),
      from_username: transfer.from_username,
      to_user_id: Number(transfer.to_user_id),
      to_username: transfer.to_username,
      paid_at: isoSeconds(transfer.paid_at),
    }
  })
}

/** Transfers fail with 400 or 401 only, so an unknown Payment ID is told like an unusable one (decisions.md 5.6). */
function asTransferFailure(error: unknown): never {
  if (error instanceof AppError && error.code === 'application_not_found') {
    throw new AppError('unknown_application', error.message)
  }
  throw error
}

/** Some clients call the amount of a transfer `points`. One of the two, never both. */
function transferAmount(parameters: FlatParameters): string {
  const { amount = '', points = '' } = parameters
  if (amount !== '' && points !== '')
    throw new AppError('parameter_invalid', 'Invalid amount: given twice, as amount and as points')
  if (amount === '' && points === '') throw new AppError('parameter_missing', 'Missing parameter: amount')
  return amount || points
}

function validUserId(text: string): bigint {
  if (!/^[1-9][0-9]{0,17}$/.test(text))
    throw new AppError('parameter_invalid', 'Invalid to_user_id: a decimal number')
  return BigInt(text)
}

/** Finds the application, checks its signature, then the optional timestamp, then where the call comes from. */
async function authenticate(
  request: FastifyRequest<{ Params: { payment_id: string } }>,
  deps: Deps,
  findCaller: FindCaller,
): Promise<{ api: Caller; parameters: FlatParameters }> {
  const parameters = flatParameters(request.body)
  const { payment_id } = request.params
  const api = PAYMENT_ID.test(payment_id) ? await findCaller(payment_id) : undefined
  if (api === undefined)
    throw new AppError('application_not_found', 'There is no payment application with this Payment ID')
  const verdict = verifySignature(
    parameters,
    api.tokens.map(({ keys }) => keys),
  )
  if (!verdict.isValid) {
    // Counted apart: whoever knows a Payment ID only cannot use up what its application may ask.
    await deps.limits.take('api_requests', `${api.id} unsigned ${networkOf(request.ip)}`)
    const { signed_string, hint } = verdict
    throw new AppError('invalid_signature', 'Invalid signature', { data: { signed_string, hint } })
  }
  await deps.limits.take('api_requests', api.id.toString())
  verifyTimestamp(parameters.timestamp, deps.clock())
  if (!isAllowedAddress(request.ip, api.allowed_addresses)) {
    throw new AppError('address_not_allowed', `This address may not call for the application: ${request.ip}`)
  }
  await markTokenUsed(deps.db, api.tokens[verdict.key]!, deps.clock())
  return { api, parameters }
}

function verifyTimestamp(timestamp: string | undefined, now: Date): void {
  if (timestamp === undefined || timestamp === '') return
  const server_time = Math.floor(now.getTime() / 1000)
  if (!/^\d{10}$/.test(timestamp) || Math.abs(server_time - Number(timestamp)) > DRIFT_SECONDS_MAX) {
    throw new AppError('stale_timestamp', 'Timestamp is invalid or expired', { data: { server_time } })
  }
}

/** The values of these parameters. Throws parameter_missing naming every one that is absent or empty. */
function required<const Names extends readonly string[]>(
  parameters: FlatParameters,
  names: Names,
): { [Index in keyof Names]: string } {
  const missing = names.filter((name) => (parameters[name] ?? '') === '')
  if (missing.length > 0) throw new AppError('parameter_missing', `Missing parameter: ${missing.join(', ')}`)
  return names.map((name) => parameters[name]) as { [Index in keyof Names]: string }
}

function validAmount(text: string): bigint {
  if (!AMOUNT.test(text) || BigInt(text) > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new AppError(
      'parameter_invalid',
      'Invalid amount: a whole number of points from 1, in decimal digits',
    )
  }
  return BigInt(text)
}

function validDescription(text: string): string {
  if ([...text].length > DESCRIPTION_LENGTH_MAX) {
    throw new AppError(
      'parameter_invalid',
      `Invalid description: at most ${DESCRIPTION_LENGTH_MAX} characters`,
    )
  }
  return text
}

function validOrderId(text: string): string {
  if (!ORDER_ID.test(text)) {
    throw new AppError(
      'parameter_invalid',
      'Invalid order_id: 1 to 128 printable ASCII characters without space or &',
    )
  }
  return text
}

async function queriedOrder(deps: Deps, api: Caller, parameters: FlatParameters): Promise<Order> {
  const { transaction_id, order_id } = parameters
  if (transaction_id) {
    const order = TRANSACTION_ID.test(transaction_id)
      ? await findOrder(deps.db, api.id, { transaction_id })
      : undefined
    if (order === undefined) throw new AppError('payment_not_found', 'Payment not found')
    return order
  }
  if (order_id) {
    const order = await findOrder(deps.db, api.id, { order_id: validOrderId(order_id) })
    if (order === undefined) throw new AppError('order_not_found', 'Order not found')
    return order
  }
  throw new AppError('parameter_missing', 'Missing parameter: transaction_id')
}

/** The full transaction, decisions.md 5.8: points as integers, times in UTC, null for what has not happened. */
function describe(order: Order, now: Date) {
  return {
    success: true,
    transaction_id: order.transaction_id,
    order_id: order.order_id,
    status: statusWord(order),
    amount: Number(order.amount),
    platform_fee: Number(order.fee ?? 0n),
    merchant_points: Number(order.merchant_points ?? 0n),
    description: order.description,
    external_reference: order.order_id,
    created_at: isoSeconds(order.created_at),
    updated_at: isoSeconds(order.updated_at),
    paid_at: order.paid_at === null ? null : isoSeconds(order.paid_at),
    expires_at: isoSeconds(order.expires_at),
    expired: isExpired(order, now),
    error_message: null,
    refunded_amount: Number(order.refunded_amount),
  }
}

function unusable(): AppError {
  return new AppError('application_unusable', 'This payment application is not approved')
}
