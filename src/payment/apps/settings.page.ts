/** …/settings: the facts of an application, its terms, the alert on a low balance, and its test application. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { APPLICATION, actorOf, freshSignIn, type OwnedRequest, pathOf } from '../rights/owned.ts'
import type { Right } from '../rights/rights.ts'
import { Amount } from '../values/fields.ts'
import { FIELDS, slow, textsOf } from './apps.page.ts'
import { navFor } from './area.ts'
import { editPaymentApp, getOwned, type PaymentAppEdit, paymentAppEdit, setLowBalance } from './own-app.ts'
import { type TermsInForce, termsOf } from './terms.ts'
import { createTwin, twinOf } from './test-apps.ts'

const EDIT_FIELDS = [...FIELDS, 'homepage', 'logo_url', 'exchange_rate', 'allowed_addresses'] as const
const PAGE = '/settings'

/** The overlap of a form in hours, or NaN if the form has none. */
export function overlapHoursOf(request: FastifyRequest): number {
  const { overlap_hours: sent } = request.body as Record<string, unknown>
  return typeof sent === 'string' && /^\d{1,4}$/.test(sent) ? Number(sent) : Number.NaN
}

/** The application for its page. Throws not_found without a role in it, and forbidden if the role lacks the right. */
export function ownedFor(request: OwnedRequest, deps: Core, right: Right) {
  return getOwned(deps, request.params.payment_id, sessionOf(request).user.id, right)
}

type EditField = (typeof EDIT_FIELDS)[number]

/** An application as its own pages show it. */
export type Owned = Awaited<ReturnType<typeof ownedFor>>

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/settings': {
      owned: Owned
      nav: AreaNav
      values: Partial<Record<EditField, string>>
      problems: EditField[]
      terms: TermsInForce
      lowBalance: { value: string } | undefined
      twin: string | undefined
    }
  }
  interface PartData {
    'payment/apps/tabs': { nav: AreaNav }
    'payment/apps/terms': { terms: TermsInForce }
    'payment/apps/test-mode': { owned: Owned; twin: string | undefined }
  }
}

/** Whether an edit needs a recent sign-in. It does if it changes the callback, the rate or the allowed addresses. */
function isSensitive(
  owned: Pick<PaymentAppEdit, 'callback_url' | 'exchange_rate' | 'allowed_addresses'>,
  edit: PaymentAppEdit,
): boolean {
  return (
    edit.callback_url !== owned.callback_url ||
    Number(edit.exchange_rate) !== Number(owned.exchange_rate) ||
    edit.allowed_addresses.join() !== owned.allowed_addresses.join()
  )
}

/** GET …/settings, and its forms. */
export function settingsPages(app: FastifyInstance, deps: Core): void {
  const edit = paymentAppEdit(deps.config.production)
  const guarded = freshSignIn(deps, PAGE)

  app.get(`${APPLICATION}${PAGE}`, async (request: OwnedRequest, reply) =>
    showSettings(request, reply, deps, { values: undefined, problems: [] }),
  )

  app.post(`${APPLICATION}/edit`, async (request: OwnedRequest, reply) => {
    const filled = edit.safeParse(request.body)
    if (!filled.success) {
      const problems = EDIT_FIELDS.filter((field) =>
        filled.error.issues.some(({ path }) => path[0] === field),
      )
      return showSettings(request, reply, deps, { values: textsOf(request.body, EDIT_FIELDS), problems })
    }
    const before = await ownedFor(request, deps, 'settings.edit')
    if (isSensitive(before, filled.data)) {
      await guarded.preHandler(request, reply)
      if (reply.sent) return reply
    }
    await editPaymentApp(deps, request.params.payment_id, filled.data, actorOf(request))
    const { own } = request.locale.t.paymentApps
    const text =
      before.status === 'rejected'
        ? own.reapplied
        : Number(filled.data.exchange_rate) === Number(before.exchange_rate)
          ? own.saved
          : own.savedRate(before.exchange_rate, String(Number(filled.data.exchange_rate)))
    return reply.done(`${pathOf(request)}${PAGE}`, { text })
  })

  lowBalanceForm(app, deps)
  testForm(app, deps)
}

/** The form for the balance below which the owner gets an alert. */
function lowBalanceForm(app: FastifyInstance, deps: Core): void {
  app.post(`${APPLICATION}/low-balance`, async (request: OwnedRequest, reply) => {
    const { low_balance_points: sent } = request.body as Record<string, unknown>
    const value = typeof sent === 'string' ? sent.trim() : ''
    await ownedFor(request, deps, 'points.transfer')
    if (value !== '' && !isPoints(value))
      return showSettings(request, reply, deps, { values: undefined, problems: [], lowBalance: { value } })
    const points = value === '' ? null : BigInt(value)
    await setLowBalance(deps, request.params.payment_id, points, actorOf(request))
    const { locale } = request
    const { own } = locale.t.paymentApps
    const text = points === null ? own.lowBalanceOff : own.lowBalanceOn(locale.points(points))
    return reply.done(`${pathOf(request)}${PAGE}`, { text })
  })
}

const isPoints = (text: string) => Amount.safeParse(text).success

/** The form that makes the test application of a live one. */
function testForm(app: FastifyInstance, deps: Core): void {
  app.post(`${APPLICATION}/test`, slow, async (request: OwnedRequest, reply) => {
    await deps.limits.hit('key_pairs', sessionOf(request).user.id.toString())
    const { name, ...credentials } = await createTwin(deps, request.params.payment_id, actorOf(request))
    return reply.page('payment/apps/created', { name, credentials, isTest: true }, { status: 201 })
  })
}

/** @param filled the typed values and their problems after a refused form. */
async function showSettings(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: Core,
  filled: {
    values: Record<string, string> | undefined
    problems: EditField[]
    lowBalance?: { value: string }
  },
) {
  const owned = await ownedFor(request, deps, 'application.read')
  const stored = {
    ...owned,
    homepage: owned.homepage ?? '',
    logo_url: owned.logo_url ?? '',
    allowed_addresses: owned.allowed_addresses.join('\n'),
  }
  const isRefused = filled.problems.length > 0 || filled.lowBalance !== undefined
  const [nav, terms, twin] = await Promise.all([
    navFor(deps, request, owned),
    termsOf(deps, owned),
    twinOf(deps.db, owned, sessionOf(request).user.id),
  ])
  return reply.page(
    'payment/apps/settings',
    {
      owned,
      nav,
      values: filled.values ?? stored,
      problems: filled.problems,
      terms,
      lowBalance: filled.lowBalance,
      twin,
    },
    { status: isRefused ? 400 : 200 },
  )
}
