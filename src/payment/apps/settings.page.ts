/** …/settings: the facts of an application, its terms, the alert on a low balance, and its test application. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { storeAppLogo } from '../../shops/app-logos.ts'
import { linkForms, type Shop, shopOf } from '../../shops/links.page.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { acceptLogo } from '../../web/logo-form.ts'
import { joinSentences } from '../../web/spacing.ts'
import { APPLICATION, actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import type { Right } from '../rights/rights.ts'
import { callRefusal } from '../wire-fields/addresses.ts'
import { Amount } from '../wire-fields/fields.ts'
import { showMadeTest, slow, wordsOf } from './apps.page.ts'
import { navFor } from './area.ts'
import { OVERLAP_HOURS_MAX } from './key-changes.ts'
import {
  editPaymentApp,
  getOwned,
  ORDER_MINUTES_MIN,
  type PaymentAppEdit,
  paymentAppEdit,
  setLogo,
  setLowBalance,
} from './own-app.ts'
import { type TermsInForce, termsOf } from './terms.ts'
import { createTwin, twinOf } from './test-apps.ts'

const PAGE = `${APPLICATION}/settings`
/** An empty amount switches the alert off. */
const LowBalance = z.object({
  low_balance_points: z
    .string()
    .trim()
    .pipe(z.union([z.literal('').transform(() => null), Amount.transform(BigInt)])),
})

const OverlapForm = z.object({
  overlap_hours: z
    .string()
    .trim()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .refine((hours) => hours <= OVERLAP_HOURS_MAX),
})

/** Returns the overlap in hours. Throws FormRefused. */
export function overlapIn(request: FastifyRequest): number {
  const words = { overlap_hours: request.locale.t.developers.overlapWrong(OVERLAP_HOURS_MAX) }
  return readForm(request, OverlapForm, words).overlap_hours
}

/** Throws FormRefused with the reason for an address that can never be called. An empty one passes. */
export function requireCallable(request: FastifyRequest, { config }: Core, field: string, url: string): void {
  const fault = url === '' ? undefined : callRefusal(url, config)
  if (fault !== undefined) throw new FormRefused({ [field]: request.locale.t.paymentApps.neverCalled[fault] })
}

/** The application for its page. Throws not_found without a role in it, and forbidden if the role lacks the right. */
export function ownedFor(request: OwnedRequest, deps: Core, right: Right) {
  return getOwned(deps, request.params.payment_id, sessionOf(request).user.id, right)
}

/** An application as its own pages show it. */
export type Owned = Awaited<ReturnType<typeof ownedFor>>

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/settings': {
      owned: Owned
      nav: AreaNav
      terms: TermsInForce
      twin: string | undefined
      shop: Shop | undefined
      orderMinutes: { min: number; max: number }
    }
  }
  interface PartData {
    'payment/apps/terms': { terms: TermsInForce }
    'payment/apps/test-mode': { owned: Owned; twin: string | undefined }
  }
}

/** Whether an edit needs a recent sign-in. It does if it changes an address of the shop, the rate or the allowed addresses. */
function isSensitive(
  owned: Pick<Owned, 'callback_url' | 'notify_url' | 'exchange_rate' | 'allowed_addresses'>,
  edit: PaymentAppEdit,
): boolean {
  return (
    edit.callback_url !== owned.callback_url ||
    edit.notify_url !== (owned.notify_url ?? '') ||
    Number(edit.exchange_rate) !== Number(owned.exchange_rate) ||
    edit.allowed_addresses.join() !== owned.allowed_addresses.join()
  )
}

