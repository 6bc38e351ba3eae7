/** /admin is the administrators' dashboard: the day, the trend, what waits, the health of the service, and the first steps. */
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { lastDays } from '../../ledger/closes.ts'
import { lastProof } from '../../ledger/proofs.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import type { Queues } from '../navigation/queues.ts'
import { percentOf } from '../wording/percent.ts'
import { readChecklist, type Step } from './checklist.ts'
import { type MemberFigures, readMembers, readToday, type Today } from './figures.ts'
import { type Health, readHealth } from './health.ts'
import { readWaiting, type Waiting } from './waiting.ts'

type Day = Awaited<ReturnType<typeof lastDays>>[number]
type Proof = NonNullable<Awaited<ReturnType<typeof lastProof>>>

const DAYS_SHOWN = 30
const DAY_MS = 86_400_000

declare module '../../web/views.ts' {
  interface PageData {
    'admin/dashboard/dashboard': {
      now: Date
      today: Today
      members: MemberFigures
      /** Closed days, the oldest first. */
      days: Day[]
      chart: BarChart | undefined
      /** The first day of the chart, and how many it has. */
      chartFrom: string
      chartDays: number
      /** The newest proof of the books, and the points in members' wallets at that moment. */
      proof: Proof | undefined
      circulating: bigint | undefined
      trends: Record<'paid' | 'circulating' | 'fees', number[]>
      /** The fees of the closed days of the month of the last one. */
      feesOfMonth: bigint
      queues: Queues
      waiting: Waiting
      health: Health
      steps: Step[] | undefined
      feePercent: string
    }
  }
}

/** Registers the page. The caller's scope must require an administrator. */
export function dashboardPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin', async (request, reply) => {
    const now = deps.clock()
    const admin_id = sessionOf(request).user.id
    const { time_zone: zone, points_payment_fee_rate } = await deps.settings.read()
    const today = await readToday(deps.db, { now, zone })
    const [members, newest, proof, waiting, health, steps] = await Promise.all([
      readMembers(deps.db, { since: today.since, zone, days: DAYS_SHOWN }),
      lastDays(deps.db, DAYS_SHOWN),
      lastProof(deps),
      readWaiting(deps.db, { admin_id, now }),
      readHealth(deps),
      readChecklist(deps, admin_id),
    ])
    const days = newest.toReversed()
    const circulating = proof && BigInt(proof.proof.held.wallets)
    return reply.page('admin/dashboard/dashboard', {
      ...{ now, today, members, days, proof, circulating, queues: request.queues, waiting, health, steps },
      chart: days.length === 0 ? undefined : chartOf(days),
      chartFrom: days.length === 0 ? '' : dayBefore(days.at(-1)!.day, DAYS_SHOWN - 1),
      chartDays: DAYS_SHOWN,
      trends: {
        paid: days.map(({ paid }) => Number(paid)),
        circulating: circulating === undefined ? [] : circulationOf(days, circulating),
        fees: days.map(({ fees }) => Number(fees)),
      },
      feePercent: percentOf(points_payment_fee_rate),
      feesOfMonth: days
        .filter(({ day }) => day.slice(0, 7) === days.at(-1)!.day.slice(0, 7))
        .reduce((sum, { fees }) => sum + fees, 0n),
    })
  })
}

/**
 * Draws the last days. On days before the first one nothing was paid. A day's refunds may exceed its payments, because they
 * return points that were paid on earlier days.
 */
function chartOf(days: Day[]): BarChart {
  const before = Array.from({ length: DAYS_SHOWN - days.length }, () => ({ whole: 0, part: 0 }))
  const bars = days.map(({ paid, given_back }) => ({
    whole: Number(paid),
    part: Math.max(Number(paid - given_back), 0),
  }))
  return barChart([...before, ...bars])
}

/** Returns the day so many days before another one, both as `yyyy-mm-dd`. */
function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10)
}

/** The points in circulation at the end of each day, counted back from the newest proof. */
function circulationOf(days: Day[], circulating: bigint): number[] {
  const values: number[] = []
  let held = circulating
  for (const { issued, fees } of days.toReversed()) {
    values.push(Number(held))
    held -= issued - fees
  }
  return values.toReversed()
}
