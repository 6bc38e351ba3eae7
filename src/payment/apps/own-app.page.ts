/** The page of one payment application, with its forms. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Locale } from '../../web/languages.ts'
import { actorOf, freshSignIn, type OwnedRequest, pathOf } from '../rights/owned.ts'
import type { Right } from '../rights/rights.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { type PublicKeyFault, readPublicKey } from '../signing/public-key.ts'
import { Amount } from '../values/fields.ts'
import { FIELDS, slow, textsOf } from './apps.page.ts'
import { gatewayCard, pemOf, platformSpki } from './gateway-card.ts'
import {
  endOverlap,
  makeMerchantPair,
  OVERLAP_HOURS_DEFAULT,
  resetMerchantKey,
  rotateToken,
  setPublicKey,
} from './key-changes.ts'
import {
  editPaymentApp,
  getOwned,
  type PaymentAppEdit,
  paymentAppEdit,
  setLowBalance,
  switchVersions,
} from './own-app.ts'
import { type TermsInForce, termsOf } from './terms.ts'
import { createTwin, twinOf } from './test-apps.ts'

const EDIT_FIELDS = [...FIELDS, 'homepage', 'logo_url', 'exchange_rate', 'allowed_addresses'] as const

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

type Owned = Awaited<ReturnType<typeof ownedFor>>
type Gateway = Awaited<ReturnType<typeof gatewayCard>>
type Sample = { c: Locale['t']['merchantGateway']['comments']; gateway: Gateway; pid: bigint }

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/own-app': {
      owned: Owned
      values: Partial<Record<EditField, string>>
      problems: EditField[]
      terms: TermsInForce
      lowBalance: { value: string } | undefined
      gateway: Gateway | undefined
      keyFault: PublicKeyFault | undefined
      twin: string | undefined
      overlapHours: number
    }
    'payment/apps/rotated': { payment_id: string; rotated: Awaited<ReturnType<typeof rotateToken>> }
    'payment/apps/key-pair': { payment_id: string; pair: { bare: string; pem: string } }
  }
  interface PartData {
    'payment/apps/gateway': { owned: Owned; gateway: Gateway; keyFault: PublicKeyFault | undefined }
    'payment/apps/sample-v1': Sample
    'payment/apps/sample-v2': Sample
    'payment/apps/tabs': { owned: Pick<Owned, 'payment_id' | 'rights'> }
    'payment/apps/terms': { terms: TermsInForce }
    'payment/apps/test-mode': { owned: Owned; twin: string | undefined }
    'payment/apps/which-key': object
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

/** GET /payment/applications/:payment_id and its forms. */
export function ownAppPages(app: FastifyInstance, deps: GatewayCore): void {
  ownerPages(app, deps)
  lowBalanceForm(app, deps)
  gatewayForms(app, deps)
  testForms(app, deps)
}

