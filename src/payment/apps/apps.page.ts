// This room: payment applications: application and review, keys, team, terms, hand-over, test mode.
// Verbs: applyForPaymentApp, reviewPaymentApp, editPaymentApp, rotateToken, inviteMember, acceptOffer.
// Tables: payment_apps, payment_app_members, payment_app_offers, payment_app_days.
// Clauses: spec/payment-api 1.1–1.5; spec/gateway 1.1.
/** The list of a member's payment applications, and the form that applies for one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { readForm } from '../../web/forms/forms.ts'
import { showOnce } from '../../web/forms/shown-once.ts'
import { APPLICATIONS } from '../rights/owned.ts'
import { applicationsOf, applyForPaymentApp, newAppForm, PENDING_APPS_MAX, returnWithout } from './apps.ts'
import { offersOf } from './handover.ts'
import { showNewSecret } from './new-secret.page.ts'
import { invitationsOf } from './team.ts'
import { createTestApp, TEST_APPS_MAX } from './test-apps.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/apps': {
      user: Session['user']
      applications: Awaited<ReturnType<typeof applicationsOf>>
      invitations: Awaited<ReturnType<typeof invitationsOf>>
      offers: Awaited<ReturnType<typeof offersOf>>
      neededTrustLevel: number
      mayTest: boolean
      /** Whether the form below the list is open. The button above it opens it. */
      isNew: boolean
      waitingMax: number | undefined
    }
  }
}

/** For routes that generate an RSA pair, which takes a fraction of a second of one processor. */
export const slow = { config: { admission: 'slow' } } as const

/** GET and POST /payment/applications. */
export function appListPages(app: FastifyInstance, deps: Core): void {
  const form = newAppForm(deps.config.production)

  app.get(APPLICATIONS, async (request, reply) => showApplications(request, reply, deps))

  app.post(APPLICATIONS, slow, async (request, reply) => {
    const applicant_id = sessionOf(request).user.id
    const { made } = request.locale.t.paymentApps
    const words = wordsOf(request)
    const { book, sells } = request.body as Record<string, unknown>
    const isTest = book === 'test'
    const facts = readForm(request, form, words)
    // Without a program there is no address to come back to.
    if (sells === 'links') facts.callback_url = undefined
    if (isTest) {
      await deps.limits.hit('key_pairs', applicant_id.toString())
      // The overview knows by this address that its owner sells by links.
      if (sells === 'links') facts.callback_url = returnWithout(deps)
      const credentials = await createTestApp(deps, { applicant_id, ...facts, ip: request.ip })
      if (sells === 'links')
        return reply.done(`${APPLICATIONS}/${credentials.payment_id}/links`, { text: made.test(facts.name) })
      return showMadeTest(reply, deps, credentials, made.testKeys(facts.name))
    }
    await deps.limits.hit('key_pairs', applicant_id.toString())
    const callback_url = facts.callback_url ?? returnWithout(deps)
    const credentials = await applyForPaymentApp(deps, { applicant_id, ...facts, callback_url })
    // Without a program there is nothing that needs the keys. Their page makes new ones at any time.
    if (facts.callback_url === undefined)
      return reply.done(`${APPLICATIONS}/${credentials.payment_id}/links`, {
        text: made.forLinks(facts.name),
      })
    return showMade(reply, deps, credentials, made.live(facts.name))
  })
}

type Made = { payment_id: string; token: string; secret_key: string }

/** Leads to the overview of a new test application, whose first act is a test order. It shows the keys once, beside that. */
export function showMadeTest(
  reply: FastifyReply,
  deps: Core,
  { payment_id, token, secret_key }: Made,
  text: string,
): FastifyReply {
  const page = `${APPLICATIONS}/${payment_id}`
  showOnce(reply, page, { token, secret_key } satisfies MadeKeys, deps)
  return reply.done(page, { text })
}

/** The keys of a new test application. */
export type MadeKeys = { token: string; secret_key: string }

/** Leads to the page that shows the keys of a new application once. */
export function showMade(
  reply: FastifyReply,
  deps: Core,
  { payment_id, token, secret_key }: Made,
  text: string,
): FastifyReply {
  return showNewSecret(reply, deps, {
    payment_id,
    secret: { kind: 'made', token, secret_key },
    done: { text },
  })
}

async function showApplications(request: FastifyRequest, reply: FastifyReply, deps: Core) {
  const { user } = sessionOf(request)
  const [{ payment_apps_min_trust_level }, applications, invitations, offers] = await Promise.all([
    deps.settings.read(),
    applicationsOf(deps, user.id),
    invitationsOf(deps.db, user.id),
    offersOf(deps.db, user.id, deps.clock()),
  ])
  const owned = applications.filter(({ role }) => role === 'owner')
  return reply.page('payment/apps/apps', {
    user,
    applications,
    invitations,
    offers,
    neededTrustLevel: payment_apps_min_trust_level,
    isNew: 'new' in (request.query as object),
    mayTest: owned.filter(({ book }) => book === 'test').length < TEST_APPS_MAX,
    waitingMax:
      owned.filter(({ status }) => status === 'pending').length < PENDING_APPS_MAX
        ? undefined
        : PENDING_APPS_MAX,
  })
}

/** Says what each fact of an application must be. */
export function wordsOf({ locale }: FastifyRequest): Record<string, string> {
  return locale.t.paymentApps.problems
}
