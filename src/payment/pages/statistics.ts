/** …/statistics: how an application's sales go, as figures, charts and tables. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session.ts'
import type { Deps } from '../../deps.ts'
import { barChart } from '../../web/bar-chart.ts'
import { getPermitted } from '../ownership.ts'
import { latencyOf, type Period, periodsOf, topProducts, UNITS } from '../statistics.ts'
import type { OwnedRequest } from './owned.ts'

const Asked = z.object({ by: z.enum(UNITS).catch('day') })

/** Within the scope of the merchant's pages. */
export function statisticsPage(app: FastifyInstance, deps: Deps): void {
  app.get('/payment/applications/:payment_id/statistics', async (request: OwnedRequest, reply) => {
    const { by } = Asked.parse(request.query)
    const { user } = sessionOf(request)
    const owned = await getPermitted(deps.db, request.params.payment_id, user.id, 'orders.read')
    const periods = await periodsOf(deps.db, owned.id, { unit: by, now: deps.clock() })
    const [products, latency] = await Promise.all([
      topProducts(deps.db, owned.id, periods[0]!.begins),
      latencyOf(deps.db, owned.id),
    ])
    return reply.page('statistics', {
      owned,
      by,
      units: UNITS,
      periods,
      products,
      latency,
      totals: totalsOf(periods),
      ordersChart: barChart(periods.map(({ orders, paid }) => ({ whole: orders, part: paid }))),
      // For the eye: figures beyond 2^53 are exact in the table.
      pointsChart: barChart(
        periods.map(({ points, refunded }) => ({ whole: Number(points), part: Number(points - refunded) })),
      ),
    })
  })
}

function totalsOf(periods: Period[]) {
  const none = { orders: 0, paid: 0, settled: 0, points: 0n, merchant_points: 0n, refunded: 0n }
  return periods.reduce(
    (sum, each) => ({
      orders: sum.orders + each.orders,
      paid: sum.paid + each.paid,
      settled: sum.settled + each.settled,
      points: sum.points + each.points,
      merchant_points: sum.merchant_points + each.merchant_points,
      refunded: sum.refunded + each.refunded,
    }),
    none,
  )
}
