/** /account/payments: the searchable list of the orders that a member has paid or opened. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { cursor, listUrl, olderUrl, searchText } from '../../web/lists.ts'
import { PeriodAsked, spanOf } from '../../web/periods/periods.ts'
import { type Fate, fateOf, ordersOfPayer } from './payments.ts'

const PAGE = '/account/payments'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/buyer/payments': PartData['parts/pager'] & {
      orders: (Awaited<ReturnType<typeof ordersOfPayer>>['rows'][number] & { fate: Fate })[]
      asked: z.output<typeof Asked>
    }
  }
}

const Asked = PeriodAsked.extend({ q: searchText })
const Paged = z.object({ before: cursor })

/** GET /account/payments. */
export async function payerPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get(PAGE, async (request, reply) => {
    const asked = Asked.parse(request.query)
    const { before } = Paged.parse(request.query)
    const { id } = sessionOf(request).user
    const now = deps.clock()
    const { time_zone: zone } = await deps.settings.read()
    const filter = { ...spanOf(asked, { now, zone }), text: asked.q || undefined, before }
    const found = await ordersOfPayer(deps.db, id, filter)
    return reply.page('payment/buyer/payments', {
      orders: found.rows.map((order) => ({ ...order, fate: fateOf(order, now) })),
      lookedBackTo: found.looked_back_to,
      older: olderUrl(PAGE, asked, found.next),
      newest: PAGE,
      asked,
      isSearch: listUrl('', asked) !== '',
      before,
    })
  })
}
