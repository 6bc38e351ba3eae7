/** …/statistics: the sales of an application in some days, as figures, charts and tables, and its products as a file. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { FairQueue } from '../../platform/fair-queue.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { refuseQuery } from '../../web/forms/forms.ts'
import { listUrl } from '../../web/lists.ts'
import { dayFault } from '../../web/periods/wrong-days.ts'
import { OVERVIEW_DAYS } from '../apps/apps.ts'
import { navFor } from '../apps/area.ts'
import { type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import {
  lastDays,
  type Period,
  type Product,
  RANGES,
  type Range,
  rangeOf,
  type Sales,
  salesBefore,
  salesOf,
  totalsOf,
} from './statistics.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/statistics': {
      owned: Permitted
      nav: AreaNav
      range: Range
      /** The chosen number of days; undefined for a range of the reader's own. */
      days: number | undefined
      ranges: typeof RANGES
      periods: Period[]
      products: Product[]
      totals: Sales
      /** The sales of as many days before. */
      previous: Awaited<ReturnType<typeof salesBefore>>
      ordersChart: BarChart
      pointsChart: BarChart
      address: string
      fileUrl: string
      /** The days in the fields of the form. */
      asked: { from?: string | undefined; until?: string | undefined }
      /** Whether the address asks for days that no figure can be of. */
      isRefused: boolean
    }
  }
}

const PATH = '/payment/applications/:payment_id/statistics'
const PRODUCTS_SHOWN = 10
const PRODUCTS_IN_FILE = 10_000

const day = z.iso.date().optional().catch(undefined)
/** An unreadable number of days shows the default range. */
const Asked = z.object({
  days: z.coerce
    .number()
    .pipe(z.union(RANGES.map((days) => z.literal(days))))
    .optional()
    .catch(undefined),
  from: day,
  until: day,
})

const COLUMNS = ['description', 'paid', 'amount', 'merchant_points', 'refunded_amount']

/** Registers the page within the scope of the merchant's pages. */
export function statisticsPage(app: FastifyInstance, deps: Core, queue: FairQueue): void {
  app.get(PATH, async (request: OwnedRequest, reply) => {
    const { user } = sessionOf(request)
    const owned = await getPermitted(deps.db, request.params.payment_id, user.id, 'orders.read')
    const fault = dayFault(request)
    if (fault !== undefined) refuseQuery(request, { '': fault })
    const [nav, { range, days }] = await Promise.all([
      navFor(deps, request, owned),
      askedRange(deps, request.query),
    ])
    const asked = { now: deps.clock(), products_max: PRODUCTS_SHOWN }
    const { periods, products, previous } = await queue.run(user.id, async () => ({
      ...(await salesOf(deps.db, owned.id, range, asked)),
      previous: await salesBefore(deps.db, owned.id, range, asked.now),
    }))
    const address = `${pathOf(request)}/statistics`
    return reply.page('payment/merchant/statistics', {
      owned,
      nav,
      range,
      days: fault === undefined ? days : undefined,
      ranges: RANGES,
      periods,
      products,
      totals: totalsOf(periods),
      previous,
      ordersChart: barChart(periods.map(({ orders, paid }) => ({ whole: orders, part: paid }))),
      // The chart may round figures beyond 2^53; the table shows them exactly.
      pointsChart: barChart(
        periods.map(({ points, refunded }) => ({ whole: Number(points), part: Number(points - refunded) })),
      ),
      address,
      fileUrl: listUrl(`${address}/products.csv`, { from: range.from, until: range.until }),
      asked: fault === undefined ? range : Asked.parse(request.query),
      isRefused: fault !== undefined,
    })
  })

  app.get(`${PATH}/products.csv`, async (request: OwnedRequest, reply) => {
    const { user } = sessionOf(request)
    const { id, payment_id } = await getPermitted(deps.db, request.params.payment_id, user.id, 'orders.read')
    const fault = dayFault(request)
    if (fault !== undefined) throw new AppError('invalid_form', fault)
    const { range } = await askedRange(deps, request.query)
    await deps.limits.hit('order_files', user.id.toString())
    const asked = { now: deps.clock(), products_max: PRODUCTS_IN_FILE }
    const { products } = await queue.run(user.id, () => salesOf(deps.db, id, range, asked))
    const lines = products.map(({ description, paid, points, merchant_points, refunded }) =>
      csvLine([description, paid, points, merchant_points, refunded]),
    )
    const name = `products-${payment_id}-${range.from}-${range.until}.csv`
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${name}"`)
      .type(CSV_TYPE)
      .send(BYTE_ORDER_MARK + csvLine(COLUMNS) + lines.join(''))
  })
}

/** Reads the range of an address: a number of days, two days, or the default. */
async function askedRange({ settings, clock }: Core, query: unknown) {
  const { days, from, until } = Asked.parse(query)
  const { time_zone: zone } = await settings.read()
  const now = clock()
  if (days === undefined && from !== undefined && until !== undefined)
    return { range: rangeOf(zone, now, { from, until }), days }
  const chosen = days ?? OVERVIEW_DAYS
  return { range: lastDays(zone, now, chosen), days: chosen }
}
