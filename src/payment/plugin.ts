/** The payment area: the buyer's and the merchant's pages (browser), the HMAC API and the gateway (machine). */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { refuseOtherMethods } from '../web/methods.ts'
import { gatewayPlugin } from './gateway/plugin.ts'
import { hmacRoutes } from './hmac/routes.ts'
import { makePayOrder, makePlaceOrder } from './orders.ts'
import { alertPages } from './pages/alerts.ts'
import { paymentAppPages } from './pages/applications.ts'
import { buyersPayments } from './pages/buyers-payments.ts'
import { eventPages } from './pages/events.ts'
import { payPages } from './pages/pay.ts'
import { signaturePages } from './pages/signatures.ts'

export async function paymentPlugin(app: FastifyInstance, deps: Deps): Promise<void> {
  const payOrder = makePayOrder(deps)
  const placeOrder = makePlaceOrder(deps)
  await app.register(async (scope) => payPages(scope, deps, payOrder))
  await app.register(buyersPayments, deps)
  await app.register(paymentAppPages, deps)
  await app.register(alertPages, deps)
  await app.register(eventPages, deps)
  await app.register(signaturePages, deps)
  await app.register(async (scope) => refuseOtherMethods(scope, () => hmacRoutes(scope, deps, placeOrder)))
  await app.register(async (scope) => refuseOtherMethods(scope, () => gatewayPlugin(scope, deps, placeOrder)))
}
