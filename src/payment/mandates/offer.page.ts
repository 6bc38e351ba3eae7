/**
 * The mandate page: a member sees what an application asks for, and allows it, or less, or refuses. It leads back to the shop
 * with a signed callback. spec/mandates 2.2.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { browserScope, requireUser, type Session, sessionOf } from '../../accounts/session/session.ts'
import type { OfferShown } from '../../accounts/sign-in/mandate-consent.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { isoSeconds, type MandateCallbackFields, signedCallbackUrl } from '../signing/hmac.ts'
import { openKey } from '../signing/keys.ts'
import { MandateId } from '../wire-fields/fields.ts'
import type { AgreeingFault } from './agreeing.ts'
import { acceptMandate, declineMandate } from './consent.ts'
import { findMandate, type Mandate } from './mandates.ts'
import { acceptanceOf, offerShown, readTerms, refuseField } from './offer-form.ts'
import { findShop, type Shop } from './shop.ts'

const PAGE = '/payment/mandate/:mandate_id'

type Fault = Exclude<AgreeingFault['fault'], 'terms' | 'out_of_date' | 'not_fresh'>

type OfferRequest = FastifyRequest<{ Params: { mandate_id: string } }>

declare module '../../web/views.ts' {
  interface PageData {
    'payment/mandates/offer': OfferShown & { user: Session['user']; mandate: Mandate; path: string }
    'payment/mandates/offer-state': {
      fault: Fault
      limit: bigint | undefined
      /** The shop, if the mandate is known. */
      shop: Shop | undefined
      /** The mandate, if it is the reader's own. */
      mandate: Mandate | undefined
      returnUrl: string | undefined
      path: string
    }
  }
}

/** GET and POST /payment/mandate/:mandate_id, and below it POST …/refuse and GET …/return. */
export async function mandatePages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.nextSteps.push(makeDescribeOffer(deps))
  const askFreshSignIn = requireFreshSignIn(deps)

  app.get(PAGE, async (request: OfferRequest, reply) => showOffer(request, reply, deps))

  app.post(PAGE, async (request: OfferRequest, reply) => {
    const { mandate_id } = request.params
    const known = await findKnown(deps, mandate_id)
    if (known === undefined) return showState(request, reply, deps, { fault: 'not_found' })
    const chosen = await readTerms(request, deps, known)
    const fault = await acceptMandate(deps, mandate_id, await acceptanceOf(request, deps, chosen))
    if (fault?.fault === 'not_fresh') return askFreshSignIn(request, reply)
    if (fault !== undefined) {
      await refuseField(request, deps, known, { chosen, fault })
      return showState(request, reply, deps, fault)
    }
    return leadBack(reply, deps, mandate_id)
  })

  app.post(`${PAGE}/refuse`, async (request: OfferRequest, reply) => {
    const { mandate_id } = request.params
    const known = await findKnown(deps, mandate_id)
    const { id: user_id } = sessionOf(request).user
    const fault = await declineMandate(deps, mandate_id, { user_id, ip: request.ip })
    if (fault !== undefined || known === undefined)
      return showState(request, reply, deps, fault ?? { fault: 'not_found' })
    const { app_id, reference } = known
    const { callback_url } = await findShop(deps.db, app_id)
    const decision = { mandate_id, reference, status: 'declined', decided_at: deps.clock() } as const
    return reply.redirect(await signedDecisionUrl(deps, { app_id, callback_url, ...decision }), 303)
  })

  // Signs when the link is followed, because a signature in the page would be stale too soon.
  app.get(`${PAGE}/return`, async (request: OfferRequest, reply) => {
    const known = await findKnown(deps, request.params.mandate_id)
    const isOwn = known !== undefined && known.user_id === sessionOf(request).user.id
    if (!isOwn || known.status !== 'active') return showOffer(request, reply, deps)
    return leadBack(reply, deps, known.mandate_id)
  })
}

async function findKnown({ db, clock }: Core, mandate_id: string): Promise<Mandate | undefined> {
  return MandateId.safeParse(mandate_id).success ? findMandate(db, { mandate_id }, clock()) : undefined
}

