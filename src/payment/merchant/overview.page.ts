/** The address of an application: its overview. */
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { FairQueue } from '../../platform/fair-queue.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import { readOnce } from '../../web/forms/shown-once.ts'
import type { MadeKeys } from '../apps/apps.page.ts'
import { areaOf, type Trouble } from '../apps/area.ts'
import { type GoingLive, goingLiveOf, levelNeeded, type NeedsLevel } from '../apps/go-live.ts'
import { ownedFor } from '../apps/settings.page.ts'
import { type Notification, readNotifications } from '../notifications/redelivery.ts'
import { APPLICATION, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { fateOf } from './orders.ts'
import { type Overview, overviewOf } from './overview.ts'
import { type Round, roundOf } from './round.ts'

type Owned = Awaited<ReturnType<typeof ownedFor>>

/** Names the unit of an amount: points, or play points. */
type Unit = (amount: bigint) => string

/** What is wrong with the notifications, and the one that failed last. */
type Failing = Trouble & { last: Notification }

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/overview': Omit<Overview, 'orders'> & {
      owned: Owned
      nav: AreaNav
      failing: Failing | undefined
      orders: PartData['payment/merchant/order-rows']['orders']
      chart: BarChart
      /** The keys of a test application that was just made, once. */
      made: MadeKeys | undefined
      /** Of a test application with a paid order. */
      proven: { round: Round | undefined; going: GoingLive | undefined } | undefined
      needsLevel: NeedsLevel | undefined
      now: Date
    }
  }
  interface PartData {
    'payment/merchant/proven': {
      owned: Owned
      /** None where links alone have sold. */
      round: Round | undefined
      going: GoingLive | undefined
      needs: NeedsLevel | undefined
    }
    'payment/merchant/overview-needs': { owned: Owned; needs: Overview['needs'] }
    'payment/merchant/overview-steps': { owned: Owned; progress: Overview['progress'] }
    'payment/merchant/first-payment': {
      owned: Owned
      progress: Overview['progress']
      needsLevel: NeedsLevel | undefined
    }
    'payment/merchant/test-order': { owned: Owned; isFirst: boolean }
    'payment/merchant/first-payment-aids': { owned: Owned; made: MadeKeys | undefined; hasLinks: boolean }
    'payment/merchant/overview-failing': { owned: Owned; failing: Failing }
    'payment/merchant/overview-today': Pick<Overview, 'takings'> & { unit: Unit }
    'payment/merchant/overview-takings': Pick<Overview, 'takings' | 'range'> & { chart: BarChart; unit: Unit }
    'payment/merchant/overview-newest': Pick<Overview, 'newest' | 'latency'>
  }
}

/** Registers the page within the scope of the merchant's pages. */
export function overviewPage(app: FastifyInstance, deps: Core, queue: FairQueue): void {
  app.get(APPLICATION, async (request: OwnedRequest, reply) => {
    // Buyers of a test application without a callback return here, with the signed facts of their order.
    if ('signature' in (request.query as object)) return reply.redirect(pathOf(request), 303)
    const owned = await ownedFor(request, deps, 'application.read')
    const { user } = sessionOf(request)
    const [{ nav, trouble }, overview] = await Promise.all([
      areaOf(deps, request, owned),
      queue.run(user.id, () => overviewOf(deps, owned)),
    ])
    const now = deps.clock()
    // The chart may round figures beyond 2^53; the table shows them exactly.
    const bars = overview.takings.days.map(({ points }) => ({ whole: Number(points), part: Number(points) }))
    return reply.page('payment/merchant/overview', {
      ...overview,
      owned,
      nav,
      failing:
        trouble && (await failingOf(deps, trouble, { user_id: user.id, payment_id: owned.payment_id })),
      orders: overview.orders.map((order) => ({ ...order, fate: fateOf(order, now) })),
      chart: barChart(bars),
      made: owned.book === 'test' ? readOnce<MadeKeys>(reply, deps) : undefined,
      needsLevel: levelNeeded(await deps.settings.read(), user),
      proven: await provenOf(deps, owned, user.id, overview.progress),
      now,
    })
  })
}

/** What the newest order of a test application has shown, once one is paid, and what a live application takes over. */
async function provenOf(
  deps: Core,
  owned: Owned,
  user_id: bigint,
  { isPaid }: Overview['progress'],
): Promise<{ round: Round | undefined; going: GoingLive | undefined } | undefined> {
  if (owned.book !== 'test' || !isPaid) return undefined
  const [round, going] = await Promise.all([
    roundOf(deps, owned, user_id),
    owned.rights.includes('application.go_live')
      ? goingLiveOf(deps.db, owned.payment_id, user_id)
      : undefined,
  ])
  return { round, going }
}

async function failingOf(
  { db }: Core,
  trouble: Trouble,
  { user_id, payment_id }: { user_id: bigint; payment_id: string },
): Promise<Failing | undefined> {
  const filter = { payment_id, before: trouble.id + 1n }
  const [last] = (await readNotifications(db, { role: 'team', user_id }, filter, 1)).rows
  return last && { ...trouble, last }
}