/** The page of the application and the forms for its facts and HMAC keys. */
function ownerPages(app: FastifyInstance, deps: GatewayCore): void {
  const edit = paymentAppEdit(deps.config.production)
  const guarded = freshSignIn(deps)

  app.get('/payment/applications/:payment_id', async (request: OwnedRequest, reply) =>
    showOwned(request, reply, deps, { values: undefined, problems: [] }),
  )

  app.post('/payment/applications/:payment_id/edit', async (request: OwnedRequest, reply) => {
    const filled = edit.safeParse(request.body)
    if (!filled.success) {
      const problems = EDIT_FIELDS.filter((field) =>
        filled.error.issues.some(({ path }) => path[0] === field),
      )
      return showOwned(request, reply, deps, { values: textsOf(request.body, EDIT_FIELDS), problems })
    }
    if (isSensitive(await ownedFor(request, deps, 'settings.edit'), filled.data)) {
      await guarded.preHandler(request, reply)
      if (reply.sent) return reply
    }
    await editPaymentApp(deps, request.params.payment_id, filled.data, actorOf(request))
    return reply.redirect(pathOf(request), 303)
  })

  app.post('/payment/applications/:payment_id/rotate', guarded, async (request: OwnedRequest, reply) => {
    const { payment_id } = request.params
    const rotated = await rotateToken(deps, payment_id, overlapHoursOf(request), actorOf(request))
    return reply.page('payment/apps/rotated', { payment_id, rotated }, { status: 201 })
  })

  app.post('/payment/applications/:payment_id/end-overlap', guarded, async (request: OwnedRequest, reply) => {
    await endOverlap(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(pathOf(request), 303)
  })

  app.post('/payment/applications/:payment_id/reset-key', guarded, async (request: OwnedRequest, reply) => {
    await resetMerchantKey(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(pathOf(request), 303)
  })
}

/** The form for the balance below which the owner gets an alert. */
function lowBalanceForm(app: FastifyInstance, deps: GatewayCore): void {
  app.post('/payment/applications/:payment_id/low-balance', async (request: OwnedRequest, reply) => {
    const { low_balance_points: sent } = request.body as Record<string, unknown>
    const value = typeof sent === 'string' ? sent.trim() : ''
    await ownedFor(request, deps, 'points.transfer')
    if (value !== '' && !isPoints(value))
      return showOwned(request, reply, deps, { values: undefined, problems: [], lowBalance: { value } })
    const points = value === '' ? null : BigInt(value)
    await setLowBalance(deps, request.params.payment_id, points, actorOf(request))
    return reply.redirect(`${pathOf(request)}#low-balance`, 303)
  })
}

const isPoints = (text: string) => Amount.safeParse(text).success

/** The form that makes the test application of a live one. */
function testForms(app: FastifyInstance, deps: GatewayCore): void {
  app.post('/payment/applications/:payment_id/test', slow, async (request: OwnedRequest, reply) => {
    await deps.limits.hit('key_pairs', sessionOf(request).user.id.toString())
    const { name, ...credentials } = await createTwin(deps, request.params.payment_id, actorOf(request))
    return reply.page('payment/apps/created', { name, credentials, isTest: true }, { status: 201 })
  })
}

/** The forms for the keys and versions of the gateway. */
function gatewayForms(app: FastifyInstance, deps: GatewayCore): void {
  const guarded = freshSignIn(deps)
  const fieldsOf = (request: OwnedRequest) => request.body as Record<string, unknown>
  const toCard = (request: OwnedRequest) => `${pathOf(request)}#gateway`

  app.post('/payment/applications/:payment_id/public-key', guarded, async (request: OwnedRequest, reply) => {
    const { public_key } = fieldsOf(request)
    const { id } = await ownedFor(request, deps, 'keys.manage')
    const read = readPublicKey(typeof public_key === 'string' ? public_key : '', await platformSpki(deps, id))
    if (typeof read === 'string')
      return showOwned(request, reply, deps, { values: undefined, problems: [], keyFault: read })
    await setPublicKey(deps, request.params.payment_id, read, actorOf(request))
    return reply.redirect(toCard(request), 303)
  })

  const pairMade = { ...guarded, ...slow }
  app.post('/payment/applications/:payment_id/key-pair', pairMade, async (request: OwnedRequest, reply) => {
    const { payment_id } = await ownedFor(request, deps, 'keys.manage')
    await deps.limits.hit('key_pairs', sessionOf(request).user.id.toString())
    const { private_base64 } = await makeMerchantPair(deps, payment_id, actorOf(request))
    const pair = { bare: private_base64, pem: pemOf('PRIVATE KEY', private_base64) }
    return reply.page('payment/apps/key-pair', { payment_id, pair }, { status: 201 })
  })

  app.post('/payment/applications/:payment_id/versions', guarded, async (request: OwnedRequest, reply) => {
    const { v1, v2 } = fieldsOf(request)
    const enabled = { v1: v1 === 'on', v2: v2 === 'on' }
    await switchVersions(deps, request.params.payment_id, enabled, actorOf(request))
    return reply.redirect(toCard(request), 303)
  })
}

/** @param filled the typed values and their problems after a refused form. */
async function showOwned(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: GatewayCore,
  filled: {
    values: Record<string, string> | undefined
    problems: EditField[]
    keyFault?: PublicKeyFault
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
  const isRefused = filled.problems.length > 0 || (filled.keyFault ?? filled.lowBalance) !== undefined
  return reply.page(
    'payment/apps/own-app',
    {
      owned,
      values: filled.values ?? stored,
      problems: filled.problems,
      terms: await termsOf(deps, owned),
      keyFault: filled.keyFault,
      lowBalance: filled.lowBalance,
      gateway: owned.rights.includes('keys.manage') ? await gatewayCard(deps, owned.id) : undefined,
      twin: await twinOf(deps.db, owned, sessionOf(request).user.id),
      overlapHours: OVERLAP_HOURS_DEFAULT,
    },
    { status: isRefused ? 400 : 200 },
  )
}
