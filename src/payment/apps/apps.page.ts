/** Where a member applies for payment applications and sees them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import { openTurns } from '../../platform/turns.ts'
import { notificationPages } from '../notifications/notifications.page.ts'
import type { PaymentDeps } from '../notifications/worker.ts'
import { createTestApp, createTwin, TEST_APPS_MAX, twinOf } from '../orders/test-mode.ts'
import { actorOf, freshSignIn, type OwnedRequest, overlapHoursOf, ownedFor, pathOf } from '../rights/owned.ts'
import {
  editPaymentApp,
  getPermitted,
  may,
  type PaymentAppEdit,
  paymentAppEdit,
  setLowBalance,
  switchVersions,
} from '../rights/rights.ts'
import { sellersAddresses } from '../seller/addresses.page.ts'
import { sellersOrders } from '../seller/orders.page.ts'
import { statisticsPage } from '../seller/statistics.page.ts'
import { sellersTransfers } from '../seller/transfers.page.ts'
import { currentKeys } from '../signing/keys.ts'
import { type PublicKeyFault, readPublicKey } from '../signing/public-key.ts'
import { Amount } from '../values/fields.ts'
import { applicationsOf, applyForPaymentApp, PENDING_APPS_MAX, paymentAppForm } from './apps.ts'
import { gatewayCard, pemOf, platformSpki } from './gateway-card.ts'
import { offersOf } from './handover.ts'
import {
  endOverlap,
  makeMerchantPair,
  OVERLAP_HOURS_DEFAULT,
  resetMerchantKey,
  rotateToken,
  setPublicKey,
} from './key-changes.ts'
import { teamPages } from './team.page.ts'
import { invitationsOf } from './team.ts'
import { termsOf } from './terms.ts'

const FIELDS = ['name', 'description', 'callback_url'] as const
const EDIT_FIELDS = [...FIELDS, 'homepage', 'logo_url', 'exchange_rate', 'allowed_addresses'] as const
type Field = (typeof FIELDS)[number]
type EditField = (typeof EDIT_FIELDS)[number]

/** A pair of RSA keys is made, which takes a good fraction of a second of a processor. */
const slow = { config: { admission: 'slow' } } as const

/** GET and POST /payment/applications, and the page of each application with its forms. */
export async function paymentAppPages(app: FastifyInstance, deps: PaymentDeps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const form = paymentAppForm(deps.config.production)
  const turns = openTurns()

  app.get('/payment/applications', async (request, reply) =>
    showApplications(request, reply, deps, { values: {}, problems: [] }),
  )

  app.post('/payment/applications', slow, async (request, reply) => {
    const filled = form.safeParse(request.body)
    if (!filled.success) {
      const problems = FIELDS.filter((field) => filled.error.issues.some((issue) => issue.path[0] === field))
      return showApplications(request, reply, deps, { values: textsOf(request.body, FIELDS), problems })
    }
    const applicant_id = sessionOf(request).user.id
    await deps.limits.hit('key_pairs', applicant_id.toString())
    const isTest = (request.body as Record<string, unknown>).book === 'test'
    const credentials = isTest
      ? await createTestApp(deps, { applicant_id, ...filled.data, ip: request.ip })
      : await applyForPaymentApp(deps, { applicant_id, ...filled.data })
    return reply.page(
      'payment/apps/created',
      { name: filled.data.name, credentials, isTest },
      { status: 201 },
    )
  })

  ownerPages(app, deps)
  lowBalanceForm(app, deps)
  gatewayForms(app, deps)
  sellersOrders(app, deps, turns)
  sellersAddresses(app, deps)
  sellersTransfers(app, deps)
  teamPages(app, deps)
  statisticsPage(app, deps, turns)
  testForms(app, deps)
  notificationPages(app, deps, {
    path: '/payment/applications/:payment_id/notifications',
    view: 'payment/notifications/notifications',
    standing: (request) => ({ role: 'team', user_id: sessionOf(request).user.id }),
    facts: async (request, right) => {
      const { payment_id } = (request as OwnedRequest).params
      return { owned: await getPermitted(deps.db, payment_id, sessionOf(request).user.id, right) }
    },
  })
}

/** Where buyers and their points are led, what a thing costs, and who may ask: not for a session that somebody got hold of. */
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

/** What its owner and team see and do of one application. */
function ownerPages(app: FastifyInstance, deps: PaymentDeps): void {
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

/** From which balance on the owner wants to be told. */
function lowBalanceForm(app: FastifyInstance, deps: PaymentDeps): void {
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

/** The test application beside a live one. */
function testForms(app: FastifyInstance, deps: PaymentDeps): void {
  app.post('/payment/applications/:payment_id/test', slow, async (request: OwnedRequest, reply) => {
    await deps.limits.hit('key_pairs', sessionOf(request).user.id.toString())
    const { name, ...credentials } = await createTwin(deps, request.params.payment_id, actorOf(request))
    return reply.page('payment/apps/created', { name, credentials, isTest: true }, { status: 201 })
  })
}

/** The keys and switches of the gateway. */
function gatewayForms(app: FastifyInstance, deps: PaymentDeps): void {
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

/** @param filled what was typed and what is wrong with it, when an edit was refused. */
async function showOwned(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: PaymentDeps,
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

type Filled = { values: Partial<Record<Field, string>>; problems: Field[] }

async function showApplications(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PaymentDeps,
  { values, problems }: Filled,
) {
  const { user } = sessionOf(request)
  const [{ payment_apps_min_trust_level }, rows, invitations, offers] = await Promise.all([
    deps.settings.read(),
    applicationsOf(deps.db, user.id),
    invitationsOf(deps.db, user.id),
    offersOf(deps.db, user.id, deps.clock()),
  ])
  const readable = rows.filter(({ role }) => may(role, 'keys.manage')).map(({ id }) => id)
  const keys = await currentKeys(deps, readable, 'merchant_key')
  const applications = rows.map((row) => ({ ...row, merchantKey: keys.get(row.id) }))
  const owned = rows.filter(({ role }) => role === 'owner')
  return reply.page(
    'payment/apps/apps',
    {
      applications,
      invitations,
      offers,
      values,
      problems,
      neededTrustLevel: payment_apps_min_trust_level,
      mayTest: owned.filter(({ book }) => book === 'test').length < TEST_APPS_MAX,
      waitingMax:
        owned.filter(({ status }) => status === 'pending').length < PENDING_APPS_MAX
          ? undefined
          : PENDING_APPS_MAX,
    },
    { status: problems.length > 0 ? 400 : 200 },
  )
}

/** What was typed, to be shown again. */
function textsOf(body: unknown, names: readonly string[]): Record<string, string> {
  const fields = (body ?? {}) as Record<string, unknown>
  return Object.fromEntries(names.map((name) => [name, typeof fields[name] === 'string' ? fields[name] : '']))
}
