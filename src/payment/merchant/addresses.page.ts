// This room: a merchant’s pages: orders, transfers, mandates, statistics, addresses.
// Verbs: ordersOfApp, countOrders, transfersOfApp, periodsOf, tryAddress.
// Clauses: spec/mandates 3.4.
/** …/addresses: a merchant tests whether the shop's addresses can be reached. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { readForm } from '../../web/forms/forms.ts'
import { navFor } from '../apps/area.ts'
import { actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import { addressesOf, type TriedAddress, tryAddress } from './addresses.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/addresses': {
      owned: Permitted
      nav: AreaNav
      tried: TriedAddress | undefined
      known: Awaited<ReturnType<typeof addressesOf>>
      address: string
    }
  }
}

const PATH = '/payment/applications/:payment_id/addresses'
const UrlForm = z.object({ url: z.string().trim().min(1).max(1_000) })

/** Registers the page within a browser scope of signed-in members. */
export function addressPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request: OwnedRequest, reply) => showAddresses(request, reply, deps))

  app.post(PATH, { config: { admission: 'slow' } }, async (request: OwnedRequest, reply) => {
    const { url } = readForm(request, UrlForm)
    const tried = await tryAddress(deps, request.params.payment_id, url, actorOf(request))
    return showAddresses(request, reply, deps, tried)
  })
}

async function showAddresses(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: Core,
  tried?: TriedAddress,
): Promise<FastifyReply> {
  const { payment_id } = request.params
  const owned = await getPermitted(deps.db, payment_id, sessionOf(request).user.id, 'addresses.try')
  return reply.page('payment/merchant/addresses', {
    owned,
    nav: await navFor(deps, request, owned),
    tried,
    known: await addressesOf(deps.db, owned),
    address: `${pathOf(request)}/addresses`,
  })
}
