/**
 * The mandate page: a member sees what an application asks for, and allows it, or less, or refuses. It leads back to the shop
 * with a signed callback. mandates.md 7.1 and 7.2.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isFresh, requireFreshSignIn, signInAgainUrl } from '../../accounts/session/reauthentication.ts'
import { browserScope, requireUser, type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { walletOf } from '../../ledger/wallet.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { openPlayWallet } from '../orders/test-mode.ts'
import { Amount, Day, MandateId } from '../values/fields.ts'
import { type AgreeingFault, monthOf, needsFreshSignIn, type Standing } from './agreeing.ts'
import { signedDecisionUrl } from './callback.ts'
import {
  type Acceptance,
  type AcceptedTerms,
  acceptMandate,
  declineMandate,
  type LookedAt,
  lookAtOffer,
} from './consent.ts'
import { makeDescribeOffer } from './destination.ts'
import { findMandate, type Mandate } from './mandates.ts'
import { lastDayOfYear, periodsUntil } from './periods.ts'
import { findShop, type Shop } from './shop.ts'

const PAGE = '/payment/mandate/:mandate_id'

/** The terms that a member chooses. Missing ones are as offered. */
type Chosen = Partial<Pick<AcceptedTerms, 'charge_max' | 'period_max' | 'ends_on'>>
type Fault = Exclude<AgreeingFault['fault'], 'terms' | 'out_of_date' | 'not_fresh'>

type OfferRequest = FastifyRequest<{ Params: { mandate_id: string } }>

declare module '../../web/views.ts' {
  interface PageData {
    'payment/mandates/offer': {
      user: Session['user']
      mandate: Mandate
      shop: Shop
      terms: AcceptedTerms
      /** What the shop offered, which the member may lower. */
      asked: AcceptedTerms
      /** Points that the terms permit until the last day. */
      most: bigint
      month: { all: bigint; allowed: bigint }
      balance: bigint
      replaced: Mandate | undefined
      /** Whether the terms are lower than offered, because the member may not allow more. */
      isLowered: boolean
      signInUrl: string | undefined
      path: string
    }
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

const Points = z.string().trim().pipe(Amount).transform(BigInt)
const Terms = z.object({
  charge_max: Points.optional(),
  period_max: Points.optional(),
  ends_on: z.string().trim().pipe(Day).optional(),
})

/** GET and POST /payment/mandate/:mandate_id, and below it POST …/refuse and GET …/return. */
export async function mandatePages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.destinations.push(makeDescribeOffer(deps))
  const askFreshSignIn = requireFreshSignIn(deps)

  app.get(PAGE, async (request: OfferRequest, reply) => showOffer(request, reply, deps))