/** GET …/settings, and its forms. */
export async function settingsPages(app: FastifyInstance, deps: Core): Promise<void> {
  const config = { page: PAGE }
  const askFreshSignIn = requireFreshSignIn(deps)

  app.get(PAGE, async (request: OwnedRequest, reply) => showSettings(request, reply, deps))

  app.post(`${APPLICATION}/edit`, { config }, async (request: OwnedRequest, reply) => {
    const [before, { order_expiry_minutes: max }] = await Promise.all([
      ownedFor(request, deps, 'settings.edit'),
      deps.settings.read(),
    ])
    const order_minutes = request.locale.t.paymentApps.own.orderMinutesWrong(ORDER_MINUTES_MIN, max)
    const words = { ...wordsOf(request), order_minutes }
    const form = paymentAppEdit(deps.config.production, { max, stored: before.order_minutes })
    const facts = readForm(request, form, words)
    requireCallable(request, deps, 'notify_url', facts.notify_url)
    if (isSensitive(before, facts)) {
      await askFreshSignIn(request, reply)
      if (reply.sent) return reply
    }
    await editPaymentApp(deps, request.params.payment_id, facts, actorOf(request))
    const { own } = request.locale.t.paymentApps
    const text =
      before.status === 'rejected'
        ? own.reapplied
        : Number(facts.exchange_rate) === Number(before.exchange_rate)
          ? own.saved
          : own.savedRate(before.exchange_rate, String(Number(facts.exchange_rate)))
    return reply.done(`${pathOf(request)}/settings`, { text })
  })

  await app.register(async (scope) => logoForm(scope, deps))
  linkForms<OwnedRequest>(app, deps, {
    kind: 'payment',
    path: APPLICATION,
    idOf: ({ params }) => params.payment_id,
    backTo: (request) => `${pathOf(request)}/settings`,
    permit: (request) => ownedFor(request, deps, 'shop.link'),
  })
  lowBalanceForm(app, deps)
  testForm(app, deps)
}

/** The form that uploads or removes the logo, in a scope of its own. */
function logoForm(scope: FastifyInstance, deps: Core): void {
  const config = { admission: 'slow', page: PAGE } as const
  acceptLogo(scope)
  scope.post(`${APPLICATION}/logo`, { config }, async (request: OwnedRequest, reply) => {
    await ownedFor(request, deps, 'settings.edit')
    const logo_url = await storeAppLogo(request, deps)
    const { waitsForReview } = await setLogo(deps, request.params.payment_id, logo_url, actorOf(request))
    const { appLogo: l } = request.locale.t
    const text = logo_url === null ? l.removed : l.uploaded
    return reply.done(`${pathOf(request)}/settings`, {
      text: waitsForReview ? joinSentences([text, l.waits]) : text,
    })
  })
}

/** The form for the balance below which the owner gets an alert. */
function lowBalanceForm(app: FastifyInstance, deps: Core): void {
  app.post(`${APPLICATION}/low-balance`, { config: { page: PAGE } }, async (request: OwnedRequest, reply) => {
    await ownedFor(request, deps, 'points.transfer')
    const { locale } = request
    const words = { low_balance_points: locale.t.alerts.lowBalanceProblem }
    const { low_balance_points: points } = readForm(request, LowBalance, words)
    await setLowBalance(deps, request.params.payment_id, points, actorOf(request))
    const { own } = locale.t.paymentApps
    const text = points === null ? own.lowBalanceOff : own.lowBalanceOn(locale.points(points))
    return reply.done(`${pathOf(request)}/settings`, { text })
  })
}

/** The form that makes the test application of a live one. */
function testForm(app: FastifyInstance, deps: Core): void {
  const config = { ...slow.config, page: PAGE }
  app.post(`${APPLICATION}/test`, { config }, async (request: OwnedRequest, reply) => {
    await deps.limits.hit('key_pairs', sessionOf(request).user.id.toString())
    const { name, ...credentials } = await createTwin(deps, request.params.payment_id, actorOf(request))
    return showMadeTest(reply, deps, credentials, request.locale.t.paymentApps.made.testKeys(name))
  })
}

async function showSettings(request: OwnedRequest, reply: FastifyReply, deps: Core) {
  const owned = await ownedFor(request, deps, 'application.read')
  const user_id = sessionOf(request).user.id
  const owner_id = owned.rights.includes('shop.link') ? user_id : undefined
  const [nav, terms, twin, shop, { order_expiry_minutes: max }] = await Promise.all([
    navFor(deps, request, owned),
    termsOf(deps, owned),
    twinOf(deps.db, owned, user_id),
    owned.book === 'live' ? shopOf(deps.db, { kind: 'payment', app: owned, owner_id }) : undefined,
    deps.settings.read(),
  ])
  return reply.page('payment/apps/settings', {
    owned,
    nav,
    terms,
    twin,
    shop,
    orderMinutes: { min: ORDER_MINUTES_MIN, max },
  })
}
