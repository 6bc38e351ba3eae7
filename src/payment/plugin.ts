/** The payment area: the pages of payers and merchants (browser), the HMAC API and the gateway (machine). */
import type { FastifyInstance } from 'fastify'
import { refuseOtherMethods } from '../web/methods.ts'
import { tokenRoutes } from './access-keys/token.ts'
import { alertPages } from './alerts/alerts.page.ts'
import { payPages } from './buyer/pay.page.ts'
import { payerPages } from './buyer/payments.page.ts'
import { signaturePages } from './diagnosis/signatures.page.ts'
import { eventPages } from './events/events.page.ts'
import { gatewayPlugin } from './gateway/plugin.ts'
import { makeActs } from './hmac/acts.ts'
import { hmacRoutes } from './hmac/routes.ts'
import { linkPages } from './links/link.page.ts'
import { mandatePages } from './mandates/offer.page.ts'
import { ownMandatePages } from './mandates/own.page.ts'
import { merchantPages } from './merchant.ts'
import type { PaymentDeps } from './notifications/worker.ts'
import { makePay } from './orders/pay.ts'
import { makePlaceOrder } from './orders/place.ts'
import { restRoutes } from './rest/routes.ts'
import { tipPages } from './tips/tip.page.ts'

/** Shops join a base address and a path with no slash, one or two, and some end the path with a slash. */
export const SLASHES_OF_SHOPS = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true }

/** Registers every route of the payment area. */
export async function paymentPlugin(app: FastifyInstance, deps: PaymentDeps): Promise<void> {
  const payOrder = makePay(deps)
  const placeOrder = makePlaceOrder(deps)
  const acts = makeActs(deps, placeOrder)
  await app.register(async (scope) => payPages(scope, deps, payOrder))
  await app.register(payerPages, deps)
  await app.register(linkPages, deps)
  await app.register(tipPages, deps)
  await app.register(mandatePages, deps)
  await app.register(ownMandatePages, deps)
  await app.register(async (scope) => merchantPages(scope, deps, placeOrder))
  await app.register(alertPages, deps)
  await app.register(eventPages, deps)
  await app.register(signaturePages, deps)
  await app.register(async (scope) => refuseOtherMethods(scope, () => hmacRoutes(scope, deps, acts)))
  await app.register(async (scope) => refuseOtherMethods(scope, () => tokenRoutes(scope, deps)))
  await app.register(async (scope) => refuseOtherMethods(scope, () => restRoutes(scope, deps, acts)))
  await app.register(async (scope) => refuseOtherMethods(scope, () => gatewayPlugin(scope, deps, placeOrder)))
}