  app.post(PAGE, async (request: OfferRequest, reply) => {
    const { mandate_id } = request.params
    const known = await findKnown(deps, mandate_id)
    if (known === undefined) return showState(request, reply, deps, { fault: 'not_found' })
    const chosen = await readTerms(request, deps, known)
    const fault = await acceptMandate(deps, mandate_id, await acceptanceOf(request, deps, chosen))
    if (fault?.fault === 'not_fresh') return askFreshSignIn(request, reply)
    if (fault !== undefined) return refuse(request, reply, deps, { known, chosen, fault })
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

async function acceptanceOf(request: FastifyRequest, deps: Core, chosen: Chosen): Promise<Acceptance> {
  const session = sessionOf(request)
  const { reauthenticate_minutes } = await deps.settings.read()
  return {
    user_id: session.user.id,
    ip: request.ip,
    ...chosen,
    isFresh: isFresh(session, reauthenticate_minutes, deps.clock()),
  }
}

/** Reads the chosen terms of an up-to mandate. A fixed one has none. Throws FormRefused. */
async function readTerms(request: OfferRequest, deps: Core, { kind }: Mandate): Promise<Chosen> {
  if (kind === 'fixed') return {}
  const { standing } = await lookAtOffer(
    deps,
    request.params.mandate_id,
    await acceptanceOf(request, deps, {}),
  )
  return chosenOf(readForm(request, Terms, wordsOf(request, standing)))
}

function chosenOf({ charge_max, period_max, ends_on }: z.output<typeof Terms>): Chosen {
  return {
    ...(charge_max === undefined ? {} : { charge_max }),
    ...(period_max === undefined ? {} : { period_max }),
    ...(ends_on === undefined ? {} : { ends_on }),
  }
}

/** What each field takes. */
function wordsOf({ locale }: FastifyRequest, standing: Standing | undefined): Record<string, string> {
  if (standing === undefined) return {}
  const { asked_charge_max, asked_period_max } = standing
  const { starts_on, ends_on } = askedTerms(standing)
  const { mandateOffer: o } = locale.t
  return {
    charge_max: o.chargeMaxWrong(locale.points(asked_charge_max)),
    period_max: o.periodMaxWrong(locale.points(asked_period_max)),
    ends_on: o.endsOnWrong(starts_on, ends_on),
  }
}

type Refused = { known: Mandate; chosen: Chosen; fault: AgreeingFault }

/** Answers an acceptance that is impossible. Terms that the member can change are a fault of their field. */
async function refuse(
  request: OfferRequest,
  reply: FastifyReply,
  deps: Core,
  { known, chosen, fault }: Refused,
): Promise<FastifyReply> {
  const { mandateOffer: o } = request.locale.t
  if (known.kind === 'up_to') {
    if (fault.fault === 'charge_max' || fault.fault === 'month_max') {
      const field = fault.fault === 'charge_max' ? 'charge_max' : 'period_max'
      throw new FormRefused({ [field]: o.limit(request.locale.points(fault.limit)) })
    }
    if (fault.fault === 'terms') {
      const { standing } = await lookAtOffer(
        deps,
        known.mandate_id,
        await acceptanceOf(request, deps, chosen),
      )
      const words = wordsOf(request, standing)
      const field = fieldAtFault(standing!, chosen)
      throw new FormRefused({ [field]: words[field]! })
    }
  }
  return showState(request, reply, deps, fault)
}

function fieldAtFault(
  { asked_charge_max, asked_period_max }: Standing,
  { charge_max = asked_charge_max, period_max = asked_period_max }: Chosen,
): 'charge_max' | 'period_max' | 'ends_on' {
  if (period_max > asked_period_max) return 'period_max'
  return charge_max > asked_charge_max || charge_max > period_max ? 'charge_max' : 'ends_on'
}

/** The whole of what the shop offered, as it would begin today. */
function askedTerms({
  asked_charge_max,
  asked_period_max,
  asked_starts_on,
  asked_ends_on,
  today,
}: Standing): AcceptedTerms {
  const starts_on = asked_starts_on !== null && asked_starts_on > today ? asked_starts_on : today
  return {
    charge_max: asked_charge_max,
    period_max: asked_period_max,
    starts_on,
    ends_on: asked_ends_on ?? lastDayOfYear(starts_on),
  }
}

/** Looks at an offer with the chosen terms, or with the highest that the member may allow. */
async function lookWithin(
  deps: Core,
  mandate_id: string,
  acceptance: Acceptance,
): Promise<LookedAt & { isLowered: boolean }> {
  let looked = await lookAtOffer(deps, mandate_id, acceptance)
  let lower: Chosen = {}
  // Each of the two limits may lower the terms once.
  for (let turn = 0; turn < 2; turn += 1) {
    const { judged, standing } = looked
    if (!('fault' in judged) || standing?.kind !== 'up_to') break
    if (judged.fault !== 'charge_max' && judged.fault !== 'month_max') break
    const { limit } = judged
    if (limit < 1n) break
    const { charge_max = standing.asked_charge_max } = { ...acceptance, ...lower }
    const least = charge_max < limit ? charge_max : limit
    lower =
      judged.fault === 'charge_max'
        ? { ...lower, charge_max: limit }
        : { ...lower, period_max: limit, charge_max: least }
    looked = await lookAtOffer(deps, mandate_id, { ...acceptance, ...lower })
  }
  return { ...looked, isLowered: Object.keys(lower).length > 0 }
}

/** Shows the offer, or why the member cannot accept it. */
async function showOffer(request: OfferRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { mandate_id } = request.params
  const mandate = await findKnown(deps, mandate_id)
  if (mandate === undefined) return showState(request, reply, deps, { fault: 'not_found' })
  const acceptance = await acceptanceOf(request, deps, {})
  // The page is shown to a member who must sign in again, too.
  const looked = await lookWithin(deps, mandate_id, { ...acceptance, isFresh: true })
  const { judged, standing, isLowered } = looked
  if (standing === undefined || 'fault' in judged) {
    const fault = 'fault' in judged ? judged : { fault: 'not_found' as const }
    return showState(request, reply, deps, fault, 200)
  }
  const session = sessionOf(request)
  if (mandate.book === 'test') await openPlayWallet(deps.db, session.user.id)
  const [settings, shop, wallet, replaced] = await Promise.all([
    deps.settings.read(),
    findShop(deps.db, mandate.app_id),
    walletOf(deps.db, session.user.id, mandate.book),
    mandate.replaces === null ? undefined : findKnown(deps, mandate.replaces),
  ])
  const path = `/payment/mandate/${mandate_id}`
  // Lower caps may need no newer sign-in. The posted values decide.
  const least = mandate.kind === 'fixed' ? judged.period_max : 1n
  const { mandates_fresh_sign_in_above: above } = settings
  const mustSignIn = !acceptance.isFresh && needsFreshSignIn(above, mandate.book, least)
  const data = {
    user: session.user,
    mandate,
    shop,
    terms: judged,
    asked: askedTerms(standing),
    most: judged.period_max * BigInt(periodsUntil(judged.starts_on, mandate.period, judged.ends_on)),
    month: monthOf(settings, standing, judged.period_max),
    balance: wallet.balance,
    replaced,
    isLowered,
    signInUrl: mustSignIn ? signInAgainUrl(session, path) : undefined,
    path,
  }
  return reply.page('payment/mandates/offer', data, { leavesSite: shop.callback_url })
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
