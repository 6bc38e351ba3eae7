/** The list of notifications with their attempts, and the forms that redeliver them. Merchants and administrators use it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Counts } from '../../database/counts.ts'
import type { NotificationStatus } from '../../database/tables/notifications.ts'
import { readForm } from '../../web/forms/forms.ts'
import type { Locale } from '../../web/languages.ts'
import { listUrl, olderUrl, Paged, shownRows } from '../../web/lists.ts'
import { dayIn } from '../../web/periods/days.ts'
import type { PartData } from '../../web/views.ts'
import type { Permitted } from '../rights/rights.ts'
import { MandateId, TransactionId } from '../wire-fields/fields.ts'
import {
  countNotifications,
  type Notification,
  outcomeOf,
  PAYOUT_ID,
  type Reader,
  readNotifications,
  redeliver,
  redeliverFailed,
} from './redelivery.ts'
import type { PaymentDeps } from './worker.ts'

const STATUSES = ['all', 'due', 'failed', 'delivered'] as const
/** How far back failed notifications can be redelivered together. */
const SINCE_HOURS = [1, 24, 168, 720]
const HOUR_MS = 3_600_000
/** How long the answer to a redelivery waits for the shop. Most shops answer within it. */
const PATIENCE_MS = 3_000
/** The page waits for a notification that is due within this time. */
const SOON_MS = 90_000

const Filter = z.object({
  status: z.enum(STATUSES).catch('all'),
  transaction_id: z
    .union([TransactionId, MandateId, z.string().regex(new RegExp(PAYOUT_ID))])
    .optional()
    .catch(undefined),
})

/** The notification to redeliver, if several belong to one order or transfer. */
const RedeliverForm = z.object({ notification: z.coerce.bigint().optional() }).catch({})

const SinceForm = z.object({
  hours: z.coerce.number().refine((hours) => SINCE_HOURS.includes(hours)),
})

type AnyRequest = FastifyRequest<{ Params: { payment_id?: string; transaction_id?: string } }>

export type NotificationList = PartData['parts/pager'] & {
  notifications: Notification[]
  /** The confirmed ones of them by the days of the site, the newest first. */
  days: { day: string; rows: Notification[] }[]
  status: (typeof STATUSES)[number]
  statuses: typeof STATUSES
  counts: Counts<NotificationStatus>
  sinceHours: number[]
  /** Whether an attempt is about to end, so that the page looks again by itself. */
  isMoving: boolean
  address: string
  now: Date
}

type ShowList = (reply: FastifyReply, list: NotificationList) => FastifyReply | Promise<FastifyReply>

declare module '../../web/views.ts' {
  interface PartData {
    'payment/notifications/list': NotificationList & { owned?: Permitted }
    'payment/notifications/notification': {
      each: Notification
      address: string
      mayRedeliver: boolean
      now: Date
      owned?: Permitted
      /** The page is about its order, so it names the product already. */
      isOfPage?: boolean
      /** Shows the attempts, because the reader asked for this notification. */
      isOpen?: boolean
    }
    'payment/notifications/confirmed': { each: Notification; address: string; owned?: Permitted }
  }
}

export type NotificationScope = {
  /** The pattern of the list's address. */
  path: string
  reader(request: AnyRequest): Reader
  /** Answers with what shows the list. Throws not_found for a reader without a list here, forbidden without the right. */
  open(request: AnyRequest, right: 'orders.read' | 'notifications.redeliver'): Promise<ShowList>
}

function confirmedByDay(notifications: Notification[], zone: string): NotificationList['days'] {
  const days = new Map<string, Notification[]>()
  for (const each of notifications) {
    if (each.status !== 'delivered') continue
    // A confirmed notification has an attempt, if not the moment of its event.
    const day = dayIn(zone, each.occurred_at ?? each.log.at(-1)!.started_at)
    days.set(day, [...(days.get(day) ?? []), each])
  }
  return [...days].map(([day, rows]) => ({ day, rows }))
}

