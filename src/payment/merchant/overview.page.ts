/** The address of an application: its overview. */
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { FairQueue } from '../../platform/fair-queue.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import { areaOf, type Trouble } from '../apps/area.ts'
import { ownedFor } from '../apps/settings.page.ts'
import { APPLICATION, type OwnedRequest } from '../rights/owned.ts'
import { type Overview, overviewOf } from './overview.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/overview': Overview & {
      owned: Awaited<ReturnType<typeof ownedFor>>
      nav: AreaNav
      trouble: Trouble | undefined
      chart: BarChart
      now: Date
    }
  }
  interface PartData {
    'payment/merchant/overview-needs': {
      owned: Awaited<ReturnType<typeof ownedFor>>
      needs: Overview['needs']
    }
    'payment/merchant/overview-steps': {
      owned: Awaited<ReturnType<typeof ownedFor>>
      progress: Overview['progress']
    }
  }
}

/** Registers the page within the scope of the merchant's pages. */
export function overviewPage(app: FastifyInstance, deps: Core, queue: FairQueue): void {
  app.get(APPLICATION, async (request: OwnedRequest, reply) => {
    const owned = await ownedFor(request, deps, 'application.read')
    const [{ nav, trouble }, overview] = await Promise.all([
      areaOf(deps, request, owned),
      queue.run(sessionOf(request).user.id, () => overviewOf(deps, owned)),
    ])
    return reply.page('payment/merchant/overview', {
      ...overview,
      owned,
      nav,
      trouble,
      chart: barChart(overview.periods.map(({ orders, paid }) => ({ whole: orders, part: paid }))),
      now: deps.clock(),
    })
  })
}
