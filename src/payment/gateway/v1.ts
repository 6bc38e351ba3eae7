/** V1 for a shop's server: mapi.php creates a trade, api.php answers inquiries. spec/gateway 2.3. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { keepRefused } from '../signing/refused-requests.ts'
import type { GatewayVerbs } from './create.ts'
import { refusal, wireFailure } from './errors.ts'
import { listedTrades, takingsOf, visibleBalance } from './inquiry.ts'
import { asAsked, type Fields } from './reply.ts'
import {
  type Authenticated,
  authenticate,
  findApp,
  queryAndBody,
  queryOrBody,
  requireInquiry,
  requireUsable,
} from './request.ts'
import type { OpenedV1, OrderActAnswer, OrdersActAnswer, QueryActAnswer } from './shapes.ts'
import { describeV1, pidValue, tradeUrl } from './trade.ts'

/** GET and POST mapi.php and api.php. */
export async function v1Routes(app: FastifyInstance, verbs: GatewayVerbs): Promise<void> {
  const { deps, createTrade } = verbs
  app.setErrorHandler(async (error, request, reply) => {
    await keepRefused(deps, request, error)
    const { status, body, isSigned } = wireFailure(error, 'v1', request, reply)
    return reply.code(status).send(isSigned ? await asAsked(deps, request, body) : body)
  })

  app.route({
    method: ['GET', 'POST'],
    url: '/mapi.php',
    handler: async (request) => {
      const order = await createTrade(await authenticate(request, queryOrBody(request), deps))
      // A paid trade gets a payurl too, whose page leads back to the shop, because clients always expect one.
      const msg = order.status === 'paid' ? '订单已支付' : 'success'
      const payurl = tradeUrl(deps, order)
      const opened: z.output<typeof OpenedV1> = { code: 1, msg, trade_no: order.trade_no!, payurl }
      return asAsked(deps, request, opened)
    },
  })

  app.route({
    method: ['GET', 'POST'],
    url: '/api.php',
    handler: async (request) => asAsked(deps, request, await answer(request, verbs)),
  })
}

type Act<Answer = Fields> = (verbs: GatewayVerbs, asked: Authenticated) => Promise<Answer>

const ACTS: Record<string, Act> = {
  query: describeApplication,
  // There are no settlements to outside accounts: points stay in the wallet.
  settle: async () => ({ code: 1, msg: 'success', data: [] }),
  order: findOrder,
  orders: listOrders,
  refund: async () => {
    throw refusal('not_supported', '不支持自动退款，请联系管理员处理')
  },
}

async function answer(request: FastifyRequest, verbs: GatewayVerbs): Promise<Fields> {
  const received = queryAndBody(request)
  if (Object.keys(received).length === 0) throw refusal('nothing_sent')
  const act = received.act ?? (isRefund(received) ? 'refund' : undefined)
  if (typeof act !== 'string' || !Object.hasOwn(ACTS, act)) {
    // A client with RSA verifies refusals too, so this finds the application for its key.
    if (received.sign_type === 'RSA') await findApp(request, received, verbs.deps)
    throw refusal('unknown_action', 'No Act!')
  }
  const asked = await authenticate(request, received, verbs.deps, { byKey: true })
  requireInquiry(asked)
  requireUsable(asked.app, 'ask')
  return ACTS[act]!(verbs, asked)
}

/** Whether a request without `act` is a refund by its fields. A create sends money too, but with a name. */
function isRefund({ money, name, trade_no, out_trade_no }: Record<string, unknown>): boolean {
  return money !== undefined && name === undefined && (trade_no ?? out_trade_no) !== undefined
}

async function findOrder(
  { findTrade }: GatewayVerbs,
  { app, parameters }: Authenticated,
): Promise<z.output<typeof OrderActAnswer>> {
  return { code: 1, msg: 'success', ...describeV1(await findTrade(app, parameters)) }
}

async function listOrders(
  verbs: GatewayVerbs,
  asked: Authenticated,
): Promise<z.output<typeof OrdersActAnswer>> {
  const data = (await listedTrades(verbs, asked)).map(describeV1)
  return { code: 1, msg: 'success', count: data.length, data }
}

/** Describes the application. Plugins check their settings with it. */
async function describeApplication(
  { deps }: GatewayVerbs,
  asked: Authenticated,
): Promise<z.output<typeof QueryActAnswer>> {
  const { app, parameters } = asked
  const takings = await takingsOf(deps.db, asked, deps.clock())
  const [today, yesterday] = [Number(takings.count_today), Number(takings.count_yesterday)]
  return {
    code: 1,
    pid: pidValue(parameters.pid!),
    key: parameters.key ?? '',
    active: app.status === 'approved' ? 1 : 0,
    money: await visibleBalance(deps.db, asked),
    type: 1,
    account: '',
    username: '',
    orders: Number(takings.count),
    // The protocol's documents and its servers use different names.
    order_today: today,
    orders_today: today,
    order_lastday: yesterday,
    orders_lastday: yesterday,
  }
}