/** GET the list, and below it POST :transaction_id/redeliver and redeliver-failed. */
export function notificationPages(app: FastifyInstance, deps: PaymentDeps, scope: NotificationScope): void {
  const addressOf = ({ params }: AnyRequest) =>
    scope.path.replace(':payment_id', encodeURIComponent(params.payment_id ?? ''))
  const actorOf = (request: AnyRequest) => ({
    ...scope.reader(request),
    actor_id: sessionOf(request).user.id,
    ip: request.ip,
  })

  app.get(scope.path, async (request: AnyRequest, reply) => {
    const { status, transaction_id } = Filter.parse(request.query)
    const { before, row } = Paged.parse(request.query)
    const { payment_id } = request.params
    const filter = { payment_id, transaction_id, before, status: status === 'all' ? undefined : status }
    const [show, found, counts, { time_zone }] = await Promise.all([
      scope.open(request, 'orders.read'),
      readNotifications(deps.db, scope.reader(request), filter),
      countNotifications(deps.db, payment_id),
      deps.settings.read(),
    ])
    const { rows: notifications, next, looked_back_to } = found
    const address = addressOf(request)
    const now = deps.clock()
    const soon = new Date(now.getTime() + SOON_MS)
    const asked = { status: status === 'all' ? '' : status, transaction_id }
    return show(reply, {
      notifications,
      days: confirmedByDay(notifications, time_zone),
      status,
      statuses: STATUSES,
      counts,
      sinceHours: SINCE_HOURS,
      isMoving: notifications.some(({ next_attempt_at: next }) => next !== null && next <= soon),
      address,
      now,
      before,
      isSearch: transaction_id !== undefined,
      newest: address,
      older: olderUrl(address, { ...asked, row: String(row + notifications.length) }, next),
      shown: shownRows(row, notifications.length, {
        isLast: next === undefined,
        count: transaction_id === undefined ? counts[status] : undefined,
      }),
      lookedBackTo: looked_back_to,
    })
  })

  app.post(`${scope.path}/:transaction_id/redeliver`, async (request: AnyRequest, reply) => {
    const { transaction_id } = request.params
    await scope.open(request, 'notifications.redeliver')
    const { notification } = RedeliverForm.parse(request.body)
    const sent = await redeliver(deps, transaction_id!, actorOf(request), notification)
    if (sent.order_id !== null) await deps.notifier.attempted(sent.order_id, PATIENCE_MS)
    const outcome = outcomeText(request.locale, transaction_id!, await outcomeOf(deps.db, sent.id))
    return reply.done(listUrl(addressOf(request), { transaction_id }), outcome)
  })

  app.post(`${scope.path}/redeliver-failed`, async (request: AnyRequest, reply) => {
    const { hours } = readForm(request, SinceForm)
    const since = new Date(deps.clock().getTime() - hours * HOUR_MS)
    const { payment_id } = request.params
    await scope.open(request, 'notifications.redeliver')
    const count = await redeliverFailed(deps, { payment_id, since }, actorOf(request))
    const { locale } = request
    const text = locale.t.notifications.done.many(locale.points(count), count)
    return reply.done(listUrl(addressOf(request), { status: 'due' }), { text })
  })
}

/** Says what came of a redelivery. */
function outcomeText(
  { t }: Locale,
  number: string,
  outcome: Awaited<ReturnType<typeof outcomeOf>>,
): { text: string; tone: 'good' | 'warn' } {
  const { done, outcomes } = t.notifications
  if (outcome === undefined) return { text: done.sent, tone: 'good' }
  if (outcome.status === 'delivered') return { text: done.confirmed(number), tone: 'good' }
  const status = outcome.response_status === null ? '' : `HTTP ${outcome.response_status}. `
  return { text: done.refused(number, `${status}${outcomes[outcome.outcome]}`), tone: 'warn' }
}
