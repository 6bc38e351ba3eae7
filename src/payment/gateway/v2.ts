/**
 * V2: takes form bodies, answers JSON, and signs every answer with the application's platform key. Success is code 0.
 * spec/gateway 3.3.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import { sendPageError, wantsHtml } from '../../web/pages.ts'
import { closeOrder } from '../orders/orders.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { keepRefused } from '../signing/refused-requests.ts'
import { moneyOf, percentOf } from '../wire-fields/money.ts'
import type { GatewayVerbs } from './create.ts'
import { refusal, wireFailure } from './errors.ts'
import { listedTrades, takingsOf, visibleBalance } from './inquiry.ts'
import { type Fields, signReply } from './reply.ts'
import { type Authenticated, authenticate, body, requireInquiry, requireUsable } from './request.ts'
import type {
  ApplicationAnswer,
  BalanceAnswer,
  ClosedAnswer,
  OpenedV2,
  signature,
  TradeAnswer,
  TradesAnswer,
} from './shapes.ts'
import { describeV2, type OrNull, pidValue, tradeUrl } from './trade.ts'

/** The own fields of an endpoint's answer. The route adds `code` 0, `msg` and the signature, and drops empty fields. */
type Own<Answer extends z.ZodType> = OrNull<Omit<z.output<Answer>, 'code' | 'msg' | keyof typeof signature>>
/** An endpoint, which may override `code` and `msg`. */
type Endpoint = (asked: Authenticated, verbs: GatewayVerbs) => Promise<Fields>

const ENDPOINTS: Record<string, Endpoint> = {
  'pay/create': create,
  'pay/query': query,
  'pay/close': close,
  'pay/refund': () => refuse('不支持自动退款，请联系管理员处理'),
  'pay/refundquery': () => refuse('不支持自动退款，请联系管理员处理'),
  'merchant/info': describeApplication,
  'merchant/orders': listTrades,
  'transfer/submit': () => refuse('未开通代付功能'),
  'transfer/query': () => refuse('未开通代付功能'),
  'transfer/balance': describeTransfers,
}

/** The endpoints with a parameter `name`. */
const NAMED_ENDPOINTS = ['pay/create', 'transfer/submit']

/** POST at each endpoint. */
export async function v2Routes(app: FastifyInstance, verbs: GatewayVerbs): Promise<void> {
  const { deps } = verbs
  app.setErrorHandler(async (error, request, reply) => {
    await keepRefused(deps, request, error)
    const { status, body, isSigned } = wireFailure(error, 'v2', request, reply)
    const { gatewayApp } = request
    const isKnown = isSigned && gatewayApp !== undefined
    return reply.code(status).send(isKnown ? await signReply(deps, gatewayApp, body) : body)
  })

  for (const [path, endpoint] of Object.entries(ENDPOINTS)) {
    app.post(`/${path}`, async (request) => {
      const asked = await authenticate(request, body(request), deps)
      if (!NAMED_ENDPOINTS.includes(path)) requireInquiry(asked)
      requireUsable(asked.app, 'ask')
      const fields = nonEmpty({ code: 0, msg: 'success', ...(await endpoint(asked, verbs)) })
      return signReply(deps, asked.app, fields)
    })
  }
}

/** A file name with a path behind it: a client appended its own path to an address that ends with a file name. */
const DOUBLED_FILE = /\/(?:submit|mapi|api)\.php\/+([^?]+)/

/** Answers unknown paths with V2's code, or with a page for a browser. Tells the base address where a file name is doubled. */
export async function unknownPath(app: FastifyInstance, { settings, config }: GatewayCore): Promise<void> {
  app.setErrorHandler((error, request, reply) => {
    const { status, body } = wireFailure(error, 'v2', request, reply)
    return reply.code(status).send(body)
  })
  for (const url of ['/', '/*']) {
    app.route({
      method: ['GET', 'POST'],
      url,
      handler: async (request, reply) => {
        const [, behind] = DOUBLED_FILE.exec(request.url) ?? []
        if (behind !== undefined) {
          const base = `${config.PAYMENT_PUBLIC_URL}${behind.startsWith('api/') ? '/payment/' : '/payment/api/'}`
          return refuseDoubled(base, request, reply)
        }
        if (!wantsHtml(request)) throw refusal('unknown_action')
        await settings.read()
        return sendPageError(new AppError('not_found', 'There is nothing at this address'), request, reply)
      },
    })
  }
}

