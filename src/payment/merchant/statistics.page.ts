/** …/statistics: the sales of an application as figures, charts and tables. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Turns } from '../../platform/turns.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import type { OwnedRequest } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import {
  type Latency,
  latencyOf,
  type Period,
  type Product,
  periodsOf,
  topProducts,
  UNITS,
  type Unit,
} from './statistics.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/statistics': {
      owned: Permitted
      by: Unit
      units: typeof UNITS
      periods: Period[]
      firstDay: string
      lastDay: string
      products: Product[]
      latency: Latency
      totals: ReturnType<typeof totalsOf>
      ordersChart: BarChart
      pointsChart: BarChart
    }
  }
}

const Asked = z.object({ by: z.enum(UNITS).catch('day') })

/** Registers the page within the scope of the merchant's pages. */
export function statisticsPage(app: FastifyInstance, deps: Core, turns: Turns): void {
  app.get('/payment/applications/:payment_id/statistics', async (request: OwnedRequest, reply) => {
    const { by } = Asked.parse(request.query)
    const { user } = sessionOf(request)
    const owned = await getPermitted(deps.db, request.params.payment_id, user.id, 'orders.read')
    const { periods, products, latency } = await turns.take(user.id, () => figuresOf(deps, owned.id, by))
    return reply.page('payment/merchant/statistics', {
      owned,
      by,
      units: UNITS,
      periods,
      firstDay: periods[0]!.begins,
      lastDay: periods.at(-1)!.begins,
      products,
      latency,
      totals: totalsOf(periods),
      ordersChart: barChart(periods.map(({ orders, paid }) => ({ whole: orders, part: paid }))),
      // The chart may round figures beyond 2^53; the table shows them exactly.
      pointsChart: barChart(
        periods.map(({ points, refunded }) => ({ whole: Number(points), part: Number(points - refunded) })),
      ),
    })
  })
}

/** Reads the statistics, which take a second or two for a big shop. */
async function figuresOf({ db, clock }: Core, app_id: bigint, unit: Unit) {
  const periods = await periodsOf(db, app_id, { unit, now: clock() })
  const products = await topProducts(db, app_id, periods[0]!.begins)
  return { periods, products, latency: await latencyOf(db, app_id) }
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