/** Redirects the member who accepted to the shop. */
async function leadBack(reply: FastifyReply, deps: Core, mandate_id: string): Promise<FastifyReply> {
  const { app_id, reference, accepted_at } = (await findKnown(deps, mandate_id))!
  const { callback_url } = await findShop(deps.db, app_id)
  const decision = { mandate_id, reference, status: 'active', decided_at: accepted_at! } as const
  return reply.redirect(await signedDecisionUrl(deps, { app_id, callback_url, ...decision }), 303)
}

/** Shows the offer, or why the member cannot accept it. */
async function showOffer(request: OfferRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { mandate_id } = request.params
  const mandate = await findKnown(deps, mandate_id)
  if (mandate === undefined) return showState(request, reply, deps, { fault: 'not_found' })
  const path = `/payment/mandate/${mandate_id}`
  const shown = await offerShown(request, deps, mandate, path)
  if ('fault' in shown) return showState(request, reply, deps, shown, 200)
  const { user } = sessionOf(request)
  return reply.page(
    'payment/mandates/offer',
    { ...shown, user, path },
    { leavesSite: shown.shop.callback_url },
  )
}

/** Says why the offer cannot be accepted. A member who may not accept it learns nothing of its terms. */
async function showState(
  request: OfferRequest,
  reply: FastifyReply,
  deps: Core,
  found: AgreeingFault,
  status = 409,
): Promise<FastifyReply> {
  if (found.fault === 'terms' || found.fault === 'out_of_date' || found.fault === 'not_fresh')
    throw new AppError('conflict', 'These terms were not offered')
  const { fault } = found
  const known = await findKnown(deps, request.params.mandate_id)
  const isOwn = known?.user_id === sessionOf(request).user.id
  const shop = known === undefined ? undefined : await findShop(deps.db, known.app_id)
  const path = `/payment/mandate/${request.params.mandate_id}`
  const data = {
    fault,
    limit: 'limit' in found ? found.limit : undefined,
    shop,
    mandate: isOwn ? known : undefined,
    returnUrl: isOwn && known.status === 'active' ? `${path}/return` : shop?.exit,
    path,
  }
  const answer = { not_found: 404, payments_paused: 503 }[fault as string] ?? status
  return reply.page('payment/mandates/offer-state', data, { status: answer })
}

const MANDATE_PAGE = /^\/payment\/mandate\/(mdt_[a-z0-9]{24})(?![a-z0-9])/

/** Makes the description of mandate pages. It tells terms only while any member may accept them. */
function makeDescribeOffer({ db, settings, clock }: Core) {
  return async (path: string): Promise<NextStep | undefined> => {
    const mandate_id = MANDATE_PAGE.exec(path)?.[1]
    if (mandate_id === undefined || (await settings.read()).mandates !== 'on') return undefined
    const mandate = await findMandate(db, { mandate_id }, clock())
    if (mandate === undefined) return undefined
    const { name, logo_url, exit } = await findShop(db, mandate.app_id)
    const { kind, charge_max, period_max, period, purpose, book, status, only_user_id } = mandate
    const asked = { kind, charge_max, period_max, period, purpose, isTest: book === 'test' }
    const isForAll = status === 'pending' && only_user_id === null
    return {
      app: { name, logo_url },
      order: undefined,
      ...(isForAll ? { mandate: asked } : {}),
      isPayment: true,
      exit,
    }
  }
}

type Decision = {
  app_id: bigint
  callback_url: string
  mandate_id: string
  reference: string
  status: MandateCallbackFields['mandate_status']
  decided_at: Date
}

/**
 * Signs a decision for the shop. Of two tokens the previous one signs until a request has used the new one, as for payments:
 * before, the merchant may not have installed the new one.
 */
async function signedDecisionUrl(
  { db, secrets, clock }: Core,
  { app_id, callback_url, mandate_id, reference, status, decided_at }: Decision,
): Promise<string> {
  const { value_encrypted } = await db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', app_id)
    .where('kind', '=', 'token')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', clock())]))
    .orderBy((eb) => eb.and([eb('valid_to', 'is', null), eb('last_used_at', 'is', null)]))
    .orderBy('id', 'desc')
    .select('value_encrypted')
    .executeTakeFirstOrThrow()
  const fields = { decided_at: isoSeconds(decided_at), mandate_id, mandate_status: status, reference }
  return signedCallbackUrl(callback_url, fields, openKey(secrets, app_id, 'token', value_encrypted))
}
