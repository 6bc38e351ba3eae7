/**
 * submit.php and V2's pay/submit, to which a shop sends the payer's browser. Redirects to the pay page, or shows a refusal.
 * spec/gateway 2.2.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors.ts'
import { wantsHtml } from '../../web/pages.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { keepRefused } from '../signing/refused-requests.ts'
import type { GatewayVerbs } from './create.ts'
import { wireFailure } from './errors.ts'
import { asAsked } from './reply.ts'
import { authenticate, queryOrBody } from './request.ts'
import { tradeUrl } from './trade.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/gateway/refused': {
      failure: ReturnType<typeof wireFailure>['body']
      inEnglish: string
      requestId: string
      /** The shop that the request names, where the payer can go back to. */
      shop?: { name: string; homepage: string } | undefined
    }
  }
}

const NOTICE =
  '这里是支付接口，请从商家网站发起支付。\nShops send their buyers here to pay; there is nothing to see without an order.\n'

/** GET and POST at `path`. */
export async function submitRoute(
  app: FastifyInstance,
  { deps, createTrade, path }: GatewayVerbs & { path: string },
): Promise<void> {
  app.setErrorHandler(async (error, request, reply) => {
    await keepRefused(deps, request, error)
    return refuse(deps, error, request, reply)
  })
  app.route({
    method: ['GET', 'POST'],
    url: path,
    handler: async (request, reply) => {
      const received = queryOrBody(request)
      if (received.pid === undefined) return reply.code(400).type('text/plain; charset=utf-8').send(NOTICE)
      const asked = await authenticate(request, received, deps, { byBrowser: true })
      return redirect(reply, tradeUrl(deps, await createTrade(asked)))
    },
  })
}

/** Redirects. A shop's server reads Location; a browser that does not follow it shows a link. */
function redirect(reply: FastifyReply, url: string): FastifyReply {
  return reply
    .code(302)
    .header('location', url)
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    .type('text/html; charset=utf-8')
    .send(`<!doctype html><meta charset="utf-8"><title>支付</title><a href="${url}">前往支付</a>`)
}

/** A page for the payer; JSON for a program, which shows the message in its own log. */
async function refuse(
  deps: GatewayCore,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { status, body, inEnglish, isSigned } = wireFailure(error, 'v1', request, reply)
  const isPaused = error instanceof AppError && error.code === 'payments_paused'
  const options = { status: isPaused ? 503 : status === 200 ? 400 : status }
  if (!wantsHtml(request)) {
    return reply.code(options.status).send(isSigned ? await asAsked(deps, request, body) : body)
  }
  // A fault of ours may be the database's, which then must not be asked again.
  const shop = status < 500 ? await namedShop(deps, request) : undefined
  return reply.page(
    'payment/gateway/refused',
    { failure: body, inEnglish, requestId: request.id, shop },
    options,
  )
}

/** Reads the approved shop that a refused request names, signed or not. It proves nothing about the request. */
async function namedShop(
  { db }: GatewayCore,
  { gatewayApp }: FastifyRequest,
): Promise<{ name: string; homepage: string } | undefined> {
  if (gatewayApp === undefined) return undefined
  const shop = await db
    .selectFrom('payment_apps')
    .where('id', '=', gatewayApp.id)
    .where('status', '=', 'approved')
    .select(['name', 'homepage'])
    .executeTakeFirst()
  return shop?.homepage ? { name: shop.name, homepage: shop.homepage } : undefined
}
