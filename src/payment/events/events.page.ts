// This room: signed events of the HMAC API to a shop’s server (Standard Webhooks).
// Verbs: setEventsUrl, rotateEventSecret, signedEvent.
// Tables: notifications, payment_apps.
// Clauses: spec/payment-api 5.2.
/** …/events: switches an application's events on and off, and replaces their secret. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { browserScope, requireUser } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { readForm } from '../../web/forms/forms.ts'
import { navFor } from '../apps/area.ts'
import { endOfOverlap, OVERLAP_HOURS_DEFAULT } from '../apps/key-changes.ts'
import { showNewSecret } from '../apps/new-secret.page.ts'
import { type Owned, overlapIn, ownedFor, requireCallable } from '../apps/settings.page.ts'
import { actorOf, CONFIRMED, isConfirmed, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { eventSecretsOf, isEventsUrl, pendingEvents, rotateEventSecret, setEventsUrl } from './events.ts'
import type { EventType } from './subjects.ts'

const TYPES: EventType[] = [
  'order.paid',
  'order.expired',
  'order.refunded',
  'transfer.completed',
  'payout.finished',
  'payout.halted',
]
const MANDATE_TYPES: EventType[] = [
  'charge.completed',
  'charge.failed',
  'mandate.created',
  'mandate.changed',
  'mandate.revoked',
]
const LINK_TYPES: EventType[] = ['link.sold', 'link.refunded']

declare module '../../web/views.ts' {
  interface PageData {
    'payment/events/events': {
      owned: Owned
      nav: AreaNav
      secrets: Awaited<ReturnType<typeof eventSecretsOf>>
      overlapHours: number
      types: readonly EventType[]
    }
  }
  interface PartData {
    'payment/events/sample': object
  }
}

/** GET and POST /payment/applications/:payment_id/events, and POST …/events/rotate. */
export async function eventPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const path = '/payment/applications/:payment_id/events'
  const EventsForm = z.object({
    events_url: z
      .string()
      .trim()
      .refine((url) => url === '' || isEventsUrl(url, deps.config.production)),
  })
  const preHandler = requireFreshSignIn(deps)
  const showSecret = (reply: FastifyReply, { payment_id }: Owned, secret: string, text: string) =>
    showNewSecret(reply, deps, { payment_id, secret: { kind: 'events', secret }, done: { text } })

  app.get(path, async (request: OwnedRequest, reply) => showEvents(request, reply, deps))

  app.post(path, { preHandler }, async (request: OwnedRequest, reply) => {
    const { events } = request.locale.t
    const { events_url: url } = readForm(request, EventsForm, { events_url: events.urlProblem })
    requireCallable(request, deps, 'events_url', url)
    const owned = await ownedFor(request, deps, 'settings.edit')
    if (url === '' && owned.events_url !== null && !isConfirmed(request))
      return askToSwitchOff(request, reply, deps, owned)
    const secret = await setEventsUrl(deps, owned.payment_id, url || null, actorOf(request))
    if (secret !== undefined) return showSecret(reply, owned, secret, events.secretMade)
    const text = url === '' ? events.done.off : events.done.on(new URL(url).host)
    return reply.done(`${pathOf(request)}/events`, { text })
  })

  app.post(`${path}/rotate`, { preHandler }, async (request: OwnedRequest, reply) => {
    const { payment_id } = request.params
    const hours = overlapIn(request)
    const until = endOfOverlap(deps.clock(), hours)
    const owned = await ownedFor(request, deps, 'keys.manage')
    if (!isConfirmed(request)) return askToRotate(request, reply, owned, hours, until)
    const { secret, previous_until } = await rotateEventSecret(deps, payment_id, hours, actorOf(request))
    const { locale } = request
    const { secretMade, previousUntil } = locale.t.events
    const overlap = previous_until && previousUntil(locale.time(previous_until))
    return showSecret(reply, owned, secret, secretMade + (overlap ?? ''))
  })
}

function askToRotate(
  request: OwnedRequest,
  reply: FastifyReply,
  owned: Owned,
  hours: number,
  until: Date,
): FastifyReply {
  const { locale } = request
  const { developers, events } = locale.t
  return reply.page('confirm', {
    title: events.ask.rotate,
    shop: owned.name,
    lead: developers.ask.which(owned.name, String(owned.pid)),
    facts: [
      { term: developers.ask.newKey, value: developers.ask.shownOnce },
      {
        term: developers.ask.oldKey,
        value: hours === 0 ? events.ask.signsNoMore : events.ask.signsUntil(locale.time(until)),
      },
    ],
    notes: [hours === 0 ? events.ask.rotateNow : events.ask.rotateNote],
    action: `${pathOf(request)}/events/rotate`,
    fields: { overlap_hours: String(hours), ...CONFIRMED },
    button: events.ask.rotateButton,
    isDanger: true,
    cancel: `${pathOf(request)}/events`,
  })
}

async function askToSwitchOff(
  request: OwnedRequest,
  reply: FastifyReply,
  { db }: Core,
  owned: Owned,
): Promise<FastifyReply> {
  const { locale } = request
  const { developers, events } = locale.t
  return reply.page('confirm', {
    title: events.ask.off,
    shop: owned.name,
    lead: developers.ask.which(owned.name, String(owned.pid)),
    facts: [
      { term: events.url, value: owned.events_url ?? '–' },
      { term: events.ask.pending, value: locale.points(await pendingEvents(db, owned.id)) },
    ],
    notes: [events.ask.offNote],
    action: `${pathOf(request)}/events`,
    fields: { events_url: '', ...CONFIRMED },
    button: events.ask.offButton,
    isDanger: true,
    cancel: `${pathOf(request)}/events`,
  })
}

async function showEvents(request: OwnedRequest, reply: FastifyReply, deps: Core) {
  const owned = await ownedFor(request, deps, 'settings.edit')
  const { links, mandates } = await deps.settings.read()
  const data = {
    owned,
    nav: await navFor(deps, request, owned),
    secrets: await eventSecretsOf(deps.db, owned.id, deps.clock()),
    overlapHours: OVERLAP_HOURS_DEFAULT,
    types: [...TYPES, ...(links === 'on' ? LINK_TYPES : []), ...(mandates === 'on' ? MANDATE_TYPES : [])],
  }
  return reply.page('payment/events/events', data)
}
