/**
 * The gateway: V1 and V2 of the epay protocol, the second door beside the HMAC API. Its orders are apart from those
 * of the HMAC API. Signed parameters or the Merchant KEY authenticate requests, without cookies. It is mounted at every path that libraries append to a base address.
 * spec/gateway 1.1.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { openFairQueue } from '../../platform/fair-queue.ts'
import { wantsHtml } from '../../web/pages.ts'
import { acceptMultipart } from '../../web/parameters.ts'
import type { PlaceOrder } from '../orders/place.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { rememberRefusals } from '../signing/refused-requests.ts'
import { type GatewayVerbs, makeCreateTrade } from './create.ts'
import { refusal, wireFailure } from './errors.ts'
import { makeFindTrade } from './inquiry.ts'
import { submitRoute } from './submit.page.ts'
import { v1Routes } from './v1.ts'
import { unknownPath, v2Routes } from './v2.ts'

/** Registers the routes of both versions at every base. */
export async function gatewayPlugin(
  app: FastifyInstance,
  deps: GatewayCore,
  placeOrder: PlaceOrder,
): Promise<void> {
  const verbs = {
    deps,
    createTrade: makeCreateTrade(deps, placeOrder),
    findTrade: makeFindTrade(deps),
    queue: openFairQueue(),
  }
  app.decorateRequest('gatewayApp', undefined)
  rememberRefusals(app)
  acceptMultipart(app)
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  await mountV1(app, '/payment/api', verbs)
  await mountV2(app, '/payment/api', verbs)
  await app.register((scope) => unknownPath(scope, deps), { prefix: '/payment/api' })
  await mountV1(app, '/payment', verbs)
  await mountV1(app, '/payment/api/api', verbs)
  await mountV2(app, '/payment/api/api', verbs)
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => requireRoot(deps, request, reply))
    await mountV1(scope, '', verbs)
    await mountV2(scope, '/api', verbs)
  })
}

async function mountV1(app: FastifyInstance, prefix: string, verbs: GatewayVerbs): Promise<void> {
  await app.register(submitRoute, { ...verbs, path: `${prefix}/submit.php` })
  // Some integrations append pay/submit.php to the base.
  await app.register(submitRoute, { ...verbs, path: `${prefix}/pay/submit.php` })
  await app.register((scope) => v1Routes(scope, verbs), { prefix })
}

async function mountV2(app: FastifyInstance, prefix: string, verbs: GatewayVerbs): Promise<void> {
  await app.register(submitRoute, { ...verbs, path: `${prefix}/pay/submit` })
  await app.register((scope) => v2Routes(scope, verbs), { prefix })
}

/** Refuses the root of the host unless an administrator opened it for libraries whose base address has no path. */
async function requireRoot(
  { settings, config }: GatewayCore,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if ((await settings.read()).gateway_at_root === 'on') return undefined
  // Clients append `api/…` to one base, and a file name to the other.
  const base = `${config.PAYMENT_PUBLIC_URL}${request.url.startsWith('/api/') ? '/payment/' : '/payment/api/'}`
  const msg = `支付网关地址是 ${base} ，域名根路径由管理员用设置 gateway_at_root 开启`
  const { body: failure } = wireFailure(refusal('unknown_action', msg), 'v1', request, reply)
  if (!wantsHtml(request)) return reply.code(404).send(failure)
  const inEnglish = `The gateway is at ${base}. An administrator opens the root of the host with the setting gateway_at_root.`
  return reply.page('payment/gateway/refused', { failure, inEnglish, requestId: request.id }, { status: 404 })
}
