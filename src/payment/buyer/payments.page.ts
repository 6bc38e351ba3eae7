/** /account/payments: the searchable list of the orders that a member has paid or opened. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { cursor, olderUrl, searchText } from '../../web/lists.ts'
import { type Fate, fateOf, ordersOfPayer } from './payments.ts'

const PAGE = '/account/payments'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/buyer/payments': PartData['parts/pager'] & {
      orders: (Awaited<ReturnType<typeof ordersOfPayer>>['rows'][number] & { fate: Fate })[]
      q: string
    }
  }
}

const Asked = z.object({ q: searchText, before: cursor })

/** GET /account/payments. */
export async function payerPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get(PAGE, async (request, reply) => {
    const { q, before } = Asked.parse(request.query)
    const { id } = sessionOf(request).user
    const found = await ordersOfPayer(deps.db, id, { text: q || undefined, before })
    const now = deps.clock()
    return reply.page('payment/buyer/payments', {
      orders: found.rows.map((order) => ({ ...order, fate: fateOf(order, now) })),
      lookedBackTo: found.looked_back_to,
      older: olderUrl(PAGE, { q }, found.next),
      newest: PAGE,
      q,
      isSearch: q !== '',
      before,
    })
  })
}
