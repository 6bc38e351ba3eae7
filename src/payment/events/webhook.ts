/**
 * Events of the HMAC API as Standard Webhooks 1.0.0 (standardwebhooks.com). NOTE: interface.md has server
 * notifications for the gateway only, so an application gets these events only if its owner asks for them.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { NotificationKind } from '../../database/tables/notifications.ts'
import { describeOrder, describeTransfer } from '../hmac/answers.ts'
import type { Order } from '../orders/orders.ts'
import type { Transfer } from '../orders/transfers.ts'
import { openKey } from '../signing/keys.ts'
import type { EventBody } from './shapes.ts'

const SECRET_PREFIX = 'whsec_'
/** The standard allows 24 to 64. */
const SECRET_BYTES = 32

export type EventType = Exclude<NotificationKind, 'gateway'>

/** Draws a secret for the events of one application. */
export function newEventSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** An event to send: its subject as it was at that moment, its address and its secrets. */
export type EventToSend = {
  app_id: bigint
  url: string
  event_id: string
  type: EventType
  occurred_at: Date
  /** Of a charge, the order's mandate by its public id. */
  subject: { order: Order; mandate_id: string | null } | { transfer: Transfer }
  /** Decrypts the valid secrets, the current one first. A rotation has two. A failure affects only this event. */
  openSecrets(): string[]
}

/** The body of an event and the headers that sign it. Pure. */
export function signedEvent(
  event: EventToSend,
  now: Date,
): { headers: Record<string, string>; body: string } {
  const { event_id, type, occurred_at, subject } = event
  const data =
    'order' in subject
      ? describeOrder(subject.order, occurred_at, subject.mandate_id)
      : describeTransfer(subject.transfer)
  const content = { type, timestamp: occurred_at.toISOString(), data } as EventBody
  const body = JSON.stringify(content)
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = event
    .openSecrets()
    .map((secret) => `v1,${signEvent(secret, `${event_id}.${timestamp}.${body}`)}`)
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': event_id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
    body,
  }
}

function signEvent(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return createHmac('sha256', key).update(text).digest('base64')
}

type Row = {
  notification_id: bigint
  event_kind: EventType
  event_id: string
  occurred_at: Date
  events_url: string
}

/** Finds events by the id of their notification, except those of applications that have switched events off. */
export async function findEvents(
  { db, secrets, clock }: Pick<Core, 'db' | 'secrets' | 'clock'>,
  notification_ids: readonly bigint[],
): Promise<Map<bigint, EventToSend>> {
  if (notification_ids.length === 0) return new Map()
  const [orders, transfers] = await Promise.all([
    factsOf<Order & Row & { public_mandate_id: string | null }>(db, 'orders', notification_ids),
    factsOf<Transfer & { app_id: bigint } & Row>(db, 'transfers', notification_ids),
  ])
  const app_ids = [...orders, ...transfers].map(({ app_id }) => app_id)
  const keys = await db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', sql<bigint>`any(${app_ids}::bigint[])`)
    .where('kind', '=', 'event_secret')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', clock())]))
    .orderBy('id', 'desc')
    .select(['app_id', 'value_encrypted'])
    .execute()
  const secretsOf = Map.groupBy(keys, ({ app_id }) => app_id)
  const asEvent = (row: Row & { app_id: bigint }, subject: EventToSend['subject']) => {
    const { notification_id, event_kind, event_id, occurred_at, events_url, app_id } = row
    const stored = secretsOf.get(app_id) ?? []
    const event = {
      app_id,
      url: events_url,
      event_id,
      type: event_kind,
      occurred_at,
      subject,
      openSecrets: () =>
        stored.map(({ value_encrypted }) => openKey(secrets, app_id, 'event_secret', value_encrypted)),
    }
    return [notification_id, event] as const
  }
  return new Map([
    ...orders.map((order) => asEvent(order, { order, mandate_id: order.public_mandate_id })),
    ...transfers.map((transfer) => asEvent(transfer, { transfer })),
  ])
}

/** The orders or transfers as they were at the moment of their event, from the facts that a trigger stored. */
async function factsOf<Found>(
  db: Db,
  table: 'orders' | 'transfers',
  notification_ids: readonly bigint[],
): Promise<Found[]> {
  const isOrder = table === 'orders'
  const subject = sql.ref(isOrder ? 'n.order_id' : 'n.transfer_id')
  const mandate = isOrder
    ? sql`, (select mandates.mandate_id from mandates where mandates.id = facts.mandate_id) as public_mandate_id`
    : sql``
  const { rows } = await sql<Found>`
    select n.id as notification_id, n.kind as event_kind, n.event_id, n.occurred_at, app.events_url, facts.*${mandate}
    from notifications as n
    join payment_apps as app on app.id = n.app_id
    cross join lateral jsonb_populate_record(null::${sql.table(table)}, n.facts) as facts
    where n.id = any (${notification_ids}::bigint[]) and ${subject} is not null and app.events_url is not null
  `.execute(db)
  return rows
}
