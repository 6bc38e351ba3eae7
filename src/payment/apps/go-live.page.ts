/** …/go-live of a test application: what a live application takes over, and the form that applies for it or copies to it. */
import type { FastifyInstance } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { readForm } from '../../web/forms/forms.ts'
import { APPLICATION, APPLICATIONS, actorOf, type OwnedRequest } from '../rights/owned.ts'
import { showMade, slow, wordsOf } from './apps.page.ts'
import { paymentAppForm, returnWithout } from './apps.ts'
import { navFor } from './area.ts'
import {
  applyFromTest,
  copyToLive,
  type GoingLive,
  goingLiveOf,
  levelNeeded,
  type NeedsLevel,
} from './go-live.ts'
import { type Owned, ownedFor } from './settings.page.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/go-live': {
      owned: Owned
      nav: AreaNav
      going: GoingLive
      /** The callback address that the form offers. Empty if the test application returns to its own overview. */
      callback_url: string
      /** Whether its owner sells by links alone. Buyers then return to their payments. */
      isWithoutProgram: boolean
      needs: NeedsLevel | undefined
    }
  }
}

/** GET and POST …/go-live. */
export function goLivePages(app: FastifyInstance, deps: Core): void {
  const askFreshSignIn = requireFreshSignIn(deps)
  const form = paymentAppForm(deps.config.production)
    .pick({ name: true, callback_url: true })
    .partial({ name: true })
  const goingOf = (request: OwnedRequest) =>
    goingLiveOf(deps.db, request.params.payment_id, actorOf(request).user_id)

  app.get(`${APPLICATION}/go-live`, async (request: OwnedRequest, reply) => {
    const going = await goingOf(request)
    const owned = await ownedFor(request, deps, 'application.go_live')
    const [nav, settings] = await Promise.all([navFor(deps, request, owned), deps.settings.read()])
    return reply.page('payment/apps/go-live', {
      owned,
      nav,
      going,
      isWithoutProgram: !going.live && going.settings.callback_url === returnWithout(deps),
      callback_url: going.hasOwnCallback
        ? going.settings.callback_url
        : (going.live?.settings.callback_url ?? ''),
      needs: going.live === undefined ? levelNeeded(settings, sessionOf(request).user) : undefined,
    })
  })

  app.post(`${APPLICATION}/go-live`, slow, async (request: OwnedRequest, reply) => {
    const going = await goingOf(request)
    const { name = going.settings.name, callback_url } = readForm(request, form, wordsOf(request))
    const { goLive, paymentApps } = request.locale.t
    if (going.live === undefined) {
      await deps.limits.hit('key_pairs', actorOf(request).user_id.toString())
      const credentials = await applyFromTest(deps, going, { name, callback_url }, actorOf(request))
      return showMade(reply, deps, credentials, paymentApps.made.live(name))
    }
    // The copy may change where payers return and which servers may call.
    await askFreshSignIn(request, reply)
    if (reply.sent) return reply
    await copyToLive(deps, going, callback_url, actorOf(request))
    return reply.done(`${APPLICATIONS}/${going.live.payment_id}/settings`, { text: goLive.copied })
  })
}
