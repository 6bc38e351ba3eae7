/** Lists the refund requests of merchants. An administrator declines one here, or accepts it at /admin/adjustments. */

import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Counts } from '../../database/counts.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import {
  countRefundRequests,
  declineRefundRequest,
  listRefundRequests,
  type Recoverable,
  recoverableOf,
} from '../../payment/orders/refund-requests.ts'
import { AppError } from '../../platform/errors.ts'
import { readForm } from '../../web/forms/forms.ts'
import { Reason } from '../../web/forms/reason.ts'
import { cursor, idIn, listUrl, olderUrl, onePage } from '../../web/lists.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/refund-requests': PartData['parts/pager'] & {
      requests: (Awaited<ReturnType<typeof listRefundRequests>>[number] & {
        recoverable: Recoverable | undefined
      })[]
      show: 'open' | 'decided'
      counts: Counts<'open' | 'decided'>
      address: string
    }
  }
}

const PATH = '/admin/refund-requests'

const Asked = z.object({ show: z.enum(['open', 'decided']).catch('open'), before: cursor })
/** Returns what a request asks for. Throws conflict for an unknown one, as for one that is not open any more. */
async function refundRequestOf(db: Db, id: bigint) {
  const request = await db
    .selectFrom('refund_requests as request')
    .innerJoin('orders', 'orders.id', 'request.order_id')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .where('request.id', '=', id)
    .select(['orders.transaction_id', 'request.amount', 'app.name as app_name'])
    .executeTakeFirst()
  if (request === undefined) throw new AppError('conflict', 'This request for a refund is not open any more')
  return request
}

const DeclineForm = z.object({ answer: Reason })

/** Registers the pages. The caller's scope must require an administrator. */
export function refundRequestPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => {
    const { show, before } = Asked.parse(request.query)
    const isOpen = show === 'open'
    const [found, counts] = await Promise.all([
      listRefundRequests(deps.db, { isOpen, after: before }, PAGE_LINES + 1),
      countRefundRequests(deps.db),
    ])
    const { rows: shown, next } = onePage(found, PAGE_LINES)
    const requests = await Promise.all(
      shown.map(async (each) => ({
        ...each,
        recoverable: isOpen ? await recoverableOf(deps.db, each.order_id) : undefined,
      })),
    )
    const asked = { show: isOpen ? '' : show }
    return reply.page('admin/points/refund-requests', {
      requests,
      show,
      counts,
      before,
      address: PATH,
      newest: listUrl(PATH, asked),
      older: olderUrl(PATH, asked, next),
    })
  })

  const guarded = { preHandler: requireFreshSignIn(deps) }
  app.post<{ Params: { id: string } }>(`${PATH}/:id/decline`, guarded, async (request, reply) => {
    const { id } = request.params
    const { answer } = readForm(request, DeclineForm)
    const by = actorOf(request)
    const request_id = idIn(id, 'request')
    const { transaction_id, amount, app_name } = await refundRequestOf(deps.db, request_id)
    await declineRefundRequest(deps, { id: request_id, answer, ...by })
    const { t, points } = request.locale
    return reply.done(PATH, {
      text: t.console.refundDecisions.declined(app_name, points(amount)),
      link: { href: `/admin/orders/${transaction_id}`, label: t.adjustments.toOrder },
    })
  })
}
