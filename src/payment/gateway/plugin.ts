/**
 * The gateway: V1 and V2 of the epay protocol, another door to the same orders. Machine scope: signed parameters or the
 * Merchant KEY, no cookies. Mounted wherever libraries that append to one base address will look. decisions.md 1.3.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Deps } from '../../deps.ts'
import { openTurns } from '../../turns.ts'
import { acceptMultipart } from '../../web/parameters.ts'
import type { PlaceOrder } from '../orders.ts'
import { rememberRefusals } from '../refused-requests.ts'
import { type GatewayVerbs, makeCreateTrade } from './create.ts'
import { submitRoute } from './submit.ts'
import { v1Routes } from './v1.ts'
import { unknownPath, v2Routes } from './v2.ts'

export async function gatewayPlugin(app: FastifyInstance, deps: Deps, placeOrder: PlaceOrder): Promise<void> {
  const verbs = { deps, createTrade: makeCreateTrade(deps, placeOrder), turns: openTurns() }
  app.decorateRequest('gatewayApp', undefined)
  rememberRefusals(app)
  acceptMultipart(app)
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  await mountV1(app, '/payment/api', verbs)
  await mountV2(app, '/payment/api', verbs)
  await app.register(unknownPath, { prefix: '/payment/api' })
  await mountV1(app, '/payment', verbs)
  await mountV1(app, '/payment/api/api', verbs)
  await mountV2(app, '/payment/api/api', verbs)
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => requireRoot(deps, reply))
    await mountV1(scope, '', verbs)
    await mountV2(scope, '/api', verbs)
  })
}

async function mountV1(app: FastifyInstance, prefix: string, verbs: GatewayVerbs): Promise<void> {
  await app.register(submitRoute, { ...verbs, path: `${prefix}/submit.php` })
  await app.register((scope) => v1Routes(scope, verbs), { prefix })
}

async function mountV2(app: FastifyInstance, prefix: string, verbs: GatewayVerbs): Promise<void> {
  await app.register(submitRoute, { ...verbs, path: `${prefix}/pay/submit` })
  await app.register((scope) => v2Routes(scope, verbs), { prefix })
}

/** For libraries that take no path in their base address. NOTE: off unless an administrator turns it on. */
async function requireRoot({ settings }: Deps, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if ((await settings.read()).gateway_at_root === 'on') return undefined
  reply.callNotFound()
  return reply
}