async function refuseDoubled(
  base: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const thrown = refusal('unknown_action', `支付网关地址应填 ${base} ，不含文件名`)
  const { body: failure } = wireFailure(thrown, 'v2', request, reply)
  if (!wantsHtml(request)) return reply.send(failure)
  const inEnglish = `The address of the gateway is ${base}, without a file name.`
  return reply.page('payment/gateway/refused', { failure, inEnglish, requestId: request.id }, { status: 404 })
}

async function create(
  asked: Authenticated,
  { deps, createTrade }: GatewayVerbs,
): Promise<Own<typeof OpenedV2> | { code: 1; msg: string; trade_no: string | null }> {
  const order = await createTrade(asked)
  const { trade_no } = order
  if (order.status === 'paid') return { code: 1, msg: '订单已支付', trade_no }
  const { order_id: out_trade_no, money } = order
  const pid = pidValue(asked.parameters.pid!)
  return { trade_no, pay_type: 'jump', pay_info: tradeUrl(deps, order), pid, out_trade_no, money }
}

async function query(
  { app, parameters }: Authenticated,
  { findTrade }: GatewayVerbs,
): Promise<Own<typeof TradeAnswer>> {
  return describeV2(await findTrade(app, parameters))
}

async function listTrades(asked: Authenticated, verbs: GatewayVerbs): Promise<Own<typeof TradesAnswer>> {
  const data = (await listedTrades(verbs, asked)).map((trade) => nonEmpty(describeV2(trade)))
  return { count: data.length, data }
}

/** Closes a trade. A closed one succeeds again, because a client may repeat its request. Throws order_exists. */
async function close(
  { app, parameters }: Authenticated,
  { deps: { db, clock }, findTrade }: GatewayVerbs,
): Promise<Own<typeof ClosedAnswer>> {
  const { id, status } = await findTrade(app, parameters)
  if (status === 'closed' || (await closeOrder(db, id, clock()))) return {}
  throw refusal('order_exists', status === 'refunded' ? '订单已退款' : '订单已支付')
}

async function describeApplication(
  asked: Authenticated,
  { deps }: GatewayVerbs,
): Promise<Own<typeof ApplicationAnswer>> {
  const { app, parameters } = asked
  const takings = await takingsOf(deps.db, asked, deps.clock())
  const isActive = app.status === 'approved' ? 1 : 0
  return {
    pid: pidValue(parameters.pid!),
    status: isActive,
    pay_status: isActive,
    settle_status: 0,
    money: await visibleBalance(deps.db, asked),
    order_num: Number(takings.count),
    order_num_today: Number(takings.count_today),
    order_num_lastday: Number(takings.count_yesterday),
    order_money_today: moneyOf(takings.points_today, app.exchange_rate),
    order_money_lastday: moneyOf(takings.points_yesterday, app.exchange_rate),
  }
}

/** Describes the balance and the fee rate of transfers, which the HMAC API makes. */
async function describeTransfers(
  asked: Authenticated,
  { deps }: GatewayVerbs,
): Promise<Own<typeof BalanceAnswer>> {
  const { trust_level } = await deps.db
    .selectFrom('users')
    .where('id', '=', asked.app.applicant_id)
    .select('trust_level')
    .executeTakeFirstOrThrow()
  const settings = await deps.settings.read()
  const rate = settings[`points_transfer_fee_rate_tl${trust_level as 0 | 1 | 2 | 3 | 4}`]
  return { available_money: await visibleBalance(deps.db, asked), transfer_rate: percentOf(rate) }
}

async function refuse(msg: string): Promise<never> {
  throw refusal('not_supported', msg)
}

/** Drops null and empty fields, because clients differ in signing them. */
function nonEmpty<Present extends object>(fields: OrNull<Present>): Present {
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== '')
  return Object.fromEntries(present) as Present
}
