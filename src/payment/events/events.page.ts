/** …/events: switches an application's events on and off, and replaces their secret. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { browserScope, requireUser } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { OVERLAP_HOURS_DEFAULT } from '../apps/key-changes.ts'
import { overlapHoursOf, ownedFor } from '../apps/own-app.page.ts'
import { actorOf, freshSignIn, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { eventSecretsOf, isEventsUrl, rotateEventSecret, setEventsUrl } from './events.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/events/events': {
      owned: Awaited<ReturnType<typeof ownedFor>>
      secrets: Awaited<ReturnType<typeof eventSecretsOf>>
      url: string
      isRefused: boolean
      overlapHours: number
    }
    'payment/events/secret': { payment_id: string; secret: string; previous_until: Date | undefined }
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
  const guarded = freshSignIn(deps, '/events')
  const secretPage = (request: OwnedRequest, reply: FastifyReply, secret: string, previous_until?: Date) =>
    reply.page(
      'payment/events/secret',
      { payment_id: request.params.payment_id, secret, previous_until },
      { status: 201 },
    )

  app.get(path, async (request: OwnedRequest, reply) => showEvents(request, reply, deps))

  app.post(path, guarded, async (request: OwnedRequest, reply) => {
    const { events_url } = request.body as Record<string, unknown>
    const url = typeof events_url === 'string' ? events_url.trim() : ''
    if (url !== '' && !isEventsUrl(url, deps.config.production)) return showEvents(request, reply, deps, url)
    const secret = await setEventsUrl(deps, request.params.payment_id, url || null, actorOf(request))
    if (secret !== undefined) return secretPage(request, reply, secret)
    return reply.redirect(`${pathOf(request)}/events`, 303)
  })

  app.post(`${path}/rotate`, guarded, async (request: OwnedRequest, reply) => {
    const { payment_id } = request.params
    const { secret, previous_until } = await rotateEventSecret(
      deps,
      payment_id,
      overlapHoursOf(request),
      actorOf(request),
    )
    return secretPage(request, reply, secret, previous_until)
  })
}

/** @param refused a typed address that is not valid. */
async function showEvents(request: OwnedRequest, reply: FastifyReply, deps: Core, refused?: string) {
  const owned = await ownedFor(request, deps, 'settings.edit')
  const data = {
    owned,
    secrets: await eventSecretsOf(deps.db, owned.id, deps.clock()),
    url: refused ?? owned.events_url ?? '',
    isRefused: refused !== undefined,
    overlapHours: OVERLAP_HOURS_DEFAULT,
  }
  return reply.page('payment/events/events', data, { status: refused === undefined ? 200 : 400 })
}
