/** /admin is the administrators' dashboard: the day, the trend, what waits, the health of the service; on a new site the first steps. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { lastDays, lastProof } from '../../ledger/proofs.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import { COUNTED_MAX, openProposals, type Queues } from '../navigation/queues.ts'
import { type Check, checksOf } from './checks.ts'
import { type MemberFigures, readMembers, readToday, type Today } from './figures.ts'
import { firstStepActs, showFirstSteps } from './first-steps.page.ts'
import { isSetUp } from './first-steps.ts'
import { readHealth } from './health.ts'

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
      /** The days of the chart. On those before the first closed day nothing was paid. */
      chartBars: Bar[]
      chartDays: number
      /** The newest proof of the books, and the points in members' wallets at that moment. */
      proof: Proof | undefined
      circulating: bigint | undefined
      trends: Record<'paid' | 'circulating' | 'fees', number[]>
      /** The fees of the closed days of the month of the last one. */
      feesOfMonth: bigint
      queues: Queues
      waiting: Waiting
      /** Faults first, then warnings. */
      checks: Check[]
    }
  }
  interface PartData {
    'admin/dashboard/said': Pick<Check, 'said'>
    'admin/dashboard/trouble': Check
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function dashboardPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin', async (request, reply) =>
    isSetUp(deps) ? showDashboard(request, reply, deps) : showFirstSteps(request, reply, deps),
  )
  app.get('/admin/overview', async (request, reply) => showDashboard(request, reply, deps))
  firstStepActs(app, deps)
}

async function showDashboard(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const now = deps.clock()
  const admin_id = sessionOf(request).user.id
  const { time_zone: zone } = await deps.settings.read()
  const today = await readToday(deps.db, { now, zone })
  const [members, newest, proof, waiting, health] = await Promise.all([
    readMembers(deps.db, { since: today.since, zone, days: DAYS_SHOWN }),
    lastDays(deps.db, DAYS_SHOWN),
    lastProof(deps),
    readWaiting(deps.db, { admin_id, now }),
    readHealth(deps),
  ])
  const days = newest.toReversed()
  const bars = barsOf(days)
  const circulating = proof && BigInt(proof.proof.held.wallets)
  return reply.page('admin/dashboard/dashboard', {
    ...{ now, today, members, days, proof, circulating, queues: request.queues, waiting },
    checks: checksOf(health, proof, request.locale),
    chart: bars.length === 0 ? undefined : barChart(bars),
    chartBars: bars,
    chartDays: DAYS_SHOWN,
    trends: {
      paid: days.map(({ paid }) => Number(paid)),
      circulating: circulating === undefined ? [] : circulationOf(days, circulating),
      fees: days.map(({ fees }) => Number(fees)),
    },
    feesOfMonth: days
      .filter(({ day }) => day.slice(0, 7) === days.at(-1)!.day.slice(0, 7))
      .reduce((sum, { fees }) => sum + fees, 0n),
  })
}

type Bar = { day: string; whole: number; part: number }

/**
 * The bars of the last days, or none before the first close. A day's refunds may exceed its payments, because they return points
 * that were paid on earlier days.
 */
function barsOf(days: Day[]): Bar[] {
  const last = days.at(-1)?.day
  if (last === undefined) return []
  const before = Array.from({ length: DAYS_SHOWN - days.length }, (_, i) => ({
    day: dayBefore(last, DAYS_SHOWN - 1 - i),
    whole: 0,
    part: 0,
  }))
  const closed = days.map(({ day, paid, given_back }) => ({
    day,
    whole: Number(paid),
    part: Math.max(Number(paid - given_back), 0),
  }))
  return [...before, ...closed]
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

type Waiting = {
  /** The payment application that waits longest for its review. */
  review: string | null
  review_since: Date | null
  /** The points that merchants ask to refund, in the oldest requests. */
  refund_points: bigint
  refund_since: Date | null
  proposer: string | null
  proposal_since: Date | null
}

/** Reads the oldest entry of each queue. */
export async function readWaiting(
  db: Db,
  { admin_id, now }: { admin_id: bigint; now: Date },
): Promise<Waiting> {
  const { rows } = await sql<Waiting>`
    with review as (
      -- Each half has its own index.
      select name, coalesce(unreviewed_change_at, created_at) as since from (
        (select * from payment_apps where status = 'pending' order by id limit 1)
        union all
        (select * from payment_apps where status = 'approved' and unreviewed_change_at is not null order by id limit 1)
      ) as first
      order by id limit 1
    ), request as (
      select amount, asked_at from refund_requests where status = 'open' order by id limit ${COUNTED_MAX}
    ), proposal as (
      select proposer.username, proposed_at
      from (select * from (${openProposals({ admin_id, now })}) as open order by id limit 1) as oldest
      join users as proposer on proposer.id = proposed_by
    )
    select
      (select name from review) as review, (select since from review) as review_since,
      coalesce((select sum(amount) from request), 0)::bigint as refund_points,
      (select min(asked_at) from request) as refund_since,
      (select username from proposal) as proposer, (select proposed_at from proposal) as proposal_since`.execute(
    db,
  )
  return rows[0]!
}
