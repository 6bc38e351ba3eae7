/**
 * Events of the HMAC API as Standard Webhooks 1.0.0 (standardwebhooks.com; spec/payment-api 5.2). NOTE: the interface has server
 * notifications for the gateway only, so an application gets these events only if its owner asks for them.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { describeCharge, describeMandate, describeOrder, describeTransfer } from '../hmac/answers.ts'
import { PAYMENT_ERRORS, type PaymentWireCode } from '../hmac/errors.ts'
import { keptRefusal } from '../mandates/charge.ts'
import type { Order } from '../orders/orders.ts'
import { describePayout } from '../rest/payout-answers.ts'
import { openKey } from '../signing/keys.ts'
import type { EventBody, LinkSaleFields, RefusedCharge as RefusedChargeFields } from './shapes.ts'
import { type EventType, type LinkSale, type RefusedCharge, readSubjects, type Subject } from './subjects.ts'

const SECRET_PREFIX = 'whsec_'
/** The standard allows 24 to 64. */
const SECRET_BYTES = 32

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
  subject: Subject
  /** Decrypts the valid secrets, the current one first. A rotation has two. A failure affects only this event. */
  openSecrets(): string[]
}

/** The body of an event and the headers that sign it. Pure. */
export function signedEvent(
  event: EventToSend,
  now: Date,
): { headers: Record<string, string>; body: string } {
  const { event_id, type, occurred_at, subject } = event
  const data = dataOf(subject, occurred_at)
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

function dataOf(subject: Subject, occurred_at: Date): EventBody['data'] {
  if ('sale' in subject && subject.sale !== undefined)
    return describeSale(subject.order, subject.sale, occurred_at)
  if ('order' in subject) return describeOrder(subject.order, occurred_at, subject.mandate_id, subject.tip)
  if ('transfer' in subject) return describeTransfer(subject.transfer)
  if ('charge' in subject) return describeCharge(subject.charge, occurred_at)
  if ('mandate' in subject) return describeMandate(subject.mandate)
  if ('payout' in subject) return describePayout(subject.payout)
  return describeRefused(subject.refused)
}

function describeSale(
  order: Order,
  { slug, title, units, user_id, username, delivery }: LinkSale,
  now: Date,
): z.output<typeof LinkSaleFields> {
  const sold = { slug, title, quantity: units, user_id: Number(user_id), username, delivery }
  return { ...describeOrder(order, now, null), ...sold }
}

function describeRefused(refused: RefusedCharge): z.output<typeof RefusedChargeFields> {
  const { mandate_id, order_id, amount, period_from, result } = refused
  const { code, message } = keptRefusal(result, amount)
  const { number } = PAYMENT_ERRORS[code as PaymentWireCode]
  return { mandate_id, order_id, amount: Number(amount), code: number, message, period_from }
}

function signEvent(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return createHmac('sha256', key).update(text).digest('base64')
}

/** Finds events by their notifications, except those of applications that have switched events off. */
export async function findEvents(
  { db, secrets, clock }: Pick<Core, 'db' | 'secrets' | 'clock'>,
  claimed: Parameters<typeof readSubjects>[1],
): Promise<Map<bigint, EventToSend>> {
  const events = await readSubjects(db, claimed)
  if (events.length === 0) return new Map()
  const keys = await db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', sql<bigint>`any(${events.map(({ found }) => found.app_id)}::bigint[])`)
    .where('kind', '=', 'event_secret')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', clock())]))
    .orderBy('id', 'desc')
    .select(['app_id', 'value_encrypted'])
    .execute()
  const secretsOf = Map.groupBy(keys, ({ app_id }) => app_id)
  return new Map(
    events.map(({ found, subject }) => {
      const { notification_id, event_kind, event_id, occurred_at, events_url, app_id } = found
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
      return [notification_id, event]
    }),
  )
}
